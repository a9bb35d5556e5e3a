// The same tokenizers in tokenizer.json and in GGUF give the same ids.
#include <algorithm>
#include <span>

#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace files_test {
namespace {

constexpr std::string_view kTexts[] = {
    "",
    "The model reads 12345 tokens, don't you think?",
    "  two  spaces\n\nand lines \t",
    "Küche läuft 模型 🤖 e\u0301",
    "<s>The</s> token<|end|>",
};

std::string data(std::string_view name) {
  return fmt::format("{}/testdata/{}", MIR_SOURCE_ROOT, name);
}

void check_same(std::string_view json, std::string_view gguf,
                std::span<const std::string_view> texts = kTexts) {
  const auto one = Tokenizer::open(data(json)), other = Tokenizer::open(data(gguf));
  REQUIRE(one);
  REQUIRE(other);
  for (const std::string_view text : texts) {
    CAPTURE(text);
    const auto ids = one->encode(text, {}), same = other->encode(text, {});
    REQUIRE(ids);
    REQUIRE(same);
    CHECK(*ids == *same);
    CHECK(one->decode(*ids, {}).value() == other->decode(*same, {}).value());
  }
}

}  // namespace

TEST_CASE("a byte-level tokenizer is the same in both files") {
  check_same("examples/tokenizer/tokenizer.json", "mllm-tokenize/data/gpt2.gguf");
}

TEST_CASE("a SentencePiece tokenizer is the same in both files") {
  check_same("mllm-tokenize/data/sentencepiece.json", "mllm-tokenize/data/llama.gguf");
}

TEST_CASE("a unigram tokenizer is the same in both files") {
  // Before a text that begins with a space, the GGUF file asks for one more.
  constexpr std::string_view kPlainTexts[] = {kTexts[0], kTexts[1], kTexts[3]};
  check_same("mllm-tokenize/data/unigram.json", "mllm-tokenize/data/t5.gguf", kPlainTexts);
}

TEST_CASE("a WordPiece tokenizer is the same in both files") {
  check_same("mllm-tokenize/data/word-piece.json", "mllm-tokenize/data/bert.gguf");
}

TEST_CASE("a folder is read by the file in it") {
  const auto tokenizer = Tokenizer::open(data("examples/tokenizer"));
  REQUIRE(tokenizer);
  CHECK(tokenizer->model_name() == "BPE");
  CHECK(tokenizer->find("<|begin|>").has_value());
  CHECK(std::ranges::equal(tokenizer->ids_before(), std::vector{*tokenizer->find("<|begin|>")}));
}

TEST_CASE("decoding gives the text back where nothing normalises it") {
  const auto tokenizer = Tokenizer::open(data("examples/tokenizer"));
  REQUIRE(tokenizer);
  for (const std::string_view text : kTexts) {
    const auto ids = tokenizer->encode(text, {.adds_special = false});
    REQUIRE(ids);
    CHECK(tokenizer->decode(*ids, {}).value() == text);
  }
}

}  // namespace files_test
