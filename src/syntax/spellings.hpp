// Texts that need no quotes, as the scanner defines them.
#pragma once

#include <string_view>

namespace mir {

/// An op's name that can be written anywhere: words, without the free texts that plug-ins have.
bool is_plain_op_name(std::string_view text);
/// A value of an attribute of a dump that is read as a string, whatever follows it in its list.
bool is_bare_text(std::string_view text);
/// A string in an array or dictionary.
bool is_data_word(std::string_view text);
/// `%text`, with a type or without.
bool is_value_name(std::string_view text, bool has_type);
/// `^text`.
bool is_block_name(std::string_view text);
/// `<text>`.
bool is_angle_text(std::string_view text);
/// `<name="text">` and `[name="text"]`, as it is.
bool is_path_text(std::string_view text);
/// `!dialect.name<...>`.
bool is_opaque_type(std::string_view text);
/// `#dialect.name<...>`.
bool is_opaque_value(std::string_view text);
/// A quoted string, verbatim.
bool is_quoted_text(std::string_view text);
/// A number that is not an integer, or one beyond 64 bits.
bool is_float_text(std::string_view text);
/// A whole QuantSpec(...) in canonical spacing.
bool is_quant_spec(std::string_view text);
/// A whole loc(...).
bool is_location(std::string_view text);

}  // namespace mir
