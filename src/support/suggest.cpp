// Finds the candidate nearest to a misspelt name by edit distance and suggests it.
#include "support/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "support/characters.hpp"

namespace mir {

namespace {

constexpr std::size_t kLongestWord = 64;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > limit || longer > kLongestWord) return limit + 1;
  std::array<std::array<std::size_t, kLongestWord + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return std::min(rows[a.size() % 3][b.size()], limit + 1);
}

bool may_suggest(const Diagnostics& found, DiagCode code) {
  std::size_t count = 0;
  for (const DiagnosticCount& each : found.counts()) count += each.code == code ? each.count : 0;
  return count <= kMostSuggestions;
}

NearestName::NearestName(std::string_view word)
    : word_(word),
      lower_(lower_case(word)),
      farthest_(std::max<std::size_t>(1, std::min(word.size(), kLongestWord) / 3)) {}

namespace {

/// True if the word is the name with its begin or its end typed twice.
bool is_typed_twice(std::string_view word, std::string_view name) {
  constexpr std::size_t kShortest = 3;
  if (word.size() < name.size() + kShortest || word.size() > 2 * name.size()) return false;
  const std::size_t more = word.size() - name.size();
  return (word.ends_with(name) && word.starts_with(name.substr(0, more))) ||
         (word.starts_with(name) && word.ends_with(name.substr(name.size() - more)));
}

}  // namespace

void NearestName::offer(std::string_view candidate) {
  if (candidate.empty() || candidate == word_ || candidate == best_) return;
  const std::string lower = lower_case(candidate);
  const std::size_t distance = lower == lower_ ? 0
                               : is_typed_twice(lower_, lower)
                                   ? 1
                                   : edit_distance(lower_, lower, farthest_);
  if (distance > farthest_) return;
  unique_ = best_.empty() || distance < farthest_;
  if (!unique_) return;
  best_ = candidate;
  farthest_ = distance;
}

bool is_certain_slip(std::string_view word, std::string_view name) {
  constexpr std::size_t kShortest = 4;
  if (word.size() < kShortest || name.size() < kShortest) return false;
  const auto digits = [](std::string_view text) {
    std::string found;
    std::ranges::copy_if(text, std::back_inserter(found),
                         [](char byte) { return byte >= '0' && byte <= '9'; });
    return found;
  };
  const std::string a = lower_case(word), b = lower_case(name);
  if (digits(a) != digits(b)) return false;
  if (a == b) return true;
  if (edit_distance(a, b, 1) != 1) return false;
  // One of another length was left out or put in; one of the same length is a swap or another
  // letter.
  const auto [at, other] = std::ranges::mismatch(a, b);
  return a.size() != b.size() || (at + 1 != a.end() && *at == other[1] && at[1] == *other);
}

std::vector<FixIt>& edits_of(Diagnostic& diagnostic, bool is_certain) {
  const bool is_fix = is_certain && diagnostic.severity == Severity::kError;
  return is_fix ? diagnostic.fixes : diagnostic.proposals;
}

void suggest(Diagnostic& diagnostic, std::string_view name) {
  if (!name.empty()) diagnostic.hint = fmt::format("did you mean '{}'?", name);
}

void suggest(Diagnostic& diagnostic, std::string_view name, Span at, std::string replacement,
             bool is_certain) {
  suggest(diagnostic, name);
  if (name.empty() || !at.known()) return;
  edits_of(diagnostic, is_certain).push_back({at, std::move(replacement)});
}

}  // namespace mir
