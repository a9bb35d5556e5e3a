// How added tokens are found in texts.
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace added_tokens_test {
namespace {

std::string token(TokenId id, std::string_view content, std::string_view flags) {
  return fmt::format(R"({{"id":{},"content":"{}","special":true,"normalized":false{}}})", id,
                     content, flags);
}

Result<Tokenizer> with_tokens(const std::string& tokens, const std::string& members = "") {
  return made(letter_model("abxABX <>"), fmt::format(R"("added_tokens":[{}]{})", tokens, members));
}

}  // namespace

TEST_CASE("of added tokens the leftmost and then the longest is found") {
  const auto tokenizer =
      with_tokens(token(90, "<a>", "") + "," + token(91, "<a><", "") + "," + token(92, "<", ""));
  CHECK(tokens_of(tokenizer, "<a><b") == "<a><b|");
  CHECK(tokenizer->encode("<a>b", {.adds_special = false}).value().front() == 90);
}

TEST_CASE("added tokens take white space on the sides that they say") {
  CHECK(tokens_of(with_tokens(token(90, "<", R"(,"lstrip":true)")), "a  < b") == "a|< b|");
  CHECK(tokens_of(with_tokens(token(90, "<", R"(,"rstrip":true)")), "a <  b") == "a |<b|");
}

TEST_CASE("a token of a single word is not found inside a word") {
  const auto tokenizer = with_tokens(token(90, "ab", R"(,"single_word":true)"));
  CHECK(tokenizer->encode("ab", {}).value() == std::vector<TokenId>{90});
  CHECK(tokens_of(tokenizer, "xab") == "xab|");
}

TEST_CASE("a normalised token is found in the normalised text") {
  const auto tokenizer =
      with_tokens(R"({"id":90,"content":"ABX","special":false,"normalized":true})",
                  R"(,"normalizer":{"type":"Lowercase"})");
  CHECK(tokens_of(tokenizer, "aAbXb") == "a|ABXb|");
}

TEST_CASE("special tokens in text of users can be left as text") {
  const auto tokenizer = with_tokens(token(90, "<a>", "") + R"(,{"id":91,"content":"xx"})");
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode("<a>xx", {.finds_special = false});
  REQUIRE(ids);
  CHECK(ids->size() == 4);
  CHECK(ids->back() == 91);
}

TEST_CASE("the post-processor puts tokens around a text") {
  const auto tokenizer = with_tokens(
      token(90, "<a>", "") + "," + token(91, "<b>", ""),
      R"(,"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"BertProcessing","cls":["<a>",90],"sep":["<b>",91]}]})");
  REQUIRE(tokenizer);
  CHECK(tokenizer->encode("x", {}).value() == std::vector<TokenId>{90, 6, 91});
  CHECK(tokenizer->encode("x", {.adds_special = false}).value() == std::vector<TokenId>{6});
  CHECK(tokenizer->decode(std::vector<TokenId>{90, 6}, {.skips_special = true}).value() == "x|");
}

}  // namespace added_tokens_test
