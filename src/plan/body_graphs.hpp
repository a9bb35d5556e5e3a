// The bodies of the ops of a schedule, as graphs.
#pragma once

#include <memory>
#include <unordered_map>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Graphs that compute ops by their bodies, in a module of their own. Each op has one.
class BodyGraphs {
 public:
  explicit BodyGraphs(const Module& module);

  /// Returns the body of the op as a graph; null after reporting why there is none.
  Op* graph_of(const Op& op, Diagnostics& diagnostics);

  /// A parameter that only ops in bodies own, which the module at hand does not register.
  const Value* parameter(Symbol symbol) const { return module_->lookup_value(symbol); }

 private:
  std::unique_ptr<Module> module_;
  std::unordered_map<const Op*, Op*> graphs_;
};

}  // namespace mir
