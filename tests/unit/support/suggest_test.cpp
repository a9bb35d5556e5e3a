#include "support/suggest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "mir/codes/syntax.hpp"

using namespace mir;

namespace {

std::string nearest(std::string_view word, std::initializer_list<std::string_view> candidates) {
  NearestName name(word);
  for (const std::string_view each : candidates) name.offer(each);
  return std::string(name.best());
}

/// The distance by its definition: optimal string alignment, without bounds or tables.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view x = a.substr(1), y = b.substr(1);
  std::size_t least = std::min(
      {slow_distance(x, b) + 1, slow_distance(a, y) + 1, slow_distance(x, y) + (a[0] != b[0])});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    least = std::min(least, slow_distance(a.substr(2), b.substr(2)) + 1);
  }
  return least;
}

}  // namespace

TEST_CASE("the edit distance is that of its definition, cut at the limit") {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; i < words.size() && words[i].size() < 4; ++i) {
    for (const char letter : {'a', 'b'}) words.push_back(words[i] + letter);
  }
  words.emplace_back("abcd");
  words.emplace_back("badc");
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      for (std::size_t limit = 0; limit < 6; ++limit) {
        CAPTURE(a);
        CAPTURE(b);
        REQUIRE(edit_distance(a, b, limit) == std::min(slow_distance(a, b), limit + 1));
      }
    }
  }
  const std::string longest(64, 'x'), longer(65, 'x');
  CHECK(edit_distance(longest, longest, 3) == 0);
  CHECK(edit_distance(longer, longer, 3) == 4);
}

TEST_CASE("only so many findings of a code get a suggestion") {
  Diagnostics found(0);
  for (std::uint32_t i = 1; i <= 2 * kMostSuggestions; ++i) {
    found.error(diag::kUnexpectedToken, {i, i + 1}, "other");
  }
  CHECK(may_suggest(found, diag::kTrailingText));
  for (std::uint32_t i = 1; i <= kMostSuggestions; ++i) {
    found.error(diag::kTrailingText, {i, i + 1}, "each");
    CHECK(may_suggest(found, diag::kTrailingText));
  }
  found.error(diag::kTrailingText, {1000, 1001}, "one more");
  CHECK_FALSE(may_suggest(found, diag::kTrailingText));
  CHECK_FALSE(may_suggest(found, diag::kUnexpectedToken));
}

TEST_CASE("the nearest name is a slip away and the only one so near") {
  CHECK(nearest("axsi", {"dim", "axis", "axes"}) == "axis");
  CHECK(nearest("transpose", {"transpose_a", "transpose_b"}) == "");
  CHECK(nearest("SiluOp", {"SiLUOp", "SinOp"}) == "SiLUOp");
  CHECK(nearest("SOFTMAX", {"softmax", "softmix"}) == "softmax");
  // The ends of the alphabet, and what lies beside it.
  CHECK(nearest("AZAZ", {"azaz"}) == "azaz");
  CHECK(nearest("@[@[", {"`{`{"}) == "");
  CHECK(nearest("ab", {"xb"}) == "xb");
  CHECK(nearest("ab", {"xy"}) == "");
  CHECK(nearest("epsilon", {"dim"}) == "");
  CHECK(nearest("dim", {"dim"}) == "");
  CHECK(nearest("dim1", {"dim0", "dim2", "dim", "dim0"}) == "");
  CHECK(nearest("dimm", {"dxxm", "dim", "dxm"}) == "dim");
  CHECK(nearest("", {"a"}) == "a");
  CHECK(nearest("x", {""}) == "");
  // Typed twice.
  CHECK(nearest("GreaterOpGreaterOp", {"GreaterOp", "GreaterEqualOp"}) == "GreaterOp");
  CHECK(nearest("linalg.CPU.AddOpAddOp", {"linalg.CPU.AddOp"}) == "linalg.CPU.AddOp");
  CHECK(nearest("linalg.CPU.linalg.CPU.AddOp", {"linalg.CPU.AddOp"}) == "linalg.CPU.AddOp");
  CHECK(nearest("AddOpAddOpAddOp", {"AddOp"}) == "");
  CHECK(nearest(std::string(100, 'x'), {std::string(100, 'X')}) == std::string(100, 'X'));
}

TEST_CASE("slips that can be nothing else") {
  CHECK(is_certain_slip("wieght", "weight"));
  CHECK(is_certain_slip("weigt", "weight"));
  CHECK(is_certain_slip("weigght", "weight"));
  CHECK(is_certain_slip("Weight", "weight"));
  CHECK(is_certain_slip("weighth", "weight"));
  CHECK(is_certain_slip("weihgt", "weight"));
  CHECK(is_certain_slip("weigth", "weight"));
  CHECK_FALSE(is_certain_slip("weighs", "weight"));
  CHECK_FALSE(is_certain_slip("weixht", "weight"));
  CHECK_FALSE(is_certain_slip("wegiht", "weihgt"));
  CHECK_FALSE(is_certain_slip("q_proj", "k_proj"));
  CHECK_FALSE(is_certain_slip("layers.1", "layers.0"));
  CHECK_FALSE(is_certain_slip("layers.1", "layers.10"));
  CHECK_FALSE(is_certain_slip("wk", "wkk"));
  CHECK_FALSE(is_certain_slip("ab", "ba"));
  CHECK_FALSE(is_certain_slip("weight", "wight_"));
}

TEST_CASE("a suggestion is a hint, and an edit where a place is known") {
  Diagnostic diagnostic;
  suggest(diagnostic, "");
  CHECK(diagnostic == Diagnostic());
  suggest(diagnostic, "axis", {}, "axis");
  CHECK(diagnostic.hint == "did you mean 'axis'?");
  CHECK(diagnostic.fixes.empty());
  suggest(diagnostic, "axis", {3, 5}, "axis");
  REQUIRE(diagnostic.fixes.size() == 1);
  CHECK(diagnostic.fixes[0] == FixIt{{3, 5}, "axis"});
}
