// Steps of a schedule: each changes how the loops of a generic op run, and not what it computes.
#pragma once

#include "mir/pass.hpp"
#include "passes/schedule/loop_form.hpp"

namespace mir {

// Each returns the reason if it cannot keep what the op computes; the form is then of no use.

/// Divides a loop `$i` into `$i` over tiles and, inside it, `$i_in` over the iterations of a tile.
/// If the tile does not divide the extent, a bound ends the last tile. Iterations keep their
/// order. Appends the symbol of the inner loop to `made`.
Result<void> split_loop(LoopForm& form, std::size_t loop, std::int64_t tile, IRContext& context,
                        std::vector<Symbol>& made);

/// How strict a step is about the order of the terms of floating sums.
enum class SumOrder : std::uint8_t { kKept, kFree };

/// Puts loops into the order of `names`, and the others behind them in the order that they have.
/// `op` has the form.
Result<void> order_loops(LoopForm& form, std::span<const Symbol> names, SumOrder sums,
                         const Op& op);

/// Makes the sums accumulate blocks of at most `block` terms with the precision: the innermost
/// summed loops that fit, and a part of the next one, which is split. Blocks are joined as wide
/// numbers.
Result<void> accumulate_in(LoopForm& form, SumPrecision precision, std::int64_t block,
                           IRContext& context);

}  // namespace mir
