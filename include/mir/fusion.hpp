// The choice of ops that fast kernels compute as one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mir/pass.hpp"

namespace mir {

/// The groups of ops that become one fast kernel in a run.
enum class Fusion : std::uint8_t {
  kOff,     ///< none, not even those that a graph.FusedOp states
  kStated,  ///< those that a graph.FusedOp states
  kExact,   ///< also those of the pipeline "fusion-exact", with the bits of the ops one by one
  kAll,     ///< those of "fusion-all", also in another order of summation, each with its own bound
};

/// Limits of fuse().
struct FusionScope {
  /// Graphs of the module that stay even if all calls of them are inlined: those that runs enter.
  std::span<const std::string> kept{};
  /// Ops whose declaration has a body stay: something else computes them.
  bool keeps_declared_ops = false;
};

/// Applies the pipeline of a fusion to a verified portable module: bodies of declared ops and calls
/// are inlined, groups become a graph.FusedOp. The registry has the standard passes. The module is
/// as well-formed as before, so it is not verified again. False after reporting an error.
bool fuse(Module& module, Fusion fusion, const PassRegistry& registry, const FusionScope& scope,
          Diagnostics& diagnostics);

}  // namespace mir
