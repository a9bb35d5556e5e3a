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
/// Nothing is copied: ops, values, blocks and regions stay where they are and keep, once they are
/// back, their ids. Meanwhile their module is the one of the loan, which knows no symbols, and what
/// is made in it gets no names; names are given when the graph comes back, in the order of the
/// text. The graph's own op stays with its module and must not be edited; nor must the module be
/// anywhere inside the graph. Loans are taken and given back by one thread.
class GraphLoan {
 public:
  explicit GraphLoan(Op& graph);
  ~GraphLoan();
  GraphLoan(const GraphLoan&) = delete;
  GraphLoan& operator=(const GraphLoan&) = delete;

  Module& module() { return own_; }

 private:
  template <class VisitOp, class VisitValue>
  void for_each(Op& graph, const VisitOp& visit_op, const VisitValue& visit_value);

  Op& graph_;
  Module& lender_;
  Module own_;
  // By their ids in the loan.
  std::vector<std::uint32_t> op_ids_, value_ids_;
};

}  // namespace mir
