// Which graphs of a module call which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// The calls of a module. The module body, represented by the module's op, counts as a graph; a
/// graph inside another one runs only when it is called. Edits of graphs, calls or symbols make it
/// stale.
class CallGraph {
 public:
  static constexpr std::string_view kAnalysisName = "call graph";

  struct Call {
    Op* op = nullptr;
    Op* target = nullptr;  ///< null: no graph has the symbol that the op names
    friend bool operator==(const Call&, const Call&) = default;
  };

  explicit CallGraph(const Module& module);
  /// The same from what a walk over the module has found: all graphs, and the calls with the graph
  /// that contains each (null for the body), both in text order.
  struct Site {
    Op* call = nullptr;
    const Op* caller = nullptr;
  };
  CallGraph(const Module& module, std::span<Op* const> graphs, std::span<const Site> sites);

  /// The body first, then all graphs.
  std::span<Op* const> graphs() const { return graphs_; }
  /// The same, callees before their callers. In a cycle of calls some caller comes first.
  std::vector<Op*> bottom_up() const;
  /// The position in graphs(). No value if the op is not a graph of the module.
  std::optional<std::uint32_t> find(const Op* graph) const;
  /// The calls in a graph, in text order.
  std::span<const Call> calls_in(const Op& graph) const;
  /// The graphs that a graph calls, each once, in the order of the first call.
  std::vector<Op*> callees(const Op& graph) const;
  /// The ops that call a graph.
  std::span<Op* const> calls_of(const Op& graph) const;
  /// The graphs that call themselves, directly or through others.
  std::unordered_set<const Op*> recursive_graphs() const;
  /// The graphs that run when these run: themselves and what they call, directly or through others.
  std::vector<Op*> reached_from(std::span<Op* const> roots) const;

  friend bool operator==(const CallGraph&, const CallGraph&) = default;

 private:
  /// The places of the calls and users of a graph among those of all graphs.
  struct Lists {
    std::uint32_t first_call = 0, call_count = 0;
    std::uint32_t first_user = 0, user_count = 0;
    friend bool operator==(const Lists&, const Lists&) = default;
  };
  const Lists* lists_of(const Op& graph) const;
  void add_graphs(Op* top, std::span<Op* const> graphs);
  void add_calls(const Module& module, std::span<const Site> sites);
  /// The slot of a graph, or the empty one where it would be.
  std::size_t slot_of(const Op* graph) const;

  std::vector<Op*> graphs_;
  std::vector<std::uint32_t> slots_;  // a hash table of positions in graphs_
  std::vector<Lists> lists_;          // of each graph
  std::vector<Call> calls_;           // one graph after the other
  std::vector<Op*> users_;            // likewise
};

}  // namespace mir
