// Position of a run in a program. There is neither a branch nor a condition, so the order of
// execution follows from the code alone.
#pragma once

#include "program/program_code.hpp"

namespace mir {

/// The index of the current instruction and the jumps that are open.
class ProgramCounter {
 public:
  /// Jumps that are open at once, at most.
  static constexpr std::size_t kDeepest = 1000;

  enum class Move : std::uint8_t {
    kWent,        ///< to the instruction that runs next
    kExited,      ///< the program ends here
    kNowhere,     ///< the target of a jump does not exist
    kTooDeep,     ///< a jump would be open beside kDeepest others
    kUnbalanced,  ///< a return that no jump led to
  };

  explicit ProgramCounter(const ProgramCode& code) : code_(code.instructions()) {}

  std::size_t at() const { return at_; }
  bool is_past_end() const { return at_ >= code_.size(); }
  const prog::Instruction& instruction() const { return code_[at_]; }
  /// The jumps that led here, the outermost first.
  std::span<const std::size_t> open_jumps() const { return open_jumps_; }

  /// Moves to what runs after the current instruction; stays there unless it went.
  Move advance() {
    const prog::Instruction& here = instruction();
    if (here.is<prog::Exit>()) return Move::kExited;
    if (const auto* jump = here.as<prog::Jump>()) return call(*jump);
    if (here.is<prog::Return>()) {
      if (open_jumps_.empty()) return Move::kUnbalanced;
      at_ = open_jumps_.back();
      open_jumps_.pop_back();
    }
    ++at_;
    return Move::kWent;
  }
  /// Moves past the current instruction without executing it.
  void skip() { ++at_; }

 private:
  Move call(const prog::Jump& jump) {
    if (jump.target == prog::kOutside) return Move::kNowhere;
    if (open_jumps_.size() == kDeepest) return Move::kTooDeep;
    open_jumps_.push_back(at_);
    at_ = jump.target;
    return Move::kWent;
  }

  std::span<const prog::Instruction> code_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_jumps_;
};

}  // namespace mir
