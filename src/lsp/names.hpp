// The characters of names in text.
#pragma once

#include <string_view>

namespace mir::lsp {

/// Characters of names of values and symbols that need no quotes.
inline constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-";

}  // namespace mir::lsp
