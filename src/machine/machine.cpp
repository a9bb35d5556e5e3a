#include "mir/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "eval/parameters.hpp"
#include "machine/kernels.hpp"
#include "machine/slot_ports.hpp"
#include "machine/slot_uses.hpp"
#include "machine/slots.hpp"
#include "mir/print.hpp"
#include "plan/schedule.hpp"
#include "program/program_counter.hpp"

namespace mir {

struct ProgramMachine::State {
  State(const Module& program, const MachineOptions& given)
      : module(program), options(given), code(program), kernels(code, options) {
    // The launches have them: see take_operands.
    std::erase_if(options.assumed.grants,
                  [](const Grant& each) { return each.kind == Grant::Kind::kOperand; });
  }

  bool can_run(Diagnostics& diagnostics) const;
  bool find_ports(Diagnostics& diagnostics);
  bool fill_constants(Diagnostics& diagnostics);

  const Module& module;
  MachineOptions options;
  ProgramCode code;
  MachineKernels kernels;
  SlotPorts inputs;   // those that are not bound are slots that nothing fills
  SlotPorts outputs;  // those that are not bound are inputs that something is stored into
  std::unordered_map<std::uint32_t, Tensor> constants;
};

/// Reports what is no program, and fields that say nothing.
bool ProgramMachine::State::can_run(Diagnostics& diagnostics) const {
  if (const prog::Fragment* second = code.second_code()) {
    diagnostics.error(DiagCode::kFragmentKind, second->op->span(),
                      "a second code fragment: which one runs first is not known");
    return false;
  }
  if (code.code() == nullptr) {
    diagnostics.error(DiagCode::kWrongForm, module.top()->span(),
                      "the module has no code fragment: it is no lowered program");
    return false;
  }
  const Op* reported = nullptr;
  for (const prog::Defect& defect : code.defects()) {
    if (std::exchange(reported, defect.op) == defect.op) continue;
    const bool is_missing = defect.kind == prog::Defect::Kind::kMissing;
    const DiagCode wrong = is_missing ? DiagCode::kMissingAttribute : DiagCode::kAttributeKind;
    if (defect.kind == prog::Defect::Kind::kSeveralBlocks) {
      diagnostics.error(DiagCode::kFragmentKind, defect.op->span(), prog::describe(defect));
    } else if (defect.op->is(OpId::kProgBind)) {
      diagnostics.error(DiagCode::kBindPosition, defect.op->span(),
                        "a binding needs type 0 or 1, a slot and a position from 0 on");
    } else {
      diagnostics.error(wrong, defect.op->span(), prog::describe(defect));
    }
  }
  return code.defects().empty();
}

bool ProgramMachine::State::find_ports(Diagnostics& diagnostics) {
  const bool inputs_fit = inputs.bind(code, prog::Direction::kInput, diagnostics);
  const bool outputs_fit = outputs.bind(code, prog::Direction::kOutput, diagnostics);
  std::vector<std::uint32_t> filled;
  for (const auto& [slot, constant] : constants) filled.push_back(slot);
  for (const Use* use : unfilled_reads(code, filled)) inputs.add(code, use->value()->name());
  for (const ValueName slot : stored_slots(code)) {
    const bool is_given = inputs.contains(slot) && !outputs.contains(slot);
    if (is_given) outputs.add(code, slot);
  }
  return inputs_fit && outputs_fit;
}

bool ProgramMachine::State::fill_constants(Diagnostics& diagnostics) {
  bool good = true;
  for (const Value* value : code.table_constants()) {
    auto tensor = constant_tensor(*value, module.context());
    good = good && tensor;
    if (tensor) {
      constants.emplace(value->name().raw(), *std::move(tensor));
    } else {
      diagnostics.error(tensor.error().code, value->defining_op()->span(), tensor.error().message);
    }
  }
  return good;
}

/// One run.
class MachineExecution {
 public:
  MachineExecution(ProgramMachine::State& state, std::span<const Tensor> inputs,
                   const MachineRun& options, Diagnostics& diagnostics)
      : state_(state),
        inputs_(inputs),
        options_(options),
        diagnostics_(diagnostics),
        counter_(state.code),
        slots_(state.code, state.kernels, diagnostics) {}

  std::optional<std::vector<Tensor>> run();

 private:
  bool start();
  bool step(const prog::Instruction& at);
  bool act(const prog::Instruction& at, const prog::Launch& launch);
  bool act(const prog::Instruction& at, const prog::Bind& bind);
  bool act(const prog::Instruction& at, const prog::Alloc&);
  bool act(const prog::Instruction& at, const prog::Free&);
  bool act(const prog::Instruction& at, const prog::Return&);
  bool act(const prog::Instruction&, const prog::Jump&) { return true; }
  bool act(const prog::Instruction&, const prog::Label&) { return true; }
  bool act(const prog::Instruction&, const prog::ModeConfig&) { return true; }
  bool act(const prog::Instruction&, const prog::Exit&) { return true; }
  bool act(const prog::Instruction& at, const prog::KernelSymbol&) { return unknown(*at.op); }
  bool act(const prog::Instruction& at, const prog::ValueSymbol&) { return unknown(*at.op); }
  bool act(const prog::Instruction& at, const prog::Other&) { return unknown(*at.op); }
  bool unknown(const Op& op);
  bool move_on(const prog::Instruction& at);
  bool fits_kernel(const Op& op, const prog::Launch& launch);
  bool compute(const prog::Instruction& at);
  bool bind_output(const Op& op, const prog::Bind& bind);
  bool check_operand(const Use& use);
  MachineSlot* filled(ValueName slot, const Op& reader, std::string_view verb);
  bool keep_stored(std::size_t index);
  bool keep_for_binding(ValueName slot);
  bool fail(const Op& at, DiagCode code, std::string message, const Op* earlier = nullptr,
            std::string_view note = {});
  std::string shown(ValueName slot) const {
    return fmt::format("'%{}'", text_of(slot, state_.module.context()));
  }

  ProgramMachine::State& state_;
  std::span<const Tensor> inputs_;
  const MachineRun& options_;
  Diagnostics& diagnostics_;
  bool has_exited_ = false;
  ProgramCounter counter_;
  MachineSlots slots_;
  std::vector<Tensor> outputs_;
  std::unordered_map<std::uint32_t, Tensor> freed_outputs_;  // by slot: what is bound later
};

bool MachineExecution::fail(const Op& at, DiagCode code, std::string message, const Op* earlier,
                            std::string_view note) {
  constexpr std::size_t kMostNotes = 8;
  Diagnostic& error =
      diagnostics_.error(code, at.span(), fmt::format("at pc {}: {}", counter_.at(), message));
  if (earlier != nullptr) error.note(earlier->span(), std::string(note));
  const auto open = counter_.open_jumps();
  for (std::size_t i = 0; i < std::min(open.size(), kMostNotes); ++i) {
    error.note(state_.code.instructions()[open[open.size() - 1 - i]].op->span(), "called here");
  }
  return false;
}

bool MachineExecution::start() {
  if (inputs_.size() == state_.inputs.size()) {
    for (const auto& [slot, constant] : state_.constants) slots_.fill(slot, constant);
    for (std::size_t i = state_.inputs.bound; i < inputs_.size(); ++i) {
      slots_.fill(state_.inputs.slots[i], inputs_[i]);
    }
    outputs_.resize(state_.outputs.size());
    return true;
  }
  diagnostics_.error(DiagCode::kInputMissing, state_.module.top()->span(),
                     fmt::format("{} inputs are given, the program takes {}", inputs_.size(),
                                 state_.inputs.size()));
  return false;
}

std::optional<std::vector<Tensor>> MachineExecution::run() {
  if (!start()) return std::nullopt;
  for (std::uint64_t number = 0; !has_exited_; ++number) {
    if (counter_.is_past_end()) {
      const auto code = state_.code.instructions();
      const Op& last = code.empty() ? *state_.module.top() : *code.back().op;
      fail(last, DiagCode::kUnbalancedReturn,
           "the program runs past its end: no prog.exit stops it");
      return std::nullopt;
    }
    const prog::Instruction& at = counter_.instruction();
    if (number == options_.step_limit) {
      fail(*at.op, DiagCode::kStepLimit,
           fmt::format("the program takes more than {} steps", options_.step_limit));
      return std::nullopt;
    }
    if (options_.stop.stop_requested()) {
      fail(*at.op, DiagCode::kCancelled, fmt::format("the run was stopped after {} steps", number));
      return std::nullopt;
    }
    if (options_.trace)
      options_.trace({number, counter_.at(), counter_.open_jumps().size(), at.op});
    if (!step(at)) return std::nullopt;
  }
  for (std::size_t i = state_.outputs.bound; i < outputs_.size(); ++i) {
    if (!keep_stored(i)) return std::nullopt;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) continue;
    fail(*counter_.instruction().op, DiagCode::kBindPosition,
         fmt::format("the program stops and output {} was not bound", i));
    return std::nullopt;
  }
  return std::move(outputs_);
}

/// Runs the instruction and moves on; false after reporting.
bool MachineExecution::step(const prog::Instruction& at) {
  const auto run = [&](const auto& action) { return act(at, action); };
  return std::visit(run, at.action) && move_on(at);
}

bool MachineExecution::move_on(const prog::Instruction& at) {
  switch (counter_.advance()) {
    case ProgramCounter::Move::kWent:
      return true;
    case ProgramCounter::Move::kExited:
      has_exited_ = true;
      return true;
    case ProgramCounter::Move::kNowhere:
      return fail(*at.op, DiagCode::kUnknownLabel,
                  fmt::format("no label of the code is named '{}', and no offset leads into it",
                              state_.module.context().text(at.as<prog::Jump>()->label)));
    case ProgramCounter::Move::kTooDeep:
      return fail(*at.op, DiagCode::kJumpCycle,
                  fmt::format("jumps are nested deeper than {}", ProgramCounter::kDeepest));
    case ProgramCounter::Move::kUnbalanced:
      return fail(*at.op, DiagCode::kUnbalancedReturn, "prog.ret is reached and no jump led here");
  }
  return false;
}

bool MachineExecution::unknown(const Op& op) {
  return fail(op, DiagCode::kNotExecutable,
              fmt::format("'{}' is no instruction of the machine", op.name()));
}

/// What an input holds at the end, or where the program frees it.
bool MachineExecution::keep_stored(std::size_t index) {
  MachineSlot* slot = slots_.find(state_.outputs.slots[index]);
  if (outputs_[index].defined() || slot == nullptr || slot->freed_by != nullptr) return true;
  auto whole = slots_.whole(*slot);
  if (whole) outputs_[index] = *std::move(whole);
  return whole.has_value();
}

/// The slot, which something must have filled.
MachineSlot* MachineExecution::filled(ValueName slot, const Op& reader, std::string_view verb) {
  MachineSlot* found = slots_.find(slot);
  if (found == nullptr) {
    fail(reader, DiagCode::kUndefinedSlot,
         fmt::format("{} is {} before anything fills it", shown(slot), verb));
    return nullptr;
  }
  if (found->freed_by == nullptr) return found;
  const bool frees = reader.is(OpId::kProgFree);
  fail(reader, frees ? DiagCode::kDoubleFree : DiagCode::kUseAfterFree,
       frees ? fmt::format("{} is freed twice", shown(slot))
             : fmt::format("{} is {} after it was freed", shown(slot), verb),
       found->freed_by, "freed here");
  return nullptr;
}

/// A constant or parameter that states itself may have no slot, but not a freed one.
bool MachineExecution::check_operand(const Use& use) {
  const ValueName slot = use.value()->name();
  if (state_.code.stands_alone(use) && slots_.find(slot) == nullptr) return true;
  return filled(slot, *use.user(), "read") != nullptr;
}

/// A kernel that a launch names has weights and state for what it was declared as.
bool MachineExecution::fits_kernel(const Op& op, const prog::Launch& launch) {
  if (launch.kernel == prog::kOutside) return true;
  const prog::Kernel& kernel = state_.code.kernels()[launch.kernel];
  if (launch.spec.fits(kernel.spec)) return true;
  return fail(
      op, DiagCode::kKernelMismatch,
      fmt::format("the launch has another type or other options than kernel '{}'", launch.name),
      kernel.op, "the kernel");
}

bool MachineExecution::act(const prog::Instruction& at, const prog::Launch& launch) {
  if (!fits_kernel(*at.op, launch)) return false;
  for (const Use& use : at.op->operand_uses()) {
    if (!check_operand(use)) return false;
  }
  const std::size_t errors = diagnostics_.error_count();
  if (compute(at)) return true;
  if (diagnostics_.error_count() == errors) {
    fail(*at.op, DiagCode::kNotExecutable, "the kernel cannot be computed");
  }
  return false;
}

bool MachineExecution::compute(const prog::Instruction& at) {
  const Op& op = *at.op;
  const std::size_t depth = counter_.open_jumps().size();
  const bool copies = is_launch_of(op, OpId::kLinalgCopy) && op.operand_count() == 2;
  if (copies && op.result_count() == 0) return slots_.copy(op, depth);
  const auto operands = slots_.read(op, depth);
  if (!operands) return false;
  auto results = state_.kernels.launch(at, *operands, options_.is_last, diagnostics_);
  return results && slots_.take(op, *std::move(results), depth);
}

bool MachineExecution::act(const prog::Instruction& at, const prog::Bind& bind) {
  if (bind.direction == prog::Direction::kOutput) return bind_output(*at.op, bind);
  slots_.fill(bind.slot->raw(), inputs_[static_cast<std::size_t>(*bind.position)]);
  return true;
}

bool MachineExecution::bind_output(const Op& op, const prog::Bind& bind) {
  Tensor& output = outputs_[static_cast<std::size_t>(*bind.position)];
  MachineSlot* slot = slots_.find(*bind.slot);
  const auto kept = freed_outputs_.find(bind.slot->raw());
  if (slot != nullptr && slot->freed_by != nullptr && kept != freed_outputs_.end()) {
    diagnostics_
        .warning(DiagCode::kUseAfterFree, op.span(),
                 fmt::format("at pc {}: {} is bound after it was freed: it is what it was then",
                             counter_.at(), shown(*bind.slot)))
        .note(slot->freed_by->span(), "freed here");
    output = kept->second;
    return true;
  }
  const Value* declared = slot == nullptr ? state_.code.declared(*bind.slot) : nullptr;
  if (declared != nullptr) {
    auto parameter = state_.kernels.parameter(*declared, op, diagnostics_);
    if (parameter) output = *std::move(parameter);
    return parameter.has_value();
  }
  slot = filled(*bind.slot, op, "bound");
  auto content = slot == nullptr ? std::nullopt : slots_.content(*slot);
  if (content) output = *std::move(content);
  return content.has_value();
}

bool MachineExecution::act(const prog::Instruction& at, const prog::Alloc&) {
  const Op& op = *at.op;
  for (const Value& result : op.results()) {
    const ValueName slot = result.name();
    const MachineSlot* found = slots_.find(slot);
    if (found != nullptr && found->freed_by == nullptr) {
      return fail(op, DiagCode::kNeverFreed,
                  fmt::format("{} is allocated and was not freed before", shown(slot)));
    }
    const TensorType* type = result.tensor_type();
    Shape shape;
    const bool known = type != nullptr && type->dtype() && type->element_count();
    if (!known) {
      return fail(op, DiagCode::kResultUnknown,
                  fmt::format("{} needs constant extents and a known element type", shown(slot)));
    }
    for (const Dim dim : type->dims()) shape.push_back(dim.constant());
    auto tensor = Tensor::allocate(*type->dtype(), std::move(shape));
    if (!tensor) return fail(op, tensor.error().code, tensor.error().message);
    slots_.fill(slot.raw(), *std::move(tensor));
  }
  return true;
}

/// Upstream frees what its last op works on, also where a graph returns it and the output is bound
/// after the call: its machine then gives an empty tensor. Here the output is what was freed.
bool MachineExecution::keep_for_binding(ValueName slot) {
  if (!state_.outputs.binds(slot)) return true;
  auto whole = slots_.whole(*slots_.find(slot));
  if (whole) freed_outputs_.insert_or_assign(slot.raw(), *std::move(whole));
  return whole.has_value();
}

bool MachineExecution::act(const prog::Instruction& at, const prog::Free&) {
  const Op& op = *at.op;
  for (const Use& use : op.operand_uses()) {
    const ValueName slot = use.value()->name();
    // Upstream frees parameters that were operands; they are the weights', not the machine's.
    if (state_.code.stands_alone(use) && slots_.find(slot) == nullptr) continue;
    if (filled(slot, op, "freed") == nullptr) return false;
    for (std::size_t i = state_.outputs.bound; i < outputs_.size(); ++i) {
      if (state_.outputs.slots[i] == slot.raw() && !keep_stored(i)) return false;
    }
    if (!keep_for_binding(slot)) return false;
    slots_.free(slot, op);
  }
  return true;
}

bool MachineExecution::act(const prog::Instruction&, const prog::Return&) {
  return counter_.open_jumps().empty() || slots_.leave(counter_.open_jumps().size());
}

ProgramMachine::ProgramMachine(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramMachine::ProgramMachine(ProgramMachine&&) noexcept = default;
ProgramMachine& ProgramMachine::operator=(ProgramMachine&&) noexcept = default;
ProgramMachine::~ProgramMachine() = default;

std::optional<ProgramMachine> ProgramMachine::load(const Module& module,
                                                   const MachineOptions& options,
                                                   Diagnostics& diagnostics) {
  auto state = std::make_unique<State>(module, options);
  if (!state->can_run(diagnostics) || !state->kernels.uses_grants(diagnostics)) return std::nullopt;
  if (!state->fill_constants(diagnostics) || !state->find_ports(diagnostics)) return std::nullopt;
  return ProgramMachine(std::move(state));
}

std::span<const Port> ProgramMachine::inputs() const {
  return state_->inputs.ports;
}

std::span<const Port> ProgramMachine::outputs() const {
  return state_->outputs.ports;
}

std::optional<std::vector<Tensor>> ProgramMachine::run(std::span<const Tensor> inputs,
                                                       Diagnostics& diagnostics,
                                                       const MachineRun& options) {
  return MachineExecution(*state_, inputs, options, diagnostics).run();
}

std::vector<std::optional<std::int64_t>> ProgramMachine::index_bounds() const {
  const std::span<const Port> ports = inputs();
  std::vector<std::optional<std::int64_t>> bounds(ports.size());
  const bool has_integers = std::ranges::any_of(ports, [](const Port& port) {
    if (port.type == nullptr || !port.type->dtype()) return false;
    const DTypeClass kind = info(*port.type->dtype()).type_class;
    return kind == DTypeClass::kSignedInt || kind == DTypeClass::kUnsignedInt;
  });
  if (!has_integers) return bounds;
  IRContext context;
  for (const Dialect* dialect : state_->module.context().dialects()) {
    if (!context.register_dialect(*dialect)) return bounds;
  }
  Diagnostics unheard;
  const SourceFile* file = context.sources().add("program", print(state_->module));
  const std::vector<Module*> modules = read_modules(*file, context, unheard);
  LossReport losses;
  if (modules.size() != 1 || !upgrade(*modules.front(), state_->options.assumed, losses, unheard)) {
    return bounds;
  }
  const auto schedule = Schedule::build(*modules.front(), {}, unheard);
  if (!schedule) return bounds;
  const auto found = mir::index_bounds(*schedule, {});
  const ValueRange arguments = schedule->entry().only_block().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = text_of(arguments[i].name(), context);
    const auto port = std::ranges::find(ports, name, &Port::name);
    if (port == ports.end()) continue;
    bounds[static_cast<std::size_t>(port - ports.begin())] = found[schedule->inputs()[i]];
  }
  return bounds;
}

const LossReport& ProgramMachine::losses() const {
  return state_->kernels.losses();
}

}  // namespace mir
