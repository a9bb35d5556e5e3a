// Decoding of ids, at once and one by one.
#include "mir/codes/tokenizers.hpp"
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace stream_test {
namespace {

const std::string kBytes =
    R"({"type":"BPE","byte_fallback":true,"unk_token":"?","vocab":{"?":0,"▁a":1,"b":2,"▁":3,"<0xE6>":4,"<0x97>":5,"<0xA5>":6,"<0xFF>":7,"a":8},"merges":[]})";
const std::string kLlama =
    R"("decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]})";
const std::string kLetters =
    R"({"type":"BPE","vocab":{"a":0,"æ":1,"Ĺ":2,"¥":3,"ÿ":4,"é":5,"€":6,"ð":7},"merges":[]})";
const std::string kByteLevel = R"("decoder":{"type":"ByteLevel"})";

/// The texts of a stream, each followed by `|`; what finish() returns comes last.
std::string streamed(const Result<Tokenizer>& tokenizer, const std::vector<TokenId>& ids) {
  REQUIRE(tokenizer);
  tokenizer::TokenStream stream(*tokenizer, {});
  std::string parts, text;
  const auto take = [&](const Result<std::string>& part) {
    REQUIRE(part);
    parts += *part + "|";
    text += *part;
  };
  for (const TokenId id : ids) take(stream.add(id));
  take(stream.finish());
  CHECK(tokenizer->decode(ids, {}).value() == text);
  return parts;
}

}  // namespace

TEST_CASE("byte-level ids give text when a code point is complete") {
  const auto tokenizer = made(kLetters, kByteLevel);
  CHECK(streamed(tokenizer, {0, 1, 2, 3, 0}) == "a|||日|a||");
  CHECK(streamed(tokenizer, {6, 0}) == "€|a||");
}

TEST_CASE("bytes that no code point has become U+FFFD, one for each part") {
  const auto tokenizer = made(kLetters, kByteLevel);
  CHECK(streamed(tokenizer, {1, 2, 0}) == "||\uFFFDa||");
  CHECK(streamed(tokenizer, {1, 1, 2}) == "|\uFFFD||\uFFFD|");
  CHECK(streamed(tokenizer, {4, 4}) == "\uFFFD|\uFFFD||");
  CHECK(streamed(tokenizer, {7}) == "|\uFFFD|");
}

TEST_CASE("tokens of bytes wait until their run ends") {
  const auto tokenizer = made(kBytes, kLlama);
  CHECK(streamed(tokenizer, {1, 4, 5, 6, 2}) == "a||||日b||");
  CHECK(streamed(tokenizer, {1, 4, 5}) == "a|||\uFFFD\uFFFD|");
  CHECK(streamed(tokenizer, {1, 3, 1}) == "a| | a||");
}

TEST_CASE("a suffix becomes a space unless the token is the last one") {
  const auto tokenizer = made(R"({"type":"BPE","vocab":{"a_":0,"b":1},"merges":[]})",
                              R"("decoder":{"type":"BPEDecoder","suffix":"_"})");
  CHECK(streamed(tokenizer, {0, 1, 0}) == "|a |b|a|");
}

TEST_CASE("a stripped end waits for the end") {
  const auto tokenizer = made(
      R"({"type":"BPE","vocab":{"a":0,"b":1},"merges":[]})",
      R"("decoder":{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":"a","start":1,"stop":2}]})");
  CHECK(streamed(tokenizer, {0, 0, 1, 0, 0, 0}) == "||ab|||a||");
}

TEST_CASE("WordPiece joins its parts and pulls punctuation to the left") {
  const auto tokenizer =
      made(R"({"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2,".":3,"'":4}})",
           R"("decoder":{"type":"WordPiece","prefix":"##","cleanup":true})");
  CHECK(streamed(tokenizer, {1, 2, 1, 3}) == "a|b| a|.||");
}

TEST_CASE("a file without a decoder puts spaces between tokens") {
  CHECK(streamed(made(R"({"type":"BPE","vocab":{"a":0},"merges":[]})"), {0, 0}) == "a| a||");
}

TEST_CASE("an id without a token is refused") {
  const auto tokenizer = made(kLetters);
  REQUIRE(tokenizer);
  const auto decoded = tokenizer->decode(std::vector<TokenId>{0, 99}, {});
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().code == diag::kTokenIdUnknown);
  CHECK(decoded.error().message == "no token has the id 99, ids are below 8");
}

}  // namespace stream_test
