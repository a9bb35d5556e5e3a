// Inputs and outputs of graphs, changed together with the calls of the graph.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/module.hpp"
#include "mir/rewriter.hpp"

namespace mir::reduce {

/// Changes signatures of one portable module. Calls may be erased meanwhile, but not created.
class Signatures {
 public:
  explicit Signatures(Module& module);

  Rewriter& rewriter() { return rewriter_; }
  /// Returns the calls of the graph with this body that still exist; empty for the body of a
  /// module.
  std::vector<Op*> calls_of(const Region& graph) const;

  /// Adds an input. Each call passes a new input of the graph around it.
  Value& add_input(Region& graph, const Type* type);
  /// Adds the value, which is defined directly in the graph, to the outputs. The results that calls
  /// get become outputs as well. Returns false if the graph does not end in a return.
  bool add_output(Region& graph, Value& value);
  /// Drops an input, unless it has uses.
  void drop_input(Region& graph, std::size_t index);
  /// Drops an output, unless the result of a call has uses.
  void drop_output(Region& graph, std::size_t index);

 private:
  Rewriter rewriter_;
  std::unordered_map<Symbol, std::vector<Op*>> calls_;
  std::vector<std::pair<const Region*, Value*>> open_;  // graphs that get an input or output
};

}  // namespace mir::reduce
