// What is wrong with a file, and where.
#include "../weights/gguf_bytes.hpp"
#include "mir/codes/tokenizers.hpp"
#include "tokenizer/known_patterns.hpp"
#include "tokenizer/tokenizer_parts.hpp"
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace refusal_test {
namespace {

std::string refusal(std::string_view json, DiagCode code = diag::kTokenizerMalformed) {
  const auto tokenizer = Tokenizer::parse(json, "t.json");
  REQUIRE_FALSE(tokenizer);
  CHECK(tokenizer.error().code == code);
  return tokenizer.error().message;
}

std::string model_refusal(const std::string& members, DiagCode code = diag::kTokenizerMalformed) {
  return refusal(R"({"model":{)" + members + "}}", code);
}

std::string part_refusal(const std::string& members, DiagCode code = diag::kTokenizerMalformed) {
  return refusal(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},)" + members + "}", code);
}

std::string gguf_refusal(std::vector<std::string> pairs,
                         DiagCode code = diag::kTokenizerMalformed) {
  const auto bytes =
      std::make_shared<const std::string>(GgufParts{.pairs = std::move(pairs), .data = 0}.bytes());
  const auto tokenizer = mir::tokenizer::read_gguf_tokenizer(
      FileBytes{std::as_bytes(std::span(*bytes)), bytes, "t.gguf"});
  REQUIRE_FALSE(tokenizer);
  CHECK(tokenizer.error().code == code);
  return tokenizer.error().message;
}

std::string strings(const std::string& key, const std::vector<std::string>& items) {
  std::string value = little(8, 4) + little(items.size(), 8);
  for (const std::string& each : items) value += gguf_string(each);
  return gguf_pair("tokenizer.ggml." + key, 9, value);
}

std::string text(const std::string& key, const std::string& value) {
  return gguf_pair("tokenizer.ggml." + key, 8, gguf_string(value));
}

}  // namespace

TEST_CASE("a text that is not JSON is refused with the byte") {
  CHECK(refusal("{\"model\":}") == "'t.json' is not JSON at byte 10");
  CHECK(refusal("{}x") == "'t.json' is not JSON at byte 3");
  CHECK(refusal(std::string("{\0}", 3)) == "'t.json' has a NUL byte at byte 1");
  CHECK(refusal("\"\xFF\"") == "'t.json' is not UTF-8 at byte 1");
  CHECK(refusal(std::string(100, '[')) == "'t.json' is nested over 64 deep");
  CHECK(refusal(R"({"a":{"b":1,"b":2}})") ==
        "'t.json' has the key 'b' twice in the object at '/a'");
}

TEST_CASE("a wrong value is refused with its place") {
  CHECK(refusal("[]") == "'t.json': the document: expected an object");
  CHECK(refusal("{}") == "'t.json': /model: is nothing, expected an object");
  CHECK(model_refusal(R"("type":"BPE","vocab":{"a":-1},"merges":[])") ==
        "'t.json': /model/vocab/a: is a number, expected an id from 0 to 4194303");
  CHECK(model_refusal(R"("type":"BPE","vocab":{"a":0,"b":0},"merges":[])") ==
        "'t.json': /model/vocab: id 0 of token 'b' is also that of 'a'");
  CHECK(model_refusal(R"("type":"BPE","vocab":{"a":0},"merges":["a a"])") ==
        "'t.json': /model/merges/0: token 'aa' is not in the vocabulary");
  CHECK(model_refusal(R"("type":"BPE","vocab":{"a":0},"merges":["a a a"])") ==
        "'t.json': /model/merges/0: expected two tokens: a string with one space or a list of two "
        "strings");
  CHECK(model_refusal(R"("type":"Unigram","unk_id":3,"vocab":[["a",0]])") ==
        "'t.json': /model/unk_id: is 3, the vocabulary has 1 tokens");
  CHECK(part_refusal(R"("added_tokens":[{"id":0,"content":"b"}])") ==
        "'t.json': /added_tokens/0: id 0 of 'b' is also that of 'a' in the vocabulary");
  CHECK(part_refusal(
            R"("pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"("}})") ==
        "'t.json': /pre_tokenizer/pattern/Regex: the regular expression is refused: missing "
        "closing parenthesis");
  CHECK(part_refusal(R"("normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"})") ==
        "'t.json': /normalizer/precompiled_charsmap: the character map has 3 bytes");
}

TEST_CASE("a part that the toolkit lacks is refused by its name") {
  const DiagCode code = diag::kTokenizerUnsupported;
  CHECK(model_refusal(R"("type":"Tiktoken")", code) ==
        "'t.json': /model: the model 'Tiktoken' is not supported");
  CHECK(model_refusal(R"("type":"BPE","dropout":0.1,"vocab":{},"merges":[])", code) ==
        "'t.json': /model/dropout: dropout is not supported: it chooses merges at random");
  CHECK(part_refusal(R"("decoder":{"type":"CTC"})", code) ==
        "'t.json': /decoder: the decoder 'CTC' is not supported");
  CHECK(part_refusal(
            R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"UnicodeScripts"}]})",
            code) ==
        "'t.json': /pre_tokenizer/pretokenizers/0: the pre-tokenizer 'UnicodeScripts' is not "
        "supported");
}

TEST_CASE("text that is not UTF-8 is refused with the byte") {
  const auto tokenizer = made(letter_model("a"));
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode("a\xFF", {});
  REQUIRE_FALSE(ids);
  CHECK(ids.error().message == "the text is not UTF-8 at byte 1");
}

TEST_CASE("metadata of a GGUF file are refused by their keys") {
  CHECK(gguf_refusal({}) == "'t.gguf': 'tokenizer.ggml.tokens' is not a list of strings");
  CHECK(gguf_refusal({strings("tokens", {"a"})}) == "'t.gguf': 'tokenizer.ggml.model' is missing");
  CHECK(gguf_refusal({strings("tokens", {"a"}), text("model", "llama")}) ==
        "'t.gguf': 'tokenizer.ggml.scores' is not a list of 1 numbers");
  CHECK(gguf_refusal({strings("tokens", {"a", "a"}), text("model", "gpt2"), text("pre", "gpt-2"),
                      strings("merges", {})}) ==
        "'t.gguf': 'tokenizer.ggml.tokens' has the token 'a' twice, as items 0 and 1");
  CHECK(gguf_refusal({strings("tokens", {"a"}), text("model", "rwkv")},
                     diag::kTokenizerUnsupported) ==
        "'t.gguf': 'tokenizer.ggml.model' is 'rwkv', known are: llama, gpt2, bert, t5");
}

TEST_CASE("an unknown pre-tokenizer of a GGUF file is refused with those that are known") {
  const std::string message =
      gguf_refusal({strings("tokens", {"a"}), text("model", "gpt2"), text("pre", "newest")},
                   diag::kTokenizerUnsupported);
  CHECK(message == "'t.gguf': 'tokenizer.ggml.pre' is 'newest', known are: " +
                       mir::tokenizer::known_pre_tokenizer_names());
  CHECK(message.find("llama-bpe") != message.npos);
}

TEST_CASE("every known pre-tokenizer has expressions that compile") {
  std::string_view names = "";
  const std::string all = mir::tokenizer::known_pre_tokenizer_names();
  for (names = all; !names.empty();) {
    const std::string_view name = names.substr(0, names.find(", "));
    names.remove_prefix(std::min(names.size(), name.size() + 2));
    const auto* known = mir::tokenizer::find_known_pre_tokenizer(name);
    REQUIRE(known != nullptr);
    for (const std::string_view pattern : known->patterns)
      CHECK(mir::tokenizer::Regex::compile(pattern).ok());
  }
}

}  // namespace refusal_test
