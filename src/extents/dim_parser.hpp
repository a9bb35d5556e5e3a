// Reads the text of an extent.
#pragma once

#include <string_view>

#include "extents/dim_nodes.hpp"
#include "mir/diagnostic.hpp"

namespace mir {

/// The error that `text` cannot be read, for the stated reason.
Error bad_dimension(std::string_view text, std::string_view reason);

/// extent = sum {"min" sum} | sum {"max" sum}; sum = product {('+' | '-') product}; product = unary
/// {('*' | '/' | '%') unary}; unary = {'-'} (integer | '$' identifier | '(' extent ')'); blanks
/// between words.
Result<Polynomial> parse_dimension(DimNodes& nodes, std::string_view text);

}  // namespace mir
