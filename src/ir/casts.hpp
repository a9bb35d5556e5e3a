// Casts between declared types and the tensors that hold their values.
#pragma once

#include <optional>

#include "mir/diagnostic.hpp"
#include "mir/type.hpp"

namespace mir {

/// Returns the type of a cast of a value with a declared type: the tensor that holds the value.
/// Null for other types, whose casts state their type.
const Type* type_of_cast(const Type* operand);

/// Why a dialect.CastOp cannot turn values of one type into values of the other. No value if it
/// can: one type is declared, and the other is exactly the tensor that holds its values.
std::optional<Error> breach_of_cast(const Type* from, const Type* to);

}  // namespace mir
