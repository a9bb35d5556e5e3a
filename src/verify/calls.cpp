#include <algorithm>
#include <numeric>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/ops.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

void check_types(const CallGraphOp& call, const Region& body, const Op& graph, Reporter& reporter) {
  const Op& op = *call.op();
  const auto check_type = [&](std::string_view what, std::uint32_t i, const Type* given,
                              const Type* wanted) {
    if (given == nullptr || wanted == nullptr || compatible(given, wanted)) return;
    note(reporter.report(ConstraintId::call_c3, op,
                         [&] {
                           return fmt::format("{} {} of the call of '@{}' is {}, the graph has {}",
                                              what, i, text(op, call.callee()), given->spelling(),
                                              wanted->spelling());
                         }),
         graph, "the graph");
  };
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    check_type("operand", i, op.operand(i)->type(), body.arguments()[i].type());
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    check_type("result", i, op.result(i)->type(), body.result_types()[i]);
  }
}

void check_call(const CallGraphOp& call, const Op* target, Reporter& reporter) {
  const Op& op = *call.op();
  if (target == nullptr || target->first_region() == nullptr) {
    suggest_callee(
        reporter.to_suggest(reporter.report(
            ConstraintId::call_c1, op,
            [&] { return fmt::format("no graph is named '@{}'", text(op, call.callee())); })),
        op);
    return;
  }
  if (is_declaration(*target)) {
    reporter.report(ConstraintId::call_c6, op, [&] {
      return fmt::format("graph '@{}' declares and is never called", text(op, call.callee()));
    });
    return;
  }
  const Region& body = *target->first_region();
  const auto fits = [&](std::string_view what, std::size_t given, std::size_t wanted) {
    if (given == wanted) return true;
    note(reporter.report(ConstraintId::call_c2, op,
                         [&] {
                           return fmt::format("call of '@{}' has {} {}, the graph has {}",
                                              text(op, call.callee()), given, what, wanted);
                         }),
         *target, "the graph");
    return false;
  };
  if (fits("operands", op.operand_count(), body.arguments().size()) &&
      fits("results", op.result_count(), body.result_types().size()) &&
      reporter.wants(ConstraintId::call_c3)) {
    check_types(call, body, *target, reporter);
  }
}

/// Which graph calls which. Graphs have the numbers of Census::graphs; after them comes the module
/// itself. A graph inside another runs only when it is called.
class CallGraph {
 public:
  static constexpr std::uint32_t kNone = ~0u;
  struct Edge {
    const Op* call;
    std::uint32_t target;  ///< kNone: no graph has that name
  };

  CallGraph(const Census& census, const Module& module)
      : module_(static_cast<std::uint32_t>(census.graphs.size())),
        first_(census.graphs.size() + 2),
        edges_(census.calls.size()) {
    std::vector<std::uint32_t> numbers(module.op_id_end(), kNone);
    for (std::uint32_t i = 0; i < module_; ++i) numbers[census.graphs[i]->id()] = i;
    const auto caller = [&](std::size_t call) {
      return census.callers[call] == nullptr ? module_ : numbers[census.callers[call]->id()];
    };
    for (std::size_t i = 0; i < census.calls.size(); ++i) ++first_[caller(i) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < census.calls.size(); ++i) {
      const Op* call = census.calls[i];
      const Op* target = module.lookup_op(call->symbol());
      edges_[next[caller(i)]++] = {call, target == nullptr ? kNone : numbers[target->id()]};
    }
  }

  std::uint32_t module() const { return module_; }
  std::span<const Edge> edges() const { return edges_; }
  /// The calls of a graph or of the module, in order.
  std::span<const Edge> calls_of(std::uint32_t caller) const {
    return std::span(edges_).subspan(first_[caller], first_[caller + 1] - first_[caller]);
  }

 private:
  std::uint32_t module_;
  std::vector<std::uint32_t> first_;  // by caller: where its edges begin
  std::vector<Edge> edges_;
};

/// Depth-first search for graphs that reach themselves.
class CycleSearch {
 public:
  CycleSearch(const Census& census, const CallGraph& calls, Reporter& reporter)
      : graphs_(census.graphs), calls_(calls), reporter_(reporter), states_(graphs_.size()) {}

  /// Recursion is bounded by kDeepest.
  void visit(std::uint32_t graph) {
    if (states_[graph] == State::kDone) return;
    states_[graph] = State::kOpen;
    path_.push_back(graph);
    for (const CallGraph::Edge& edge : calls_.calls_of(graph)) follow(edge);
    path_.pop_back();
    states_[graph] = State::kDone;
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void follow(const CallGraph::Edge& edge) {
    if (edge.target == CallGraph::kNone) return;
    if (states_[edge.target] == State::kOpen) return report_cycle(edge);
    if (path_.size() < kDeepest) return visit(edge.target);
    reporter_.report(ConstraintId::call_c4, *edge.call,
                     [] { return fmt::format("calls are nested deeper than {}", kDeepest); });
  }

  void report_cycle(const CallGraph::Edge& edge) {
    reporter_.report(ConstraintId::call_c4, *edge.call, [&] {
      std::string cycle;
      const auto name = [&](std::uint32_t i) { return text(*graphs_[i], graphs_[i]->symbol()); };
      for (auto at = std::ranges::find(path_, edge.target); at != path_.end(); ++at) {
        cycle += fmt::format("@{} -> ", name(*at));
      }
      return fmt::format("graph calls itself: {}@{}", cycle, name(edge.target));
    });
  }

  static constexpr std::size_t kDeepest = 1000;
  const std::vector<const Op*>& graphs_;
  const CallGraph& calls_;
  Reporter& reporter_;
  std::vector<State> states_;
  std::vector<std::uint32_t> path_;
};

void check_unused(const Census& census, const CallGraph& calls, Reporter& reporter) {
  // A library of graphs has no entry, and all of it is meant to be called from elsewhere. A call
  // whose graph is missing may have meant any of them.
  const auto is_missing = [](const CallGraph::Edge& edge) {
    return edge.target == CallGraph::kNone;
  };
  if (calls.calls_of(calls.module()).empty()) return;
  if (std::ranges::any_of(calls.edges(), is_missing)) return;
  std::vector<char> reached(census.graphs.size());
  std::vector<std::uint32_t> open{calls.module()};
  while (!open.empty()) {
    const std::uint32_t caller = open.back();
    open.pop_back();
    for (const CallGraph::Edge& edge : calls.calls_of(caller)) {
      if (reached[edge.target] == 0) open.push_back(edge.target);
      reached[edge.target] = 1;
    }
  }
  for (std::size_t i = 0; i < census.graphs.size(); ++i) {
    const Op& graph = *census.graphs[i];
    if (reached[i] != 0 || is_declaration(graph)) continue;
    // A second graph of one name cannot be called and is reported as such.
    if (graph.module().lookup_op(graph.symbol()) != &graph) continue;
    reporter.report(ConstraintId::call_c5, graph, [&] {
      return fmt::format("no path of calls reaches graph '@{}'", text(graph, graph.symbol()));
    });
  }
}

}  // namespace

void calls(const Census& census, Reporter& reporter) {
  if (census.calls.empty()) return;
  const CallGraph graph(census, reporter.module());
  for (const CallGraph::Edge& edge : graph.edges()) {
    const Op* target = edge.target == CallGraph::kNone ? nullptr : census.graphs[edge.target];
    check_call(CallGraphOp(const_cast<Op*>(edge.call)), target, reporter);
  }
  CycleSearch search(census, graph, reporter);
  for (std::uint32_t i = 0; i < census.graphs.size(); ++i) search.visit(i);
  if (reporter.wants(ConstraintId::call_c5)) check_unused(census, graph, reporter);
}

}  // namespace mir::checks
