// Offsets of values in the text of a JSON document.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mir {

/// The offset of the object or array at a JSON pointer ("/code/module/0"); where the text is not
/// JSON, that of the first token that cannot be read. No value if the pointer finds no object or
/// array.
std::optional<std::size_t> json_offset(std::string_view json, std::string_view pointer);

/// The offset in a text that parse_strict_json() refuses: of a NUL byte, of the token that cannot
/// be read, or of a key that its object has already. 0 for other refusals.
std::size_t refused_json_offset(std::string_view json);

}  // namespace mir
