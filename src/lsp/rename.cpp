// Renaming whatever has a name.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/declaration_graphs.hpp"
#include "lsp/layers.hpp"
#include "lsp/rename_shared.hpp"
#include "lsp/shared_names.hpp"
#include "support/characters.hpp"
#include "syntax/short_names.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

Result<Named> subject_at(const View& view, SourcePos at) {
  auto named = named_at(view, at);
  if (!named) return rename_refusal("nothing that has a name is here");
  const bool is_of_dialect = named->kind == NameKind::kOp || named->kind == NameKind::kType ||
                             named->kind == NameKind::kAttribute;
  if (is_of_dialect && named->symbol == kNone) {
    return rename_refusal(fmt::format("no text declares '{}'", named->name));
  }
  if (named->kind == NameKind::kSymbol && is_declaration_name(named->name)) {
    return rename_refusal(fmt::format("'@{}' is the name of a graph by its meaning", named->name));
  }
  return *std::move(named);
}

/// Characters and form of the names of a kind.
struct Spelling {
  char sigil;  // NUL: none
  std::string_view characters;
  std::string_view rule;
};

Spelling spelling_of(NameKind kind) {
  constexpr std::string_view kWordRule = "letters, digits and '_', and does not begin with a digit";
  constexpr std::string_view kNameRule = "letters, digits, '_', '.', '$' and '-'";
  switch (kind) {
    case NameKind::kValue:
      return {'%', kNameCharacters, kNameRule};
    case NameKind::kPort:
      return {'\0', kNameCharacters, kNameRule};
    case NameKind::kSymbol:
      return {'@', kNameCharacters, kNameRule};
    case NameKind::kBlock:
      return {'^', kLabelCharacters, "letters, digits, '_', '.', '$', '/' and '-'"};
    case NameKind::kTypeAlias:
      return {'!', kWordCharacters, kWordRule};
    case NameKind::kAttributeAlias:
      return {'#', kWordCharacters, kWordRule};
    case NameKind::kExtent:
      return {'$', kWordCharacters, kWordRule};
    case NameKind::kLayer:
      return {'\0', kNameCharacters, kNameRule};
    case NameKind::kOp:
    case NameKind::kType:
    case NameKind::kAttribute:
      return {'@', kWordCharacters, kWordRule};
  }
  return {'\0', kWordCharacters, kWordRule};
}

/// The name without the sigil that users may type.
Result<std::string> checked_name(std::string_view name, NameKind kind) {
  const Spelling spelling = spelling_of(kind);
  if (!name.empty() && name.front() == spelling.sigil) name.remove_prefix(1);
  if (name.empty()) return rename_refusal("the new name is empty");
  const bool is_word = spelling.characters.find('.') == std::string_view::npos;
  const bool begins_with_digit = name.front() >= '0' && name.front() <= '9';
  if (name.find_first_not_of(spelling.characters) != name.npos || (is_word && begins_with_digit)) {
    return rename_refusal(fmt::format("'{}' is no name: it consists of {}", name, spelling.rule));
  }
  return std::string(name);
}

std::uint32_t module_of(const Outline& outline, const OutlineValue& value) {
  return value.first_mention == kNone ? kNone
                                      : outline.module_of(outline.mentions[value.first_mention].op);
}

/// True for a value of a dump, whose name is the id of a storage everywhere in its module.
bool names_storage(const Outline& outline, const OutlineValue& value) {
  const std::uint32_t module = module_of(outline, value);
  return module != kNone && !outline.ops[module].is_portable;
}

/// All places that change with a name: of a storage, those of its other values, too.
std::vector<NameMention> renamed_mentions(const View& view, const Named& subject) {
  std::vector<NameMention> all = mentions_of(view, subject);
  const Outline& outline = view.outline();
  if (subject.kind != NameKind::kValue) return all;
  const OutlineValue& value = outline.values[subject.value];
  if (!names_storage(outline, value)) return all;
  Named other = subject;
  for (other.value = 0; other.value < outline.values.size(); ++other.value) {
    const OutlineValue& each = outline.values[other.value];
    const bool is_other = &each != &value && each.name == value.name;
    if (!is_other || module_of(outline, each) != module_of(outline, value)) continue;
    const auto more = mentions_of(view, other);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::ranges::sort(all, {}, [](const NameMention& each) { return each.at.begin; });
  return all;
}

/// Refuses the new name if a value of that name is mentioned where the old one is visible, or the
/// reverse.
Result<void> check_value_clash(const Outline& outline, const OutlineValue& renamed,
                               std::string_view name) {
  const bool is_storage = names_storage(outline, renamed);
  for (const OutlineValue& other : outline.values) {
    if (other.name != name) continue;
    if (is_storage && module_of(outline, other) == module_of(outline, renamed)) {
      return rename_refusal(fmt::format("the dump has a storage '%{}' already", name));
    }
    const bool overlaps = renamed.scope_op == kNone || other.scope_op == kNone ||
                          outline.is_inside(other.scope_op, renamed.scope_op) ||
                          outline.is_inside(renamed.scope_op, other.scope_op);
    if (overlaps)
      return rename_refusal(fmt::format("a value '%{}' is visible there already", name));
  }
  return {};
}

/// Refuses the new name of a layer that would be another one, or whose parameters would be others.
Result<void> check_layer_clash(const View& view, const Named& layer, const std::string& name) {
  const Outline& outline = view.outline();
  for (const LayerMention& each : outline.layers) {
    if (outline.module_of(each.op) == layer.module && each.name == name) {
      return rename_refusal(fmt::format("the module has a layer '{}' already", name));
    }
  }
  for (const std::uint32_t each : parameters_of(view, layer)) {
    const std::string_view suffix = outline.symbols[each].name.substr(layer.name.size());
    const std::string symbol = name + std::string(suffix);
    const auto clashes = [&](const SymbolMention& other) {
      return other.module == layer.module && other.name == symbol;
    };
    if (std::ranges::any_of(outline.symbols, clashes)) {
      return rename_refusal(fmt::format("the module has a symbol '@{}' already", symbol));
    }
  }
  return {};
}

/// A name and the new one.
struct Renaming {
  Named subject;
  std::string name;
};

/// A parameter that an op finds by the name of its layer is renamed with the layer.
Result<Renaming> with_owner(const View& view, Named subject, std::string name) {
  if (subject.kind != NameKind::kSymbol || subject.symbol == kNone) {
    return Renaming{std::move(subject), std::move(name)};
  }
  const auto owner = owner_of(view, view.outline().symbols[subject.symbol]);
  if (!owner) return Renaming{std::move(subject), std::move(name)};
  const std::string& suffix = owner->suffix;
  if (!name.ends_with(suffix) || name.size() == suffix.size()) {
    return rename_refusal(fmt::format("'@{}' belongs to layer '{}', so its name must end in '{}'",
                                      subject.name, owner->layer.name, suffix));
  }
  name.resize(name.size() - suffix.size());
  return Renaming{owner->layer, std::move(name)};
}

/// Names of layers that begin with that of a renamed graph: in full, they stay what they are, so
/// that the ops keep their parameters.
std::vector<const LayerMention*> relative_layers(const View& view, const Named& graph) {
  std::vector<const LayerMention*> found;
  if (graph.kind != NameKind::kSymbol || graph.symbol == kNone) return found;
  const Outline& outline = view.outline();
  const SymbolMention& symbol = outline.symbols[graph.symbol];
  for (const LayerMention& each : outline.layers) {
    if (!each.is_relative || outline.module_of(each.op) != symbol.module) continue;
    const std::size_t relative = each.at.end - each.at.begin;
    const auto around = std::string_view(each.name).substr(0, each.name.size() - relative);
    if (around == graph.name) found.push_back(&each);
  }
  return found;
}

/// The edit that gives the layer in `<.q>` another name: a relative one if it begins with the
/// graph.
Json relative_edit(const View& view, Span at, std::string_view old, std::string_view name) {
  const std::size_t relative = at.end - at.begin;
  const std::string_view graph = old.substr(0, old.size() - std::min(relative, old.size()));
  const std::string_view rest = name_in_graph(name, graph);
  const std::string text =
      rest.empty() ? fmt::format("<name=\"{}\">", name) : fmt::format("<{}>", rest);
  return {{"range", view.document.range({at.begin - 1, at.end + 1})}, {"newText", text}};
}

Result<void> check_clash(const View& view, const Named& named, const std::string& name) {
  if (named.name == name) return {};
  const Outline& outline = view.outline();
  if (named.kind == NameKind::kValue) {
    return check_value_clash(outline, outline.values[named.value], name);
  }
  if (named.kind == NameKind::kPort) return {};  // two may have one name
  if (named.kind == NameKind::kLayer) return check_layer_clash(view, named, name);
  if (named.symbol != kNone) {
    const SymbolMention& symbol = outline.symbols[named.symbol];
    const auto clashes = [&](const SymbolMention& each) {
      return each.module == symbol.module && each.name == name;
    };
    if (std::ranges::any_of(outline.symbols, clashes)) {
      return rename_refusal(fmt::format("the module has a symbol '@{}' already", name));
    }
    if (named.kind == NameKind::kSymbol) return {};
  }
  Named other = named;
  other.name = name;
  other.symbol = kNone;
  if (mentions_of(view, other).empty()) return {};
  const Spelling spelling = spelling_of(named.kind);
  return rename_refusal(fmt::format("the text has '{}{}' there already", spelling.sigil, name));
}

}  // namespace

Result<Json> prepare_rename(const View& view, SourcePos at) {
  NameMention mention;
  if (const auto shared = shared_name_at(view, at)) {
    mention = shared->mention;
  } else {
    const auto subject = subject_at(view, at);
    if (!subject) return Json(nullptr);
    mention = subject->mention;
  }
  const Span place = mention.name();
  // The dialect of `dialect.name` is another name.
  if (at + mention.sigil + 1 < place.begin) return Json(nullptr);
  return Json{{"range", view.document.range(place)},
              {"placeholder", std::string(view.text(place))}};
}

Result<Json> rename(const View& view, SourcePos at, const std::string& name, bool document_changes,
                    const OtherTexts& others) {
  if (const auto shared = shared_name_at(view, at)) {
    const NameKind kind = shared->key.empty() ? shared->named.kind : NameKind::kExtent;
    const auto checked = checked_name(name, kind);
    if (!checked) return checked.error();
    return rename_shared(view, *shared, *checked, document_changes, others);
  }
  const auto found = subject_at(view, at);
  if (!found) return found.error();
  const auto checked = checked_name(name, found->kind);
  if (!checked) return checked.error();
  const auto renaming = with_owner(view, *found, *checked);
  if (!renaming) return renaming.error();
  const Named& subject = renaming->subject;
  if (const auto free = check_clash(view, subject, renaming->name); !free) return free.error();
  Json edits = Json::array();
  for (const NameMention& each : renamed_mentions(view, subject)) {
    view.check_stop();
    edits.push_back(each.is_relative ? relative_edit(view, each.at, subject.name, renaming->name)
                                     : Json{{"range", view.document.range(each.name())},
                                            {"newText", renaming->name}});
  }
  for (const LayerMention* each : relative_layers(view, subject)) {
    edits.push_back({{"range", view.document.range({each->at.begin - 1, each->at.end + 1})},
                     {"newText", fmt::format("<name=\"{}\">", each->name)}});
  }
  return workspace_edit(view.document, std::move(edits), document_changes);
}

}  // namespace mir::lsp
