// Renaming whatever has a name.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/named.hpp"
#include "lsp/words.hpp"
#include "mir/codes/usage.hpp"
#include "support/characters.hpp"
#include "syntax/short_names.hpp"
#include "syntax/text_literal.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

Error refusal(std::string message) {
  return {diag::kUsage, std::move(message)};
}

bool is_dialect_name(NameKind kind) {
  return kind == NameKind::kOp || kind == NameKind::kType || kind == NameKind::kAttribute;
}

Result<Named> subject_at(const View& view, SourcePos at) {
  auto named = named_at(view, at);
  if (!named) return refusal("nothing that has a name is here");
  if (is_dialect_name(named->kind) && named->symbol == kNone) {
    return refusal(fmt::format("this document does not declare '{}'", named->name));
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
  if (name.empty()) return refusal("the new name is empty");
  const bool is_word = spelling.characters.find('.') == std::string_view::npos;
  const bool begins_with_digit = name.front() >= '0' && name.front() <= '9';
  if (name.find_first_not_of(spelling.characters) != name.npos || (is_word && begins_with_digit)) {
    return refusal(fmt::format("'{}' is no name: it consists of {}", name, spelling.rule));
  }
  return std::string(name);
}

/// Refuses the new name if a value of that name is mentioned where the old one is visible, or the
/// reverse.
Result<void> check_value_clash(const Outline& outline, const OutlineValue& renamed,
                               std::string_view name) {
  for (const OutlineValue& other : outline.values) {
    if (other.name != name) continue;
    const bool overlaps = renamed.scope_op == kNone || other.scope_op == kNone ||
                          outline.is_inside(other.scope_op, renamed.scope_op) ||
                          outline.is_inside(renamed.scope_op, other.scope_op);
    if (overlaps) return refusal(fmt::format("a value '%{}' is visible there already", name));
  }
  return {};
}

/// The graph around an op; kNone if there is none.
std::uint32_t graph_of(const Outline& outline, std::uint32_t op) {
  std::uint32_t at = outline.ops[op].parent;
  while (at != kNone &&
         (outline.ops[at].row == nullptr || !has(outline.ops[at].row->traits, Trait::kCallable))) {
    at = outline.ops[at].parent;
  }
  return at;
}

std::string symbol_of(const View& view, const OutlineOp& op) {
  if (!op.symbol.known()) return "";
  const std::string_view name = view.text(op.symbol).substr(1);
  return unquote(name).value_or(std::string(name));
}

/// `<name="...">` or `<.name>` in the head of an op; unknown if there is none.
Span name_tag(const View& view, const OutlineOp& op) {
  Span found{};
  for_each_word(view, op.head, [&](TokenKind kind, Span at) {
    const bool is_inside = at.begin >= op.head.begin && at.end <= op.head.end;
    if (is_inside && kind == TokenKind::kNameAngle && !found.known()) found = at;
  });
  return found;
}

/// The name of an op, in full.
std::string path_of(const View& view, std::uint32_t index) {
  const Outline& outline = view.outline();
  const Span at = name_tag(view, outline.ops[index]);
  if (!at.known()) return "";
  const std::string_view tag = view.text(at);
  if (is_relative_tag(tag)) {
    const std::uint32_t graph = graph_of(outline, index);
    const std::string begin = graph == kNone ? "" : symbol_of(view, outline.ops[graph]);
    return begin + std::string(relative_name(tag));
  }
  const std::size_t open = tag.find('"');
  return std::string(tag.substr(open + 1, tag.rfind('"') - open - 1));
}

/// Refuses to rename a parameter that an op finds by its own name.
Result<void> check_owner(const View& view, const Named& named) {
  const Outline& outline = view.outline();
  if (named.kind != NameKind::kSymbol || named.symbol == kNone) return {};
  const std::uint32_t module = outline.symbols[named.symbol].module;
  for (std::uint32_t i = 0; i < outline.ops.size(); ++i) {
    const OutlineOp& op = outline.ops[i];
    if (op.row == nullptr || op.row->weights.empty() || outline.module_of(i) != module) continue;
    for (const WeightRow& weight : op.row->weights) {
      if (!named.name.ends_with(weight.suffix)) continue;
      const auto path =
          std::string_view(named.name).substr(0, named.name.size() - weight.suffix.size());
      if (path_of(view, i) != path) continue;
      return refusal(fmt::format("'{}' finds '@{}' by its own name, \"{}\"", view.text(op.name),
                                 named.name, path));
    }
  }
  return {};
}

/// Names of ops that begin with that of the graph: in full, they stay what they are, so that the
/// ops keep their parameters.
std::vector<Span> relative_names(const View& view, const Named& named) {
  std::vector<Span> found;
  if (named.kind != NameKind::kSymbol || named.symbol == kNone) return found;
  const Outline& outline = view.outline();
  const std::uint32_t module = outline.symbols[named.symbol].module;
  for (std::uint32_t i = 0; i < outline.ops.size(); ++i) {
    const std::uint32_t graph = graph_of(outline, i);
    if (graph == kNone || outline.module_of(i) != module) continue;
    if (symbol_of(view, outline.ops[graph]) != named.name) continue;
    const Span tag = name_tag(view, outline.ops[i]);
    if (tag.known() && is_relative_tag(view.text(tag))) found.push_back(tag);
  }
  return found;
}

Result<void> check_clash(const View& view, const Named& named, const std::string& name) {
  if (named.name == name) return {};
  const Outline& outline = view.outline();
  if (named.kind == NameKind::kValue) {
    return check_value_clash(outline, outline.values[named.value], name);
  }
  if (named.kind == NameKind::kPort) return {};  // two may have one name
  if (named.symbol != kNone) {
    const SymbolMention& symbol = outline.symbols[named.symbol];
    const auto clashes = [&](const SymbolMention& each) {
      return each.module == symbol.module && each.name == name;
    };
    if (std::ranges::any_of(outline.symbols, clashes)) {
      return refusal(fmt::format("the module has a symbol '@{}' already", name));
    }
    if (named.kind == NameKind::kSymbol) return {};
  }
  Named other = named;
  other.name = name;
  other.symbol = kNone;
  if (mentions_of(view, other).empty()) return {};
  const Spelling spelling = spelling_of(named.kind);
  if (is_dialect_name(named.kind)) {
    return refusal(fmt::format("the text has '{}.{}' already", named.dialect, name));
  }
  return refusal(fmt::format("the text has '{}{}' there already", spelling.sigil, name));
}

}  // namespace

Result<Json> prepare_rename(const View& view, SourcePos at) {
  const auto subject = subject_at(view, at);
  if (!subject) return Json(nullptr);
  const Span place = subject->mention.name();
  // The dialect of `dialect.name` is another name.
  if (at + subject->mention.sigil + 1 < place.begin) return Json(nullptr);
  return Json{{"range", view.document.range(place)},
              {"placeholder", std::string(view.text(place))}};
}

Result<Json> rename(const View& view, SourcePos at, const std::string& name,
                    bool document_changes) {
  const auto subject = subject_at(view, at);
  if (!subject) return subject.error();
  const auto checked = checked_name(name, subject->kind);
  if (!checked) return checked.error();
  if (const auto free = check_clash(view, *subject, *checked); !free) return free.error();
  if (const auto owned = check_owner(view, *subject); !owned) return owned.error();
  Json edits = Json::array();
  for (const NameMention& each : mentions_of(view, *subject)) {
    view.check_stop();
    edits.push_back({{"range", view.document.range(each.name())}, {"newText", *checked}});
  }
  for (const Span tag : relative_names(view, *subject)) {
    const std::string path =
        fmt::format("<name=\"{}{}\">", subject->name, relative_name(view.text(tag)));
    edits.push_back({{"range", view.document.range(tag)}, {"newText", path}});
  }
  return workspace_edit(view.document, std::move(edits), document_changes);
}

}  // namespace mir::lsp
