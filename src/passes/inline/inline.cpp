// Replaces calls by the body of the graph, and ops whose region runs exactly once by that region.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/eliminate/library_module.hpp"
#include "passes/inline/inline_call.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/inline/single_exit.hpp"
#include "passes/standard_passes.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

/// The one edge from `from` to `to`; null if there are none or several.
const RegionEdge* only_edge(std::span<const RegionEdge> edges, std::uint32_t from,
                            std::uint32_t to) {
  const RegionEdge* found = nullptr;
  for (const RegionEdge& edge : edges) {
    if (edge.from != from || edge.to != to) continue;
    if (found != nullptr) return nullptr;
    found = &edge;
  }
  return found;
}

/// Calls of calls can multiply without end, so a module grows by no more operations than this.
constexpr std::size_t kMostAdded = std::size_t{1} << 18;

class Inlining {
 public:
  Inlining(PassRun& run, const CallGraph& calls)
      : run_(run), calls_(calls), only_once_(run.options().flag("once")), rewriter_(run.module()) {
    for (const std::string_view name : run.options().texts("keep")) {
      kept_.insert(run.module().context().intern(name));
    }
    if (!run.options().flag("erase") || is_library(run.module())) return;
    const std::span<Op* const> graphs = calls.graphs().subspan(1);
    std::unordered_set<const Op*> outer;  // what graphs are in
    for (const Op* graph : graphs) outer.insert(graph->parent_op());
    for (const Op* graph : graphs) {
      if (!outer.contains(graph) && can_erase(*graph)) {
        calls_left_.emplace(graph, calls.calls_of(*graph).size());
      }
    }
  }

  /// Callees before callers, so that what is inlined has been worked on.
  void apply() {
    for (Op* graph : calls_.bottom_up()) {
      for (const CallGraph::Call& call : calls_.calls_in(*graph)) {
        if (call.target != nullptr && can_inline(*call.op, *call.target)) {
          apply_to(*call.op, *call.target);
        }
      }
      inline_regions(*graph);
    }
  }

 private:
  bool can_inline(const Op& call, const Op& graph) const {
    return inliner_.can_inline(call, graph) && (!only_once_ || calls_.calls_of(graph).size() == 1);
  }

  /// Counts the operations of a graph as added to the module; false if they would be too many.
  bool has_room_for(const Op& graph) {
    std::size_t size = 0;
    for (const Region* region = graph.first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, [&](const Op&) { ++size; });
    }
    added_ += size;
    return added_ <= kMostAdded;
  }

  void apply_to(Op& call, Op& graph) {
    const auto left = calls_left_.find(&graph);
    if (left != calls_left_.end() && left->second == 1) {
      inliner_.inline_only(call, graph);
      run_.count("calls inlined");
      run_.count("graphs erased");
    } else if (has_room_for(graph)) {
      inliner_.inline_copy(call, graph);
      run_.count("calls inlined");
      if (left != calls_left_.end()) --left->second;
    } else {
      run_.count("calls left, for the size");
    }
  }

  /// True if the graph has calls and replaces all of them.
  bool can_erase(const Op& graph) const {
    const auto calls = calls_.calls_of(graph);
    if (calls.empty() || !isa<SubGraphOp>(&graph) || kept_.contains(graph.symbol())) return false;
    return std::ranges::all_of(calls, [&](const Op* call) { return can_inline(*call, graph); });
  }

  void inline_regions(const Op& graph) {
    for (Region* region = graph.first_region(); region != nullptr; region = region->next()) {
      walk(*region, WalkOrder::kPostOrder, [&](Op& op) {
        inline_single_run(op);
        return WalkResult::kContinue;
      });
    }
  }

  void inline_single_run(Op& op) {
    if (op.region_count() != 1 || op.has(Trait::kIsolated)) return;
    // What is fused is together on purpose.
    if (op.is(OpId::kGraphFused)) return;
    Region& region = *op.first_region();
    const RegionRuns runs = runs_of(region);
    const auto edges = region_edges(op);
    const Op* exit = single_exit(&region);
    if (!edges || exit == nullptr || !runs.at_least_once || !runs.at_most_once) return;
    const RegionEdge* in = only_edge(*edges, RegionEdge::kOp, 0);
    const RegionEdge* out = only_edge(*edges, 0, RegionEdge::kOp);
    const bool fits = in != nullptr && out != nullptr && in->first_target == 0 &&
                      in->operand_count == region.entry_arguments().size() &&
                      out->first_target == 0 && out->operand_count == op.result_count();
    if (!fits || !is_pure_but_for_regions(op)) return;
    std::vector<Value*> operands;
    for (std::uint32_t i = 0; i < in->operand_count; ++i) {
      operands.push_back(op.operand(in->first_operand + i));
    }
    replace_by_region(rewriter_, op, region, operands, out->first_operand);
    run_.count("regions inlined");
  }

  /// True if the op has no effect of its own and only runs its region.
  static bool is_pure_but_for_regions(const Op& op) {
    return op.has(Trait::kPure) && op.row()->effects == Effect::kNone &&
           op.extra().successors.empty();
  }

  PassRun& run_;
  const CallGraph& calls_;
  bool only_once_;
  std::unordered_set<Symbol> kept_;
  std::unordered_map<const Op*, std::size_t> calls_left_;  // of the graphs that are to be erased
  std::size_t added_ = 0;                                  // operations, to the module
  Rewriter rewriter_;
  CallInliner inliner_{rewriter_, calls_};
};

/// False after reporting that no graph has the name.
bool has_graph(const PassRun& run, std::string_view name) {
  const Module& module = run.module();
  const IRContext& context = module.context();
  NearestName nearest(name);
  for (const Op* graph : run.analysis<CallGraph>().graphs().subspan(1)) {
    const std::string_view each = context.text(graph->symbol());
    if (each == name) return true;
    nearest.offer(each);
  }
  suggest(run.diagnostics().error(diag::kPipeline, module.top()->span(),
                                  fmt::format("the module has no graph '@{}'", name)),
          nearest.best());
  return false;
}

PassResult run_inline(PassRun& run) {
  for (const std::string_view name : run.options().texts("keep")) {
    if (!has_graph(run, name)) return PassResult::kFailed;
  }
  // The pass edits while it reads the calls.
  const CallGraph calls = run.analysis<CallGraph>();
  Inlining(run, calls).apply();
  return run.result();
}

}  // namespace

Pass inline_pass() {
  return {
      .name = "inline",
      .summary = "replaces calls by the bodies of their graphs",
      .takes = PassForm::kPortable,
      .options = {{.name = "once", .summary = "only graphs that one op calls"},
                  {.name = "erase",
                   .summary =
                       "erase graphs whose calls are all replaced, but those with graphs inside"},
                  {.name = "keep",
                   .kind = PassOption::Kind::kText,
                   .is_list = true,
                   .summary = "graphs that `erase` leaves, by name"}},
      .preserves = AnalysisSet::of<SymbolRanges>(),
      .run = run_inline};
}

}  // namespace mir
