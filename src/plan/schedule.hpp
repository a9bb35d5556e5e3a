// A module as a list of steps over values.
//
// Calls are inlined: an argument of a graph is the caller's operand, a result of a call is what the
// graph returns, so a call costs nothing at run time. Ops keep the order of
// the text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "plan/block_flow.hpp"
#include "support/last_uses.hpp"

namespace mir {

using ValueIndex = std::uint32_t;

/// The name of a value in the text without `%`, or its symbol.
std::string value_name(const Value& value, const IRContext& context);

enum class ValueRole : std::uint8_t {
  kInput,
  kParameter,  ///< `value` has its symbol
  kConstant,   ///< `value` has attribute `constant`
  kResult,
};

/// One value at run time. Several IR values may be the same one.
struct ScheduledValue {
  static constexpr std::uint32_t kNever = LastUses::kNone;

  ValueRole role{};
  const Value* value = nullptr;
  /// The value whose bytes this one shares, through any number of views; itself when it owns them.
  ValueIndex storage = 0;
  /// The last step that reads the value, or makes it when none does; kNever: alive to the end.
  std::uint32_t last_use = kNever;
};

struct Step {
  const Op* op = nullptr;
  std::uint32_t call = 0;  ///< index into calls()
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_result = 0;  ///< results are consecutive values
  std::uint32_t result_count = 0;  ///< results of the op; of a control step with blocks, see there
  std::uint32_t first_release = 0;
  std::uint32_t release_count = 0;
  std::uint32_t part = 0;  ///< the graph.FusedOp that contains it, by a number; 0: none
};

class Schedule;

/// A step of structured control flow: a schedule for each region of its op. Their inputs are the
/// arguments of the region, then the values from around the op that its regions read, which are
/// the last operands of the step; their outputs are what the end of the region passes. A call that
/// passes other extents for the symbols of its graph is such a step, too, and the graph its region.
///
/// A terminator with successors is such a step, too: it has a schedule for each block of its flow,
/// and its results are those of the region.
struct ControlStep {
  std::vector<Schedule> regions;
  std::optional<BlockFlow> flow = {};
  std::size_t captured = 0;  ///< number of values from around the op
};

/// One activation of a graph; number 0 is the entry.
struct Call {
  const Op* op = nullptr;  ///< the CallGraphOp, or the op that a graph or its body computes; null
                           ///< for the entry
  std::uint32_t caller = 0;
  const Op* graph = nullptr;  ///< the SubGraphOp; null for the module's body
};

/// Who computes ops that have no kernel. Keys are names without device ("linalg.MyOp") or without
/// dialect too ("MyOp").
struct ForeignOps {
  /// By graphs of the module, which take the operands and give the results.
  std::map<std::string, std::string, std::less<>> graphs = {};
  /// By the code that runs the schedule.
  std::set<std::string, std::less<>> callbacks = {};
};

class BodyGraphs;

class Schedule {
 public:
  /// More steps than this are refused: calls of calls can multiply without end.
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 20;
  /// Deepest nesting of calls.
  static constexpr std::size_t kMaxDepth = 1000;

  /// The module body of a portable module, or one of its graphs when `entry` is not empty. Ops that
  /// nothing executes, calls that do not fit their graph, graphs that call themselves and values
  /// that nothing defines are reported; none then. The module must outlive the schedule.
  ///
  /// A foreign op that has a kernel and one bound to a graph that its types do not fit are reported
  /// too.
  static std::optional<Schedule> build(const Module& module, std::string_view entry,
                                       Diagnostics& diagnostics, const ForeignOps& foreign = {});

  const Module& module() const { return *module_; }
  /// Name of the module or graph in messages: "module 'main'" or "graph '@f'".
  std::string_view title() const { return title_; }
  /// The region that is run: its arguments are the inputs, its return names the outputs.
  const Region& entry() const { return *entry_; }
  /// The block of the region that is run alone; null if the whole region is run from its entry on.
  const Block* block() const { return block_; }
  std::span<const ScheduledValue> values() const { return values_; }
  std::span<const Step> steps() const { return steps_; }
  std::span<const Call> calls() const { return calls_; }
  /// Returns null if the step computes one op.
  const ControlStep* control(std::size_t step) const {
    const auto found = control_.find(step);
    return found == control_.end() ? nullptr : found->second.get();
  }
  /// Calls `visit(const Schedule&)` for this schedule and for those of regions in it.
  template <class Visit>
  void for_each(const Visit& visit) const {
    visit(*this);
    for (const auto& [step, control] : control_) {
      for (const Schedule& region : control->regions) region.for_each(visit);
    }
  }
  std::span<const ValueIndex> inputs() const { return inputs_; }
  std::span<const ValueIndex> outputs() const { return outputs_; }
  /// Every parameter, in order of first use, those that ops own and regions read included.
  std::span<const Value* const> parameters() const { return parameters_; }

  std::span<const ValueIndex> operands(const Step& step) const {
    return std::span(lists_).subspan(step.first_operand, step.operand_count);
  }
  /// Results and inputs that nothing reads after this step.
  std::span<const ValueIndex> releases(const Step& step) const {
    return std::span(lists_).subspan(step.first_release, step.release_count);
  }

 private:
  friend class ScheduleBuilder;
  Schedule() = default;

  const Module* module_ = nullptr;
  const Region* entry_ = nullptr;
  const Block* block_ = nullptr;
  std::string title_;
  std::vector<ScheduledValue> values_;
  std::vector<Step> steps_;
  std::vector<Call> calls_;
  std::vector<ValueIndex> inputs_;
  std::vector<ValueIndex> outputs_;
  std::vector<const Value*> parameters_;
  std::vector<ValueIndex> lists_;
  std::map<std::size_t, std::shared_ptr<const ControlStep>> control_;  // by step
  std::shared_ptr<BodyGraphs>
      bodies_;  // what calls of ops with bodies point into; null: no such op
};

/// Returns, for every value, the extent that its integers index if EmbeddingOp, GatherOp or IndexOp
/// read them, possibly after ops that only move or convert elements: the smallest of them. No value
/// if they are not used as indices or the extent is unknown.
std::vector<std::optional<std::int64_t>> index_bounds(const Schedule& schedule,
                                                      const DimBindings& bindings);

}  // namespace mir
