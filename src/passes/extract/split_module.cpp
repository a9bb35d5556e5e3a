// Makes a module of each selected graph.
#include "passes/extract/split_module.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/declaration_graphs.hpp"
#include "mir/call_graph.hpp"
#include "mir/codes/passes.hpp"
#include "mir/rewriter.hpp"
#include "passes/extract/extract_part.hpp"
#include "support/suggest.hpp"
#include "support/wildcards.hpp"

namespace mir {

namespace {

std::string_view name_of_graph(const Op& graph) {
  return graph.module().context().text(graph.symbol());
}

void report_no_match(const Module& module, std::string_view selector, std::span<Op* const> graphs,
                     Diagnostics& diagnostics) {
  NearestName nearest(selector);
  for (const Op* graph : graphs) nearest.offer(name_of_graph(*graph));
  Diagnostic& problem =
      diagnostics.error(diag::kPipeline, module.top()->span(),
                        fmt::format("the module has no graph that matches '{}'", selector));
  suggest(problem, nearest.best());
}

/// The graph as a module. It has one block.
std::unique_ptr<Module> module_of(const Op& graph, const Module& whole) {
  const Region& region = *graph.first_region();
  std::vector<Op*> ops;
  for (Op* op : region.only_block().ops()) {
    const bool declares_graph = op->has(Trait::kCallable);
    if (!declares_graph && !op->has(Trait::kTerminator)) ops.push_back(op);
  }
  std::vector<Value*> inputs, results;
  for (Value& input : region.entry_arguments()) inputs.push_back(&input);
  for (std::size_t i = 0; i < region.result_types().size(); ++i) {
    results.push_back(region.returned(i));
  }
  std::unique_ptr<Module> part = extract_part(ops, results, whole, inputs).module;
  Rewriter rewriter(*part);
  rewriter.set_symbol(*part->top(), graph.symbol());
  for (Value& input : part->body().entry_arguments()) {
    rewriter.set_name(input, inputs[input.index()]->name());
  }
  rewriter.set_ports(part->body(), region.ports());
  return part;
}

}  // namespace

std::vector<Op*> graphs_to_split(const Module& module) {
  std::vector<Op*> graphs;
  const CallGraph calls(module);
  for (Op* graph : calls.graphs()) {
    if (!is_declaration(*graph) && graph->first_region() != nullptr) graphs.push_back(graph);
  }
  return graphs;
}

std::optional<std::vector<std::unique_ptr<Module>>> split_module(
    const Module& module, std::span<const std::string> selectors, Diagnostics& diagnostics) {
  const std::vector<Op*> graphs = graphs_to_split(module);
  const auto is_selected = [](const Op& graph, std::string_view selector) {
    return fits_wildcards(selector, name_of_graph(graph));
  };
  bool is_good = true;
  for (const std::string& selector : selectors) {
    if (std::ranges::any_of(graphs, [&](const Op* each) { return is_selected(*each, selector); }))
      continue;
    report_no_match(module, selector, graphs, diagnostics);
    is_good = false;
  }
  std::vector<std::unique_ptr<Module>> parts;
  for (const Op* graph : graphs) {
    const auto selects = [&](std::string_view each) { return is_selected(*graph, each); };
    if (std::ranges::none_of(selectors, selects)) continue;
    const Region& region = *graph->first_region();
    if (region.empty() || region.has_several_blocks()) {
      diagnostics.error(
          diag::kPipeline, graph->span(),
          fmt::format("graph '@{}' must have one block to become a module", name_of_graph(*graph)));
      is_good = false;
    } else if (!binds_its_symbols(*graph, diagnostics)) {
      is_good = false;
    } else if (is_good) {
      parts.push_back(module_of(*graph, module));
    }
  }
  if (!is_good) return std::nullopt;
  return parts;
}

}  // namespace mir
