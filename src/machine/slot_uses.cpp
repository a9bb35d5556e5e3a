#include "machine/slot_uses.hpp"

#include <algorithm>
#include <unordered_set>

#include "program/program_counter.hpp"

namespace mir {

namespace {

/// Follows the calls once each.
class ReadWalk {
 public:
  ReadWalk(const ProgramCode& code, std::span<const std::uint32_t> filled)
      : code_(code), filled_(filled.begin(), filled.end()) {}

  std::vector<const Use*> run() {
    ProgramCounter counter(code_);
    while (!counter.is_past_end()) {
      const prog::Instruction& here = counter.instruction();
      const auto* jump = here.as<prog::Jump>();
      if (jump != nullptr && !entered_.insert(jump->target).second) {
        counter.skip();
        continue;
      }
      visit(here);
      const auto move = counter.advance();
      const bool stops = move != ProgramCounter::Move::kWent;
      if (stops && jump == nullptr) break;
      if (stops) counter.skip();
    }
    return std::move(reads_);
  }

 private:
  void visit(const prog::Instruction& at) {
    if (const auto* bind = at.as<prog::Bind>()) {
      const bool fills = bind->slot && bind->direction == prog::Direction::kInput;
      if (fills) filled_.insert(bind->slot->raw());
    }
    if (!at.is<prog::Launch, prog::Alloc>()) return;
    for (const Use& use : at.op->operand_uses()) {
      if (code_.stands_alone(use)) continue;
      if (filled_.insert(use.value()->name().raw()).second) reads_.push_back(&use);
    }
    for (const Value& result : at.op->results()) filled_.insert(result.name().raw());
  }

  const ProgramCode& code_;
  std::unordered_set<std::uint32_t> filled_;
  std::unordered_set<std::size_t> entered_;
  std::vector<const Use*> reads_;
};

}  // namespace

bool launch_has_destination(const Op& launch) {
  return is_launch_of(launch, OpId::kLinalgLinear) && launch.operand_count() >= 2 &&
         launch.result_count() == 1 &&
         launch.operand(launch.operand_count() - 1)->name() == launch.result()->name();
}

bool is_destination(const Use& use) {
  const Op& launch = *use.user();
  if (is_launch_of(launch, OpId::kLinalgCopy))
    return launch.result_count() == 0 && use.index() == 1;
  return launch_has_destination(launch) && use.index() + 1 == launch.operand_count();
}

std::vector<ValueName> stored_slots(const ProgramCode& code) {
  std::vector<ValueName> stored;
  std::unordered_set<std::uint32_t> sliced;  // in the current body
  for (const prog::Instruction& each : code.instructions()) {
    const Op& op = *each.op;
    if (each.is<prog::Label>()) sliced.clear();
    if (!each.is<prog::Launch>()) continue;
    for (const Use& use : op.operand_uses()) {
      if (is_destination(use)) stored.push_back(use.value()->name());
    }
    if (op.operand_count() == 0 || op.result_count() != 1) continue;
    const ValueName slot = op.result()->name();
    if (op.operand(0)->name() != slot || is_launch_of(op, OpId::kLinalgView)) continue;
    if (is_launch_of(op, OpId::kLinalgSlice)) {
      sliced.insert(slot.raw());
    } else if (sliced.contains(slot.raw())) {
      stored.push_back(slot);
    }
  }
  std::ranges::sort(stored, {}, [](ValueName slot) { return slot.raw(); });
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  return stored;
}

std::vector<const Use*> unfilled_reads(const ProgramCode& code,
                                       std::span<const std::uint32_t> filled) {
  return ReadWalk(code, filled).run();
}

}  // namespace mir
