// Collects names of the input and checks that options refer to existing ones.
#include "input_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "mir/codes/inputs.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/usage.hpp"
#include "support/characters.hpp"
#include "support/suggest.hpp"
#include "support/wildcards.hpp"

namespace mir::tools {

namespace {

bool is_pattern(ReferenceKind kind) {
  return kind == ReferenceKind::kResult || kind == ReferenceKind::kTensor;
}

/// Returns the sigil before names of the kind in messages, as in the text of a module.
std::string_view mark_of(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::kModule:
    case ReferenceKind::kGraph:
      return "@";
    case ReferenceKind::kSymbol:
      return "$";
    case ReferenceKind::kInput:
    case ReferenceKind::kOutput:
      return "%";
    default:
      return "";
  }
}

DiagCode code_of(ReferenceKind kind) {
  switch (kind) {
    case ReferenceKind::kModule:
    case ReferenceKind::kGraph:
      return diag::kEntryUnknown;
    case ReferenceKind::kInput:
    case ReferenceKind::kOutput:
    case ReferenceKind::kResult:
      return diag::kPortUnknown;
    case ReferenceKind::kOp:
      return diag::kNotExecutable;
    default:
      return diag::kUsage;
  }
}

/// Returns the names that contain the letters and digits of `text`; all names if there is none.
std::vector<std::string> similar_or_all(const std::set<std::string, std::less<>>& names,
                                        std::string_view text) {
  const std::string wanted = squashed(text);
  std::vector<std::string> similar;
  for (const std::string& name : names) {
    if (!wanted.empty() && squashed(name).find(wanted) != std::string::npos)
      similar.push_back(name);
  }
  return similar.empty() ? std::vector<std::string>(names.begin(), names.end()) : similar;
}

}  // namespace

void InputNames::add_positions(ReferenceKind kind, std::size_t count) {
  positions_[kind] = std::max(positions_[kind], count);
}

bool InputNames::has(ReferenceKind kind, std::string_view name) const {
  const auto names = names_.find(kind);
  return names != names_.end() && names->second.contains(name);
}

bool InputNames::has(const Reference& reference) const {
  const ReferenceKind kind = reference.kind;
  const std::string& text = reference.text;
  const Names& names = names_.at(kind);
  if (is_pattern(kind)) {
    return text == "*" || std::ranges::any_of(names, [&](const std::string& name) {
             return fits_wildcards(text, name);
           });
  }
  if (names.contains(text)) return true;
  const auto positions = positions_.find(kind);
  std::size_t position = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, position);
  return positions != positions_.end() && error == std::errc() && last == end &&
         position < positions->second;
}

Error InputNames::unknown(const OptionRow& row, const Reference& reference) const {
  constexpr std::size_t kMostListed = 8, kExamples = 4;
  const ReferenceKind kind = reference.kind;
  const std::string& text = reference.text;
  const Names& names = names_.at(kind);
  const std::string_view mark = mark_of(kind);
  const bool is_one = number_ == Number::kOne;
  const std::string_view they = is_one ? "it has" : "they have";
  NearestName nearest(text);
  for (const std::string& name : names) nearest.offer(name);
  std::string hint;
  if (!nearest.best().empty()) {
    hint = fmt::format("; did you mean '{}{}'?", mark, nearest.best());
  } else if (names.empty()) {
    hint = fmt::format("; {} none", they);
  } else {
    std::vector<std::string> listed;
    const std::size_t most = names.size() <= kMostListed ? kMostListed : kExamples;
    for (const std::string& name : similar_or_all(names, text)) {
      if (listed.size() == most) break;
      listed.push_back(fmt::format("'{}{}'", mark, name));
    }
    const bool is_whole = listed.size() == names.size();
    hint = fmt::format("; {} {}{}", they, is_whole ? "" : fmt::format("{}, such as ", names.size()),
                       fmt::join(listed, ", "));
  }
  return {code_of(kind), fmt::format("--{}: {} {} no {} '{}{}'{}", row.name(), input_,
                                     is_one ? "has" : "have", name_of(kind), mark, text, hint)};
}

Result<void> InputNames::check(const OptionRow& row, ReferenceKind kind) const {
  if (!names_.contains(kind)) return {};
  for (const Reference& each : row.references()) {
    if (each.kind == kind && !has(each)) return unknown(row, each);
  }
  return {};
}

Result<void> InputNames::check(const OptionRow& row) const {
  for (const ReferenceKind kind : row.reference_kinds()) {
    if (auto known = check(row, kind); !known) return known;
  }
  return {};
}

Result<void> InputNames::check(const OptionSet& rows) const {
  for (const auto& [kind, names] : names_) {
    for (const OptionRow* row : rows.rows()) {
      if (auto known = check(*row, kind); !known) return known;
    }
  }
  return {};
}

bool refer_to(const OptionSet& rows, ReferenceKind kind) {
  return std::ranges::any_of(rows.rows(), [&](const OptionRow* row) {
    const std::vector<Reference> references = row->references();
    return std::ranges::find(references, kind, &Reference::kind) != references.end();
  });
}

}  // namespace mir::tools
