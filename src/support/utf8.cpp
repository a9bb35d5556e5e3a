// Finds invalid UTF-8 and replaces it.
#include "support/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace mir {

namespace {

constexpr std::ptrdiff_t kAsciiBlock = 256, kWord = 8;
constexpr std::uint64_t kHighBits = 0x8080808080808080u;

bool is_ascii_word(const char* at) {
  std::uint64_t word;
  static_assert(sizeof word == kWord);
  std::memcpy(&word, at, sizeof word);
  return (word & kHighBits) == 0;
}

/// True if the kAsciiBlock bytes from `at` on are ASCII. Compilers make vector code of the loops.
bool is_ascii_block(const char* at) {
  constexpr std::ptrdiff_t kLanes = 16;
  std::uint8_t lanes[kLanes] = {};
  for (std::ptrdiff_t row = 0; row < kAsciiBlock; row += kLanes) {
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      lanes[i] = static_cast<std::uint8_t>(lanes[i] | static_cast<std::uint8_t>(at[row + i]));
    }
  }
  std::uint64_t words[2];
  static_assert(sizeof words == sizeof lanes);
  std::memcpy(words, lanes, sizeof words);
  return ((words[0] | words[1]) & kHighBits) == 0;
}

}  // namespace

const char* find_invalid_utf8(const char* at, const char* end) {
  while (at != end) {
    // The first word decides for most texts in other scripts.
    while (end - at >= kAsciiBlock && is_ascii_word(at) && is_ascii_block(at)) at += kAsciiBlock;
    while (end - at >= kWord && is_ascii_word(at)) at += kWord;
    while (at != end && static_cast<unsigned char>(*at) < 0x80) ++at;
    if (at == end) break;
    const auto lead = static_cast<unsigned char>(*at);
    const int length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || end - at < length) return at;
    for (int i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(at[i]) & 0xc0) != 0x80) return at;
    }
    const auto second = static_cast<unsigned char>(at[1]);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool surrogate = lead == 0xed && second >= 0xa0;
    const bool beyond = lead == 0xf4 && second >= 0x90;
    if (overlong || surrogate || beyond) return at;
    at += length;
  }
  return end;
}

std::string with_valid_utf8(std::string_view text) {
  std::string valid;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* invalid = find_invalid_utf8(at, end);
    valid.append(at, invalid);
    if (invalid == end) break;
    valid += "\xef\xbf\xbd";
    at = invalid + 1;
  }
  return valid;
}

}  // namespace mir
