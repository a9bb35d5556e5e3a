// Instantiates the body of a declared op as a graph, once for each op.
#include "plan/body_graphs.hpp"

#include <fmt/format.h>

#include "ir/rewrite/bodies.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "passes/layers/expand_layers.hpp"

namespace mir {

BodyGraphs::BodyGraphs(const Module& module)
    : module_(std::make_unique<Module>(module.context(), module.context().intern("bodies"))) {
  Rewriter rewriter(*module_);
  rewriter.set_version(module.version());
  rewriter.create_block(module_->body());
}

Op* BodyGraphs::graph_of(const Op& op, Diagnostics& diagnostics) {
  const auto known = graphs_.find(&op);
  if (known != graphs_.end()) return known->second;
  const std::string symbol = fmt::format("{}.{}", op.name(), graphs_.size());
  Op* graph = add_body_graph(*module_, op, symbol, diagnostics);
  if (graph != nullptr && is_layer(op)) {
    Builder builder(*module_, diagnostics);
    for_each_op(*graph->first_region(),
                [&](const Op& inner) { register_parameters_of(inner, builder, op.module()); });
  }
  graphs_.emplace(&op, graph);
  return graph;
}

}  // namespace mir
