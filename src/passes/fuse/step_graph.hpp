// Ops in the order in which they run, and who makes and reads the values between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// A list of steps: the ops of a block, or a whole run in which calls are inlined. So an operand of
/// a step is a number; its value in the text may be the argument of a graph.
class StepGraph {
 public:
  using Index = std::uint32_t;  ///< of a value
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Step {
    const Op* op = nullptr;
    std::uint32_t first_operand = 0;
    std::uint32_t operand_count = 0;
    Index first_result = 0;
    /// Steps of one part stand in one graph.FusedOp; 0: in none.
    std::uint32_t part = 0;
  };

  explicit StepGraph(std::size_t value_count)
      : producers_(value_count, kNone), last_(value_count, kNone), readers_(value_count, 0) {}

  /// Results are consecutive values.
  void add(const Op& op, std::span<const Index> operands, Index first_result, std::uint32_t part);
  /// Somebody besides the steps reads the value.
  void keep(Index value) { readers_[value] += 2; }

  std::size_t size() const { return steps_.size(); }
  std::size_t value_count() const { return producers_.size(); }
  bool has_parts() const { return has_parts_; }
  const Step& at(std::size_t step) const { return steps_[step]; }
  bool is(std::size_t step, OpId op) const { return step != kNone && at(step).op->is(op); }
  Index operand(std::size_t step, std::size_t i) const {
    return operands_[at(step).first_operand + i];
  }
  Index first_result(std::size_t step) const { return at(step).first_result; }
  /// The step whose result the value is; kNone for inputs, parameters and constants.
  std::size_t producer(Index value) const { return producers_[value]; }
  /// The only step that reads the value, once; kNone if there are more or it is kept.
  std::size_t only_reader(Index value) const { return readers_[value] == 1 ? last_[value] : kNone; }
  /// Operands of steps that are the value; a kept one counts two more.
  std::uint32_t readers(Index value) const { return readers_[value]; }

 private:
  std::vector<Step> steps_;
  std::vector<Index> operands_;
  std::vector<std::size_t> producers_;  // by value
  std::vector<std::size_t> last_;       // readers, by value
  std::vector<std::uint32_t> readers_;  // by value
  bool has_parts_ = false;
};

}  // namespace mir
