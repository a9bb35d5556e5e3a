// Makes a schedule: walks the graphs of a module in the order of execution.
//
// schedule.cpp has values and steps, schedule_calls.cpp what ops call, schedule_control.cpp regions
// and blocks.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/ops.hpp"
#include "plan/block_flow.hpp"
#include "plan/report.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Walks the graphs in the order of execution. Problems are reported once per op, however often its
/// graph is called; exceeding a limit ends the walk.
class ScheduleBuilder {
 public:
  ScheduleBuilder(const Module& module, const ForeignOps& foreign, Diagnostics& diagnostics)
      : module_(module),
        foreign_(foreign),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()) {
    schedule_.module_ = &module;
  }

  /// Position of the schedule of a region or of a block in the schedule around it.
  struct Around {
    std::span<const Op* const> graphs;
    std::size_t steps = 0;
    const Op* declared = nullptr;  ///< the op whose body has the region or the block
  };

  /// Builds the schedule of a region of `op` that reads the values `captured` from around it.
  std::optional<Schedule> build_region(const Op& op, const Region& region,
                                       std::span<const Value* const> captured,
                                       const Around& around) {
    schedule_.title_ = fmt::format("a region of '{}'", op.info().mnemonic);
    enter(region, around);
    if (!may_run(region, 0)) return std::nullopt;
    return build(*region.entry(), captured, {});
  }

  /// Builds the schedule of a single block, which reads the values `captured` from around it. The
  /// outputs are the operands of its terminator, then the values `passed`.
  std::optional<Schedule> build_block(const Block& block, std::span<const Value* const> captured,
                                      std::span<const Value* const> passed, const Around& around) {
    schedule_.title_ = fmt::format("block '^{}'", text(block.name()));
    schedule_.block_ = &block;
    enter(*block.parent(), around);
    return build(block, captured, passed);
  }

  std::optional<Schedule> build_entry(std::string_view entry) {
    const Region* region = find_entry(entry);
    if (region == nullptr) return std::nullopt;
    const std::vector<const Op*> graphs = graphs_;
    enter(*region, {graphs});
    if (!may_run(*region, 0)) return std::nullopt;
    return build(*region->entry(), {}, {});
  }

 private:
  void enter(const Region& region, const Around& around) {
    schedule_.entry_ = &region;
    graphs_.assign(around.graphs.begin(), around.graphs.end());
    steps_around_ = around.steps;
    declared_ = around.declared;
    schedule_.calls_.push_back({.graph = graphs_.empty() ? nullptr : graphs_.back()});
  }

  std::optional<Schedule> build(const Block& first, std::span<const Value* const> captured,
                                std::span<const Value* const> passed) {
    ValueIndices indices;
    const auto add = [&](const Value& value) {
      const ValueIndex index = add_value(ValueRole::kInput, value);
      indices.emplace(&value, index);
      schedule_.inputs_.push_back(index);
    };
    for (const Value& argument : first.arguments()) add(argument);
    for (const Value* value : captured) add(*value);
    schedule_.outputs_ = run(first, indices, 0);
    for (const Value* value : passed) {
      schedule_.outputs_.push_back(index_of(*value, indices, *value->defining_op()));
    }
    if (diagnostics_.error_count() != errors_before_) return std::nullopt;
    find_last_uses();
    return std::move(schedule_);
  }

  /// Indices of the values of one activation.
  using ValueIndices = std::unordered_map<const Value*, ValueIndex>;

  std::string_view text(Symbol symbol) const { return module_.context().text(symbol); }

  void fail(const Op& op, DiagCode code, std::string message) {
    if (!reported_.insert(&op).second) return;
    report(diagnostics_, op, schedule_.calls_, stack_.empty() ? 0 : stack_.back(), code,
           std::move(message));
  }

  const Region* find_entry(std::string_view entry);
  ValueIndex add_value(ValueRole role, const Value& value);
  ValueIndex index_of(const Value& value, const ValueIndices& indices, const Op& user);
  ValueIndex index_of_parameter(const Value& value, const Op& user);
  const Value* find_parameter(Symbol symbol, const Op& user);
  bool may_run(const Region& body, std::uint32_t call);
  std::vector<ValueIndex> run(const Block& body, ValueIndices& indices, std::uint32_t call);
  std::vector<ValueIndex> indices_of(const Op& op, const ValueIndices& indices);
  void add_call(const Op& op, std::string_view callee, ValueIndices& indices);
  void add_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                ValueIndices& indices, std::span<const Value* const> captured = {});
  void add_body(const Op& op, ValueIndices& indices);
  void add_run(const Op& run, ValueIndices& indices, std::uint32_t call);
  void add_steps_of_run(const Op& run, const Region& region, std::span<const Value* const> captured,
                        ValueIndices& indices, std::uint32_t call);
  std::vector<const Value*> captured_in(std::span<const Block* const> blocks) const;
  bool may_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                std::size_t operands);
  std::vector<ValueIndex> run_call(const Op& op, const SubGraphOp& target,
                                   std::span<const ValueIndex> operands, std::uint32_t number,
                                   ValueIndices inner);
  void add_executable(const Op& op, ValueIndices& indices, std::uint32_t call);
  void check_binding(const Op& op, const SubGraphOp& target);
  void add_step(const Op& op, ValueIndices& indices, std::uint32_t call,
                std::span<const Value* const> captured = {});
  void add_control(const Op& op, ValueIndices& indices, std::uint32_t call);
  void add_own_call(const Op& op, const SubGraphOp& target, ValueIndices& indices);
  void add_regions(const Op& op, std::span<const Region* const> regions,
                   std::span<const Value* const> captured, ValueIndices& indices,
                   std::uint32_t call);
  bool can_follow(const Op& end, const FlowBlocks& blocks);
  std::vector<ValueIndex> add_flow(const Op& end, ValueIndices& indices, std::uint32_t call);
  void add_fused(const Op& op, ValueIndices& indices, std::uint32_t call);
  void find_last_uses();

  const Module& module_;
  const ForeignOps& foreign_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
  Schedule schedule_;
  std::vector<std::uint32_t> stack_;                     // activations that are running
  std::vector<const Op*> graphs_;                        // their graphs
  std::unordered_map<const Value*, ValueIndex> shared_;  // constants and parameters
  std::unordered_set<const Value*> known_parameters_;
  std::unordered_set<const Op*> reported_;
  const Op* declared_ = nullptr;  // whose body is walked; null outside of bodies
  std::uint32_t part_ = 0;        // that the next step is in
  std::uint32_t part_count_ = 0;
  std::size_t steps_around_ = 0;  // of the schedules that contain this one
  bool over_limit_ = false;
  bool lacks_results_ = false;  // of a flow that was refused
};

}  // namespace mir
