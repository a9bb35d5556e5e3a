// Op rows of the graph dialect.
#include "dialects/tables.hpp"
#include "mir/op.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kSubGraphAttributes[] = {
    {.name = "symbol",
     .type = AttrType::kString,
     .summary = "the symbol again, as dumps repeat it"},
    {.name = "using_qnn", .type = AttrType::kBool, .summary = "runs on the QNN back end"},
    {.name = "use_qnn", .type = AttrType::kBool, .summary = "made for the QNN back end by a split"},
};

/// The one region runs once and passes the results.
std::vector<RegionEdge> fused_edges(const Op& op) {
  return {{.to = 0}, {.from = 0, .operand_count = op.result_count()}};
}

constexpr OpRow kGraphRows[] = {
    {.name = "SubGraphOp",
     .regions = exactly(1),
     .traits = Trait::kSymbol | Trait::kIsolated | Trait::kCallable,
     .attributes = kSubGraphAttributes,
     .page = "structure",
     .summary = "Defines a graph: region arguments are its inputs, the return names its outputs.",
     .example = "graph.SubGraphOp @f <CPU> { "
                "(%0:tensor<[2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>) { "
                "cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> () } }"},
    {.name = "CallGraphOp",
     .operands = at_least(0),
     .results = at_least(0),
     .traits = Trait::kTypedByName,
     .callee = [](const Op& op) { return std::optional(op.symbol()); },
     .page = "structure",
     .summary = "Runs the graph of the given symbol on the operands.",
     .example = "graph.CallGraphOp @f (%0:tensor<[2], Float32, CPU>) -> "
                "(%1:tensor<[2], Float32, CPU>)"},
    {.name = "FusedOp",
     .results = at_least(0),
     .regions = exactly(1),
     .traits = Trait::kPure | Trait::kPortableOnly,
     .region_flow = fused_edges,
     .version = 2,
     .page = "fusion",
     .summary = "Runs its region, by one kernel if the kernels have one for it.",
     .example = "graph.FusedOp () -> (%1:tensor<[2], Float32, CPU>) { "
                "() -> (%1:tensor<[2], Float32, CPU>) { "
                "linalg.CPU.ReLUOp (%0:tensor<[2], Float32, CPU>) -> "
                "(%1:tensor<[2], Float32, CPU>) "
                "cf.YieldOp (%1:tensor<[2], Float32, CPU>) -> () } }"},
};
static_assert(are_sound(DialectId::kGraph, kGraphRows));

}  // namespace

constinit const Dialect kGraph{
    .name = "graph", .rows = kGraphRows, .summary = "Graphs that call each other."};

}  // namespace mir::dialect_tables
