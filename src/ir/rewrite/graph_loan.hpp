// Graphs that are worked on apart from their module.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Lends what is inside graphs of a portable module to a module of its own, so that they can be
/// edited at once with others, each loan by one thread.
///
/// Nothing is copied: ops, values, blocks and regions keep their addresses and ids. While they are
/// lent they belong to the module of the loan. It declares no symbols, and new values in it have no
/// names; they are named when they are given back, in the order of the text, and new ops and values
/// get other ids then. Cursors inside the graphs and the listeners of the lender follow. The
/// graphs' own ops stay with the lender and must not be edited; the lender must not be edited
/// inside the graphs. lend() and give_back() are called on one thread. Their time does not depend
/// on the size of a graph to which the loan added nothing.
class GraphLoan {
 public:
  explicit GraphLoan(Module& lender);
  /// Lends one graph.
  explicit GraphLoan(Op& graph);
  ~GraphLoan();
  GraphLoan(const GraphLoan&) = delete;
  GraphLoan& operator=(const GraphLoan&) = delete;

  Module& module() { return own_; }
  /// Graphs that are not inside each other.
  void lend(Op& graph);
  /// Ends the loan of all graphs, in the order in which they were lent. Others can be lent then.
  void give_back();

 private:
  void lend_cursors(const Op& graph);
  void give_back_cursors();
  /// Makes the module that of the ops inside the graph, without those in nested isolated ops.
  void settle(Op& graph, Module& module);
  /// True if the graph has neither symbols nor isolated ops inside.
  static bool is_plain(const Op& graph);
  void lend_inner(Op& op);
  void take_back_inside(Op& op);
  void take_back(Op& op);
  void take_back(Value& value);

  Module& lender_;
  Module own_;
  std::vector<Op*> graphs_;
  std::uint32_t first_op_id_ = 0, first_value_id_ = 0;  // of what is new
  std::vector<Op*> declarations_;  // ops among those lent that may declare symbols
};

}  // namespace mir
