// Regular expressions of well-known pre-tokenizers.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mir::tokenizer {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// A value of `tokenizer.ggml.pre`.
struct KnownPreTokenizer {
  std::string_view name;
  std::span<const std::string_view> patterns;  ///< split by the first, then each piece by the next
  bool ignores_merges = false;                 ///< a piece that is a token is not built by merges
  bool adds_bos = false;                       ///< where the file does not tell
};

/// The name in a file that has none.
inline constexpr std::string_view kDefaultPreTokenizer = "default";

/// Returns null if the name is unknown.
const KnownPreTokenizer* find_known_pre_tokenizer(std::string_view name);
/// All names, separated by commas.
std::string known_pre_tokenizer_names();

}  // namespace mir::tokenizer
