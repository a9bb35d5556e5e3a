// A module as a list of steps over value slots.
//
// Calls are inlined: a parameter of a graph is the slot of the caller's operand, a result of a call
// is the slot of what the graph returns, so a call costs nothing at run time. Ops keep the order of
// the text.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/ir/module.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir {

using SlotIndex = std::uint32_t;

enum class SlotKind : std::uint8_t {
  kInput,
  kParameter,  ///< `value` has its symbol
  kConstant,   ///< `value` has attribute `constant`
  kResult,
};

/// One value at run time.
struct Slot {
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

  SlotKind kind{};
  const Value* value = nullptr;
  /// The slot whose bytes this one shares, through any number of views; itself when it owns them.
  SlotIndex storage = 0;
  /// The last step that reads the slot; kNever for outputs and for slots that no step reads.
  std::uint32_t last_use = kNever;
};

struct Step {
  const Op* op = nullptr;
  std::uint32_t call = 0;  ///< index into calls()
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_result = 0;  ///< results are consecutive slots
  std::uint32_t first_release = 0;
  std::uint32_t release_count = 0;
};

/// One activation of a graph; number 0 is the entry.
struct Call {
  const Op* op = nullptr;  ///< the CallGraphOp; null for the entry
  std::uint32_t caller = 0;
};

class Schedule {
 public:
  /// More steps than this are refused: calls of calls can multiply without end.
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 22;
  /// Deepest nesting of calls.
  static constexpr std::size_t kMaxDepth = 1000;

  /// The module body of a portable module, or one of its graphs when `entry` is not empty. Ops that
  /// nothing executes, calls that do not fit their graph, graphs that call themselves and values
  /// that nothing defines are reported; none then. The module must outlive the schedule.
  static std::optional<Schedule> build(const Module& module, std::string_view entry,
                                       Diagnostics& diagnostics);

  const Module& module() const { return *module_; }
  /// What is run: "module 'main'" or "graph '@f'".
  std::string_view title() const { return title_; }
  std::span<const Slot> slots() const { return slots_; }
  std::span<const Step> steps() const { return steps_; }
  std::span<const Call> calls() const { return calls_; }
  std::span<const SlotIndex> inputs() const { return inputs_; }
  std::span<const SlotIndex> outputs() const { return outputs_; }
  /// Every parameter, in order of first use, those that ops own included.
  std::span<const Value* const> parameters() const { return parameters_; }

  std::span<const SlotIndex> operands(const Step& step) const {
    return std::span(lists_).subspan(step.first_operand, step.operand_count);
  }
  /// Slots that nothing reads after this step.
  std::span<const SlotIndex> releases(const Step& step) const {
    return std::span(lists_).subspan(step.first_release, step.release_count);
  }

  /// The extent that integers of a slot index, where EmbeddingOp, GatherOp or IndexOp read it,
  /// possibly through views: the smallest of them. None when nothing reads it so.
  std::optional<std::int64_t> index_bound(SlotIndex slot) const;

 private:
  friend class ScheduleBuilder;
  Schedule() = default;

  const Module* module_ = nullptr;
  std::string title_;
  std::vector<Slot> slots_;
  std::vector<Step> steps_;
  std::vector<Call> calls_;
  std::vector<SlotIndex> inputs_;
  std::vector<SlotIndex> outputs_;
  std::vector<const Value*> parameters_;
  std::vector<SlotIndex> lists_;
};

}  // namespace mir
