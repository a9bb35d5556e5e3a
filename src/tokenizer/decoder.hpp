// From the texts of tokens to the text that they were cut from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "tokenizer/json_reader.hpp"

namespace mir::tokenizer {

/// Text of a token, or a part of one that is too long to wait for.
struct TokenText {
  std::string_view text;
  bool begins = true;  ///< the first part of the token
  bool ends = true;    ///< the last part
};

/// Receives the texts of tokens in order.
class TokenTextSink {
 public:
  virtual ~TokenTextSink() = default;
  virtual Result<void> take(const TokenText& token) = 0;
  /// No token follows.
  virtual Result<void> finish() = 0;
};
using TokenTextSinkPtr = std::unique_ptr<TokenTextSink>;

/// A step of a decoder. Reading from several threads is safe.
class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  /// A stream of this step, which passes texts on to `next`. Both this and `next` must outlive it.
  virtual TokenTextSinkPtr start(TokenTextSink& next) const = 0;
};
using Decoder = std::vector<std::unique_ptr<const DecoderStep>>;

/// Reads the member `decoder` of a file. Null is a decoder that puts spaces between tokens. Reports
/// problems to the reader.
Decoder read_decoder(JsonReader& reader, JsonValue value);

/// Tokens are bytes spelled as code points.
std::unique_ptr<const DecoderStep> make_byte_level_decoder();
/// `<0xAB>` are bytes.
std::unique_ptr<const DecoderStep> make_byte_fallback_decoder();
std::unique_ptr<const DecoderStep> make_replace_decoder(std::string from, std::string to);
/// All tokens become one.
std::unique_ptr<const DecoderStep> make_fuse_decoder();
/// Removes up to `start` of a code point from the start of each token.
std::unique_ptr<const DecoderStep> make_strip_decoder(char32_t content, std::size_t start,
                                                      std::size_t stop);
std::unique_ptr<const DecoderStep> make_word_piece_decoder(std::string prefix, bool cleans_up);

}  // namespace mir::tokenizer
