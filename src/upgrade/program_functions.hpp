// The code fragment of a program as functions: which storage each takes and gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/upgrade.hpp"
#include "program/program_code.hpp"

namespace mir {

/// One body of a code fragment. A program names storage globally, so what a body takes and gives is
/// what it reads first and what is read after it.
struct ProgramFunction {
  std::string name;  ///< its label without `.__entry`; empty for what runs first
  /// From after the label to before what ends the body.
  std::span<const prog::Instruction> instructions;
  std::vector<ValueName> inputs;  ///< in order of their first read
  std::vector<ValueName> outputs;
};

/// A binding of `prog.bind`: which storage the program takes or gives at a position.
using ProgramBinding = std::pair<std::int64_t, ValueName>;

struct ProgramFunctions {
  std::vector<ProgramFunction> functions;  ///< as ProgramCode::bodies()
  std::vector<std::size_t> callees_first;  ///< indices of the functions that run, callees first
  std::vector<ProgramBinding> inputs;      ///< by position
  std::vector<ProgramBinding> outputs;     ///< by position
  std::vector<std::size_t> by_label;       ///< indices of functions, by instruction of the label

  std::size_t callee(const prog::Jump& jump) const { return by_label[jump.target]; }
};

/// Follows the code from its first instruction. None after reporting instructions that cannot be
/// read and code that is no call tree: several fragments, jumps to nowhere, recursion, bodies
/// without an end.
std::optional<ProgramFunctions> program_functions(const ProgramCode& code, LossReport& report,
                                                  Diagnostics& diagnostics);

}  // namespace mir
