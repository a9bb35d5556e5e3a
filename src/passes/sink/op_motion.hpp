// Conditions for moving one op past another.
#pragma once

#include <span>
#include <string_view>

#include "mir/op.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Why an op cannot change places with its neighbours; empty if nothing of its own hinders: it is
/// pure, has one result without notes, and no value of it holds codes.
std::string_view why_fixed(const Op& op);

/// The type of the one result of an op with these operands in place of its own; null if its rule
/// refuses them.
const Type* type_with(const Op& op, std::span<const Type* const> operands);

/// Creates the op again, with other operands and another result type, at the insertion point.
Op* create_with(Rewriter& rewriter, const Op& op, std::span<Value* const> operands,
                const Type* type);

}  // namespace mir
