// Extents of results that a run takes from declared types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/extent_prover.hpp"
#include "mir/module.hpp"

namespace mir::checks {

/// An extent of a result that nothing but its declared type determines: the rule of the op lacks an
/// attribute for it, which no parameter tells either. Data decides other extents that a rule leaves
/// unknown.
struct DeclaredExtent {
  std::uint32_t result = 0;
  std::size_t dim = 0;
  std::string_view attribute{};  ///< that a parameter could tell; empty: the rule gives no type
};

/// Declared extents of an op of a portable module. Empty if the op has no rule or is refused.
/// `prover` is of the module; null if it declares no symbols.
std::vector<DeclaredExtent> declared_extents(const Op& op, ExtentProver* prover);

}  // namespace mir::checks
