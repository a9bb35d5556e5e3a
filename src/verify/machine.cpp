#include "verify/machine.hpp"

namespace mir::checks {

Machine::Machine(const Census& census, Reporter& reporter) : reporter_(reporter) {
  const Module& module = reporter.module();
  for (const Op* op : census.fragments) {
    if (op->angle(1) == "code" && op->first_region() != nullptr) {
      segment_ = op;
      break;
    }
  }
  if (segment_ == nullptr) return;
  for (const Op* op : segment_->first_region()->ops()) {
    if (op->is(OpId::kProgLabel)) {
      if (const auto name = module.declared_symbol(op)) labels_.try_emplace(*name, code_.size());
    }
    code_.push_back(op);
  }
}

const Op* Machine::label_of(const Op& jump) const {
  const auto found = labels_.find(jump.extra().label);
  return found == labels_.end() ? nullptr : code_[found->second];
}

void Machine::run() {
  std::size_t pc = 0;
  while (pc < code_.size()) {
    if (!step(pc)) return;
  }
  if (code_.empty()) return;
  reporter_.report(ConstraintId::exit_c1, *code_.back(),
                   [] { return "the program runs past its end: no prog.exit stops it"; });
}

/// False when the program ends here.
bool Machine::step(std::size_t& pc) {
  const Op& op = *code_[pc];
  executed_.push_back(&op);
  if (op.is(OpId::kProgJump)) return call(pc, op);
  if (op.is(OpId::kProgExit)) {
    has_exited_ = true;
    if (frames_.empty()) return false;
    note(reporter_.report(
             ConstraintId::exit_c1, op,
             [&] { return fmt::format("prog.exit is reached {} calls deep", frames_.size()); }),
         *code_[frames_.back().back], "called from here");
    return false;
  }
  if (op.is(OpId::kProgRet)) {
    if (frames_.empty()) {
      reporter_.report(ConstraintId::ret_c1, op,
                       [] { return "prog.ret is reached and no jump led here"; });
      return false;
    }
    states_[frames_.back().label] = State::kDone;
    pc = frames_.back().back;
    frames_.pop_back();
  }
  ++pc;
  return true;
}

bool Machine::replay(const std::function<void(const Op&)>& visit) const {
  constexpr std::size_t kDeepest = 1000, kMostRounds = 64;
  std::vector<std::size_t> calls;
  std::size_t left = kMostRounds * code_.size();
  for (std::size_t pc = 0; pc < code_.size() && left-- != 0; ++pc) {
    const Op& op = *code_[pc];
    visit(op);
    if (op.is(OpId::kProgExit)) return true;
    if (op.is(OpId::kProgRet)) {
      if (calls.empty()) return false;
      pc = calls.back();
      calls.pop_back();
    }
    if (!op.is(OpId::kProgJump)) continue;
    const auto label = labels_.find(op.extra().label);
    if (label == labels_.end() || calls.size() == kDeepest) return false;
    calls.push_back(pc);
    pc = label->second;
    visit(*code_[pc]);
  }
  return false;
}

bool Machine::call(std::size_t& pc, const Op& jump) {
  const Op* label = label_of(jump);
  if (label == nullptr) return false;  // reported by program()
  State& state = states_[label];
  constexpr std::size_t kDeepest = 1000;
  if (state == State::kDone) {
    ++pc;
    return true;
  }
  if (state == State::kOpen || frames_.size() == kDeepest) {
    const bool is_cycle = state == State::kOpen;
    note(reporter_.report(ConstraintId::jump_c3, jump,
                          [&] {
                            return is_cycle
                                       ? fmt::format("the code at '{}' jumps to itself",
                                                     text(jump, jump.extra().label))
                                       : fmt::format("jumps are nested deeper than {}", kDeepest);
                          }),
         *label, "the label");
    return false;
  }
  state = State::kOpen;
  frames_.push_back({pc, label});
  pc = labels_.at(jump.extra().label);
  return true;
}

}  // namespace mir::checks
