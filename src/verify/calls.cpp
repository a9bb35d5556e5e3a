// Checks calls against their graphs, and reports recursion and unused graphs.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/call_types.hpp"
#include "ir/context/language_versions.hpp"
#include "ir/declaration_graphs.hpp"
#include "mir/call_graph.hpp"
#include "support/counted.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

/// The symbol that a call names.
std::string_view callee_text(const Op& call) {
  return text(call, *callee_of(call));
}

void check_types(const Op& op, const Region& body, const Op& graph, Reporter& reporter) {
  const auto check_type = [&](MentionPlace place, const Type* given, const Type* wanted) {
    if (given == nullptr || wanted == nullptr || reporter.agree(given, wanted)) return;
    if (has_unknown_element(wanted)) return;  // which the graph is to blame for
    note(reporter.report_at(ConstraintId::call_c3, op, place,
                            [&] {
                              return fmt::format(
                                  "{} {} of the call of '@{}' is {}, the graph has {}",
                                  place.is_result ? "result" : "operand", place.index,
                                  callee_text(op), given->spelling(), wanted->spelling());
                            }),
         graph, "the graph");
  };
  std::optional<CallTypes> match;  // other versions pass the types of the graph
  if (reporter.module().version() >= kSymbolsVersion) match.emplace(CallTypes::of(op, body));
  const auto type_of = [&](const Type* type) { return match ? match->at_call(type) : type; };
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    check_type({i}, op.operand(i)->type(), type_of(body.entry_arguments()[i].type()));
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    check_type({i, true}, op.result(i)->type(), type_of(body.result_types()[i]));
  }
  if (match) passed_ranges(match->symbols(), ConstraintId::call_c3, op, reporter);
}

/// Symbols of the module's ops whose own names are not known: these may be graphs.
class MisspeltGraphs {
 public:
  bool contains(const Module& module, Symbol symbol) {
    if (!symbols_) find(module);
    return symbols_->contains(symbol);
  }

 private:
  void find(const Module& module) {
    symbols_.emplace();
    for (const Block* block : module.body().blocks()) {
      for (const Op* op : block->ops()) {
        if (op->row() == nullptr && op->has_symbol()) symbols_->insert(op->symbol());
      }
    }
  }

  std::optional<std::unordered_set<Symbol>> symbols_;  // found for the first call that needs them
};

void check_call(const Op& op, const Op* target, MisspeltGraphs& misspelt, Reporter& reporter) {
  if (target == nullptr && misspelt.contains(op.module(), op.symbol())) return;
  if (target == nullptr || target->first_region() == nullptr) {
    suggest_callee(reporter.to_suggest(reporter.report_at(
                       ConstraintId::call_c1, op, SymbolPlace{},
                       [&] { return fmt::format("no graph is named '@{}'", callee_text(op)); })),
                   op);
    return;
  }
  if (is_declaration(*target)) {
    reporter.report_at(ConstraintId::call_c6, op, SymbolPlace{}, [&] {
      return fmt::format("graph '@{}' must not be called", callee_text(op));
    });
    return;
  }
  const Region& body = *target->first_region();
  const auto fits = [&](std::string_view what, std::size_t given, std::size_t wanted) {
    if (given == wanted) return true;
    Diagnostic* kept = reporter.report_at(ConstraintId::call_c2, op, SymbolPlace{}, [&] {
      return fmt::format("call of '@{}' has {}, the graph has {}", callee_text(op),
                         counted(given, what), wanted);
    });
    note(kept, *target, "the graph");
    if (what == "operands") suggest_operands(kept, op, body);
    return false;
  };
  if (fits("operands", op.operand_count(), body.entry_arguments().size()) &&
      fits("results", op.result_count(), body.result_types().size()) &&
      reporter.wants(ConstraintId::call_c3)) {
    check_types(op, body, *target, reporter);
  }
}

/// Depth-first search for graphs that call themselves, directly or through others.
class CycleSearch {
 public:
  CycleSearch(const CallGraph& calls, Reporter& reporter) : calls_(calls), reporter_(reporter) {}

  /// Recursion is bounded by kDeepest.
  void visit(const Op& graph) {
    if (states_[&graph] == State::kDone) return;
    states_[&graph] = State::kOpen;
    path_.push_back(&graph);
    for (const CallGraph::Call& call : calls_.calls_in(graph)) follow(call);
    path_.pop_back();
    states_[&graph] = State::kDone;
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  void follow(const CallGraph::Call& call) {
    if (call.target == nullptr) return;
    if (states_[call.target] == State::kOpen) return report_cycle(call);
    if (path_.size() < kDeepest) return visit(*call.target);
    reporter_.report(ConstraintId::call_c4, *call.op,
                     [] { return fmt::format("calls are nested deeper than {}", kDeepest); });
  }

  void report_cycle(const CallGraph::Call& call) {
    reporter_.report(ConstraintId::call_c4, *call.op, [&] {
      std::string cycle;
      const auto name = [](const Op* graph) { return text(*graph, graph->symbol()); };
      for (auto at = std::ranges::find(path_, call.target); at != path_.end(); ++at) {
        cycle += fmt::format("@{} -> ", name(*at));
      }
      return fmt::format("graph calls itself: {}@{}", cycle, name(call.target));
    });
  }

  static constexpr std::size_t kDeepest = 1000;
  const CallGraph& calls_;
  Reporter& reporter_;
  std::unordered_map<const Op*, State> states_;
  std::vector<const Op*> path_;
};

void check_unused(const CallGraph& calls, Reporter& reporter) {
  // A module without calls in its body is a library, whose graphs are called from elsewhere. A call
  // whose graph is missing may have meant any of them.
  Op* const top = reporter.module().top();
  if (calls.calls_in(*top).empty()) return;
  for (const Op* graph : calls.graphs()) {
    const auto is_missing = [](const CallGraph::Call& call) { return call.target == nullptr; };
    if (std::ranges::any_of(calls.calls_in(*graph), is_missing)) return;
  }
  const std::vector<Op*> reached = calls.reached_from({&top, 1});
  const std::unordered_set<const Op*> used(reached.begin(), reached.end());
  for (const Op* graph : calls.graphs()) {
    if (used.contains(graph) || is_declaration(*graph)) continue;
    // A second graph of one name cannot be called and is reported as such.
    if (graph->module().lookup_op(graph->symbol()) != graph) continue;
    reporter.report(ConstraintId::call_c5, *graph, [&] {
      return fmt::format("no path of calls reaches graph '@{}'", text(*graph, graph->symbol()));
    });
  }
}

}  // namespace

void calls(const Census& census, Reporter& reporter) {
  if (census.calls.empty()) return;
  const CallGraph calls(reporter.module(), census.graphs, census.calls);
  CycleSearch search(calls, reporter);
  MisspeltGraphs misspelt;
  for (const Op* graph : calls.graphs()) {
    for (const CallGraph::Call& call : calls.calls_in(*graph)) {
      check_call(*call.op, call.target, misspelt, reporter);
    }
    search.visit(*graph);
  }
  if (reporter.wants(ConstraintId::call_c5)) check_unused(calls, reporter);
}

}  // namespace mir::checks
