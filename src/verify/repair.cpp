// Applies suggested edits while they reduce the errors of a text.
#include "verify/repair.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>
#include <vector>

#include "mir/codes/verification.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"
#include "syntax/damage.hpp"

namespace mir {

namespace {

/// Errors of a text by the stages of reading it: a repair counts if it lessens the number
/// of one stage and raises none before it, since a stage sees more once the one before sees less.
struct Counts {
  std::size_t of_syntax = 0;
  std::size_t of_names = 0;         ///< and of types
  std::size_t of_verification = 0;  ///< errors
  std::size_t of_ranges = 0;        ///< of quantisation that are not those of their type
  auto operator<=>(const Counts&) const = default;
};

struct Findings {
  Counts counts;
  std::size_t first_error = 0;          ///< of syntax: its place
  std::vector<std::string> candidates;  ///< texts after edits, the most thorough one first

  bool better_than(const Findings& other) const {
    if (counts != other.counts) return counts < other.counts;
    // A second mistake on a line shows only once the first one is repaired.
    return counts.of_syntax != 0 && first_error > other.first_error;
  }
};

/// All offered edits together, then those of each diagnostic alone.
std::vector<std::string> candidates_of(const SourceFile& file, std::vector<Diagnostic> offers) {
  constexpr std::size_t kMostSingle = 16;
  std::erase_if(offers, [](const Diagnostic& each) { return each.fixes.empty(); });
  std::vector<std::string> texts;
  if (offers.empty()) return texts;
  texts.push_back(apply_fixes(file, offers));
  for (std::size_t i = 0; i < offers.size() && offers.size() > 1 && i < kMostSingle; ++i) {
    texts.push_back(apply_fixes(file, std::span(offers).subspan(i, 1)));
  }
  std::erase_if(texts, [&](const std::string& text) { return text == file.text(); });
  return texts;
}

/// Findings of a sound dump whose mending changes nothing that a device does: it takes a range that
/// its type cannot hold for the type's own. Others, such as names of plug-in ops, may be meant.
std::vector<Diagnostic> ranges_of(std::span<Module* const> modules) {
  Diagnostics diagnostics;
  for (const Module* module : modules) {
    verify(*module, diagnostics, {.findings_per_code = 0});
  }
  std::vector<Diagnostic> ranges = diagnostics.sorted();
  std::erase_if(ranges, [](const Diagnostic& each) { return each.code != diag::kQuantRange; });
  return ranges;
}

Findings examine(std::string_view name, const std::string& text) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add(std::string(name), text);
  Findings found;
  if (file == nullptr) return found;
  constexpr std::size_t kMostErrors = 1000;
  Diagnostics diagnostics(kMostErrors);
  const SyntaxTree tree = parse_damaged(*file, diagnostics);
  Counts& counts = found.counts;
  counts.of_syntax = diagnostics.error_count();
  if (const Diagnostic* first = diagnostics.find_error([](const Diagnostic&) { return true; })) {
    found.first_error = first->at.begin;
  }
  const std::vector<Module*> modules = resolve(tree, context, diagnostics);
  counts.of_names = diagnostics.error_count() - counts.of_syntax;
  if (diagnostics.has_errors()) {
    verify_unsound(modules, diagnostics, {.report_findings = false});
  } else {
    for (const Module* module : modules) verify(*module, diagnostics, {.report_findings = false});
  }
  counts.of_verification = diagnostics.error_count() - counts.of_syntax - counts.of_names;
  std::vector<Diagnostic> offers = diagnostics.sorted();
  if (counts == Counts{}) {
    offers = ranges_of(modules);
    counts.of_ranges = offers.size();
  }
  found.candidates = candidates_of(*file, std::move(offers));
  return found;
}

}  // namespace

std::string apply_fixes(const SourceFile& file, std::span<const Diagnostic> diagnostics) {
  const auto inside = [&](const FixIt& fix) {
    return fix.at.begin >= file.base() && fix.at.begin <= fix.at.end &&
           fix.at.end <= file.base() + file.size();
  };
  std::vector<FixIt> edits;
  const auto overlaps = [&](const FixIt& fix) {
    return std::ranges::any_of(edits, [&](const FixIt& each) {
      return each.at == fix.at || (each.at.begin < fix.at.end && fix.at.begin < each.at.end);
    });
  };
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto& fixes = diagnostic.fixes;
    if (!std::ranges::all_of(fixes, inside) || std::ranges::any_of(fixes, overlaps)) continue;
    edits.insert(edits.end(), fixes.begin(), fixes.end());
  }
  std::ranges::stable_sort(edits, {}, [](const FixIt& fix) { return fix.at.begin; });
  std::string text;
  SourcePos done = file.base();
  for (const FixIt& edit : edits) {
    text += file.slice({done, edit.at.begin});
    text += edit.replacement;
    done = edit.at.end;
  }
  return text += file.slice({done, file.base() + file.size()});
}

Repair repair(std::string_view name, std::string text) {
  constexpr std::size_t kMostRounds = 64;
  Repair result{text, 0};
  std::string current = std::move(text);
  Findings found = examine(name, current);
  for (std::size_t round = 1; round <= kMostRounds; ++round) {
    std::optional<Findings> next;
    for (std::string& candidate : found.candidates) {
      Findings then = examine(name, candidate);
      if (!then.better_than(found)) continue;
      current = std::move(candidate);
      next = std::move(then);
      break;
    }
    if (!next) return result;
    found = *std::move(next);
    if (found.counts.of_syntax == 0) result = {current, round};
  }
  return result;
}

}  // namespace mir
