// Names of the operands of ops, for people.
#pragma once

#include <string>
#include <vector>

#include "mir/context.hpp"

namespace mir {

/// Names of the operands of an op in their order: "x", "sin", "cos".
struct OperandNames {
  std::vector<std::string> names{};
  bool has_more = false;  ///< the last name stands for any number of operands

  /// Returns the name of operand `index`: in a list, the name of the list and a number; without a
  /// name, `x` or `operand 7`.
  std::string at(std::size_t index, std::size_t count) const;
};

/// Returns the names that the page of the op, its declaration or its rule has; none if they have
/// none.
OperandNames operand_names(const OpKindInfo& op, OpKind kind);

}  // namespace mir
