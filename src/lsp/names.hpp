// The characters of names in text.
#pragma once

#include <string_view>

namespace mir::lsp {

/// Of names of values and symbols that text needs not quote.
inline constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-";

}  // namespace mir::lsp
