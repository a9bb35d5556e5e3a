// linalg rows: matrix products and table look-up.
#pragma once

#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr std::string_view kEmbeddingAliases[] = {"LLMEmbeddingTokenOp"};

inline constexpr AttrRow kMatMulAttributes[] = {
    {.name = "transpose_a",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "operand 0 is [.., K, M]"},
    {.name = "transpose_b",
     .type = AttrType::kBool,
     .required = true,
     .summary = "operand 1 is [.., N, K]"},
    {.name = "matmul_type",
     .type = AttrType::kString,
     .default_text = "Default",
     .summary = "kernel that upstream chose; without meaning"},
};
inline constexpr AttrRow kEmbeddingAttributes[] = {
    {.name = "vocab_size", .type = AttrType::kInt, .summary = "rows of the table"},
    {.name = "hidden_size", .type = AttrType::kInt, .summary = "extent of a row"},
    {.name = "dtype",
     .type = AttrType::kDType,
     .default_text = "Float32",
     .summary = "element type of the result: that of the table, Float32 for block formats"},
};
inline constexpr AttrRow kLinearAttributes[] = {
    {.name = "in_channels", .type = AttrType::kInt, .summary = "extent of an input row"},
    {.name = "out_channels", .type = AttrType::kInt, .summary = "extent of a result row"},
    {.name = "bias", .type = AttrType::kBool, .required = true, .summary = "adds the bias"},
    {.name = "impl_type",
     .type = AttrType::kString,
     .default_text = "Default",
     .summary = "form of the weight and element type of the result"},
};

inline constexpr WeightRow kEmbeddingWeights[] = {
    {.suffix = ".weight", .shape = "[vocab_size, hidden_size]"},
};
inline constexpr WeightRow kLinearWeights[] = {
    {.suffix = ".weight", .shape = "[out_channels, in_channels]"},
    {.suffix = ".bias", .present_if = "bias", .shape = "[out_channels]"},
};

inline constexpr OpRow kLinearRows[] = {
    {.name = "MatMulOp",
     .type_name = "MatMul",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kMatMulAttributes,
     .infer = rules::matmul,
     .work = works::products_of_operands,
     .page = "linear",
     .summary = "Product of matrices over batches; a head of B may serve several heads of A.",
     .example = "linalg.CPU.MatMulOp [transpose_b:true] (%0:tensor<[1, 8, $S, 64], Float32, CPU>, "
                "%1:tensor<[1, 2, $past+$S, 64], Float32, CPU>) -> "
                "(%2:tensor<[1, 8, $S, $past+$S], Float32, CPU>)"},
    {.name = "EmbeddingOp",
     .type_name = "Embedding",
     .aliases = kEmbeddingAliases,
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMayRefuse,
     .attributes = kEmbeddingAttributes,
     .weights = kEmbeddingWeights,
     .infer = rules::embedding,
     .work = works::rows_taken,
     .page = "linear",
     .summary = "Rows of a table picked by token ids.",
     .example = "linalg.CPU.EmbeddingOp <name=\"model.embed_tokens\"> "
                "[vocab_size:100, hidden_size:64] (%0:tensor<[1, $S], Int64, CPU>) -> "
                "(%1:tensor<[1, $S, 64], Float32, CPU>)"},
    {.name = "LinearOp",
     .type_name = "Linear",
     .operands = between(1, 3),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kWeighsOperand,
     .attributes = kLinearAttributes,
     .weights = kLinearWeights,
     .infer = rules::linear,
     .work = works::linear_products,
     .page = "linear",
     .summary = "Rows times the transposed weight, plus a bias; dumps may add a destination.",
     .example = "linalg.CPU.LinearOp <name=\"model.q_proj\"> "
                "[in_channels:64, out_channels:128, bias:true] "
                "(%0:tensor<[1, $S, 64], Float32, CPU>) -> "
                "(%1:tensor<[1, $S, 128], Float32, CPU>)"},
};

}  // namespace mir::dialect_tables
