// Flattens a module to steps: inlines calls, indexes values and finds their last uses.
#include "plan/schedule.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "ir/block_count.hpp"
#include "ir/declares_dialect.hpp"
#include "ir/ports.hpp"
#include "ir/storage_marks.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/verification.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "plan/body_graphs.hpp"
#include "plan/captured_values.hpp"
#include "plan/schedule_builder.hpp"
#include "support/suggest.hpp"

namespace mir {

std::string value_name(const Value& value, const IRContext& context) {
  return name_text(default_port(value), context);
}

const Region* ScheduleBuilder::find_entry(std::string_view entry) {
  const Op& top = *module_.top();
  if (!module_.is_portable()) {
    diagnostics_.error(diag::kWrongForm, top.span(),
                       "only a portable module can be executed, this one is a dump");
    return nullptr;
  }
  if (entry.empty()) {
    schedule_.title_ = fmt::format("module '{}'", text(module_.name()));
    return &module_.body();
  }
  const SubGraphOp graph = dyn_cast<SubGraphOp>(module_.lookup_symbol(entry).op);
  if (!graph || graph.body() == nullptr) {
    NearestName nearest(entry);
    for_each_child(top, [&](const Op& op) {
      if (isa<SubGraphOp>(&op)) nearest.offer(text(op.symbol()));
    });
    suggest(diagnostics_.error(
                diag::kEntryUnknown, top.span(),
                fmt::format("module '{}' has no graph '@{}'", text(module_.name()), entry)),
            nearest.best());
    return nullptr;
  }
  schedule_.title_ = fmt::format("graph '@{}'", entry);
  graphs_.push_back(graph.op());
  return graph.body();
}

ValueIndex ScheduleBuilder::add_value(ValueRole role, const Value& value) {
  const auto index = static_cast<ValueIndex>(schedule_.values_.size());
  schedule_.values_.push_back({.role = role, .value = &value, .storage = index});
  return index;
}

ValueIndex ScheduleBuilder::index_of(const Value& value, const ValueIndices& indices,
                                     const Op& user) {
  if (const auto found = indices.find(&value); found != indices.end()) return found->second;
  if (const auto found = shared_.find(&value); found != shared_.end()) return found->second;
  const bool global = is_global(value);
  ValueIndex index = 0;
  if (global && value.attribute(key::kConstant) != nullptr) {
    index = add_value(ValueRole::kConstant, value);
  } else if (global && value.has_symbol()) {
    index = index_of_parameter(value, user);
  } else {
    fail(user, diag::kUndefinedValue,
         fmt::format("'{}' uses a value that has none yet", user.info().mnemonic));
  }
  shared_.emplace(&value, index);
  return index;
}

/// A mention `%w[@w]` anywhere means the parameter that is registered under the symbol.
ValueIndex ScheduleBuilder::index_of_parameter(const Value& value, const Op& user) {
  const Value* declared = find_parameter(value.symbol(), user);
  if (declared == nullptr) return 0;
  if (declared->type() != value.type()) {
    fail(user, diag::kTypeConflict,
         fmt::format("parameter '@{}' is used as {}, registered as {}", text(value.symbol()),
                     value.type() == nullptr ? "untyped" : value.type()->spelling(),
                     declared->type() == nullptr ? "untyped" : declared->type()->spelling()));
  }
  const auto [found, is_new] = shared_.try_emplace(declared, 0);
  if (is_new) found->second = add_value(ValueRole::kParameter, *declared);
  return found->second;
}

/// The registered parameter; the first mention of it puts it on the list.
const Value* ScheduleBuilder::find_parameter(Symbol symbol, const Op& user) {
  const Value* declared = module_.lookup_value(symbol);
  if (declared == nullptr && schedule_.bodies_ != nullptr) {
    declared = schedule_.bodies_->parameter(symbol);
  }
  if (declared == nullptr) {
    fail(user, diag::kUnknownParameter,
         fmt::format("no parameter '@{}' is registered", text(symbol)));
  } else if (known_parameters_.insert(declared).second) {
    schedule_.parameters_.push_back(declared);
  }
  return declared;
}

std::vector<ValueIndex> ScheduleBuilder::indices_of(const Op& op, const ValueIndices& indices) {
  std::vector<ValueIndex> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(index_of(*use.value(), indices, op));
  return operands;
}

/// False after reporting a graph without blocks.
bool ScheduleBuilder::may_run(const Region& body, std::uint32_t call) {
  if (!body.empty()) return true;
  stack_.push_back(call);
  fail(*body.parent(), diag::kNotExecutable, describe_block_count(body));
  stack_.pop_back();
  return false;
}

namespace {

/// True for an op that ends a block and passes its operands on. A declared terminator does so at
/// the end of a region of an op of its dialect.
bool is_end(const Op& op) {
  return op.is(OpId::kCfReturn, OpId::kCfYield, OpId::kCfCondition) ||
         (leaves_region(op) && is_declared(op.info().dialect) &&
          op.info().dialect == op.parent_op()->info().dialect);
}

}  // namespace

/// Appends the steps of a block and of the blocks that follow it, and returns the values that the
/// region returns. For a single block, returns the operands of its terminator.
std::vector<ValueIndex> ScheduleBuilder::run(const Block& body, ValueIndices& indices,
                                             std::uint32_t call) {
  stack_.push_back(call);
  std::vector<ValueIndex> returned;
  for (Op* op : body.ops()) {
    if (over_limit_) break;
    const bool branches = !op->extra().successors.empty();
    if (branches && schedule_.block_ != &body) {
      returned = add_flow(*op, indices, call);
      break;
    }
    if (branches || is_end(*op)) {
      returned = indices_of(*op, indices);
      break;
    }
    // Definitions and comments do nothing themselves, and values live as long as they are used.
    if (isa<SubGraphOp>(op) || isa<RegisterOp>(op) || op->has(Trait::kTemplate) ||
        op->is(OpId::kDbgComment) || only_shows_memory(*op)) {
      continue;
    }
    if (op->is(OpId::kGraphFused)) {
      add_fused(*op, indices, call);
    } else if (op->is(OpId::kCfIf, OpId::kCfFor, OpId::kCfWhile)) {
      add_control(*op, indices, call);
    } else if (isa<CallGraphOp>(op)) {
      add_call(*op, text(op->symbol()), indices);
    } else if (op->is(OpId::kDialectRun)) {
      add_run(*op, indices, call);
    } else if (op->is(OpId::kDialectCast)) {
      indices.emplace(op->result(), index_of(*op->operand(0), indices, *op));
    } else {
      add_executable(*op, indices, call);
    }
  }
  stack_.pop_back();
  return returned;
}

void ScheduleBuilder::add_step(const Op& op, ValueIndices& indices, std::uint32_t call,
                               std::span<const Value* const> captured) {
  if (steps_around_ + schedule_.steps_.size() >= Schedule::kMaxSteps) {
    over_limit_ = true;
    return fail(op, diag::kLimitExceeded,
                fmt::format("the module has more than {} steps", Schedule::kMaxSteps));
  }
  for (const OwnedParameter& owned : owned_parameters(op)) find_parameter(owned.symbol, op);
  if (const auto named = named_parameter(op)) find_parameter(*named, op);
  std::vector<ValueIndex> operands = indices_of(op, indices);
  for (const Value* value : captured) operands.push_back(index_of(*value, indices, op));
  Step step{.op = &op,
            .call = call,
            .first_operand = static_cast<std::uint32_t>(schedule_.lists_.size()),
            .operand_count = static_cast<std::uint32_t>(operands.size()),
            .first_result = static_cast<std::uint32_t>(schedule_.values_.size()),
            .result_count = op.result_count(),
            .part = part_};
  schedule_.lists_.insert(schedule_.lists_.end(), operands.begin(), operands.end());
  for (const Value& result : op.results()) {
    const ValueIndex index = add_value(ValueRole::kResult, result);
    if (op.has(Trait::kSameBytes) && !operands.empty()) {
      schedule_.values_[index].storage = schedule_.values_[operands[0]].storage;
    }
    indices.emplace(&result, index);
  }
  schedule_.steps_.push_back(step);
}

void ScheduleBuilder::find_last_uses() {
  std::vector<ScheduledValue>& values = schedule_.values_;
  LastUses uses;
  for (std::uint32_t number = 0; const Step& step : schedule_.steps_) {
    for (const ValueIndex index : schedule_.operands(step)) uses.use(index, number);
    for (std::uint32_t i = 0; i < step.result_count; ++i) {
      uses.use(step.first_result + i, number);
    }
    ++number;
  }
  for (const ValueIndex index : schedule_.outputs_) uses.keep(index);
  for (ValueIndex index = 0; index < values.size(); ++index) {
    const ValueRole role = values[index].role;
    if (role == ValueRole::kParameter || role == ValueRole::kConstant) uses.keep(index);
    values[index].last_use = uses.of(index);
  }
  const auto released = uses.by_step(schedule_.steps_.size());
  for (std::size_t number = 0; number < released.size(); ++number) {
    Step& step = schedule_.steps_[number];
    step.first_release = static_cast<std::uint32_t>(schedule_.lists_.size());
    step.release_count = static_cast<std::uint32_t>(released[number].size());
    schedule_.lists_.insert(schedule_.lists_.end(), released[number].begin(),
                            released[number].end());
  }
}

std::optional<Schedule> Schedule::build(const Module& module, std::string_view entry,
                                        Diagnostics& diagnostics, const ForeignOps& foreign) {
  return ScheduleBuilder(module, foreign, diagnostics).build_entry(entry);
}

}  // namespace mir
