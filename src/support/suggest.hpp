// The name that was probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// A suggestion compares its word with every name of a graph or a text, so only so many findings of
/// one code in it get one.
inline constexpr std::size_t kMostSuggestions = 100;

/// True if the last finding of this code may still get a suggestion.
bool may_suggest(const Diagnostics& found, DiagCode code);

/// Keeps the candidate nearest to a word by edit_distance(), where the case of letters does not
/// count. A candidate is near when it is at most a third of the word's length away, or 1, or if the
/// word is the candidate with its begin or end typed twice. Words beyond 64 bytes are near to those
/// that differ in case alone, so that each offer costs little.
class NearestName {
 public:
  explicit NearestName(std::string_view word);

  void offer(std::string_view candidate);
  /// Empty when no candidate is near, or several are equally near.
  std::string_view best() const { return unique_ ? std::string_view(best_) : std::string_view(); }

 private:
  std::string word_, lower_;
  std::string best_;
  std::size_t farthest_;  // what still counts: at last the distance of best_
  bool unique_ = false;
};

/// The least number of characters to insert, leave out, replace or swap with their neighbour to
/// turn `a` into `b`, or `limit` + 1 when it is more than `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

/// True if `word` can only be a misspelt `name`, so that a program may correct it. Chosen names
/// often differ in one letter or number on purpose (`q_proj`, `layers.1`), so `word` must have at
/// least four bytes and the same digits, and differ only in the case of letters, one letter too
/// many or too few, or two swapped neighbours.
bool is_certain_slip(std::string_view word, std::string_view name);

/// Returns where an edit belongs: to the fixes of an error if it is certain, else to the proposals.
std::vector<FixIt>& edits_of(Diagnostic& diagnostic, bool is_certain);

/// Adds the hint "did you mean 'name'?"; nothing for an empty name.
void suggest(Diagnostic& diagnostic, std::string_view name);
/// Likewise with the edit that puts `replacement` in place of `at`, if that is known: a fix of an
/// error if it is certain, else a proposal.
void suggest(Diagnostic& diagnostic, std::string_view name, Span at, std::string replacement,
             bool is_certain = true);

}  // namespace mir
