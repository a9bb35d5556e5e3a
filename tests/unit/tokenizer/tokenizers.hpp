// Tokenizers made of a few lines of JSON.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.hpp"

namespace mir::test {

using tokenizer::TokenId;
using tokenizer::Tokenizer;

/// BPE over the characters of `letters`, without merges; a character that ends a piece is spelled
/// with `|`, so that tokens show where a text was cut.
inline std::string letter_model(std::string_view letters) {
  std::string vocabulary = R"("<unk>":0)";
  TokenId id = 0;
  for (std::size_t at = 0; at < letters.size();) {
    const auto lead = static_cast<unsigned char>(letters[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::string letter(letters.substr(at, size));
    if (letter == "\n") letter = "\\n";
    vocabulary += fmt::format(R"(,"{0}":{1},"{0}|":{2})", letter, id + 1, id + 2);
    id += 2;
    at += size;
  }
  return fmt::format(
      R"({{"type":"BPE","unk_token":"<unk>","end_of_word_suffix":"|","vocab":{{{}}},"merges":[]}})",
      vocabulary);
}

/// A tokenizer of a model and other members, such as `"normalizer":{...}`.
inline Result<Tokenizer> made(const std::string& model, const std::string& members = "") {
  return Tokenizer::parse(
      fmt::format("{{{}{}\"model\":{}}}", members, members.empty() ? "" : ",", model), "t.json");
}

/// The tokens of a text, put together.
inline std::string tokens_of(const Result<Tokenizer>& tokenizer, std::string_view text) {
  REQUIRE(tokenizer);
  const auto ids = tokenizer->encode(text, {.adds_special = false});
  REQUIRE(ids);
  std::string tokens;
  for (const TokenId id : *ids) tokens += tokenizer->token(id)->text;
  return tokens;
}

}  // namespace mir::test
