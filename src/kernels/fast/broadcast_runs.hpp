// Results of broadcast operands as runs in which each operand repeats one element or steps through
// several.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/chunks.hpp"
#include "kernels/fast/context.hpp"

namespace mir::fast {

/// Elements of the operands at the beginning of a run, and how far apart the next ones are: 0 or 1.
template <std::size_t kOperands>
struct Run {
  std::array<std::int64_t, kOperands> at;
  std::array<std::int64_t, kOperands> step;
  std::int64_t out;
  std::int64_t count;
};

/// Dimensions of a result, with the strides of the operands in each.
template <std::size_t kOperands>
struct BroadcastLoops {
  struct Loop {
    std::int64_t extent;
    std::array<std::int64_t, kOperands> strides;
  };
  std::array<Loop, BroadcastOperand::kMaxRank> loops;  ///< the innermost first
  std::size_t rank = 0;

  /// Dimensions that all operands go through as through one become one.
  BroadcastLoops(const std::array<const BroadcastOperand*, kOperands>& operands,
                 const BroadcastResult& out) {
    for (std::size_t dim = out.rank; dim-- > 0;) {
      if (out.extents[dim] == 1) continue;
      Loop loop{.extent = out.extents[dim], .strides = {}};
      for (std::size_t n = 0; n < kOperands; ++n) loop.strides[n] = operands[n]->strides[dim];
      if (rank == 0 || !continues(loops[rank - 1], loop)) {
        loops[rank++] = loop;
      } else {
        loops[rank - 1].extent *= loop.extent;
      }
    }
    if (rank == 0) loops[rank++] = {.extent = 1, .strides = {}};
  }

  static bool continues(const Loop& inner, const Loop& outer) {
    for (std::size_t n = 0; n < kOperands; ++n) {
      if (outer.strides[n] != inner.strides[n] * inner.extent) return false;
    }
    return true;
  }
};

/// Calls body(run) for the rows of the result or parts of them; see Run.
template <std::size_t kOperands, class Body>
void for_each_run(const std::array<const BroadcastOperand*, kOperands>& operands,
                  const BroadcastResult& out, Context& context, Body body) {
  const BroadcastLoops<kOperands> of(operands, out);
  const auto& row = of.loops[0];
  std::int64_t total = 1;
  for (std::size_t dim = 0; dim < of.rank; ++dim) total *= of.loops[dim].extent;
  const Chunks chunks = cut(total, kTaskElements, 64);
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    const std::int64_t end = chunks.first(task) + chunks.length(task);
    for (std::int64_t i = chunks.first(task); i < end;) {
      const std::int64_t in_row = i % row.extent;
      Run<kOperands> run{
          .at = {}, .step = row.strides, .out = i, .count = std::min(row.extent - in_row, end - i)};
      for (std::size_t n = 0; n < kOperands; ++n) run.at[n] = in_row * run.step[n];
      std::int64_t index = i / row.extent;
      for (std::size_t dim = 1; dim < of.rank; ++dim) {
        const auto& loop = of.loops[dim];
        for (std::size_t n = 0; n < kOperands; ++n) {
          run.at[n] += index % loop.extent * loop.strides[n];
        }
        index /= loop.extent;
      }
      body(run);
      i += run.count;
    }
  });
}

}  // namespace mir::fast
