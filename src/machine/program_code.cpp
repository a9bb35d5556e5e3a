#include "machine/program_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace mir {

namespace {

constexpr std::pair<OpId, Opcode> kOpcodes[] = {
    {OpId::kProgLabel, Opcode::kNothing},  {OpId::kProgModeConfig, Opcode::kNothing},
    {OpId::kProgBind, Opcode::kBindInput}, {OpId::kProgKernelLaunch, Opcode::kLaunch},
    {OpId::kProgAlloc, Opcode::kAlloc},    {OpId::kProgFree, Opcode::kFree},
    {OpId::kProgJump, Opcode::kJump},      {OpId::kProgRet, Opcode::kReturn},
    {OpId::kProgExit, Opcode::kExit}};

std::optional<std::int64_t> integer(const Op& op, std::string_view key) {
  const Attr* value = op.attribute(key);
  return value != nullptr && value->kind() == AttrKind::kInt ? std::optional(value->integer())
                                                             : std::nullopt;
}

const Op* code_segment(const Module& module, Diagnostics& diagnostics) {
  const Op* found = nullptr;
  for (const Op* op : module.body().ops()) {
    if (!op->is(OpId::kProgFragment) || op->angle(1) != "code" || op->first_region() == nullptr) {
      continue;
    }
    if (found != nullptr) {
      diagnostics.error(DiagCode::kFragmentKind, op->span(),
                        "a second code segment: which one runs first is not known");
      return nullptr;
    }
    found = op;
  }
  if (found == nullptr) {
    diagnostics.error(DiagCode::kWrongForm, module.top()->span(),
                      "the module has no code segment: it is no lowered program");
  }
  return found;
}

bool read_binding(Instruction& instruction, Diagnostics& diagnostics) {
  const Op& op = *instruction.op;
  const auto type = integer(op, "type"), slot = integer(op, "program_uuid"),
             position = integer(op, "input_pos");
  const bool good = type && (*type == 0 || *type == 1) && slot && *slot >= 0 &&
                    *slot <= ValueName::kMaxNumber && position && *position >= 0 &&
                    *position < kMostPorts;
  if (!good) {
    diagnostics.error(DiagCode::kBindPosition, op.span(),
                      "a binding needs type 0 or 1, a slot and a position from 0 on");
    return false;
  }
  instruction.code = *type == 0 ? Opcode::kBindInput : Opcode::kBindOutput;
  instruction.slot = ValueName::number(static_cast<std::uint32_t>(*slot));
  instruction.position = *position;
  return true;
}

/// Where jump number `at` leads.
std::size_t target_of(const Op& jump, std::size_t at, std::size_t size,
                      const std::unordered_map<Symbol, std::size_t>& labels) {
  const auto label = labels.find(jump.extra().label);
  if (label != labels.end()) return label->second;
  const auto offset = integer(jump, "offset");
  std::int64_t target = 0;
  const bool leads = offset &&
                     !__builtin_add_overflow(static_cast<std::int64_t>(at), *offset, &target) &&
                     target >= 0 && target < static_cast<std::int64_t>(size);
  return leads ? static_cast<std::size_t>(target) : Instruction::kNowhere;
}

}  // namespace

std::optional<std::vector<Instruction>> decode_program(const Module& module,
                                                       Diagnostics& diagnostics) {
  const Op* segment = code_segment(module, diagnostics);
  if (segment == nullptr) return std::nullopt;
  std::vector<Instruction> code;
  std::unordered_map<Symbol, std::size_t> labels;
  bool good = true;
  for (const Op* op : segment->first_region()->ops()) {
    if (op->is_in(DialectId::kDbg)) continue;
    Instruction instruction{.op = op};
    const auto known = std::ranges::find(kOpcodes, op->op_id(), &std::pair<OpId, Opcode>::first);
    if (known != std::end(kOpcodes)) instruction.code = known->second;
    if (op->is(OpId::kProgBind)) good = read_binding(instruction, diagnostics) && good;
    if (op->is(OpId::kProgLabel)) {
      if (const auto name = module.declared_symbol(op)) labels.try_emplace(*name, code.size());
    }
    code.push_back(instruction);
  }
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at].code == Opcode::kJump) {
      code[at].target = target_of(*code[at].op, at, code.size(), labels);
    }
  }
  return good ? std::optional(std::move(code)) : std::nullopt;
}

namespace {

/// Follows the calls once each.
class ReadWalk {
 public:
  ReadWalk(std::span<const Instruction> code, std::span<const std::uint32_t> filled)
      : code_(code), filled_(filled.begin(), filled.end()) {}

  std::vector<const Use*> run() {
    std::vector<std::size_t> back;
    for (std::size_t pc = 0; pc < code_.size();) {
      const Instruction& at = code_[pc];
      if (at.code == Opcode::kExit || (at.code == Opcode::kReturn && back.empty())) break;
      if (at.code == Opcode::kJump && at.target < code_.size() &&
          entered_.insert(at.target).second) {
        back.push_back(pc);
        pc = at.target;
        continue;
      }
      if (at.code == Opcode::kReturn) {
        pc = back.back();
        back.pop_back();
      }
      visit(at);
      ++pc;
    }
    return std::move(reads_);
  }

 private:
  void visit(const Instruction& at) {
    if (at.code == Opcode::kBindInput) filled_.insert(at.slot.raw());
    if (at.code != Opcode::kLaunch && at.code != Opcode::kAlloc) return;
    for (const Use& use : at.op->operand_uses()) {
      if (needs_no_slot(use)) continue;
      if (filled_.insert(use.value()->name().raw()).second) reads_.push_back(&use);
    }
    for (const Value& result : at.op->results()) filled_.insert(result.name().raw());
  }

  std::span<const Instruction> code_;
  std::unordered_set<std::uint32_t> filled_;
  std::unordered_set<std::size_t> entered_;
  std::vector<const Use*> reads_;
};

}  // namespace

bool is_constant(const Value& value, const Module& module) {
  return value.attribute(module.context().intern("constant")) != nullptr;
}

bool is_launch_of(const Op& op, std::string_view type) {
  const Attr* stated = op.is(OpId::kProgKernelLaunch) ? op.attribute("op_type") : nullptr;
  return stated != nullptr && stated->kind() == AttrKind::kString && stated->text() == type;
}

bool launch_has_destination(const Op& launch) {
  return is_launch_of(launch, "Linear") && launch.operand_count() >= 2 &&
         launch.result_count() == 1 &&
         launch.operand(launch.operand_count() - 1)->name() == launch.result()->name();
}

bool is_destination(const Use& use) {
  const Op& launch = *use.user();
  if (is_launch_of(launch, "Copy")) return launch.result_count() == 0 && use.index() == 1;
  return launch_has_destination(launch) && use.index() + 1 == launch.operand_count();
}

std::vector<ValueName> stored_slots(std::span<const Instruction> code) {
  std::vector<ValueName> stored;
  std::unordered_set<std::uint32_t> sliced;  // in the body at hand
  for (const Instruction& each : code) {
    const Op& op = *each.op;
    if (op.is(OpId::kProgLabel)) sliced.clear();
    if (each.code != Opcode::kLaunch) continue;
    for (const Use& use : op.operand_uses()) {
      if (is_destination(use)) stored.push_back(use.value()->name());
    }
    if (op.operand_count() == 0 || op.result_count() != 1) continue;
    const ValueName slot = op.result()->name();
    if (op.operand(0)->name() != slot || is_launch_of(op, "View")) continue;
    if (is_launch_of(op, "Slice")) {
      sliced.insert(slot.raw());
    } else if (sliced.contains(slot.raw())) {
      stored.push_back(slot);
    }
  }
  std::ranges::sort(stored, {}, [](ValueName slot) { return slot.raw(); });
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  return stored;
}

bool needs_no_slot(const Use& use) {
  return use.value()->has_symbol() || is_constant(*use.value(), use.user()->module());
}

std::vector<const Use*> unfilled_reads(std::span<const Instruction> code,
                                       std::span<const std::uint32_t> filled) {
  return ReadWalk(code, filled).run();
}

}  // namespace mir
