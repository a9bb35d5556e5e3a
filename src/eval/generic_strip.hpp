// The region of a generic op on a strip: many iterations at once, one element of each value for
// each iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eval/evaluate.hpp"
#include "kernels/strip_arithmetic.hpp"

namespace mir::eval {

/// Elements of the first iterations of a strip; the same one for all of them if `step` is 0.
struct StripValues {
  const std::byte* data = nullptr;
  std::int64_t step = 1;  ///< in elements
};

/// Returns the scalar code for an op whose operands and result are Float64; null if there is none.
StripArithmetic::Function plain_arithmetic(const Op& op);

/// Computes one result of the region of a generic op. Everything is borrowed for its life.
class GenericStrip {
 public:
  /// The most iterations of a strip.
  static constexpr std::int64_t kLength = 1024;

  /// `result` is the number of the result. Allocates memory for the values that it needs.
  /// `arithmetic` is borrowed. If null, scalar code is used.
  static Result<GenericStrip> create(const Op& op, std::uint32_t result,
                                     const EvalEnvironment& environment,
                                     const StripArithmetic* arithmetic = nullptr);

  /// True if the result depends on argument `number`.
  bool needs(std::size_t number) const { return argument_slots_[number] != kNone; }
  /// True if the region passes argument `number` on as it is.
  bool passes_on(std::size_t number) const;
  /// Returns the memory for the elements of an argument that the region reads.
  std::byte* argument(std::size_t number) {
    return slots_[argument_slots_[number]].tensor.mutable_bytes();
  }
  /// States whether an argument has one element for all iterations of the strip (`step` 0) or one
  /// for each (1, as in a new strip).
  void set_step(std::size_t number, std::int64_t step) {
    slots_[argument_slots_[number]].step = step;
  }
  /// The arguments whose product the result is, twice the same one for a square. No value if the
  /// result is not a product of two Float64 arguments.
  std::optional<std::pair<std::size_t, std::size_t>> product() const;
  /// The type of the result in the region.
  DType dtype() const { return slots_[wanted_].tensor.dtype(); }

  /// The result for the first `count` iterations, valid until the next call.
  Result<StripValues> compute(std::int64_t count);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  using Direct = StripArithmetic::Function;

  /// A value of the region: kLength elements, or one.
  struct Slot {
    const Value* value = nullptr;
    Tensor tensor;
    std::int64_t step = 1;
  };
  struct Step {
    const Op* op = nullptr;
    std::vector<std::size_t> operands, results;  // slots
    Direct direct = nullptr;                     // null: by the kernel of the op
  };

  GenericStrip(const Op& op, const EvalEnvironment& environment);
  std::size_t slot_of(const Value& value);
  void add_steps(const Value& wanted);
  Result<void> allocate();
  Direct direct_of(const Step& step, const StripArithmetic& arithmetic) const;
  Result<void> run(const Step& step, std::int64_t count);

  const Block* block_;
  const EvalEnvironment* environment_;
  std::size_t wanted_ = 0;
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<std::size_t> argument_slots_;
};

}  // namespace mir::eval
