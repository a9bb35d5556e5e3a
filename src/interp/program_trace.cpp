// Follows a lowered program next to the run of its graphs and shows each instruction.
#include "interp/program_trace.hpp"

#include <fmt/format.h>

#include "mir/codes/runs.hpp"

namespace mir {

ProgramTrace::ProgramTrace(const Module& program, const Schedule& graphs)
    : code_(program), counter_(code_) {
  for (const Step& step : graphs.steps()) {
    if (step.op->location()) computing_.insert(step.op->location().raw);
  }
}

bool ProgramTrace::check_steps(std::uint64_t limit, Diagnostics& diagnostics) const {
  ProgramCounter counter(code_);
  for (std::uint64_t number = 0; !counter.is_past_end(); ++number) {
    const Op& here = *counter.instruction().op;
    if (number == limit) {
      diagnostics.error(
          diag::kStepLimit, here.span(),
          fmt::format("at pc {}: the program takes more than {} steps", counter.at(), limit));
      return false;
    }
    if (counter.advance() != ProgramCounter::Move::kWent) break;
  }
  return true;
}

void ProgramTrace::begin(const Show& show) {
  counter_ = ProgramCounter(code_);
  show_ = show;
  number_ = 0;
  has_ended_ = false;
  go_on(true);
}

void ProgramTrace::follow(const Op& op) {
  if (has_ended_ || counter_.instruction().op->location() != op.location()) return;
  has_ended_ = counter_.advance() != ProgramCounter::Move::kWent;
  go_on(true);
}

void ProgramTrace::end() {
  if (!has_ended_ && computes(counter_.instruction()))
    has_ended_ = counter_.advance() != ProgramCounter::Move::kWent;
  go_on(false);
}

/// Shows the following instructions, up to a launch that an op of the graphs represents.
void ProgramTrace::go_on(bool stops_at_launches) {
  while (!has_ended_ && !counter_.is_past_end()) {
    const prog::Instruction& here = counter_.instruction();
    show_({number_++, counter_.at(), counter_.open_jumps().size(), here.op});
    if (stops_at_launches && computes(here)) return;
    has_ended_ = counter_.advance() != ProgramCounter::Move::kWent;
  }
  has_ended_ = true;
}

bool ProgramTrace::computes(const prog::Instruction& instruction) const {
  return instruction.is<prog::Launch>() && computing_.contains(instruction.op->location().raw);
}

}  // namespace mir
