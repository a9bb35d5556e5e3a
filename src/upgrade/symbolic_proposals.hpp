// The extents of a dump's inputs that may become symbols.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/upgrade.hpp"

namespace mir {

/// Dimensions of inputs that one symbol can stand for, or one that must stay a number.
struct SymbolicProposal {
  std::vector<SymbolicDim> dims;  ///< no fewer of them can be the symbol
  std::int64_t traced = 0;        ///< their extent in the trace
  /// Why the dimension must stay as it is; empty: it may be a symbol.
  std::string refusal{};
  // Consequences of the symbol: inputs, outputs and the number of all values that have it in their
  // types, and the facts that the upgrade assumes for it.
  std::vector<std::string> inputs{}, outputs{};  ///< "%7:tensor<[1, $S], Int64, CPU>"
  std::size_t values = 0;
  struct Fact {
    std::string text;  ///< "linalg.ViewOp 'net.view': to_shape = [1, $S, 8]"
    std::size_t count = 0;
  };
  std::vector<Fact> assumed{};
};

/// Tries each dimension of each input in an upgrade of its own: alone, with all others of the same
/// extent, with all but one of them, or with one. Upgrades copies: the module stays. Empty after
/// reporting why it cannot be upgraded as it is.
std::vector<SymbolicProposal> propose_symbolic_dims(const Module& dump,
                                                    const UpgradeOptions& options,
                                                    Diagnostics& diagnostics);

/// A paragraph for each proposal, with the options that make it.
std::string render(const std::vector<SymbolicProposal>& proposals);

}  // namespace mir
