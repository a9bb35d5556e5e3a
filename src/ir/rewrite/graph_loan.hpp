// Graphs that are worked on apart from their module.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Lends what is inside a graph of a portable module to a module of its own, so that several graphs
/// can be edited at once, each by one thread.
///
/// Nothing is copied: ops, values, blocks and regions keep their addresses, and have their ids
/// again once the loan ends. Until then they belong to the module of the loan. It declares no
/// symbols, and new values in it have no names; they are named when the loan ends, in the order of
/// the text. Cursors inside the graph and the listeners of the lender follow. The graph's own op
/// stays with the lender and must not be edited; the lender must not be edited inside the graph.
/// Loans begin and end on one thread.
class GraphLoan {
 public:
  explicit GraphLoan(Op& graph);
  ~GraphLoan();
  GraphLoan(const GraphLoan&) = delete;
  GraphLoan& operator=(const GraphLoan&) = delete;

  Module& module() { return own_; }

 private:
  void lend_cursors();
  template <class VisitOp, class VisitValue>
  void for_each(Op& graph, const VisitOp& visit_op, const VisitValue& visit_value);

  Op& graph_;
  Module& lender_;
  Module own_;
  // By their ids in the loan.
  std::vector<std::uint32_t> op_ids_, value_ids_;
};

}  // namespace mir
