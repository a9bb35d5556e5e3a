// What a module has, gathered in one walk, so that checks look only where there is something.
#pragma once

#include <vector>

#include "mir/ir/module.hpp"

namespace mir::checks {

class Census {
 public:
  explicit Census(const Module& module);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region& region);

  /// In the order of the text.
  std::vector<const Op*> graphs;        ///< graph.SubGraphOp
  std::vector<const Op*> calls;         ///< graph.CallGraphOp
  std::vector<const Op*> callers;       ///< the innermost graph around each call; null: none
  std::vector<const Op*> declarations;  ///< ops with symbols of their own or of their results
  std::vector<const Op*> fragments;     ///< prog.fragment at the top of the module
  bool has_frees = false;               ///< tensor.free, prog.free
  bool has_flow = false;                ///< regions of several blocks, or successors
  bool has_kernels = false;             ///< prog.kernel_symbol

 private:
  const Block* top_;
  OpKind graph_, call_, free_, program_free_, kernel_, fragment_;
  std::vector<const Op*> around_;  // the graphs around the op at hand
};

}  // namespace mir::checks
