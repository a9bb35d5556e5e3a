// Several elementwise functions of Float32 as one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "kernels/fast/broadcast.hpp"
#include "kernels/fast/context.hpp"
#include "kernels/fast/elementwise.hpp"

namespace mir::fast {

struct Clip {
  float low = 0, high = 0;
};
using ChainFunction = std::variant<Unary, Binary, Clip>;

/// A function of operands of the chain and of results of earlier functions.
struct ChainStep {
  struct Source {
    bool is_operand = false;
    std::uint8_t index = 0;  ///< of an operand or a step
  };
  ChainFunction function;
  std::array<Source, 2> sources = {};  ///< as many as the function takes
};

/// Elementwise functions, each with the extents of the result. The last one computes the result.
class Chain {
 public:
  static constexpr std::size_t kMaxSteps = 16;
  static constexpr std::size_t kMaxOperands = kMaxSteps + 1;

  /// At most kMaxSteps steps and kMaxOperands operands. Results are read by later steps.
  explicit Chain(std::vector<ChainStep> steps);

  std::span<const ChainStep> steps() const { return steps_; }
  /// Blocks of memory that hold the results between the first and the last step.
  std::size_t blocks() const { return blocks_; }
  /// The block of the result of a step, which may be that of a source; none of the last step.
  std::size_t block(std::size_t step) const { return block_of_[step]; }

 private:
  std::vector<ChainStep> steps_;
  std::array<std::uint8_t, kMaxSteps> block_of_ = {};
  std::size_t blocks_ = 0;
};

/// out = the chain on operands that broadcast to it, with the bits of its functions one by one. out
/// may be an operand that has its extents.
void chain(const Chain& steps, std::span<const BroadcastOperand> operands,
           const BroadcastResult& out, Context& context);

}  // namespace mir::fast
