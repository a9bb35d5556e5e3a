// Maps bytes to code points and back, as byte-level vocabularies spell them.
#include "tokenizer/byte_alphabet.hpp"

#include <fmt/format.h>

#include <array>

#include "tokenizer/code_points.hpp"

namespace mir::tokenizer {
namespace {

constexpr char32_t kLettersEnd = 0x100 + 68;  // 68 bytes do not stand for themselves

constexpr bool is_own_letter(char32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<char32_t, 256> kLetters = [] {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) letters[byte] = is_own_letter(byte) ? byte : next++;
  return letters;
}();

constexpr std::array<std::int16_t, kLettersEnd> kBytes = [] {
  std::array<std::int16_t, kLettersEnd> bytes{};
  bytes.fill(-1);
  for (std::size_t byte = 0; byte < 256; ++byte)
    bytes[kLetters[byte]] = static_cast<std::int16_t>(byte);
  return bytes;
}();

}  // namespace

void append_byte_letters(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) {
    const char32_t letter = kLetters[static_cast<unsigned char>(byte)];
    if (letter < 0x80) {
      out += static_cast<char>(letter);
    } else {
      out += static_cast<char>(0xC0 | (letter >> 6));
      out += static_cast<char>(0x80 | (letter & 0x3F));
    }
  }
}

bool append_bytes_of_letters(std::string& out, std::string_view letters) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < letters.size();) {
    const CodePoint each = code_point_at(letters, at);
    at += each.size;
    const int byte = each.value < kLettersEnd ? kBytes[each.value] : -1;
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(byte);
  }
  return true;
}

std::optional<unsigned char> byte_of_token(std::string_view token) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int high = digit(token[3]), low = digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

std::string byte_token(unsigned char byte) {
  return fmt::format("<0x{:02X}>", byte);
}

}  // namespace mir::tokenizer
