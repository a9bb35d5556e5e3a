// Loops of generic ops that maps divide by a constant, as two loops each.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dialects/generic_form.hpp"

namespace mir {

/// A quotient of a symbol that is 0 in every iteration.
struct ZeroQuotient {
  Symbol dividend;
  std::int64_t divisor = 1;
};

/// The loops of a generic op with their extents, and what its maps have instead of sizes.
struct NumberedLoops {
  GenericForm form;  ///< maps and conditions without symbols of `sizes`
  std::vector<Symbol> names;
  std::vector<std::int64_t> extents;
  std::vector<ZeroQuotient> zeros;
};

/// Calls `visit` with each extent of maps and conditions, which it may change.
void for_each_extent(GenericForm& form, const std::function<void(Dim&)>& visit);

/// Replaces each loop `$i` of extent e that maps divide by c, which divides e: by a loop `$t` of
/// extent e / c and a loop `$r` of extent c, where `$i` is c * `$t` + `$r`. So `$i / c` becomes
/// `$t`, `$i % c` becomes `$r`, and iterations keep their order. `zeros` has `$r / c`, which is
/// left in maps.
void split_tiles(NumberedLoops& loops, DimTable& dims);

}  // namespace mir
