#include "passes/symbols/graph_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/call_types.hpp"
#include "ir/extent_walk.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "passes/symbols/substitute_extents.hpp"

namespace mir {

namespace {

std::set<Symbol> symbols_in(const Region& region) {
  std::set<Symbol> symbols;
  DimTable& dims = region.parent()->module().context().dims();
  for_each_extent(region, [&](Dim extent, const Op&) {
    for (const Symbol symbol : dims.symbols(extent)) symbols.insert(symbol);
  });
  return symbols;
}

std::vector<Op*> calls_in(const Region& region) {
  std::vector<Op*> calls;
  for_each_op(region, [&](Op& op) {
    if (isa<CallGraphOp>(&op)) calls.push_back(&op);
  });
  return calls;
}

/// The graph that a call names, if it has a body; else null.
Op* graph_with_body(const Op& call) {
  Op* const graph = called_graph(call);
  return graph != nullptr && graph->first_region() != nullptr ? graph : nullptr;
}

}  // namespace

const std::set<Symbol>& GraphCopies::symbols_of(const Op& graph) {
  const auto [known, is_new] = symbols_.try_emplace(&graph);
  if (is_new) known->second = symbols_in(*graph.first_region());
  return known->second;
}

bool GraphCopies::redirect(Op& call) {
  const Symbol before = call.symbol();
  open_.push_back({&call, {}});
  while (!open_.empty()) {
    const OpenCall next = std::move(open_.back());
    open_.pop_back();
    redirect_one(*next.call, next.known);
  }
  return call.symbol() != before;
}

void GraphCopies::redirect_one(Op& call, const DimBindings& known) {
  Op* const graph = graph_with_body(call);
  if (graph == nullptr) return;
  Op& to = make(*graph, numbers_passed(call, *graph, known));
  if (&to != graph) rewriter_.set_symbol(call, to.symbol());
}

DimBindings GraphCopies::numbers_passed(const Op& call, const Op& graph, DimBindings known) const {
  const CallTypes types = CallTypes::of(call, *graph.first_region());
  for (const auto& [symbol, extent] : types.symbols()) {
    const bool is_number = extent.is_constant() && !extent.is_negative();
    if (is_number) known.bind(symbol, extent.constant());
  }
  return known;
}

Op& GraphCopies::make(Op& graph, const DimBindings& values) {
  Key key{&graph, {}};
  DimBindings bound;
  for (const auto& [symbol, value] : values.entries()) {
    if (!symbols_of(graph).contains(symbol)) continue;
    key.second.emplace_back(symbol, value);
    bound.bind(symbol, value);
  }
  if (key.second.empty()) return graph;
  std::ranges::sort(key.second, {}, [&](const auto& each) { return context_.text(each.first); });
  if (const auto known = copies_.find(key); known != copies_.end()) return *known->second;

  RewriteMapping mapping;
  Op& made = *detached_.clone(graph, mapping);
  const std::string name = name_of(graph, key);
  rewriter_.set_symbol(made, context_.intern(name));
  if (made.attribute(key::kSymbol) != nullptr)
    rewriter_.set_attribute(made, key::kSymbol, context_.word(name));
  Op*& last = last_copies_.try_emplace(&graph, &graph).first->second;
  rewriter_.insert(made, *graph.block(), last->next());
  last = &made;
  copies_.emplace(std::move(key), &made);

  // Where a call passes the symbols on as they are, its graph has the same values for them.
  for (Op* call : calls_in(*made.first_region())) {
    const Op* const called = graph_with_body(*call);
    if (called == nullptr) continue;
    const bool passes_on = !CallTypes::are_own(*call, *called);
    open_.push_back({call, passes_on ? bound : DimBindings()});
  }
  ExtentSubstitution substitution(rewriter_, bound);
  substitution.apply(*made.first_region());
  has_failed_ = refuse_conflict(run_, substitution) || has_failed_;
  if (const auto extent = substitution.negative()) {
    run_.diagnostics().error(
        DiagCode::kPipeline, graph.span(),
        fmt::format("extent {} is negative in '@{}'", context_.dims().print(*extent), name));
    has_failed_ = true;
  }
  return made;
}

/// "net.S1.T4"
std::string GraphCopies::name_of(const Op& graph, const Key& key) const {
  std::string name(context_.text(graph.symbol()));
  for (const auto& [symbol, value] : key.second) {
    name += fmt::format(".{}{}", context_.text(symbol), value);
  }
  return unused_graph_name(rewriter_.module(), name);
}

std::string unused_graph_name(const Module& module, std::string_view name) {
  IRContext& context = module.context();
  std::string made(name);
  const auto is_taken = [&] {
    return module.lookup_op(context.intern(made)) != nullptr || context.text(module.name()) == made;
  };
  for (std::size_t number = 1; is_taken(); ++number) made = fmt::format("{}.{}", name, number);
  return made;
}

}  // namespace mir
