// linalg rows: reductions, sorting, indexing.
#pragma once

#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr AttrRow kReduceAttributes[] = {
    {.name = "dim",
     .type = AttrType::kAny,
     .required = true,
     .summary = "dimension to reduce, or all"},
    {.name = "keep_dim",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "keeps a reduced dimension with extent 1"},
};
inline constexpr AttrRow kTopKAttributes[] = {
    {.name = "k", .type = AttrType::kInt, .required = true, .summary = "how many elements"},
    {.name = "dim",
     .type = AttrType::kInt,
     .default_text = "-1",
     .summary = "along this dimension"},
    {.name = "largest",
     .type = AttrType::kBool,
     .default_text = "true",
     .summary = "the largest, or the smallest"},
    {.name = "sorted",
     .type = AttrType::kBool,
     .default_text = "true",
     .summary = "in order of value, or of index"},
};
inline constexpr AttrRow kArgsortAttributes[] = {
    {.name = "dim",
     .type = AttrType::kInt,
     .default_text = "-1",
     .summary = "along this dimension"},
    {.name = "descending",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "largest first"},
};
inline constexpr AttrRow kGatherAttributes[] = {
    {.name = "dim",
     .type = AttrType::kInt,
     .required = true,
     .summary = "dimension that the indices select from"},
};
inline constexpr AttrRow kCompressAttributes[] = {
    {.name = "dim",
     .type = AttrType::kInt,
     .default_text = "0",
     .summary = "dimension that the mask selects from"},
};
inline constexpr std::string_view kScatterReductions[] = {"none", "add", "mul", "max", "min"};
inline constexpr AttrRow kScatterAttributes[] = {
    {.name = "dim",
     .type = AttrType::kInt,
     .required = true,
     .summary = "dimension that the indices select from"},
    {.name = "reduce",
     .type = AttrType::kString,
     .default_text = "none",
     .summary = "how elements of one place are joined",
     .choices = kScatterReductions},
};
inline constexpr AttrRow kIndexAttributes[] = {
    {.name = "indices",
     .type = AttrType::kAny,
     .summary = "per dimension a slice as in SliceOp, a list of integers, or the number of the "
                "operand that holds the indices"},
};

inline constexpr OpRow kReductionRows[] = {
    {.name = "ReduceMaxOp",
     .type_name = "ReduceMax",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kReduceAttributes,
     .infer = rules::extremum,
     .page = "reduction",
     .summary = "Largest element along a dimension.",
     .example = "linalg.CPU.ReduceMaxOp [dim:-1] (%0:tensor<[2, $S], Float32, CPU>) -> "
                "(%1:tensor<[2], Float32, CPU>)"},
    {.name = "ReduceMinOp",
     .type_name = "ReduceMin",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kReduceAttributes,
     .infer = rules::extremum,
     .page = "reduction",
     .summary = "Smallest element along a dimension.",
     .example = "linalg.CPU.ReduceMinOp [dim:-1, keep_dim:true] (%0:tensor<[2, $S], Float32, CPU>)"
                " -> (%1:tensor<[2, 1], Float32, CPU>)"},
    {.name = "ReduceSumOp",
     .type_name = "ReduceSum",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kReduceAttributes,
     .infer = rules::reduce,
     .page = "reduction",
     .summary = "Sum along a dimension.",
     .example = "linalg.CPU.ReduceSumOp [dim:all] (%0:tensor<[2, $S], Float32, CPU>) -> "
                "(%1:tensor<[1], Float32, CPU>)"},
    {.name = "MeanOp",
     .type_name = "Mean",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kReduceAttributes,
     .infer = rules::reduce,
     .page = "reduction",
     .summary = "Arithmetic mean along a dimension.",
     .example = "linalg.CPU.MeanOp [dim:0] (%0:tensor<[2, $S], Float32, CPU>) -> "
                "(%1:tensor<[$S], Float32, CPU>)"},
    {.name = "TopKOp",
     .type_name = "TopK",
     .operands = exactly(1),
     .results = exactly(2),
     .traits = Trait::kPure,
     .attributes = kTopKAttributes,
     .infer = rules::top_k,
     .page = "reduction",
     .summary = "The k largest or smallest elements along a dimension, and their indices.",
     .example = "linalg.CPU.TopKOp [k:8, dim:-1, largest:true, sorted:false] "
                "(%0:tensor<[$S, 128], Float32, CPU>) -> (%1:tensor<[$S, 8], Float32, CPU>, "
                "%2:tensor<[$S, 8], Int32, CPU>)"},
    {.name = "ArgsortOp",
     .type_name = "Argsort",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kArgsortAttributes,
     .infer = rules::argsort,
     .page = "reduction",
     .summary = "The indices that sort a dimension; equal elements keep their order.",
     .example = "linalg.CPU.ArgsortOp [dim:-1, descending:true] (%0:tensor<[2, 8], Float32, CPU>) "
                "-> (%1:tensor<[2, 8], Int32, CPU>)"},
};

inline constexpr OpRow kIndexRows[] = {
    {.name = "CompressOp",
     .type_name = "Compress",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves | Trait::kPortableOnly,
     .attributes = kCompressAttributes,
     .infer = rules::compress,
     .work = works::elements_picked,
     .page = "index",
     .summary = "The slices of a tensor for which a mask is not zero: data decides how many.",
     .example = "linalg.CPU.CompressOp [dim:0] (%0:tensor<[16, 4], Float32, CPU>, "
                "%1:tensor<[16], Bool, CPU>) -> (%2:tensor<[$T, 4], Float32, CPU>)"},
    {.name = "GatherOp",
     .type_name = "Gather",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMayRefuse | Trait::kMoves,
     .attributes = kGatherAttributes,
     .infer = rules::gather,
     .work = works::elements_picked,
     .page = "index",
     .summary = "Slices of a table picked by indices: one dimension becomes those of the indices.",
     .example = "linalg.CPU.GatherOp [dim:0] (%0:tensor<[1024, 64], Float32, CPU>, "
                "%1:tensor<[1, $S], Int32, CPU>) -> (%2:tensor<[1, $S, 64], Float32, CPU>)"},
    {.name = "IndexOp",
     .type_name = "Index",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMayRefuse | Trait::kMoves,
     .attributes = kIndexAttributes,
     .infer = rules::index,
     .work = works::elements_picked,
     .page = "index",
     .summary = "Each dimension indexed independently: a slice, a list or a tensor of indices.",
     .example = "linalg.CPU.IndexOp [indices:[1, {}]] (%0:tensor<[16, 64], Float32, CPU>, "
                "%1:tensor<[$S], Int32, CPU>) -> (%2:tensor<[$S, 64], Float32, CPU>)"},
    {.name = "ScatterOp",
     .type_name = "Scatter",
     .operands = exactly(3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMayRefuse | Trait::kSameShape,
     .attributes = kScatterAttributes,
     .infer = rules::scatter,
     .page = "index",
     .summary = "Operand 0 with elements of operand 2 where the indices of operand 1 say; upstream "
                "declares the class and no meaning.",
     .example = "linalg.CPU.ScatterOp [dim:0, reduce:add] (%0:tensor<[16, 4], Float32, CPU>, "
                "%1:tensor<[3, 4], Int32, CPU>, %2:tensor<[3, 4], Float32, CPU>) -> "
                "(%3:tensor<[16, 4], Float32, CPU>)"},
    {.name = "MaskedScatterOp",
     .type_name = "MaskedScatter",
     .operands = exactly(3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kElementwise,
     .effects = Effect::kWritesOperand0,
     .infer = rules::masked_scatter,
     .page = "index",
     .summary = "Operand 2 where the mask of operand 1 is not zero, operand 0 elsewhere.",
     .example = "linalg.CPU.MaskedScatterOp(%0:tensor<[2, 3], Float32, CPU>, "
                "%1:tensor<[2, 1], Int8, CPU>, %2:tensor<[3], Float32, CPU>) -> "
                "(%3:tensor<[2, 3], Float32, CPU>)"},
};

}  // namespace mir::dialect_tables
