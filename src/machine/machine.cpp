#include "mir/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "eval/parameters.hpp"
#include "machine/kernels.hpp"
#include "machine/program_code.hpp"
#include "machine/slots.hpp"

namespace mir {

namespace {

/// Jumps that are open at once, at most.
constexpr std::size_t kDeepest = 1000;

/// Without `%`.
std::string text_of(ValueName name, const IRContext& context) {
  return name.is_number() ? fmt::to_string(name.number())
                          : std::string(context.text(name.symbol()));
}

}  // namespace

namespace {

/// Inputs or outputs of a program, each with the number of its slot.
struct SlotPorts {
  std::vector<Port> ports;
  std::vector<std::uint32_t> slots;
  std::size_t bound = 0;  ///< of them the program binds; the others are slots alone

  std::size_t size() const { return ports.size(); }
  void add(Port port, std::uint32_t slot) {
    ports.push_back(std::move(port));
    slots.push_back(slot);
  }
  bool contains(std::uint32_t slot) const { return std::ranges::find(slots, slot) != slots.end(); }
  bool binds(std::uint32_t slot) const {
    return std::ranges::count(std::span(slots).first(bound), slot) > 0;
  }
};

}  // namespace

struct ProgramMachine::State {
  State(const Module& program, const MachineOptions& given)
      : module(program), options(given), kernels(program, options) {}

  bool find_ports(Diagnostics& diagnostics);
  bool fill_constants(Diagnostics& diagnostics);
  const TensorType* type_of(ValueName slot) const;

  const Module& module;
  MachineOptions options;
  MachineKernels kernels;
  std::vector<Instruction> code;
  SlotPorts inputs;   // those that are not bound are slots that nothing fills
  SlotPorts outputs;  // those that are not bound are inputs that something is stored into
  std::unordered_map<std::uint32_t, std::pair<Tensor, const Op*>> constants;
};

/// The type of the first mention.
const TensorType* ProgramMachine::State::type_of(ValueName slot) const {
  for (const Instruction& each : code) {
    for (const Use& use : each.op->operand_uses()) {
      if (use.value()->name() != slot) continue;
      const UseOverride* mention = module.use_override(use);
      return dyn_cast<TensorType>(mention == nullptr ? use.value()->type() : mention->type);
    }
    for (const Value& result : each.op->results()) {
      if (result.name() == slot) return result.tensor_type();
    }
  }
  return nullptr;
}

bool ProgramMachine::State::find_ports(Diagnostics& diagnostics) {
  const auto add = [&](SlotPorts& ports, ValueName slot) {
    ports.add({text_of(slot, module.context()), type_of(slot)}, slot.raw());
  };
  bool good = true;
  const auto collect = [&](Opcode opcode, std::string_view what, SlotPorts& ports) {
    std::vector<const Instruction*> binds;
    for (const Instruction& each : code) {
      if (each.code == opcode) binds.push_back(&each);
    }
    std::ranges::stable_sort(binds, {}, &Instruction::position);
    for (const Instruction* bind : binds) {
      if (bind->position == static_cast<std::int64_t>(ports.size())) {
        add(ports, bind->slot);
        continue;
      }
      diagnostics.error(
          DiagCode::kBindPosition, bind->op->span(),
          fmt::format("{} {} is bound where {} is expected", what, bind->position, ports.size()));
      good = false;
    }
  };
  collect(Opcode::kBindInput, "input", inputs);
  collect(Opcode::kBindOutput, "output", outputs);
  inputs.bound = inputs.size();
  std::vector<std::uint32_t> filled;
  for (const auto& [slot, constant] : constants) filled.push_back(slot);
  for (const Use* use : unfilled_reads(code, filled)) {
    add(inputs, use->value()->name());
  }
  outputs.bound = outputs.size();
  for (const ValueName slot : stored_slots(code)) {
    if (inputs.contains(slot.raw()) && !outputs.contains(slot.raw())) add(outputs, slot);
  }
  return good;
}

bool ProgramMachine::State::fill_constants(Diagnostics& diagnostics) {
  bool good = true;
  for (const Op* fragment : module.body().ops()) {
    if (!fragment->is(OpId::kProgFragment) || fragment->first_region() == nullptr) continue;
    for (const Op* op : fragment->first_region()->ops()) {
      if (!op->is(OpId::kProgValueSymbol) || op->result_count() != 1) continue;
      if (!is_constant(*op->result(), module)) continue;
      auto tensor = constant_tensor(*op->result(), module.context());
      good = good && tensor;
      if (tensor) {
        constants.emplace(op->result()->name().raw(), std::pair(*std::move(tensor), op));
      } else {
        diagnostics.error(tensor.error().code, op->span(), tensor.error().message);
      }
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
        slots_(state.kernels, diagnostics) {}

  std::optional<std::vector<Tensor>> run();

 private:
  bool start();
  bool step(const Instruction& at);
  bool launch(const Op& op);
  bool bind_output(const Instruction& at);
  bool alloc(const Op& op);
  bool free(const Op& op);
  bool jump(const Instruction& at);
  bool leave(const Op& op);
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
  std::size_t pc_ = 0;
  bool has_exited_ = false;
  std::vector<std::size_t> back_;  // jumps that are open
  MachineSlots slots_;
  std::vector<Tensor> outputs_;
  std::unordered_map<std::uint32_t, Tensor> freed_outputs_;  // by slot: what is bound later
};

bool MachineExecution::fail(const Op& at, DiagCode code, std::string message, const Op* earlier,
                            std::string_view note) {
  constexpr std::size_t kMostNotes = 8;
  Diagnostic& error =
      diagnostics_.error(code, at.span(), fmt::format("at pc {}: {}", pc_, message));
  if (earlier != nullptr) error.note(earlier->span(), std::string(note));
  for (std::size_t i = 0; i < std::min(back_.size(), kMostNotes); ++i) {
    error.note(state_.code[back_[back_.size() - 1 - i]].op->span(), "called here");
  }
  return false;
}

bool MachineExecution::start() {
  if (inputs_.size() == state_.inputs.size()) {
    for (const auto& [slot, constant] : state_.constants) slots_.fill(slot, constant.first);
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
    if (pc_ >= state_.code.size()) {
      const Op& last = state_.code.empty() ? *state_.module.top() : *state_.code.back().op;
      fail(last, DiagCode::kUnbalancedReturn,
           "the program runs past its end: no prog.exit stops it");
      return std::nullopt;
    }
    const Instruction& at = state_.code[pc_];
    if (number == options_.step_limit) {
      fail(*at.op, DiagCode::kStepLimit,
           fmt::format("the program takes more than {} steps", options_.step_limit));
      return std::nullopt;
    }
    if (options_.stop.stop_requested()) {
      fail(*at.op, DiagCode::kCancelled, fmt::format("the run was stopped after {} steps", number));
      return std::nullopt;
    }
    if (options_.trace) options_.trace({number, pc_, back_.size(), at.op});
    if (!step(at)) return std::nullopt;
  }
  for (std::size_t i = state_.outputs.bound; i < outputs_.size(); ++i) {
    if (!keep_stored(i)) return std::nullopt;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) continue;
    fail(*state_.code[pc_].op, DiagCode::kBindPosition,
         fmt::format("the program stops and output {} was not bound", i));
    return std::nullopt;
  }
  return std::move(outputs_);
}

/// Runs the instruction and moves on; false after reporting.
bool MachineExecution::step(const Instruction& at) {
  bool good = true;
  switch (at.code) {
    case Opcode::kNothing:
      break;
    case Opcode::kBindInput:
      slots_.fill(at.slot.raw(), inputs_[static_cast<std::size_t>(at.position)]);
      break;
    case Opcode::kBindOutput:
      good = bind_output(at);
      break;
    case Opcode::kLaunch:
      good = launch(*at.op);
      break;
    case Opcode::kAlloc:
      good = alloc(*at.op);
      break;
    case Opcode::kFree:
      good = free(*at.op);
      break;
    case Opcode::kJump:
      return jump(at);
    case Opcode::kReturn:
      good = leave(*at.op);
      break;
    case Opcode::kExit:
      has_exited_ = true;
      return true;
    case Opcode::kUnknown:
      good = fail(*at.op, DiagCode::kNotExecutable,
                  fmt::format("'{}' is no instruction of the machine", at.op->name()));
      break;
  }
  if (good) ++pc_;
  return good;
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
  if (needs_no_slot(use) && slots_.find(slot) == nullptr) return true;
  return filled(slot, *use.user(), "read") != nullptr;
}

bool MachineExecution::launch(const Op& op) {
  for (const Use& use : op.operand_uses()) {
    if (!check_operand(use)) return false;
  }
  const std::size_t errors = diagnostics_.error_count();
  const auto compute = [&] {
    const bool copies = is_launch_of(op, "Copy") && op.operand_count() == 2;
    if (copies && op.result_count() == 0) return slots_.copy(op, back_.size());
    const auto operands = slots_.read(op, back_.size());
    if (!operands) return false;
    auto results = state_.kernels.launch(op, *operands, options_.is_last, diagnostics_);
    return results && slots_.take(op, *std::move(results), back_.size());
  };
  if (compute()) return true;
  if (diagnostics_.error_count() == errors) {
    fail(op, DiagCode::kNotExecutable, "the kernel cannot be computed");
  }
  return false;
}

bool MachineExecution::bind_output(const Instruction& at) {
  MachineSlot* slot = slots_.find(at.slot);
  const auto kept = freed_outputs_.find(at.slot.raw());
  if (slot != nullptr && slot->freed_by != nullptr && kept != freed_outputs_.end()) {
    diagnostics_
        .warning(DiagCode::kUseAfterFree, at.op->span(),
                 fmt::format("at pc {}: {} is bound after it was freed: it is what it was then",
                             pc_, shown(at.slot)))
        .note(slot->freed_by->span(), "freed here");
    outputs_[static_cast<std::size_t>(at.position)] = kept->second;
    return true;
  }
  slot = filled(at.slot, *at.op, "bound");
  auto content = slot == nullptr ? std::nullopt : slots_.content(*slot);
  if (content) outputs_[static_cast<std::size_t>(at.position)] = *std::move(content);
  return content.has_value();
}

bool MachineExecution::alloc(const Op& op) {
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
/// behind the call: its machine then gives an empty tensor. Here the output is what was freed.
bool MachineExecution::keep_for_binding(ValueName slot) {
  if (!state_.outputs.binds(slot.raw())) return true;
  auto whole = slots_.whole(*slots_.find(slot));
  if (whole) freed_outputs_.insert_or_assign(slot.raw(), *std::move(whole));
  return whole.has_value();
}

bool MachineExecution::free(const Op& op) {
  for (const Use& use : op.operand_uses()) {
    const ValueName slot = use.value()->name();
    // Upstream frees parameters that were operands; they are the weights', not the machine's.
    if (needs_no_slot(use) && slots_.find(slot) == nullptr) continue;
    if (filled(slot, op, "freed") == nullptr) return false;
    for (std::size_t i = state_.outputs.bound; i < outputs_.size(); ++i) {
      if (state_.outputs.slots[i] == slot.raw() && !keep_stored(i)) return false;
    }
    if (!keep_for_binding(slot)) return false;
    slots_.free(slot, op);
  }
  return true;
}

bool MachineExecution::jump(const Instruction& at) {
  if (at.target == Instruction::kNowhere) {
    return fail(*at.op, DiagCode::kUnknownLabel,
                fmt::format("no label of the code is named '{}', and no offset leads into it",
                            state_.module.context().text(at.op->extra().label)));
  }
  if (back_.size() == kDeepest) {
    return fail(*at.op, DiagCode::kJumpCycle,
                fmt::format("jumps are nested deeper than {}", kDeepest));
  }
  back_.push_back(pc_);
  pc_ = at.target;
  return true;
}

bool MachineExecution::leave(const Op& op) {
  if (back_.empty()) {
    return fail(op, DiagCode::kUnbalancedReturn, "prog.ret is reached and no jump led here");
  }
  if (!slots_.leave(back_.size())) return false;
  pc_ = back_.back();
  back_.pop_back();
  return true;
}

ProgramMachine::ProgramMachine(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramMachine::ProgramMachine(ProgramMachine&&) noexcept = default;
ProgramMachine& ProgramMachine::operator=(ProgramMachine&&) noexcept = default;
ProgramMachine::~ProgramMachine() = default;

std::optional<ProgramMachine> ProgramMachine::load(const Module& module,
                                                   const MachineOptions& options,
                                                   Diagnostics& diagnostics) {
  auto code = decode_program(module, diagnostics);
  if (!code) return std::nullopt;
  auto state = std::make_unique<State>(module, options);
  state->code = *std::move(code);
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

const LossReport& ProgramMachine::losses() const {
  return state_->kernels.losses();
}

}  // namespace mir
