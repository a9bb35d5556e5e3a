// Parts of a module, collected in one walk, so that checks visit only the relevant ones.
#pragma once

#include <vector>

#include "mir/call_graph.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"

namespace mir::checks {

class Census {
 public:
  explicit Census(const Module& module);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region& region);

  /// In the order of the text.
  std::vector<Op*> graphs;              ///< see is_graph()
  std::vector<CallGraph::Site> calls;   ///< see callee_of()
  std::vector<const Op*> declarations;  ///< ops that declare symbols
  std::vector<const Op*> patterns;      ///< pattern.RewriteOp
  std::size_t symbol_count = 0;         ///< theirs, each as often as it is declared
  bool has_flow = false;                ///< regions of several blocks, or successors
  bool has_frees;                       ///< tensor.free, prog.free: now or before a change
  bool has_fragments = false;           ///< prog.fragment at the top of the module

 private:
  const Block* top_;
  std::vector<const Op*> around_;  // the graphs around the op at hand
};

inline void Census::op(const Op& op) {
  if (is_graph(op)) graphs.push_back(const_cast<Op*>(&op));
  if (callee_of(op)) {
    calls.push_back({const_cast<Op*>(&op), around_.empty() ? nullptr : around_.back()});
  }
  has_fragments = has_fragments || (op.is(OpId::kProgFragment) && op.block() == top_);
  if (op.is(OpId::kPatternRewrite)) patterns.push_back(&op);
  has_flow = has_flow || !op.extra().successors.empty();
  if (!op.has(Trait::kSymbol)) return;
  declarations.push_back(&op);
  ++symbol_count;
  for (const Value& result : op.results()) symbol_count += result.has_symbol() ? 1 : 0;
}

}  // namespace mir::checks
