// Aliases of types and attributes, which a file defines.
#pragma once

#include <string_view>
#include <vector>

#include "lsp/features.hpp"

namespace mir::lsp {

/// True for `!name` and `#name`.
bool is_alias_name(std::string_view word);

/// The definition of an alias.
struct Alias {
  Span whole;
  Span name;  ///< with the sigil
  Span value;
};
std::vector<Alias> aliases_of(const View& view);
/// Returns the value of an alias with its sigil, resolved through other aliases; empty if it has no
/// definition.
std::string_view alias_value(const View& view, std::string_view name);

}  // namespace mir::lsp
