// Where each pre-tokenizer cuts a text.
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace pre_tokenizer_test {
namespace {

const std::string kLetters = letter_model("abcx1234 .,!'\n▁½本日\u00A0");

std::string cut(const std::string& pre_tokenizer, std::string_view text) {
  return tokens_of(made(kLetters, "\"pre_tokenizer\":" + pre_tokenizer), text);
}

std::string split_by(std::string_view pattern, std::string_view behavior, bool inverts) {
  return fmt::format(R"({{"type":"Split","pattern":{{"Regex":"{}"}},"behavior":"{}","invert":{}}})",
                     pattern, behavior, inverts);
}

}  // namespace

TEST_CASE("a split does with its matches what its behaviour says") {
  const auto by_digits = [](std::string_view behavior, bool inverts = false) {
    return cut(split_by("[0-9]", behavior, inverts), "ab12c3");
  };
  CHECK(by_digits("Removed") == "ab|c|");
  CHECK(by_digits("Isolated") == "ab|1|2|c|3|");
  CHECK(by_digits("MergedWithPrevious") == "ab1|2|c3|");
  CHECK(by_digits("MergedWithNext") == "ab|1|2c|3|");
  CHECK(by_digits("Contiguous") == "ab|12|c|3|");
  CHECK(by_digits("Removed", true) == "1|2|3|");
}

TEST_CASE("an empty match cuts nothing off") {
  CHECK(cut(split_by("x*", "Isolated", false), "abxxc") == "a|b|xx|c|");
  CHECK(cut(split_by("x*", "Removed", false), "abxxc") == "a|b|c|");
}

TEST_CASE("pre-tokenizers without an expression cut by classes of characters") {
  CHECK(cut(R"({"type":"Whitespace"})", "ab, ½c!\n1") == "ab|,|½|c|!|1|");
  CHECK(cut(R"({"type":"WhitespaceSplit"})", " ab,\u00A0c!") == "ab,|c!|");
  CHECK(cut(R"({"type":"BertPreTokenizer"})", "ab'b c.") == "ab|'|b|c|.|");
  CHECK(cut(R"({"type":"Digits","individual_digits":true})", "a12½") == "a|1|2|½|");
  CHECK(cut(R"({"type":"Digits","individual_digits":false})", "a12½b") == "a|12½|b|");
  CHECK(cut(R"({"type":"Punctuation"})", "a,.b") == "a|,|.|b|");
  CHECK(cut(R"({"type":"CharDelimiterSplit","delimiter":"x"})", "axxb") == "a|b|");
  CHECK(cut(R"({"type":"FixedLength","length":2})", "a本bcx") == "a本|bc|x|");
}

TEST_CASE("Metaspace begins pieces with the mark, by its scheme") {
  const auto metaspace = [](std::string_view scheme) {
    return fmt::format(R"({{"type":"Metaspace","replacement":"▁","prepend_scheme":"{}"}})", scheme);
  };
  CHECK(cut(metaspace("always"), "a  b") == "▁a|▁|▁b|");
  CHECK(cut(metaspace("always"), " a") == "▁a|");
  CHECK(cut(metaspace("never"), "a b") == "a|▁b|");
  const auto second = fmt::format(R"({{"type":"Sequence","pretokenizers":[{},{}]}})",
                                  split_by(",", "Isolated", false), metaspace("first"));
  CHECK(cut(second, "a,b") == "▁a|,|b|");
  CHECK(cut(R"({"type":"Metaspace","replacement":"▁","add_prefix_space":false})", "a b") ==
        "a|▁b|");
}

TEST_CASE("a byte-level pre-tokenizer spells bytes as letters") {
  const auto tokenizer = made(letter_model("abĠæľ¬Ċ"),
                              R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":true})");
  CHECK(tokens_of(tokenizer, "a b\n\n本") == "Ġa|Ġb|Ċ|Ċ|æľ¬|");
  CHECK(tokens_of(tokenizer, "") == "");
}

}  // namespace pre_tokenizer_test
