// Renaming values and symbols.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/features.hpp"
#include "lsp/names.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

Error refusal(std::string message) {
  return {DiagCode::kUsage, std::move(message)};
}

/// What is renamed: places without sigils, in the order of the text.
struct Subject {
  std::uint32_t value = kNone;
  std::uint32_t symbol = kNone;
  Span at;  ///< of the mention, without its sigil
};

Result<Subject> subject_at(const View& view, SourcePos at) {
  const Outline& outline = view.outline();
  if (const std::uint32_t mention = outline.mention_at(at); mention != kNone) {
    const Span place = outline.mentions[mention].at;
    if (outline.mentions[mention].value == kNone) return refusal("the value is not known");
    return Subject{outline.mentions[mention].value, kNone, {place.begin + 1, place.end}};
  }
  if (const std::uint32_t symbol = outline.symbol_at(at); symbol != kNone) {
    return Subject{kNone, symbol, outline.symbols[symbol].at};
  }
  return refusal("no value or symbol is here");
}

/// The name without the sigil that users may type.
Result<std::string> checked_name(std::string_view name, char sigil) {
  if (!name.empty() && name.front() == sigil) name.remove_prefix(1);
  if (name.empty()) return refusal("the new name is empty");
  if (const auto bad = name.find_first_not_of(kNameCharacters); bad != name.npos) {
    return refusal(
        fmt::format("'{}' is no name: letters, digits, '_', '.', '$' and '-' can be in one", name));
  }
  return std::string(name);
}

/// Whether a value of the new name is mentioned where the old one is visible, or the reverse.
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

std::vector<Span> places_of(const Outline& outline, const Subject& subject) {
  std::vector<Span> places;
  if (subject.value != kNone) {
    for (const std::uint32_t each : outline.values[subject.value].mentions) {
      const Span at = outline.mentions[each].at;
      places.push_back({at.begin + 1, at.end});
    }
    return places;
  }
  const SymbolMention& symbol = outline.symbols[subject.symbol];
  for (const SymbolMention& each : outline.symbols) {
    if (each.name == symbol.name && each.module == symbol.module) places.push_back(each.at);
  }
  return places;
}

}  // namespace

Result<Json> prepare_rename(const View& view, SourcePos at) {
  const auto subject = subject_at(view, at);
  if (!subject) return Json(nullptr);
  return Json{{"range", view.document.range(subject->at)},
              {"placeholder", std::string(view.text(subject->at))}};
}

Result<Json> rename(const View& view, SourcePos at, const std::string& name,
                    bool document_changes) {
  const auto subject = subject_at(view, at);
  if (!subject) return subject.error();
  const Outline& outline = view.outline();
  const auto checked = checked_name(name, subject->value != kNone ? '%' : '@');
  if (!checked) return checked.error();
  if (subject->value != kNone) {
    const OutlineValue& value = outline.values[subject->value];
    if (value.name != *checked) {
      const auto free = check_value_clash(outline, value, *checked);
      if (!free) return free.error();
    }
  } else {
    const SymbolMention& symbol = outline.symbols[subject->symbol];
    const auto clashes = [&](const SymbolMention& each) {
      return each.module == symbol.module && each.name == *checked && each.name != symbol.name;
    };
    if (std::ranges::any_of(outline.symbols, clashes)) {
      return refusal(fmt::format("the module has a symbol '@{}' already", *checked));
    }
  }
  Json edits = Json::array();
  for (const Span place : places_of(outline, *subject)) {
    edits.push_back({{"range", view.document.range(place)}, {"newText", *checked}});
  }
  return workspace_edit(view.document, std::move(edits), document_changes);
}

}  // namespace mir::lsp
