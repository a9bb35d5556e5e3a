// What a module has, counted in one walk, so that checks look only where there is something.
#pragma once

#include <vector>

#include "mir/ir/module.hpp"

namespace mir::checks {

struct Census {
  explicit Census(const Module& module);

  /// In the order of the text.
  std::vector<const Op*> graphs;        ///< graph.SubGraphOp
  std::vector<const Op*> calls;         ///< graph.CallGraphOp
  std::vector<const Op*> callers;       ///< the innermost graph around each call; null: none
  std::vector<const Op*> declarations;  ///< ops with symbols of their own or of their results
  bool has_frees = false;               ///< tensor.free, prog.free
  bool has_flow = false;                ///< regions of several blocks, or successors
  bool has_kernels = false;             ///< prog.kernel_symbol
  bool has_recipes = false;             ///< attributes named quant_recipe, of ops or values

 private:
  struct Kinds {
    OpKind graph, call, free, program_free, kernel;
    Symbol recipe;
  };
  void region(const Region& region, const Op* graph, const Kinds& kinds);
  void op(const Op& op, const Op* graph, const Kinds& kinds);
};

}  // namespace mir::checks
