// The code points that stand for bytes in byte-level vocabularies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mir::tokenizer {

/// Appends the code point of each byte.
void append_byte_letters(std::string& out, std::string_view bytes);

/// Appends the bytes that the code points stand for. Returns false, and appends nothing, if one of
/// them stands for no byte.
bool append_bytes_of_letters(std::string& out, std::string_view letters);

/// The byte of a token `<0xAB>`.
std::optional<unsigned char> byte_of_token(std::string_view token);
/// `<0xAB>`.
std::string byte_token(unsigned char byte);

}  // namespace mir::tokenizer
