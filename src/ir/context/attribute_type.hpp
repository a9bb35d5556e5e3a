// Attributes of ops against their rows, in words.
#pragma once

#include <string>
#include <string_view>

#include "mir/context.hpp"

namespace mir {

/// Describes the values that the row admits: "an integer of at least 1", "one of 'a', 'b'".
std::string expected_value(const AttrRow& row);
/// "'prog.bind' needs attribute 'type'".
std::string missing_attribute(std::string_view op, const AttrRow& row);
/// "attribute 'type' of 'prog.bind' is zero, expected an integer".
std::string wrong_attribute(std::string_view op, const AttrRow& row, const Attr& value);

}  // namespace mir
