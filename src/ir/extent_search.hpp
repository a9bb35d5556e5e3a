// Search for values of symbols for which a condition does not hold.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/extent_prover.hpp"

namespace mir {

/// A condition on the values of symbols, and which values count.
struct ExtentSearch {
  const ExtentVariables& variables;
  std::function<bool(const DimBindings&)> admits;
  /// No value where an extent of the condition has none.
  std::function<std::optional<bool>(const DimBindings&)> holds;
};

/// Tries all values, if they are few; otherwise ends of ranges, their neighbours and small values.
/// The counterexample is the least by the sum of its values.
ExtentProof search_values(const ExtentSearch& search);
/// True if the values are few, and none of them counts.
bool admits_nothing(const ExtentSearch& search);

}  // namespace mir
