// Invariants that hold for any bytes read as a tokenizer.json or a GGUF file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mir/codes/limits.hpp"
#include "mir/codes/tokenizers.hpp"
#include "mir/codes/weights.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace mir::fuzz {

inline void require_of_tokenizer(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

/// Reads bytes as a file named `input`.
inline Result<tokenizer::Tokenizer> open_tokenizer(std::string_view bytes) {
  if (!bytes.starts_with("GGUF")) return tokenizer::Tokenizer::parse(bytes, "input");
  const auto kept = std::make_shared<const std::string>(bytes);
  return tokenizer::read_gguf_tokenizer(FileBytes{std::as_bytes(std::span(*kept)), kept, "input"});
}

/// Reads the bytes. A refusal has a code of tokenizers and names the file. A tokenizer encodes a
/// text or refuses it; its ids have tokens, and a stream decodes them as decode() does. Ends the
/// program if one of these does not hold. Returns true if the bytes are a tokenizer.
inline bool check_tokenizer(std::string_view bytes) {
  const auto opened = open_tokenizer(bytes);
  if (!opened) {
    const DiagCode code = opened.error().code;
    require_of_tokenizer(code == diag::kTokenizerMalformed || code == diag::kTokenizerUnsupported ||
                             code == diag::kLimitExceeded || code == diag::kTextNotTokenized ||
                             code == diag::kGgufMalformed,
                         "a refusal has a code of tokenizers");
    require_of_tokenizer(opened.error().message.find("'input'") != std::string::npos,
                         "a refusal names the file");
    return false;
  }
  for (const std::string_view text :
       {std::string_view("The model reads 12 tokens, don't you?\n\n <s>K\xC3\xBC"
                         "che \xE6\xA8\xA1\xE5\x9E\x8B \xF0\x9F\xA4\x96 e\xCC\x81 ab[MASK]"),
        std::string_view("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa          b"),
        std::string_view()}) {
    const auto ids = opened->encode(text, {});
    if (!ids) continue;
    tokenizer::TokenStream stream(*opened, {});
    std::string streamed;
    bool is_decodable = true;
    for (const tokenizer::TokenId id : *ids) {
      const auto part = stream.add(id);
      is_decodable = is_decodable && part.ok();
      if (part) streamed += *part;
    }
    if (const auto rest = stream.finish()) streamed += *rest;
    const auto decoded = opened->decode(*ids, {});
    require_of_tokenizer(decoded.ok() == is_decodable, "a stream fails where decode() fails");
    require_of_tokenizer(!decoded || *decoded == streamed, "a stream decodes as decode() does");
  }
  return true;
}

}  // namespace mir::fuzz
