// Steps that run regions or blocks, each with a schedule of its own, and the region of a fused op.
#include <algorithm>
#include <memory>

#include "mir/codes/names.hpp"
#include "mir/codes/runs.hpp"
#include "mir/control_flow.hpp"
#include "plan/captured_values.hpp"
#include "plan/schedule_builder.hpp"

namespace mir {

/// Adds the steps of the op's region, which a plan may compute as one.
void ScheduleBuilder::add_fused(const Op& op, ValueIndices& indices, std::uint32_t call) {
  const std::uint32_t around = part_;
  if (!may_run(*op.first_region(), call)) return;
  if (around == 0) part_ = ++part_count_;
  const std::vector<ValueIndex> passed = run(*op.first_region()->entry(), indices, call);
  part_ = around;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(passed.size(), op.result_count()); ++i) {
    indices.emplace(op.result(i), passed[i]);
  }
}

void ScheduleBuilder::add_control(const Op& op, ValueIndices& indices, std::uint32_t call) {
  std::vector<const Region*> regions;
  std::vector<const Block*> blocks;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    regions.push_back(region);
    for (const Block* block : region->blocks()) blocks.push_back(block);
  }
  add_regions(op, regions, captured_in(blocks), indices, call);
}

void ScheduleBuilder::add_regions(const Op& op, std::span<const Region* const> regions,
                                  std::span<const Value* const> captured, ValueIndices& indices,
                                  std::uint32_t call) {
  auto control = std::make_shared<ControlStep>();
  control->captured = captured.size();
  const std::size_t step = schedule_.steps_.size();
  add_step(op, indices, call, captured);
  if (over_limit_) return;
  for (const Region* region : regions) {
    ScheduleBuilder inner(module_, foreign_, diagnostics_);
    auto schedule =
        inner.build_region(op, *region, captured, {graphs_, steps_around_ + step + 1, declared_});
    if (!schedule) return;
    for (const Value* parameter : schedule->parameters()) find_parameter(parameter->symbol(), op);
    control->regions.push_back(*std::move(schedule));
  }
  schedule_.control_.emplace(step, std::move(control));
}

/// False after reporting an end of a block that nothing executes, or a flow without an exit.
bool ScheduleBuilder::can_follow(const Op& end, const FlowBlocks& blocks) {
  const auto check = [&](const Op& op) {
    if (is_executable_end(op)) return true;
    fail(op, diag::kNotExecutable, fmt::format("nothing executes the branch '{}'", op.name()));
    return false;
  };
  if (!check(end)) return false;
  for (const Block* block : blocks.all()) {
    const Op* const last = block->back();
    const bool is_open =
        last == nullptr || (last->extra().successors.empty() && !leaves_region(*last));
    if (is_open) {
      fail(end, diag::kNotExecutable,
           fmt::format("block '^{}' ends without a terminator", text(block->name())));
    }
    if (is_open || !check(*last)) return false;
    for (const Op* op : block->ops()) {
      if (op == last || (!op->has(Trait::kTerminator) && op->extra().successors.empty())) continue;
      fail(*op, diag::kNotExecutable,
           fmt::format("'{}' is not the last op of its block", op->name()));
      return false;
    }
  }
  if (blocks.leaving().empty()) {
    fail(end, diag::kNotExecutable, fmt::format("no way from '{}' leaves its region", end.name()));
    return false;
  }
  if (blocks.results()) return true;
  fail(end, diag::kNotExecutable,
       fmt::format("the ways from '{}' return values of different types; pass them to one block "
                   "that returns",
                   end.name()));
  return false;
}

/// Adds the end of a block as one step that covers all blocks it can reach, up to the end of the
/// region.
std::vector<ValueIndex> ScheduleBuilder::add_flow(const Op& end, ValueIndices& indices,
                                                  std::uint32_t call) {
  const FlowBlocks blocks(end);
  lacks_results_ = true;
  if (!can_follow(end, blocks)) return {};
  std::vector<const Value*> captured = captured_in(blocks.all());
  std::vector<std::vector<const Value*>> reads;
  for (const Block* block : blocks.all()) reads.push_back(captured_in({&block, 1}));
  auto layout = blocks.lay_out(captured, reads);
  if (!layout) {
    fail(end, diag::kUndefinedValue, "a block reads a value that no block before it makes");
    return {};
  }
  auto control = std::make_shared<ControlStep>();
  control->captured = captured.size();
  const std::size_t number = schedule_.steps_.size();
  add_step(end, indices, call, captured);
  if (over_limit_) return {};
  for (std::size_t i = 0; i < reads.size(); ++i) {
    ScheduleBuilder inner(module_, foreign_, diagnostics_);
    auto schedule = inner.build_block(*blocks.all()[i], reads[i], layout->passed[i],
                                      {graphs_, steps_around_ + number + 1, declared_});
    if (!schedule) return {};
    for (const Value* parameter : schedule->parameters()) find_parameter(parameter->symbol(), end);
    control->regions.push_back(*std::move(schedule));
  }
  std::vector<ValueIndex> returned;
  for (const Value* result : layout->flow.results) {
    returned.push_back(add_value(ValueRole::kResult, *result));
  }
  schedule_.steps_[number].result_count = static_cast<std::uint32_t>(returned.size());
  lacks_results_ = false;
  control->flow = std::move(layout->flow);
  schedule_.control_.emplace(number, std::move(control));
  return returned;
}

}  // namespace mir
