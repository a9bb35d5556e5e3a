// The metadata of a GGUF file that describe its tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/vocabulary.hpp"
#include "weights/formats/gguf.hpp"

namespace mir::tokenizer {

/// Types of tokens by their numbers in a file.
enum class GgufTokenType : std::uint8_t {
  kNormal = 1,
  kUnknown,
  kControl,
  kUserDefined,
  kUnused,
  kByte
};

/// Reads keys that begin with `tokenizer.ggml.` and keeps the first problem. After a problem,
/// functions return defaults.
class GgufTokenizerKeys {
 public:
  /// The file must outlive this object.
  explicit GgufTokenizerKeys(const GgufFile& file);

  bool ok() const { return !problem_.has_value(); }
  /// The first problem, which must exist.
  Error error(std::string_view file) const;
  void malformed(std::string_view key, std::string_view text);
  void unsupported(std::string_view key, std::string_view text);

  std::string_view architecture() const;
  std::optional<std::string_view> text(std::string_view key);
  std::optional<std::string_view> bytes(std::string_view key);
  bool flag(std::string_view key, bool otherwise);
  /// An id of a token of `tokens()`.
  TokenId id(std::string_view key, TokenId otherwise);
  std::optional<TokenId> id_if_given(std::string_view key);

  const std::vector<std::string_view>& tokens() const { return tokens_; }
  GgufTokenType type(TokenId id) const { return types_[id]; }
  /// One for each token.
  std::vector<double> scores();
  std::vector<std::string_view> merges();

 private:
  const GgufMetadata* find(std::string_view key) const;
  void read_tokens();

  std::unordered_map<std::string_view, const GgufMetadata*> pairs_;
  std::optional<Error> problem_;
  std::vector<std::string_view> tokens_;
  std::vector<GgufTokenType> types_;
};

}  // namespace mir::tokenizer
