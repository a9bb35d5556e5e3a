#include "upgrade/lower_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program_fields.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "program/program_emitter.hpp"
#include "support/last_uses.hpp"
#include "upgrade/kernel_names.hpp"
#include "upgrade/one_block.hpp"

namespace mir {

namespace {

/// What is lost where a module has no program.
constexpr std::string_view kForm = "program form";

/// A body after a label, or the module's own.
struct ProgramBody {
  std::string name;
  std::vector<Op*> ops;  ///< launches and calls in order
};

/// note [slots]
///
/// Calls pass nothing: caller and callee name one slot alike. So an argument has the slot of
/// what is handed in, and the result of a call that of what is returned, which one call a graph
/// makes possible. Parameters have one slot each.
class ProgramPlan {
 public:
  ProgramPlan(Module& module, LossReport& report, Diagnostics& diagnostics)
      : module_(module), report_(report), diagnostics_(diagnostics) {}

  bool run() {
    const std::size_t before = diagnostics_.error_count();
    IRWriter(module_).walk<RegisterOp>([&](IRWriter&, RegisterOp op) {
      if (op.value() == nullptr || !op.value()->has_symbol())
        return IRWriter::WalkResult::WALK_CONTINUE;
      check(*op.value(), *op.op());
      parameters.push_back(op.value());
      const std::uint32_t slot = make_slot(*op.value());
      by_symbol_.emplace(op.value()->symbol(), slot);
      given.emplace(slot, op.value());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    if (!require_one_block(module_.body(), kForm, report_, diagnostics_)) return false;
    const Block& body = module_.body().only_block();
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
    refuse_symbolic_types();
    if (diagnostics_.error_count() != before) return false;
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
    if (value.attribute(module_.context().intern("constant")) != nullptr) {
      constants.push_back(&value);
      given.emplace(at->second, &value);
    }
    return at->second;
  }

  std::vector<ProgramBody> bodies;  ///< the module's own first
  std::vector<std::uint32_t> inputs, outputs;
  std::vector<const Value*> parameters, constants;
  std::unordered_map<std::uint32_t, const Value*> given;  ///< parameters and constants by slot
  std::unordered_map<const Value*, std::uint32_t> slots;
  std::unordered_map<const Op*, std::vector<const Value*>> frees;  ///< after the launch
  std::vector<const Value*> unread;                                ///< inputs that no launch reads
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
      if (key == "constant" || key == "symbol") continue;
      drop(op, key, note.value == nullptr ? "" : note.value->spelling());
    }
  }

  /// What nothing calls has no place, and bodies after labels have a name alone.
  void drop_graphs() {
    for (Op* op : module_.body().only_block().ops()) {
      const SubGraphOp graph = dyn_cast<SubGraphOp>(op);
      if (!graph) continue;
      drop_notes(*op, op->attributes());
      const bool is_called = entered_.contains(op);
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
    if (type->element_count()) return;
    if (symbolic_count_++ == 0) first_symbolic_ = {&at, type};
  }

  /// One error for all of them: their cause is one.
  void refuse_symbolic_types() {
    if (symbolic_count_ == 0) return;
    refuse(*first_symbolic_.first,
           fmt::format("programs print the extents of one trace, not {}{}",
                       first_symbolic_.second->spelling(),
                       symbolic_count_ == 1
                           ? ""
                           : fmt::format(" and those of {} other values", symbolic_count_ - 1)));
  }

  // -- ops in the order of execution --------------------------------------------------------------

  void visit(const Block& body, std::string_view name) {
    const std::size_t index = bodies.size();
    bodies.push_back({.name = std::string(name), .ops = {}});
    for (Op* op : body.ops()) {
      for (const Value& result : op->results()) check(result, *op);
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op)) {
        bodies[index].ops.push_back(op);
        enter(call);
      } else if (isa<LinalgOp>(op) && !op->is(OpId::kLinalgRegister)) {
        bodies[index].ops.push_back(op);
        launch(*op);
      } else if (!isa<SubGraphOp>(op) && !isa<RegisterOp>(op) && !isa<ReturnOp>(op)) {
        refuse(*op, "programs have no such operation");
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
    if (op.row() == nullptr) refuse(op, "no dialect declares it");
    report_.refuse_own_op(op, kForm, diagnostics_);
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
    if (!target || target.body() == nullptr || !entered_.insert(target.op()).second) {
      return refuse(*call.op(), "a graph that is called twice cannot be lowered");
    }
    if (!require_one_block(*target.body(), kForm, report_, diagnostics_)) return;
    const Block& body = target.body()->only_block();
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

  /// What is read last somewhere ends there, and what nothing reads where it is made; outputs and
  /// what symbols name stay.
  void settle_frees() {
    std::unordered_set<std::uint32_t> kept(outputs.begin(), outputs.end());
    for (const auto& [symbol, slot] : by_symbol_) kept.insert(slot);
    for (const Value* constant : constants) kept.insert(slots.at(constant));
    for (const std::uint32_t slot : kept) reads_.keep(number_of(slot));
    const auto ending = reads_.by_step(launches_.size());
    for (std::size_t launch = 0; launch < launches_.size(); ++launch) {
      for (const std::uint32_t number : ending[launch]) {
        frees[launches_[launch]].push_back(last_read_[number]);
      }
    }
    // Upstream frees from the last operand to the first.
    for (auto& [op, values] : frees) {
      if (values.size() < 2) continue;
      std::unordered_map<std::uint32_t, std::uint32_t> last_operand;  // by slot
      for (const Use& use : op->operand_uses()) last_operand[slot_of(*use.value())] = use.index();
      std::ranges::stable_sort(values, std::greater<>(), [&](const Value* value) {
        const auto found = last_operand.find(slot_of(*value));
        return found == last_operand.end() ? 0 : found->second;
      });
    }
  }

  Module& module_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  std::unordered_set<std::uint32_t> taken_;
  std::unordered_map<Symbol, std::uint32_t> by_symbol_;
  std::vector<const Op*> launches_;                         // in the order of execution
  std::unordered_map<std::uint32_t, std::size_t> numbers_;  // of slots, from 0
  LastUses reads_;                                          // of slots by launches
  std::vector<const Value*> last_read_;                     // what the last launch calls the slot
  std::unordered_set<const Op*> entered_;
  std::pair<const Op*, const Type*> first_symbolic_;
  std::size_t symbolic_count_ = 0;  // values of types with symbols
};

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
  Symbol key(std::string_view text) const { return context_.intern(text); }

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
    for (const Value* value : plan_.unread) program_.free(mention(*value));
    program_.exit();
    for (const ProgramBody& body : std::span(plan_.bodies).subspan(1)) {
      program_.label(label_of(body.name));
      write(body);
      program_.ret();
    }
  }

  void write(const ProgramBody& body) {
    for (const Op* op : body.ops) {
      if (isa<CallGraphOp>(op)) {
        Op* jump = program_.jump(label_of(context_.text(op->symbol())));
        rewriter_.set_location(*jump, op->location());
      } else {
        launch(*op);
      }
    }
  }

  static std::string label_of(std::string_view graph) {
    return fmt::format("{}{}", graph, program_field::kEntrySuffix);
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

  /// What upstream prints of a value in programs.
  std::vector<NamedAttr> notes_of(const Value& value) const {
    std::vector<NamedAttr> notes;
    if (const Attr* constant = value.attribute(key("constant"))) {
      notes.push_back({key("constant"), constant});
    }
    if (value.has_symbol()) {
      notes.push_back({key("symbol"), context_.word(context_.text(value.symbol()))});
    }
    return notes;
  }

  void launch(const Op& op) {
    std::vector<Value*> operands;
    for (const Use& use : op.operand_uses()) operands.push_back(mention(*use.value()));
    std::vector<const Type*> types;
    for (const Value& result : op.results()) types.push_back(result.type());
    const auto& [name, spec] = plan_.kernels->of(op);
    if (!name.empty()) kernels_.emplace_back(name, spec);
    Op* made = program_.launch(name, spec, operands, types);
    rewriter_.set_location(*made, op.location());
    for (std::uint32_t i = 0; i < op.result_count(); ++i) {
      const std::uint32_t slot = plan_.slot_of(op.results()[i]);
      rewriter_.set_name(*made->result(i), ValueName::number(slot));
      latest_[slot] = made->result(i);
    }
    const auto ended = plan_.frees.find(&op);
    if (ended == plan_.frees.end()) return;
    for (const Value* value : ended->second) program_.free(mention(*value));
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

bool lower_program(Module& module, LossReport& report, Diagnostics& diagnostics) {
  ProgramPlan plan(module, report, diagnostics);
  if (!plan.run()) return false;
  ProgramWriter(module, plan).run();
  return true;
}

}  // namespace mir
