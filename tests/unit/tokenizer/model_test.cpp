// Which tokens the models choose.
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace model_test {
namespace {

std::string words(const Result<Tokenizer>& tokenizer, std::string_view text) {
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode(text, {});
  REQUIRE(ids);
  std::string out;
  for (const TokenId id : *ids) out += fmt::format("{} ", tokenizer->token(id)->text);
  return out;
}

}  // namespace

TEST_CASE("BPE merges the pair of the lowest rank, the leftmost first") {
  const auto bpe = made(
      R"({"type":"BPE","vocab":{"a":0,"b":1,"c":2,"bc":3,"ab":4,"aa":5,"abc":6},"merges":["b c","a b","a a",["a","bc"]]})");
  CHECK(words(bpe, "abc") == "abc ");
  CHECK(words(bpe, "aab") == "a ab ");
  CHECK(words(bpe, "aaa") == "aa a ");
}

TEST_CASE("a piece that is a token needs no merges if these are ignored") {
  const std::string vocabulary = R"("vocab":{"a":0,"b":1,"c":2,"abc":3},"merges":[])";
  CHECK(words(made(R"({"type":"BPE",)" + vocabulary + "}"), "abc") == "a b c ");
  CHECK(words(made(R"({"type":"BPE","ignore_merges":true,)" + vocabulary + "}"), "abc") == "abc ");
}

TEST_CASE("BPE spells unknown characters as bytes, or as one unknown token") {
  const auto bpe = [](std::string_view rules) {
    return made(fmt::format(
        R"({{"type":"BPE","unk_token":"?",{}"vocab":{{"?":0,"a":1,"<0xC3>":2,"<0xA9>":3}},"merges":[]}})",
        rules));
  };
  CHECK(words(bpe(R"("byte_fallback":true,)"), "aé") == "a <0xC3> <0xA9> ");
  CHECK(words(bpe(R"("byte_fallback":true,)"), "a€") == "a ? ");
  CHECK(words(bpe(""), "xxa") == "? ? a ");
  CHECK(words(bpe(R"("fuse_unk":true,)"), "xxa") == "? a ");
  CHECK(words(made(R"({"type":"BPE","vocab":{"a":1},"merges":[]})"), "xax") == "a ");
}

TEST_CASE("Unigram takes the greatest sum of scores, of equal ones the longest token") {
  const auto unigram = [](std::string_view more) {
    return made(fmt::format(
        R"({{"type":"Unigram","unk_id":0,{}"vocab":[["?",0],["a",-1],["b",-1],["ab",-2],["abc",-9],["c",-2]]}})",
        more));
  };
  CHECK(words(unigram(""), "ab") == "ab ");
  CHECK(words(unigram(""), "abc") == "ab c ");
  CHECK(words(unigram(""), "axyb") == "a ? b ");
  const auto without = made(R"({"type":"Unigram","vocab":[["a",-1]]})");
  REQUIRE(without);
  const auto refused = without->encode("ax", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "'x' has no token, and the model has none for unknown text");
}

TEST_CASE("WordPiece takes the longest token, or the whole word is unknown") {
  const auto model = made(
      R"({"type":"WordPiece","max_input_chars_per_word":6,"vocab":{"[UNK]":0,"a":1,"ab":2,"##c":3,"##cd":4}})",
      R"("pre_tokenizer":{"type":"WhitespaceSplit"})");
  CHECK(words(model, "abcd a abx") == "ab ##cd a [UNK] ");
  CHECK(words(model, "acccccc") == "[UNK] ");
}

TEST_CASE("a word of a million letters takes no time that grows with its square") {
  const auto bpe =
      made(R"({"type":"BPE","vocab":{"a":0,"aa":1,"aaaa":2},"merges":["a a","aa aa"]})");
  REQUIRE(bpe);
  const auto ids = bpe->encode(std::string(1'000'000, 'a'), {});
  REQUIRE(ids);
  CHECK(ids->size() == 250'000);
  const auto unigram = made(R"({"type":"Unigram","vocab":[["a",-1],["aaaa",-1.5]]})");
  REQUIRE(unigram);
  const auto pieces = unigram->encode(std::string(1'000'000, 'a'), {});
  REQUIRE(pieces);
  CHECK(pieces->size() == 250'000);
}

}  // namespace model_test
