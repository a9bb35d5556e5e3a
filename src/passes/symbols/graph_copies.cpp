// Copies graphs for the symbol values of their calls.
#include "passes/symbols/graph_copies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/symbol_scopes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/symbols/substitute_extents.hpp"

namespace mir {

namespace {

/// The graph that a call names, if it has a body; else null.
Op* graph_with_body(const Op& call) {
  Op* const graph = called_graph(call);
  return graph != nullptr && graph->first_region() != nullptr ? graph : nullptr;
}

}  // namespace

const std::unordered_set<Symbol>& GraphCopies::symbols_of(const Op& graph) {
  const auto [known, is_new] = symbols_.try_emplace(&graph);
  if (is_new) known->second = symbols_of_scope(*graph.first_region());
  return known->second;
}

bool GraphCopies::redirect(Op& call) {
  const Symbol before = call.symbol();
  open(call, {});
  while (!open_.empty()) {
    const OpenCall next = std::move(open_.back());
    open_.pop_back();
    Op& to = make(*next.graph, next.numbers);
    if (&to != next.graph) rewriter_.set_symbol(*next.call, to.symbol());
  }
  return call.symbol() != before;
}

void GraphCopies::open(Op& call, const DimBindings& values) {
  Op* const graph = graph_with_body(call);
  if (graph == nullptr) return;
  DimBindings numbers = numbers_passed(call, *graph, values);
  if (!numbers.entries().empty()) open_.push_back({&call, graph, std::move(numbers)});
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
  erase_inner_graphs(rewriter_, made);
  const std::string name = name_of(graph, key);
  rewriter_.set_symbol(made, context_.intern(name));
  if (made.attribute(key::kSymbol) != nullptr)
    rewriter_.set_attribute(made, key::kSymbol, context_.word(name));
  Op*& last = last_copies_.try_emplace(&graph, &graph).first->second;
  rewriter_.insert(made, *graph.block(), last->next());
  last = &made;
  copies_.emplace(std::move(key), &made);

  Region& region = *made.first_region();
  for_each_scope(region, bound, [&](Region& each, const DimBindings& visible) {
    for_each_child(each, [&](Op& op) {
      if (isa<CallGraphOp>(&op)) open(op, visible);
    });
  });
  ExtentSubstitution substitution(rewriter_);
  substitution.apply(region, bound);
  has_failed_ = refuse_conflict(run_, substitution) || has_failed_;
  if (const auto negative = substitution.negative()) {
    run_.diagnostics().error(diag::kPipeline, graph.span(),
                             fmt::format("extent {} is negative in '@{}'",
                                         context_.dims().print(negative->extent), name));
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
