#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "checks.hpp"
#include "mir/ir/writer.hpp"
#include "suggestions.hpp"

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
    check_type("result", i, op.result(i)->type(), body.results()[i].type);
  }
}

void check_call(const CallGraphOp& call, Reporter& reporter) {
  const Op& op = *call.op();
  const SubGraphOp target = call.target();
  if (!target || target.body() == nullptr) {
    suggest_callee(
        reporter.report(
            ConstraintId::call_c1, op,
            [&] { return fmt::format("no graph is named '@{}'", text(op, call.callee())); }),
        op);
    return;
  }
  const Region& body = *target.body();
  const auto fits = [&](std::string_view what, std::size_t given, std::size_t wanted) {
    if (given == wanted) return true;
    note(reporter.report(ConstraintId::call_c2, op,
                         [&] {
                           return fmt::format("call of '@{}' has {} {}, the graph has {}",
                                              text(op, call.callee()), given, what, wanted);
                         }),
         *target.op(), "the graph");
    return false;
  };
  if (fits("operands", op.operand_count(), body.arguments().size()) &&
      fits("results", op.result_count(), body.results().size()) &&
      reporter.wants(ConstraintId::call_c3)) {
    check_types(call, body, *target.op(), reporter);
  }
}

/// The calls of each graph and of the module itself (null), in order. A graph inside another runs
/// only when it is called.
using CallGraph = std::unordered_map<const Op*, std::vector<CallGraphOp>>;

CallGraph call_graph(const Census& census) {
  CallGraph graph;
  for (std::size_t i = 0; i < census.calls.size(); ++i) {
    graph[census.callers[i]].emplace_back(const_cast<Op*>(census.calls[i]));
  }
  return graph;
}

/// Depth-first search for graphs that reach themselves.
class CycleSearch {
 public:
  CycleSearch(const CallGraph& calls, Reporter& reporter) : calls_(calls), reporter_(reporter) {}

  /// Recursion is bounded by kDeepest.
  void visit(const Op* graph) {
    State& state = states_[graph];
    if (state == State::kDone) return;
    state = State::kOpen;
    path_.push_back(graph);
    if (const auto found = calls_.find(graph); found != calls_.end()) {
      for (const CallGraphOp& call : found->second) follow(call);
    }
    path_.pop_back();
    states_[graph] = State::kDone;
  }

 private:
  enum class State { kNew, kOpen, kDone };

  void follow(const CallGraphOp& call) {
    const SubGraphOp target = call.target();
    if (!target) return;
    if (states_[target.op()] == State::kOpen) return report_cycle(call, *target.op());
    if (path_.size() < kDeepest) return visit(target.op());
    reporter_.report(ConstraintId::call_c4, *call.op(),
                     [] { return fmt::format("calls are nested deeper than {}", kDeepest); });
  }

  void report_cycle(const CallGraphOp& call, const Op& first) {
    reporter_.report(ConstraintId::call_c4, *call.op(), [&] {
      std::string cycle;
      for (std::size_t i = 0, inside = false; i < path_.size(); ++i) {
        inside = inside || path_[i] == &first;
        if (inside) cycle += fmt::format("@{} -> ", text(*path_[i], path_[i]->symbol()));
      }
      return fmt::format("graph calls itself: {}@{}", cycle, text(first, first.symbol()));
    });
  }

  static constexpr std::size_t kDeepest = 1000;
  const CallGraph& calls_;
  Reporter& reporter_;
  std::unordered_map<const Op*, State> states_;
  std::vector<const Op*> path_;
};

/// Graphs that upstream never calls: parameters, what is left behind, names of kernels.
bool is_declaration(const Op& graph) {
  constexpr std::array<std::string_view, 3> kDeclarations = {"init", "deinit", "op_symbol_table"};
  const std::string_view name = text(graph, graph.symbol());
  return std::find(kDeclarations.begin(), kDeclarations.end(), name) != kDeclarations.end();
}

void check_unused(const Census& census, const CallGraph& calls, Reporter& reporter) {
  // A library of graphs has no entry, and all of it is meant to be called from elsewhere. A call
  // whose graph is missing may have meant any of them.
  const bool resolved = std::ranges::all_of(census.calls, [](const Op* call) {
    return static_cast<bool>(CallGraphOp(const_cast<Op*>(call)).target());
  });
  if (!calls.contains(nullptr) || !resolved) return;
  std::unordered_set<const Op*> reached;
  std::vector<const Op*> open{nullptr};
  while (!open.empty()) {
    const auto found = calls.find(open.back());
    open.pop_back();
    if (found == calls.end()) continue;
    for (const CallGraphOp& call : found->second) {
      const Op* target = call.target().op();
      if (target != nullptr && reached.insert(target).second) open.push_back(target);
    }
  }
  for (const Op* each : census.graphs) {
    // A second graph of one name cannot be called and is reported as such.
    const bool is_first = each->module().lookup_op(each->symbol()) == each;
    if (reached.contains(each) || is_declaration(*each) || !is_first) continue;
    reporter.report(ConstraintId::call_c5, *each, [&] {
      return fmt::format("no path of calls reaches graph '@{}'", text(*each, each->symbol()));
    });
  }
}

}  // namespace

void calls(const Census& census, Reporter& reporter) {
  for (const Op* call : census.calls) check_call(CallGraphOp(const_cast<Op*>(call)), reporter);
  const CallGraph graph = call_graph(census);
  CycleSearch search(graph, reporter);
  for (const Op* each : census.graphs) search.visit(each);
  if (reporter.wants(ConstraintId::call_c5)) check_unused(census, graph, reporter);
}

}  // namespace mir::checks
