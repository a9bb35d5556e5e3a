// Limits of tokenizer files and texts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mir::tokenizer {

/// Ids are below this number. Files in use have up to 262144 tokens.
inline constexpr std::uint32_t kMaxTokens = std::uint32_t{1} << 22;
/// Bytes of a token that is searched in a text: an added token, a piece of Unigram or WordPiece.
inline constexpr std::size_t kMaxSearchedBytes = 1024;
/// Bytes of a text that is encoded at once.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;
/// Bytes of a regular expression, and of a text that replaces a match.
inline constexpr std::size_t kMaxPatternBytes = std::size_t{1} << 16;

}  // namespace mir::tokenizer
