// Lowers portable modules to programs: assigns slots and emits launches and jumps.
#include "upgrade/lower_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program_fields.hpp"
#include "ir/storage_marks.hpp"
#include "mir/conversion.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "program/program_emitter.hpp"
#include "support/last_uses.hpp"
#include "upgrade/call_order.hpp"
#include "upgrade/form_limits.hpp"
#include "upgrade/kernel_names.hpp"

namespace mir {

namespace {

/// Name of the form in losses and errors of modules that have no program.
constexpr std::string_view kForm = "program form";

/// A body after a label, or the module's own.
struct ProgramBody {
  std::string_view name;
  Block* block = nullptr;
};

/// The graphs to which calls lead from the body of a module.
class ReachedGraphs {
 public:
  explicit ReachedGraphs(const Module& module) { visit(module.body()); }

  bool contains(const Op& graph) const { return graphs_.contains(&graph); }
  /// True if the call is the first one of its graph.
  bool is_first_call(const Op& call) const { return calls_.contains(&call); }

 private:
  void visit(const Region& region) {
    if (region.empty() || region.has_several_blocks()) return;
    for (Op* op : region.only_block().ops()) {
      const CallGraphOp call = dyn_cast<CallGraphOp>(op);
      const CallOrder::Entry entry = call ? order_.enter(call) : CallOrder::Entry();
      if (!entry.is_first) continue;
      calls_.insert(op);
      graphs_.insert(entry.graph.op());
      visit(entry.body());
    }
  }

  CallOrder order_;
  std::unordered_set<const Op*> calls_, graphs_;
};

/// note [slots]
///
/// Calls pass nothing: caller and callee name one slot alike. So an argument has the slot of
/// what is handed in, and the result of a call that of what is returned, which one call a graph
/// makes possible. Parameters have one slot each.
class ProgramPlan {
 public:
  ProgramPlan(Module& module, const ReachedGraphs& reached, LossReport& report,
              Diagnostics& diagnostics)
      : module_(module), reached_(reached), report_(report), diagnostics_(diagnostics) {}

  /// `is_legal`: each op that the program runs has a kernel.
  bool run(bool is_legal) {
    const std::size_t before = diagnostics_.error_count();
    refuse_stored_views(module_, kForm, report_, diagnostics_);
    refuse_added_operands(module_, kForm, report_, diagnostics_);
    walk<RegisterOp>(module_, [&](RegisterOp op) {
      if (op.value() == nullptr || !op.value()->has_symbol()) return;
      check(*op.value(), *op.op());
      parameters.push_back(op.value());
      const std::uint32_t slot = make_slot(*op.value());
      by_symbol_.emplace(op.value()->symbol(), slot);
      given.emplace(slot, op.value());
    });
    if (!require_one_block(module_.body(), kForm, report_, diagnostics_)) return false;
    Block& body = module_.body().only_block();
    for (Value& argument : body.arguments()) {
      check(argument, *module_.top());
      inputs.push_back(slots[&argument] = make_slot(argument));
    }
    visit(body, "");
    if (const Op* last = body.terminator()) {
      for (const Use& use : last->operand_uses()) outputs.push_back(slot_of(*use.value()));
    }
    for (const Value& argument : body.arguments()) {
      if (!reads_.is_used(number_of(slots.at(&argument)))) unread.push_back(&argument);
    }
    symbolic_types_.refuse(kForm, "programs", report_, diagnostics_);
    if (!is_legal || diagnostics_.error_count() != before) return false;
    settle_frees();
    drop_graphs();
    kernels.emplace(launches_, report_, diagnostics_);
    return diagnostics_.error_count() == before;
  }

  std::uint32_t slot_of(const Value& value) {
    if (value.has_symbol()) {
      if (const auto found = by_symbol_.find(value.symbol()); found != by_symbol_.end()) {
        return found->second;
      }
    }
    const auto [at, is_new] = slots.try_emplace(&value, 0);
    if (!is_new) return at->second;
    at->second = make_slot(value);
    if (const Attr* constant = value.attribute(key::kConstant)) {
      if (!has_finite_numbers(*constant)) {
        report_.refuse(*value.first_use()->user(), key::kConstant,
                       "JSON has no infinities and NaNs", diagnostics_);
      }
      constants.push_back(&value);
      given.emplace(at->second, &value);
    }
    return at->second;
  }

  /// Gives the replacement of a value its slot.
  void give_slot(const Value& value, std::uint32_t slot) { slots[&value] = slot; }

  std::vector<ProgramBody> bodies;  ///< the module's own first
  std::vector<std::uint32_t> inputs, outputs;
  std::vector<const Value*> parameters, constants;
  std::unordered_map<std::uint32_t, const Value*> given;  ///< parameters and constants by slot
  std::unordered_map<const Value*, std::uint32_t> slots;
  std::unordered_map<const Op*, std::vector<std::uint32_t>> frees;  ///< slots, after the launch
  std::vector<const Value*> unread;                                 ///< inputs that no launch reads
  std::optional<KernelNames> kernels;

 private:
  /// The number that the value has, where no other has it.
  std::uint32_t make_slot(const Value& value) {
    const bool number = value.name().is_number() && !value.name().is_none();
    if (number && taken_.insert(value.name().number()).second) return value.name().number();
    std::uint32_t slot = module_.fresh_name().number();
    while (!taken_.insert(slot).second) slot = module_.fresh_name().number();
    return slot;
  }

  void refuse(const Op& op, std::string_view why) { report_.refuse(op, kForm, why, diagnostics_); }

  void drop(const Op& op, std::string_view fact, std::string_view value) {
    report_.entries.push_back({LossEntry::Source::kDropped, op.location(), describe(op),
                               std::string(fact), std::string(value)});
  }

  /// Notes but for those that text of programs shows.
  void drop_notes(const Op& op, std::span<const NamedAttr> notes) {
    for (const NamedAttr& note : notes) {
      const std::string_view key = module_.context().text(note.key);
      if (key == key::kConstant || key == key::kSymbol) continue;
      drop(op, key, note.value == nullptr ? "" : note.value->spelling());
    }
  }

  /// Drops graphs that nothing calls; bodies after labels only have a name.
  void drop_graphs() {
    for (Op* op : module_.body().only_block().ops()) {
      const SubGraphOp graph = dyn_cast<SubGraphOp>(op);
      if (!graph) continue;
      drop_notes(*op, op->attributes());
      const bool is_called = reached_.contains(*op);
      if (!is_called && has_code(graph)) {
        drop(*op, "graph that nothing calls", module_.context().text(graph.symbol()));
      } else if (is_called && graph.device() != "CPU") {
        drop(*op, "device", graph.device());
      }
    }
  }

  static bool has_code(SubGraphOp graph) {
    bool has = false;
    for_each_child(*graph.op(), [&](const Op& op) {
      has = has || !op.is(OpId::kTensorRegister, OpId::kCfReturn);
    });
    return has;
  }

  void check(const Value& value, const Op& at) {
    drop_notes(at, value.attributes());
    const TensorType* type = value.tensor_type();
    if (type == nullptr) return;
    report_.refuse_own_type(at, kForm, *type, diagnostics_);
    symbolic_types_.note(at, *type);
  }

  // -- ops in the order of execution --------------------------------------------------------------

  void visit(Block& body, std::string_view name) {
    bodies.push_back({name, &body});
    for (Op* op : body.ops()) {
      for (const Value& result : op->results()) check(result, *op);
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op)) {
        if (reached_.is_first_call(*op)) enter(call);
      } else if (isa<LinalgOp>(op) && !op->is(OpId::kLinalgRegister)) {
        launch(*op);
      }
    }
  }

  /// Slots that launches read have numbers side by side.
  std::size_t number_of(std::uint32_t slot) {
    const auto [at, is_new] = numbers_.try_emplace(slot, numbers_.size());
    if (is_new) last_read_.push_back(nullptr);
    return at->second;
  }

  void launch(const Op& op) {
    for (const Use& use : op.operand_uses()) {
      const std::size_t number = number_of(slot_of(*use.value()));
      reads_.use(number, static_cast<std::uint32_t>(launches_.size()));
      last_read_[number] = use.value();
    }
    for (const Value& result : op.results()) {
      const std::size_t number = number_of(slot_of(result));
      reads_.use(number, static_cast<std::uint32_t>(launches_.size()));
      last_read_[number] = &result;
    }
    launches_.push_back(&op);
  }

  void enter(CallGraphOp call) {
    const SubGraphOp target = call.target();
    if (!require_one_block(*target.body(), kForm, report_, diagnostics_)) return;
    Block& body = target.body()->only_block();
    for (Value& argument : body.arguments()) {
      if (argument.index() >= call->operand_count()) continue;
      slots[&argument] = slot_of(*call->operand(argument.index()));
    }
    visit(body, module_.context().text(target.symbol()));
    for (const Value& result : call->results()) {
      const Value* returned = target.body()->returned(result.index());
      if (returned != nullptr) slots[&result] = slot_of(*returned);
    }
  }

  /// Frees values after their last reader, and unused ones where they are made. Outputs and values
  /// with symbols stay.
  void settle_frees() {
    std::unordered_set<std::uint32_t> kept(outputs.begin(), outputs.end());
    for (const auto& [symbol, slot] : by_symbol_) kept.insert(slot);
    for (const Value* constant : constants) kept.insert(slots.at(constant));
    for (const std::uint32_t slot : kept) reads_.keep(number_of(slot));
    const auto ending = reads_.by_step(launches_.size());
    for (std::size_t launch = 0; launch < launches_.size(); ++launch) {
      for (const std::uint32_t number : ending[launch]) {
        frees[launches_[launch]].push_back(slot_of(*last_read_[number]));
      }
    }
    // Upstream frees from the last operand to the first.
    for (auto& [op, ended] : frees) {
      if (ended.size() < 2) continue;
      std::unordered_map<std::uint32_t, std::uint32_t> last_operand;  // by slot
      for (const Use& use : op->operand_uses()) last_operand[slot_of(*use.value())] = use.index();
      std::ranges::stable_sort(ended, std::greater<>(), [&](std::uint32_t slot) {
        const auto found = last_operand.find(slot);
        return found == last_operand.end() ? 0 : found->second;
      });
    }
  }

  Module& module_;
  const ReachedGraphs& reached_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  std::unordered_set<std::uint32_t> taken_;
  std::unordered_map<Symbol, std::uint32_t> by_symbol_;
  std::vector<const Op*> launches_;                         // in the order of execution
  std::unordered_map<std::uint32_t, std::size_t> numbers_;  // of slots, from 0
  LastUses reads_;                                          // of slots by launches
  std::vector<const Value*> last_read_;                     // what the last launch calls the slot
  SymbolicTypes symbolic_types_;
};

// -- op by op -------------------------------------------------------------------------------------

std::string label_of(std::string_view graph) {
  return fmt::format("{}{}", graph, program_field::kEntrySuffix);
}

PatternMatch match_launch(Op& root) {
  if (!isa<LinalgOp>(&root)) return PatternMatch::failed("programs have no such operation", root);
  if (root.row() == nullptr) return PatternMatch::failed("no dialect declares it", root);
  return root.has(Trait::kPortableOnly) ? PatternMatch::failed(LossReport::kOwnOp, root)
                                        : PatternMatch::of({&root});
}

/// A launch, and after it the end of the slots that nothing reads again.
void rewrite_as_launch(Rewriter& rewriter, ProgramPlan& plan, Op& root) {
  std::vector<const Type*> types;
  for (const Value& result : root.results()) types.push_back(result.type());
  std::vector<Value*> operands;
  std::unordered_map<std::uint32_t, Value*> by_slot;
  for (const Use& use : root.operand_uses()) {
    operands.push_back(use.value());
    by_slot[plan.slot_of(*use.value())] = use.value();
  }
  const auto& [name, spec] = plan.kernels->of(root);
  Op* launch = make_launch(rewriter, name, spec, operands, types);
  for (const Value& result : root.results()) {
    const std::uint32_t slot = plan.slot_of(result);
    Value* made = by_slot[slot] = launch->result(result.index());
    plan.give_slot(*made, slot);
    rewriter.set_name(*made, ValueName::number(slot));
  }
  const auto ended = plan.frees.find(&root);
  rewriter.replace(root, *launch);
  if (ended == plan.frees.end()) return;
  rewriter.set_default_location({});  // frees have none
  rewriter.set_insertion_point_after(*launch);
  for (const std::uint32_t slot : ended->second) {
    rewriter.insert(*make_free(rewriter, by_slot.at(slot)));
  }
}

/// Calls pass nothing: the called body fills the slots of the results.
void rewrite_as_jump(Rewriter& rewriter, ProgramPlan& plan, Op& root) {
  std::vector<Value*> results;
  for (const Value& result : root.results()) {
    const std::uint32_t slot = plan.slot_of(result);
    results.push_back(
        rewriter.create_free_value(*root.parent_region(), result.type(), ValueName::number(slot)));
    plan.give_slot(*results.back(), slot);
  }
  Op* jump = make_jump(rewriter, label_of(rewriter.context().text(root.symbol())));
  rewriter.set_location(*jump, root.location());
  rewriter.set_insertion_point(root);
  rewriter.insert(*jump);
  rewriter.replace(root, results);
}

std::string kind_name(const IRContext& context, OpId op) {
  return std::string(context.info(op).name);
}

PatternSet program_patterns(const IRContext& context, ProgramPlan& plan,
                            const ReachedGraphs& reached) {
  PatternSet set;
  set.add(
      {.name = "launch",
       .makes = {kind_name(context, OpId::kProgKernelLaunch), kind_name(context, OpId::kProgFree)},
       .match = match_launch,
       .rewrite = [&plan](Rewriter& rewriter, const PatternMatch& match) {
         rewrite_as_launch(rewriter, plan, match.root());
       }});
  const auto match_call = [&reached](Op& root) {
    return reached.is_first_call(root)
               ? PatternMatch::of({&root})
               : PatternMatch::failed("a graph that is called twice cannot be lowered", root);
  };
  set.add({.name = "jump",
           .benefit = 2,
           .roots = {.names = {kind_name(context, OpId::kGraphCallGraph)}},
           .makes = {kind_name(context, OpId::kProgJump)},
           .match = match_call,
           .rewrite = [&plan](Rewriter& rewriter, const PatternMatch& match) {
             rewrite_as_jump(rewriter, plan, match.root());
           }});
  return set;
}

/// Upstream's kernels become launches, and calls jumps. The bodies of the program are made from
/// what is left: graphs, parameters and returns.
ConversionTarget program_target(const IRContext& context, const ReachedGraphs& reached) {
  ConversionTarget target;
  target.set_dialect("prog", Legality::kLegal);
  for (const OpId op :
       {OpId::kGraphSubGraph, OpId::kLinalgRegister, OpId::kTensorRegister, OpId::kCfReturn}) {
    target.set(kind_name(context, op), Legality::kLegal);
  }
  // A program frees what it launched.
  for (const OpId op : {OpId::kTensorAlloc, OpId::kTensorFree}) {
    target.set_legal_if(kind_name(context, op), only_shows_memory);
  }
  target.set_closed_if(
      [&reached](const Op& op) { return op.first_region() != nullptr && !reached.contains(op); });
  return target;
}

// -- fragments ------------------------------------------------------------------------------------

class ProgramWriter {
 public:
  ProgramWriter(Module& module, ProgramPlan& plan)
      : rewriter_(module), context_(module.context()), plan_(plan), program_(module) {}

  void run() {
    start_fragment("deinit", prog::FragmentKind::kData);
    program_.unnumbered_label(label_of("deinit"));
    write_code();
    write_table();
    program_.finish();
  }

 private:
  void start_fragment(std::string_view name, prog::FragmentKind kind) {
    program_.start_fragment(name, kind);
    latest_.clear();
  }

  // -- code ---------------------------------------------------------------------------------------

  void write_code() {
    start_fragment(kCodeSegment, prog::FragmentKind::kCode);
    program_.mode_config(1);
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      program_.bind(prog::Direction::kInput, plan_.inputs[i], i);
    }
    write(plan_.bodies.front());
    for (std::size_t i = plan_.outputs.size(); i-- > 0;) {
      program_.bind(prog::Direction::kOutput, plan_.outputs[i], i);
    }
    // A binding has no type. A mention declares the type of the input.
    for (const Value* value : plan_.unread) {
      program_.append(*make_free(rewriter_, mention(*value)));
    }
    program_.exit();
    for (const ProgramBody& body : std::span(plan_.bodies).subspan(1)) {
      program_.label(label_of(body.name));
      write(body);
      program_.ret();
    }
  }

  void write(const ProgramBody& body) {
    std::vector<Op*> instructions;
    for (Op* op : body.block->ops()) {
      if (op->is_in(DialectId::kProg)) instructions.push_back(op);
    }
    for (Op* op : instructions) write(*op);
  }

  void write(Op& instruction) {
    std::vector<Value*> operands;
    for (const Use& use : instruction.operand_uses()) operands.push_back(mention(*use.value()));
    rewriter_.set_operands(instruction, operands);
    program_.append(instruction);
    for (Value& result : instruction.results()) latest_[plan_.slot_of(result)] = &result;
    if (!instruction.is(OpId::kProgKernelLaunch)) return;
    const prog::Launch launch = prog::read_launch(instruction);
    if (!launch.name.empty()) kernels_.emplace_back(launch.name, launch.spec);
  }

  /// The value that the text means by this slot: the last one above, else one that nothing defines.
  Value* mention(const Value& value) {
    const std::uint32_t slot = plan_.slot_of(value);
    Value*& latest = latest_[slot];
    if (latest == nullptr) {
      // An argument may be a parameter or a constant of the caller: every mention says so.
      const auto given = plan_.given.find(slot);
      const Value& origin = given == plan_.given.end() ? value : *given->second;
      latest =
          rewriter_.create_free_value(program_.region(), value.type(), ValueName::number(slot));
      if (origin.has_symbol()) rewriter_.set_symbol(*latest, origin.symbol());
      rewriter_.set_attributes(*latest, notes_of(origin));
    }
    return latest;
  }

  /// Returns the attributes that upstream prints for a value in programs.
  std::vector<NamedAttr> notes_of(const Value& value) const {
    std::vector<NamedAttr> notes;
    if (const Attr* constant = value.attribute(key::kConstant)) {
      notes.push_back({key::kConstant, constant});
    }
    if (value.has_symbol()) {
      notes.push_back({key::kSymbol, context_.word(context_.text(value.symbol()))});
    }
    return notes;
  }

  // -- symbols ------------------------------------------------------------------------------------

  void write_table() {
    start_fragment(kSymbolTableSegment, prog::FragmentKind::kTable);
    for (const Value* value : plan_.parameters) declare(*value, context_.text(value->symbol()));
    for (const Value* value : plan_.constants) {
      declare(*value, fmt::format("constant_{}", plan_.slot_of(*value)));
    }
    std::unordered_set<std::string_view> declared;
    for (const auto& [name, spec] : kernels_) {
      if (declared.insert(name).second) program_.kernel_symbol(name, spec);
    }
  }

  void declare(const Value& value, std::string_view symbol) {
    Value* declared = program_.value_symbol(symbol, value.type());
    rewriter_.set_name(*declared, ValueName::number(plan_.slot_of(value)));
    if (value.has_symbol()) rewriter_.set_symbol(*declared, value.symbol());
    rewriter_.set_attributes(*declared, notes_of(value));
  }

  Rewriter rewriter_;
  IRContext& context_;
  ProgramPlan& plan_;
  ProgramEmitter program_;
  std::unordered_map<std::uint32_t, Value*> latest_;
  std::vector<std::pair<std::string_view, prog::KernelSpec>> kernels_;
};

}  // namespace

bool lower_program(Module& module, LossReport& report, Diagnostics& diagnostics,
                   const ExplainConversion& explain) {
  const ReachedGraphs reached(module);
  ProgramPlan plan(module, reached, report, diagnostics);
  const FrozenPatterns patterns(program_patterns(module.context(), plan, reached));
  const ConversionTarget target = program_target(module.context(), reached);
  const ConversionOptions checks{
      .is_full = true,
      .is_one_step = true,
      .only_checks = true,
      .explain = explain,
      .refuse = [&](const Op& op, std::span<const PatternMismatch> tried) {
        report.refuse(op, kForm, tried.front().condition, diagnostics);
      }};
  const bool is_legal = convert(module, target, patterns, checks, diagnostics);
  if (!plan.run(is_legal)) return false;
  if (!convert(module, target, patterns, {.is_full = true, .is_one_step = true}, diagnostics))
    return false;
  ProgramWriter(module, plan).run();
  return true;
}

}  // namespace mir
