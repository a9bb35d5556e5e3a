// What each normalizer makes of a text.
#include "tokenizer/normalizer.hpp"

#include "tokenizer/code_points.hpp"
#include "tokenizers.hpp"

using namespace mir;
using namespace mir::test;

namespace normalizer_test {
namespace {

std::string normal(const std::string& json, std::string_view text) {
  const auto document = tokenizer::JsonDocument::parse(json);
  REQUIRE(document);
  tokenizer::JsonReader reader;
  const auto normalizer = tokenizer::read_normalizer(reader, document->root());
  REQUIRE(normalizer != nullptr);
  REQUIRE(reader.ok());
  const auto result = normalizer->apply(std::string(text));
  REQUIRE(result);
  return *result;
}

}  // namespace

TEST_CASE("normal forms compose, decompose and order marks") {
  CHECK(normal(R"({"type":"NFC"})", "e\u0301") == "\u00E9");
  CHECK(normal(R"({"type":"NFD"})", "\u00E9x") == "e\u0301x");
  CHECK(normal(R"({"type":"NFD"})", "a\u0301\u0327") == "a\u0327\u0301");
  CHECK(normal(R"({"type":"NFKC"})", "½Ⅷﬁ") == "1\u20442VIIIfi");
  CHECK(normal(R"({"type":"NFKD"})", "\u1E9B\u0323") == "s\u0323\u0307");
  CHECK(normal(R"({"type":"NFC"})", "\u1100\u1161\u11A8") == "각");
}

TEST_CASE("a run of a million marks is ordered in a moment") {
  std::string marks = "a";
  for (int i = 0; i < 500'000; ++i) marks += "\u0301\u0327";
  const std::string ordered = tokenizer::normalized(marks, tokenizer::NormalForm::kNfd);
  CHECK(ordered.size() == marks.size());
  CHECK(ordered.substr(0, 5) == "a\u0327\u0327");
}

TEST_CASE("lower case goes code point by code point") {
  CHECK(normal(R"({"type":"Lowercase"})", "ΑΣ İß") == "ασ i\u0307ß");
}

TEST_CASE("white space is stripped and accents are dropped") {
  CHECK(normal(R"({"type":"Strip","strip_left":true,"strip_right":false})", "\u3000 a \n") ==
        "a \n");
  CHECK(normal(R"({"type":"StripAccents"})", "e\u0301क\u093E") == "eक");
}

TEST_CASE("replacements take strings and expressions") {
  CHECK(normal(R"({"type":"Replace","pattern":{"String":"ab"},"content":"x"})", "aababb") ==
        "axxb");
  CHECK(normal(R"({"type":"Replace","pattern":{"Regex":"\\s+"},"content":"_"})", "a \u0085b") ==
        "a_b");
  CHECK(normal(R"({"type":"Prepend","prepend":"▁"})", "a") == "▁a");
  CHECK(normal(R"({"type":"Prepend","prepend":"▁"})", "") == "");
}

TEST_CASE("the normalizer of BERT cleans, separates, strips and lowers") {
  CHECK(normal(R"({"type":"BertNormalizer"})", "\u0001Zürich\t日本\uFFFD") == "zurich  日  本 ");
  CHECK(normal(R"({"type":"BertNormalizer","lowercase":false})", "Zürich") == "Zürich");
}

TEST_CASE("a text that a replacement makes too long is refused") {
  const auto tokenizer = made(
      letter_model("a"),
      fmt::format(R"("normalizer":{{"type":"Replace","pattern":{{"String":"a"}},"content":"{}"}})",
                  std::string(60'000, 'b')));
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode(std::string(10'000, 'a'), {});
  REQUIRE_FALSE(ids);
  CHECK(ids.error().message == "a normalizer makes over 1208576 bytes of 10000");
}

}  // namespace normalizer_test
