// Rows of ops in the words of hover and completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"

namespace mir {

/// "integer", "string", ...: what an attribute of this type holds.
std::string_view name_of(AttrType type);
/// The words that an attribute may have: its choices, or `true` and `false`. Empty if it may have
/// others.
std::vector<std::string> words_of(const AttrRow& row);
/// "axis: integer = -1".
std::string attribute_signature(const AttrRow& row);
/// "linalg.CPU.AddOp (2 operands) -> (1 result)".
std::string op_signature(std::string_view name, const OpRow* row);

}  // namespace mir
