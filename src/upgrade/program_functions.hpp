// The code segment of a program as functions: which storage each takes and gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/loss_report.hpp"
#include "mir/module.hpp"

namespace mir {

/// One body of a code segment. A program names storage globally, so what a body takes and gives is
/// what it reads first and what is read after it.
struct ProgramFunction {
  std::string name;               ///< its label without `.__entry`; empty for what runs first
  std::vector<Op*> instructions;  ///< from behind the label to in front of what ends the body
  std::vector<ValueName> inputs;  ///< in order of their first read
  std::vector<ValueName> outputs;
};

/// A binding of `prog.bind`: which storage the program takes or gives at a position.
using ProgramBinding = std::pair<std::int64_t, ValueName>;

struct ProgramFunctions {
  std::vector<ProgramFunction> functions;  ///< the first one runs first; the others as in the text
  std::vector<std::size_t> callees_first;  ///< indices of the functions that run, callees first
  std::vector<ProgramBinding> inputs;      ///< by position
  std::vector<ProgramBinding> outputs;     ///< by position
  std::unordered_map<Symbol, std::size_t> by_label;
};

/// Whether a use of the value needs no definition: a constant, or a name with a symbol.
bool is_given(const Module& module, const Use& use);

/// Follows the code from its first instruction. None after reporting code that is no call tree:
/// several segments, jumps to nowhere, recursion, bodies without an end.
std::optional<ProgramFunctions> program_functions(const Module& module, LossReport& report,
                                                  Diagnostics& diagnostics);

}  // namespace mir
