// Makes one graph the whole module.
#include <fmt/format.h>

#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/codes/passes.hpp"
#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/extract/extract_part.hpp"
#include "passes/standard_passes.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

/// The graph of that name; null after reporting that there is none.
Op* find_graph(PassRun& run, std::string_view name) {
  Module& module = run.module();
  const IRContext& context = module.context();
  Op* op = module.lookup_op(module.context().intern(name));
  if (op != nullptr && isa<SubGraphOp>(op) && !is_declaration(*op) &&
      op->parent_op() == module.top()) {
    return op;
  }
  NearestName nearest(name);
  std::string all;
  for (const Op* each : module.body().entry()->ops()) {
    if (!isa<SubGraphOp>(each) || is_declaration(*each)) continue;
    nearest.offer(context.text(each->symbol()));
    all += fmt::format("{}'{}'", all.empty() ? "" : ", ", context.text(each->symbol()));
  }
  const std::string_view graphs = all.empty() ? "none" : std::string_view(all);
  Diagnostic& problem = run.diagnostics().error(
      diag::kPipeline, module.top()->span(),
      name.empty()
          ? fmt::format("'extract-graph' needs graph=NAME; the graphs are: {}", graphs)
          : fmt::format("the module has no graph '@{}'; the graphs are: {}", name, graphs));
  suggest(problem, nearest.best());
  return nullptr;
}

/// Leaves nothing in the body but graphs and registers.
void clear_body(Rewriter& rewriter) {
  Module& module = rewriter.module();
  rewriter.erase(move_body_to_graph(rewriter, module.context().text(module.name())));
  rewriter.erase_arguments(*module.body().entry());
}

PassResult extract_graph(PassRun& run) {
  Op* graph = find_graph(run, run.options().text("graph"));
  if (graph == nullptr || !binds_its_symbols(*graph, run.diagnostics())) return PassResult::kFailed;
  Rewriter rewriter(run.module());
  clear_body(rewriter);
  Block& body = run.module().body().only_block();
  const Region& region = *graph->first_region();
  std::vector<Value*> inputs;
  for (const Value& argument : region.entry_arguments()) {
    Value* input = rewriter.add_argument(body, argument.type());
    rewriter.set_name(*input, argument.name());
    rewriter.set_attributes(*input, argument.attributes());
    inputs.push_back(input);
  }
  rewriter.set_insertion_point_to_end(body);
  IRContext& context = run.module().context();
  Op* call = rewriter.create({.name = context.op_name(OpId::kGraphCallGraph),
                              .operands = inputs,
                              .result_types = region.result_types(),
                              .symbol = graph->symbol()});
  std::vector<Value*> results;
  for (Value& result : call->results()) {
    if (const Value* returned = region.returned(result.index())) {
      rewriter.set_name(result, returned->name());
    }
    results.push_back(&result);
  }
  rewriter.create({.name = context.op_name(OpId::kCfReturn), .operands = results});
  rewriter.set_result_types(run.module().body(), region.result_types());
  rewriter.set_ports(run.module().body(), region.ports());
  eliminate_unused_graphs(run);
  eliminate_unused_parameters(run);
  return run.result();
}

}  // namespace

Pass extract_graph_pass() {
  return {.name = "extract-graph",
          .summary = "makes one graph the module, with the graphs and parameters that it needs",
          .takes = PassForm::kPortable,
          .options = {{.name = "graph",
                       .kind = PassOption::Kind::kText,
                       .summary = "the name of the graph, without `@`"}},
          .run = extract_graph};
}

}  // namespace mir
