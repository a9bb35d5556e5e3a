// Renaming whatever has a name.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/named.hpp"
#include "mir/codes/usage.hpp"
#include "support/characters.hpp"

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
      if (view.text(op.head).find(fmt::format("<name=\"{}\">", path)) == std::string_view::npos)
        continue;
      return refusal(fmt::format("'{}' finds '@{}' by its own name, \"{}\"", view.text(op.name),
                                 named.name, path));
    }
  }
  return {};
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
  return workspace_edit(view.document, std::move(edits), document_changes);
}

}  // namespace mir::lsp
