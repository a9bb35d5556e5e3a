// Finds invalid UTF-8 and replaces it.
#include "support/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace mir {

namespace {

constexpr std::ptrdiff_t kAsciiBlock = 64;

/// True if the kAsciiBlock bytes from `at` on are ASCII.
bool is_ascii_block(const char* at) {
  const auto word = [at](std::ptrdiff_t i) {
    std::uint64_t eight;
    std::memcpy(&eight, at + 8 * i, 8);
    return eight;
  };
  const std::uint64_t any =
      word(0) | word(1) | word(2) | word(3) | word(4) | word(5) | word(6) | word(7);
  return (any & 0x8080808080808080u) == 0;
}

}  // namespace

const char* find_invalid_utf8(const char* at, const char* end) {
  while (at != end) {
    while (end - at >= kAsciiBlock && is_ascii_block(at)) at += kAsciiBlock;
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
