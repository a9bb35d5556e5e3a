#include "plan/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "ir/block_count.hpp"
#include "ir/call_types.hpp"
#include "ir/rewrite/bodies.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "plan/body_graphs.hpp"
#include "plan/captured_values.hpp"
#include "plan/report.hpp"
#include "support/suggest.hpp"

namespace mir {

std::string value_name(const Value& value, const IRContext& context) {
  if (value.has_symbol() && value.symbol()) return std::string(context.text(value.symbol()));
  if (value.name().is_none()) return {};
  return value.name().is_number() ? fmt::to_string(value.name().number())
                                  : std::string(context.text(value.name().symbol()));
}

/// Walks the graphs in the order of execution. Problems are reported once per op, however often its
/// graph is called; exceeding a limit ends the walk.
class ScheduleBuilder {
 public:
  ScheduleBuilder(const Module& module, const ForeignOps& foreign, Diagnostics& diagnostics)
      : module_(module),
        foreign_(foreign),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        constant_key_(module.context().intern("constant")) {
    schedule_.module_ = &module;
  }

  /// What contains the schedule of a region or of a block.
  struct Around {
    std::span<const Op* const> graphs;
    std::size_t steps = 0;
  };

  /// Of a region of `op` that reads the values `captured` from around it.
  std::optional<Schedule> build_region(const Op& op, const Region& region,
                                       std::span<const Value* const> captured,
                                       const Around& around) {
    schedule_.title_ = fmt::format("a region of '{}'", op.info().mnemonic);
    enter(region, around);
    if (!may_run(region, 0)) return std::nullopt;
    return build(*region.entry(), captured, {});
  }

  /// Of a block alone, which reads the values `captured` from around it. The outputs are the
  /// operands of its terminator, then the values `passed`.
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

  /// Of the values of one activation.
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
                ValueIndices& indices);
  void add_body(const Op& op, ValueIndices& indices);
  bool may_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                std::size_t operands);
  std::vector<ValueIndex> run_call(const Op& op, const SubGraphOp& target,
                                   std::span<const ValueIndex> operands, std::uint32_t number);
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
  Symbol constant_key_;
  Schedule schedule_;
  std::vector<std::uint32_t> stack_;                     // activations that are running
  std::vector<const Op*> graphs_;                        // their graphs
  std::unordered_map<const Value*, ValueIndex> shared_;  // constants and parameters
  std::unordered_set<const Value*> known_parameters_;
  std::unordered_set<const Op*> reported_;
  std::uint32_t part_ = 0;  // that the next step is in
  std::uint32_t part_count_ = 0;
  std::size_t steps_around_ = 0;  // of the schedules that contain this one
  bool over_limit_ = false;
  bool lacks_results_ = false;  // of a flow that was refused
};

const Region* ScheduleBuilder::find_entry(std::string_view entry) {
  const Op& top = *module_.top();
  if (!module_.is_portable()) {
    diagnostics_.error(DiagCode::kWrongForm, top.span(),
                       "only a portable module can be executed, this one is a dump");
    return nullptr;
  }
  if (entry.empty()) {
    schedule_.title_ = fmt::format("module '{}'", text(module_.name()));
    return &module_.body();
  }
  const SubGraphOp graph = dyn_cast<SubGraphOp>(module_.lookupSymbol(entry).op);
  if (!graph || graph.body() == nullptr) {
    NearestName nearest(entry);
    for_each_child(top, [&](const Op& op) {
      if (isa<SubGraphOp>(&op)) nearest.offer(text(op.symbol()));
    });
    suggest(diagnostics_.error(
                DiagCode::kEntryUnknown, top.span(),
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
  if (global && value.attribute(constant_key_) != nullptr) {
    index = add_value(ValueRole::kConstant, value);
  } else if (global && value.has_symbol()) {
    index = index_of_parameter(value, user);
  } else {
    fail(user, DiagCode::kUndefinedValue,
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
    fail(user, DiagCode::kTypeConflict,
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
  if (declared == nullptr) {
    fail(user, DiagCode::kUnknownParameter,
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
  fail(*body.parent(), DiagCode::kNotExecutable, describe_block_count(body));
  stack_.pop_back();
  return false;
}

/// Appends the steps of a block and of those that follow it; gives what the region returns. Of a
/// block alone, gives the operands of its terminator.
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
    if (branches || isa<ReturnOp>(op) || op->is(OpId::kCfYield, OpId::kCfCondition)) {
      returned = indices_of(*op, indices);
      break;
    }
    // Definitions and comments do nothing themselves, and values live as long as they are used.
    if (isa<SubGraphOp>(op) || isa<RegisterOp>(op) || op->has(Trait::kTemplate) ||
        op->is(OpId::kDbgComment, OpId::kTensorFree)) {
      continue;
    }
    if (op->is(OpId::kGraphFused)) {
      add_fused(*op, indices, call);
    } else if (op->is(OpId::kCfIf, OpId::kCfFor, OpId::kCfWhile)) {
      add_control(*op, indices, call);
    } else if (isa<CallGraphOp>(op)) {
      add_call(*op, text(op->symbol()), indices);
    } else {
      add_executable(*op, indices, call);
    }
  }
  stack_.pop_back();
  return returned;
}

namespace {

/// The entry of a foreign op in a map or set of names; its end for any other op.
template <class Names>
auto find_name(const Names& names, const Op& op) {
  const auto whole = names.find(op.name());
  return whole != names.end() ? whole : names.find(op.info().mnemonic);
}

/// Whether a graph that computes an op can have a value of one type where the op has the other:
/// compatible types, but for devices and encodings, which are those of the graph's own ops.
bool can_stand_for(const Type* a, const Type* b) {
  const auto* x = dyn_cast<TensorType>(a);
  const auto* y = dyn_cast<TensorType>(b);
  if (x == nullptr || y == nullptr) return a == b;
  return x->dtype_name() == y->dtype_name() && compatible_shapes(*x, *y);
}

}  // namespace

void ScheduleBuilder::add_executable(const Op& op, ValueIndices& indices, std::uint32_t call) {
  const auto bound = find_name(foreign_.graphs, op);
  const bool is_bound = bound != foreign_.graphs.end();
  const bool is_callback = find_name(foreign_.callbacks, op) != foreign_.callbacks.end();
  if (is_executable(op) && (is_bound || is_callback)) {
    fail(op, DiagCode::kNotExecutable,
         fmt::format("'{}' has a kernel, nothing else can compute it", op.name()));
  }
  if (is_bound) return add_call(op, bound->second, indices);
  if (is_executable(op) || is_callback) return add_step(op, indices, call);
  if (has_body(op)) return add_body(op, indices);
  fail(op, DiagCode::kNotExecutable, fmt::format("nothing computes '{}'", op.name()));
  for (const Value& result : op.results()) {
    indices.emplace(&result, add_value(ValueRole::kResult, result));
  }
}

/// What verification does for calls.
void ScheduleBuilder::check_binding(const Op& op, const SubGraphOp& target) {
  const auto check = [&](std::string_view what, std::size_t i, const Type* own, const Type* graph) {
    if (own == nullptr || graph == nullptr || can_stand_for(own, graph)) return;
    fail(op, DiagCode::kCallMismatch,
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
    fail(op, DiagCode::kUnknownCallee, fmt::format("no graph is named '@{}'", callee));
    return false;
  }
  const std::size_t taken = target.body()->entry_arguments().size();
  if (taken != operands) {
    fail(op, DiagCode::kCallMismatch,
         fmt::format("call of '@{}' has {} operands, the graph takes {}", callee, operands, taken));
    return false;
  }
  const auto open = std::ranges::find(graphs_, target.op());
  if (open != graphs_.end()) {
    std::string cycle;
    for (auto graph = open; graph != graphs_.end(); ++graph) {
      cycle += fmt::format("@{} -> ", text((*graph)->symbol()));
    }
    fail(op, DiagCode::kCallCycle, fmt::format("graph calls itself: {}@{}", cycle, callee));
    return false;
  }
  if (graphs_.size() < Schedule::kMaxDepth && schedule_.calls_.size() < Schedule::kMaxSteps) {
    return true;
  }
  over_limit_ = true;
  fail(op, DiagCode::kLimitExceeded,
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
    return add_call(op, text(graph->symbol()), SubGraphOp(graph), indices);
  }
  const auto reasons = found.sorted();
  fail(op, reasons.empty() ? DiagCode::kNotExecutable : reasons.front().code,
       reasons.empty() ? fmt::format("nothing computes '{}'", op.name()) : reasons.front().message);
  for (const Value& result : op.results()) {
    indices.emplace(&result, add_value(ValueRole::kResult, result));
  }
}

void ScheduleBuilder::add_call(const Op& op, std::string_view callee, const SubGraphOp& target,
                               ValueIndices& indices) {
  const std::vector<ValueIndex> operands = indices_of(op, indices);
  std::vector<ValueIndex> results;
  if (may_call(op, callee, target, operands.size())) {
    if (isa<CallGraphOp>(&op) && CallTypes::are_own(op, *target.op())) {
      return add_own_call(op, target, indices);
    }
    const auto number = static_cast<std::uint32_t>(schedule_.calls_.size());
    schedule_.calls_.push_back({.op = &op, .caller = stack_.back(), .graph = target.op()});
    if (may_run(*target.body(), number)) results = run_call(op, target, operands, number);
  }
  for (const Value& result : op.results()) {
    const bool is_returned = result.index() < results.size();
    indices.emplace(&result,
                    is_returned ? results[result.index()] : add_value(ValueRole::kResult, result));
  }
}

/// Appends the steps of the graph that `op` calls; gives what it returns.
std::vector<ValueIndex> ScheduleBuilder::run_call(const Op& op, const SubGraphOp& target,
                                                  std::span<const ValueIndex> operands,
                                                  std::uint32_t number) {
  if (!isa<CallGraphOp>(&op)) check_binding(op, target);
  const Block& body = *target.body()->entry();
  ValueIndices inner;
  for (const Value& argument : body.arguments()) {
    inner.emplace(&argument, operands[argument.index()]);
  }
  graphs_.push_back(target.op());
  std::vector<ValueIndex> results = run(body, inner, number);
  graphs_.pop_back();
  if (results.size() != op.result_count() && !over_limit_ && !lacks_results_) {
    fail(op, DiagCode::kCallMismatch,
         fmt::format("call of '@{}' has {} results, the graph returns {}", text(target.symbol()),
                     op.result_count(), results.size()));
  }
  return results;
}

/// Its steps are those of its region, which a plan may compute as one.
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
  add_regions(op, regions, captured_by(blocks), indices, call);
}

/// A call in whose run symbols of the graph have values of their own.
void ScheduleBuilder::add_own_call(const Op& op, const SubGraphOp& target, ValueIndices& indices) {
  graphs_.push_back(target.op());
  const Region* const body = target.body();
  add_regions(op, {&body, 1}, {}, indices, stack_.back());
  graphs_.pop_back();
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
    auto schedule = inner.build_region(op, *region, captured, {graphs_, steps_around_ + step + 1});
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
    fail(op, DiagCode::kNotExecutable, fmt::format("nothing executes the branch '{}'", op.name()));
    return false;
  };
  if (!check(end)) return false;
  for (const Block* block : blocks.all()) {
    const Op* const last = block->back();
    const bool is_open =
        last == nullptr || (last->extra().successors.empty() && !leaves_region(*last));
    if (is_open) {
      fail(end, DiagCode::kNotExecutable,
           fmt::format("block '^{}' ends without a terminator", text(block->name())));
    }
    if (is_open || !check(*last)) return false;
    for (const Op* op : block->ops()) {
      if (op == last || (!op->has(Trait::kTerminator) && op->extra().successors.empty())) continue;
      fail(*op, DiagCode::kNotExecutable,
           fmt::format("'{}' is not the last op of its block", op->name()));
      return false;
    }
  }
  if (blocks.leaving().empty()) {
    fail(end, DiagCode::kNotExecutable,
         fmt::format("no way from '{}' leaves its region", end.name()));
    return false;
  }
  if (blocks.results()) return true;
  fail(end, DiagCode::kNotExecutable,
       fmt::format("the ways from '{}' return values of different types; pass them to one block "
                   "that returns",
                   end.name()));
  return false;
}

/// The step is the end of a block: all that it leads to, up to the end of the region.
std::vector<ValueIndex> ScheduleBuilder::add_flow(const Op& end, ValueIndices& indices,
                                                  std::uint32_t call) {
  const FlowBlocks blocks(end);
  lacks_results_ = true;
  if (!can_follow(end, blocks)) return {};
  std::vector<const Value*> captured = captured_by(blocks.all());
  std::vector<std::vector<const Value*>> reads;
  for (const Block* block : blocks.all()) reads.push_back(captured_by({&block, 1}));
  auto layout = blocks.lay_out(captured, reads);
  if (!layout) {
    fail(end, DiagCode::kUndefinedValue, "a block reads a value that no block before it makes");
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
                                      {graphs_, steps_around_ + number + 1});
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

void ScheduleBuilder::add_step(const Op& op, ValueIndices& indices, std::uint32_t call,
                               std::span<const Value* const> captured) {
  if (steps_around_ + schedule_.steps_.size() >= Schedule::kMaxSteps) {
    over_limit_ = true;
    return fail(op, DiagCode::kLimitExceeded,
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
