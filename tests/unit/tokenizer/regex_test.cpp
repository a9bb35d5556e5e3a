// Expressions in Oniguruma's syntax, and searches that end.
#include "tokenizer/regex.hpp"

#include "mir/codes/tokenizers.hpp"
#include "tokenizer/regex_syntax.hpp"
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace regex_test {
namespace {

/// The matches of an expression, separated by `|`.
std::string matches(std::string_view expression, std::string_view text) {
  const auto regex = tokenizer::Regex::compile(expression);
  REQUIRE(regex);
  tokenizer::RegexSearch search(*regex, text);
  std::string found;
  while (true) {
    const auto match = search.next();
    REQUIRE(match);
    if (!match->has_value()) return found;
    const auto [begin, end] = **match;
    found += fmt::format("{}|", text.substr(begin, end - begin));
  }
}

std::string refusal(std::string_view expression) {
  const auto translated = tokenizer::pcre2_syntax(expression);
  REQUIRE_FALSE(translated);
  CHECK(translated.error().code == diag::kTokenizerUnsupported);
  return translated.error().message;
}

}  // namespace

TEST_CASE("white space is that of Unicode: NEL is, U+180E and U+FEFF are not") {
  CHECK(matches(R"(\s+)", "a\u0085b\u180Ec\uFEFFd\u3000") == "\u0085|\u3000|");
  CHECK(matches(R"([^\s\p{L}])", "a\u0085\u180E") == "\u180E|");
  CHECK(matches(R"([\S])", "\u0085x ") == "x|");
}

TEST_CASE("marks are word characters but no letters") {
  CHECK(matches(R"(\w+)", "क\u093E½ x_") == "क\u093E½|x_|");
  CHECK(matches(R"([\w]+)", "½x_") == "x_|");
  CHECK(matches(R"(\p{L}+)", "क\u093Eक") == "क|क|");
  CHECK(matches(R"(\b)", "a\u0301") == "||");
}

TEST_CASE("case folds as in Unicode") {
  CHECK(matches(R"((?i:'s))", "'S 'ſ") == "'S|'ſ|");
}

TEST_CASE("syntax of Oniguruma has its meaning") {
  CHECK(matches(R"((?m).x)", "\nx") == "\nx|");
  CHECK(matches(R"(^a$)", "a\na") == "a|a|");
  CHECK(matches(R"(a{,2}b)", "aaab") == "aab|");
  CHECK(matches(R"(\h+)", "xyz0aF") == "0aF|");
  CHECK(matches(R"(\p{Han}\p{Letter})", "本日x") == "本日|");
  CHECK(matches(R"(\p{^L})", "a1") == "1|");
  CHECK(matches(R"(\u0061)", "ba") == "a|");
}

TEST_CASE("classes can be nested and intersected") {
  CHECK(matches(R"([a[bc]]+)", "abcd") == "abc|");
  CHECK(matches(R"([\p{L}&&[^a-c]]+)", "abxyz1") == "xyz|");
  CHECK(matches(R"([^a-z&&[^aeiou]])", "ab1") == "a|1|");
  CHECK(matches(R"([[:space:]a])", "a\u0085b") == "a|\u0085|");
}

TEST_CASE("syntax without an equal is refused by its name") {
  CHECK(refusal("(*VERB)") == "'(*' at byte 0 is not supported in a regular expression");
  CHECK(refusal(R"([\W])") == "'\\W' in a class at byte 1 is not supported");
  CHECK(refusal("(?a:x)") == "option 'a' at byte 2 is not supported in a regular expression");
  CHECK(refusal("[a") == "a class of a regular expression has no ']'");
  CHECK(refusal("[x[^y]z]") == "a negated class in a class at byte 6 is not supported");
}

TEST_CASE("a search that takes too many steps is an error") {
  const auto regex = tokenizer::Regex::compile("(?:a|aa)+$");
  REQUIRE(regex);
  const std::string text = std::string(5000, 'a') + "b";
  tokenizer::RegexSearch search(*regex, text);
  const auto match = search.next();
  REQUIRE_FALSE(match);
  CHECK(match.error().code == diag::kTextNotTokenized);
}

TEST_CASE("long matches and long runs of white space are found") {
  const std::string spaces(300'000, ' ');
  CHECK(matches(R"(\s*[\r\n]+|\s+(?!\S)|\s+)", spaces + "x").size() == spaces.size() + 2);
  const std::string letters(300'000, 'a');
  CHECK(matches(R"((?:\p{L}\p{M}*)+)", letters).size() == letters.size() + 1);
}

}  // namespace regex_test
