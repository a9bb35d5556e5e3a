// Follows the instructions of a program in execution order, from its text alone.
#include "verify/execution.hpp"

namespace mir::checks {

void Execution::run() {
  states_.assign(code_.instructions().size(), State::kNew);
  ProgramCounter counter(code_);
  while (!counter.is_past_end()) {
    if (!step(counter)) return;
  }
  const Block* block = code_.code()->op->first_region()->last_block();
  if (block == nullptr || block->empty()) return;
  reporter_.report(ConstraintId::exit_c1, *block->back(),  // a comment, too
                   [] { return "the program runs past its end: no prog.exit stops it"; });
}

/// False when the program ends here.
bool Execution::step(ProgramCounter& counter) {
  const prog::Instruction& here = counter.instruction();
  executed_.push_back(here.op);
  if (const auto* jump = here.as<prog::Jump>()) return call(counter, *jump);
  const bool leaves = here.is<prog::Return>() && !counter.open_jumps().empty();
  if (leaves) {
    const auto* jump = code_.instructions()[counter.open_jumps().back()].as<prog::Jump>();
    states_[jump->target] = State::kDone;
  }
  const auto move = counter.advance();
  if (move == ProgramCounter::Move::kExited) exit(counter);
  if (move == ProgramCounter::Move::kUnbalanced) {
    reporter_.report(ConstraintId::ret_c1, *here.op,
                     [] { return "prog.ret is reached and no jump led here"; });
  }
  return move == ProgramCounter::Move::kWent;
}

void Execution::exit(const ProgramCounter& counter) {
  has_exited_ = true;
  const auto open = counter.open_jumps();
  if (open.empty()) return;
  note(reporter_.report(
           ConstraintId::exit_c1, *counter.instruction().op,
           [&] { return fmt::format("prog.exit is reached {} calls deep", open.size()); }),
       *code_.instructions()[open.back()].op, "called from here");
}

bool Execution::call(ProgramCounter& counter, const prog::Jump& jump) {
  if (!jump.has_label) return false;  // reported by program()
  const Op& op = *counter.instruction().op;
  State& state = states_[jump.target];
  if (state == State::kDone) {
    counter.skip();
    return true;
  }
  const bool is_cycle = state == State::kOpen;
  state = State::kOpen;
  if (!is_cycle && counter.advance() == ProgramCounter::Move::kWent) return true;
  note(reporter_.report(
           ConstraintId::jump_c3, op,
           [&] {
             return is_cycle
                        ? fmt::format("the code at '{}' jumps to itself", text(op, jump.label))
                        : fmt::format("jumps are nested deeper than {}", ProgramCounter::kDeepest);
           }),
       *code_.instructions()[jump.target].op, "the label");
  return false;
}

bool Execution::replay(const std::function<void(const prog::Instruction&)>& visit) const {
  constexpr std::size_t kMostRounds = 64;
  std::size_t left = kMostRounds * code_.instructions().size();
  ProgramCounter counter(code_);
  while (!counter.is_past_end() && left-- != 0) {
    const prog::Instruction& here = counter.instruction();
    visit(here);
    const auto* jump = here.as<prog::Jump>();
    if (jump != nullptr && !jump->has_label) return false;
    const auto move = counter.advance();
    if (move != ProgramCounter::Move::kWent) return move == ProgramCounter::Move::kExited;
  }
  return false;
}

}  // namespace mir::checks
