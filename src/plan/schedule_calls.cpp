// Ops whose steps are those of a graph: calls, bodies of dialects, ops that a graph is bound to.
#include <algorithm>
#include <utility>

#include "eval/evaluate.hpp"
#include "ir/call_types.hpp"
#include "ir/extent_walk.hpp"
#include "ir/rewrite/bodies.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/verification.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "plan/body_graphs.hpp"
#include "plan/captured_values.hpp"
#include "plan/schedule_builder.hpp"

namespace mir {

namespace {

/// The entry of a foreign op in a map or set of names; its end for any other op.
template <class Names>
auto find_name(const Names& names, const Op& op) {
  const auto whole = names.find(op.name());
  return whole != names.end() ? whole : names.find(op.info().mnemonic);
}

/// True if a graph that computes an op can have a value of one type where the op has the other: the
/// types must be compatible except for devices and encodings, which the graph's own ops define.
bool can_stand_for(const Type* a, const Type* b) {
  const TensorType *x = held_type(a), *y = held_type(b);
  if (x == nullptr || y == nullptr) return a == b;
  return x->dtype_name() == y->dtype_name() && compatible_shapes(*x, *y);
}

bool finds_out_symbols_in(const Region& region) {
  bool finds = false;
  for_each_op(region, [&](const Op& op) { finds = finds || finds_out_symbols(op); });
  return finds;
}

std::vector<const Block*> blocks_in(const Op& op) {
  std::vector<const Block*> blocks;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (const Block* block : region->blocks()) blocks.push_back(block);
  }
  return blocks;
}

}  // namespace

void ScheduleBuilder::add_executable(const Op& op, ValueIndices& indices, std::uint32_t call) {
  const auto bound = find_name(foreign_.graphs, op);
  const bool is_bound = bound != foreign_.graphs.end();
  const bool is_callback = find_name(foreign_.callbacks, op) != foreign_.callbacks.end();
  if (is_executable(op) && (is_bound || is_callback)) {
    fail(op, diag::kNotExecutable,
         fmt::format("'{}' has a kernel, nothing else can compute it", op.name()));
  }
  if (is_bound) return add_call(op, bound->second, indices);
  if (is_executable(op) || is_callback) return add_step(op, indices, call);
  if (has_body(op)) return add_body(op, indices);
  fail(op, diag::kNotExecutable, fmt::format("nothing computes '{}'", op.name()));
  for (const Value& result : op.results()) {
    indices.emplace(&result, add_value(ValueRole::kResult, result));
  }
}

/// Checks a bound graph as verification checks calls.
void ScheduleBuilder::check_binding(const Op& op, const SubGraphOp& target) {
  const auto check = [&](std::string_view what, std::size_t i, const Type* own, const Type* graph) {
    if (own == nullptr || graph == nullptr || can_stand_for(own, graph)) return;
    fail(op, diag::kCallMismatch,
         fmt::format("{} {} of '{}' is {}, that of graph '@{}' is {}", what, i, op.name(),
                     own->spelling(), text(target.op()->symbol()), graph->spelling()));
  };
  const auto arguments = target.body()->entry_arguments();
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    check("operand", i, op.operand(i)->type(), arguments[i].type());
  }
  const Op* const last = first_return(*target.body());
  if (last == nullptr) return;
  for (std::uint32_t i = 0; i < std::min(op.result_count(), last->operand_count()); ++i) {
    check("result", i, op.result(i)->type(), last->operand(i)->type());
  }
}

bool ScheduleBuilder::may_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                               std::size_t operands) {
  if (!target || target.body() == nullptr) {
    fail(op, diag::kUnknownCallee, fmt::format("no graph is named '@{}'", callee));
    return false;
  }
  const std::size_t taken = target.body()->entry_arguments().size();
  if (taken != operands) {
    fail(op, diag::kCallMismatch,
         fmt::format("call of '@{}' has {} operands, the graph takes {}", callee, operands, taken));
    return false;
  }
  const auto open = std::ranges::find(graphs_, target.op());
  if (open != graphs_.end()) {
    std::string cycle;
    for (auto graph = open; graph != graphs_.end(); ++graph) {
      cycle += fmt::format("@{} -> ", text((*graph)->symbol()));
    }
    fail(op, diag::kCallCycle, fmt::format("graph calls itself: {}@{}", cycle, callee));
    return false;
  }
  if (graphs_.size() < Schedule::kMaxDepth && schedule_.calls_.size() < Schedule::kMaxSteps) {
    return true;
  }
  over_limit_ = true;
  fail(op, diag::kLimitExceeded,
       fmt::format("calls are nested deeper than {} or more than {}", Schedule::kMaxDepth,
                   Schedule::kMaxSteps));
  return false;
}

void ScheduleBuilder::add_call(const Op& op, std::string_view callee, ValueIndices& indices) {
  add_call(op, callee, dyn_cast<SubGraphOp>(module_.lookup_op(module_.context().intern(callee))),
           indices);
}

/// The body of an op is a graph that it calls.
void ScheduleBuilder::add_body(const Op& op, ValueIndices& indices) {
  if (schedule_.bodies_ == nullptr) schedule_.bodies_ = std::make_shared<BodyGraphs>(module_);
  Diagnostics found(1);
  Op* graph = schedule_.bodies_->graph_of(op, found);
  if (graph != nullptr) {
    const Op* const around = std::exchange(declared_, &op);
    add_call(op, text(graph->symbol()), SubGraphOp(graph), indices, captured_by(blocks_in(op)));
    declared_ = around;
    return;
  }
  const auto reasons = found.sorted();
  fail(op, reasons.empty() ? diag::kNotExecutable : reasons.front().code,
       reasons.empty() ? fmt::format("nothing computes '{}'", op.name()) : reasons.front().message);
  for (const Value& result : op.results()) {
    indices.emplace(&result, add_value(ValueRole::kResult, result));
  }
}

/// Adds the region of the op at hand that an op of its body runs: its steps, or one step if each
/// run finds out symbols anew.
void ScheduleBuilder::add_run(const Op& run, ValueIndices& indices, std::uint32_t call) {
  const Op* const op = std::exchange(declared_, nullptr);
  const Region* const region = op == nullptr ? nullptr : region_of_run(run, *op);
  if (region == nullptr) {
    fail(run, diag::kNotExecutable, fmt::format("'{}' has no region to run", run.name()));
  } else if (may_run(*region, call)) {
    const auto captured = captured_by(blocks_in(*op));
    if (finds_out_symbols_in(*region)) {
      add_regions(run, {&region, 1}, captured, indices, call);
    } else {
      add_steps_of_run(run, *region, captured, indices, call);
    }
  }
  declared_ = op;
  for (const Value& result : run.results()) {
    if (!indices.contains(&result)) {
      indices.emplace(&result, add_value(ValueRole::kResult, result));
    }
  }
}

void ScheduleBuilder::add_steps_of_run(const Op& run, const Region& region,
                                       std::span<const Value* const> captured,
                                       ValueIndices& indices, std::uint32_t call) {
  const Block& first = *region.entry();
  const std::vector<ValueIndex> operands = indices_of(run, indices);
  ValueIndices inner;
  for (const Value* value : captured) inner.emplace(value, index_of(*value, indices, run));
  std::vector<ValueIndex> results;
  if (first.arguments().size() == operands.size()) {
    for (const Value& argument : first.arguments()) {
      inner.emplace(&argument, operands[argument.index()]);
    }
    results = this->run(first, inner, call);
  }
  if (results.size() == run.result_count()) {
    for (const Value& result : run.results()) indices.emplace(&result, results[result.index()]);
  } else if (!over_limit_ && !lacks_results_) {
    fail(*region.parent(), diag::kCallMismatch,
         fmt::format("a region of '{}' takes {} values and passes {}, its body expects {} and {}",
                     region.parent()->name(), first.arguments().size(), results.size(),
                     operands.size(), run.result_count()));
  }
}

/// The values from around blocks that they read, those that regions read which ops in the blocks
/// run included.
std::vector<const Value*> ScheduleBuilder::captured_in(std::span<const Block* const> blocks) const {
  std::vector<const Value*> captured = captured_by(blocks);
  if (declared_ == nullptr) return captured;
  bool has_run = false;
  for (const Block* block : blocks) {
    for (const Op* op : block->ops()) {
      has_run = has_run || op->is(OpId::kDialectRun);
      for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
        for_each_op(*region,
                    [&](const Op& inner) { has_run = has_run || inner.is(OpId::kDialectRun); });
      }
    }
  }
  if (!has_run) return captured;
  for (const Value* value : captured_by(blocks_in(*declared_))) captured.push_back(value);
  return captured;
}

void ScheduleBuilder::add_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                               ValueIndices& indices, std::span<const Value* const> captured) {
  const std::vector<ValueIndex> operands = indices_of(op, indices);
  std::vector<ValueIndex> results;
  if (may_call(op, callee, target, operands.size())) {
    if (isa<CallGraphOp>(&op) && CallTypes::are_own(op, *target.op())) {
      return add_own_call(op, target, indices);
    }
    const auto number = static_cast<std::uint32_t>(schedule_.calls_.size());
    schedule_.calls_.push_back({.op = &op, .caller = stack_.back(), .graph = target.op()});
    ValueIndices inner;
    for (const Value* value : captured) inner.emplace(value, index_of(*value, indices, op));
    if (may_run(*target.body(), number)) {
      results = run_call(op, target, operands, number, std::move(inner));
    }
  }
  for (const Value& result : op.results()) {
    const bool is_returned = result.index() < results.size();
    indices.emplace(&result,
                    is_returned ? results[result.index()] : add_value(ValueRole::kResult, result));
  }
}

/// Appends the steps of the graph that `op` calls and returns the graph's results.
std::vector<ValueIndex> ScheduleBuilder::run_call(const Op& op, const SubGraphOp& target,
                                                  std::span<const ValueIndex> operands,
                                                  std::uint32_t number, ValueIndices inner) {
  if (!isa<CallGraphOp>(&op)) check_binding(op, target);
  const Block& body = *target.body()->entry();
  for (const Value& argument : body.arguments()) {
    inner.emplace(&argument, operands[argument.index()]);
  }
  graphs_.push_back(target.op());
  std::vector<ValueIndex> results = run(body, inner, number);
  graphs_.pop_back();
  if (results.size() != op.result_count() && !over_limit_ && !lacks_results_) {
    fail(op, diag::kCallMismatch,
         fmt::format("call of '@{}' has {} results, the graph returns {}", text(target.symbol()),
                     op.result_count(), results.size()));
  }
  return results;
}

/// A call in whose run symbols of the graph have values of their own.
void ScheduleBuilder::add_own_call(const Op& op, const SubGraphOp& target, ValueIndices& indices) {
  graphs_.push_back(target.op());
  const Region* const body = target.body();
  add_regions(op, {&body, 1}, {}, indices, stack_.back());
  graphs_.pop_back();
}

}  // namespace mir
