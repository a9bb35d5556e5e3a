// linalg rows: normalisations, softmax and the causal mask.
#pragma once

#include "dialects/rules.hpp"
#include "ir/context/language_versions.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr AttrRow kRmsNormAttributes[] = {
    {.name = "epsilon",
     .type = AttrType::kFloat,
     .required = true,
     .summary = "added to the mean square"},
    {.name = "add_unit_offset",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "the weight is stored minus one"},
    {.name = "elementwise_affine",
     .type = AttrType::kBool,
     .default_text = "true",
     .summary = "owns the weight; without it operand 1 is the weight, or there is none"},
};
inline constexpr AttrRow kLayerNormAttributes[] = {
    {.name = "normalized_shape",
     .type = AttrType::kInts,
     .required = true,
     .summary = "trailing extents that form one row"},
    {.name = "elementwise_affine",
     .type = AttrType::kBool,
     .default_text = "true",
     .summary = "multiplies by the weight"},
    {.name = "bias", .type = AttrType::kBool, .default_text = "true", .summary = "adds the bias"},
    {.name = "eps",
     .type = AttrType::kFloat,
     .default_text = "1e-6",
     .summary = "added to the variance"},
};
inline constexpr AttrRow kLayerNorm2DAttributes[] = {
    {.name = "num_channels", .type = AttrType::kInt, .summary = "extent of dimension 1"},
    {.name = "eps",
     .type = AttrType::kFloat,
     .default_text = "1e-6",
     .summary = "added to the variance"},
};
inline constexpr AttrRow kSoftmaxAttributes[] = {
    {.name = "axis",
     .type = AttrType::kInt,
     .default_text = "-1",
     .summary = "dimension that sums to one"},
};
inline constexpr AttrRow kCausalMaskAttributes[] = {
    {.name = "sliding_window",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "masks keys before the window too"},
    {.name = "window_size",
     .type = AttrType::kInt,
     .default_text = "0",
     .summary = "keys that a query sees, itself included"},
    {.name = "masks_one_query",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "applies the window to a single query, too"},
};

inline constexpr WeightRow kRmsNormWeights[] = {
    {.suffix = ".weight", .present_if = "elementwise_affine", .shape = "[D]"},
};
inline constexpr WeightRow kLayerNormWeights[] = {
    {.suffix = ".weight", .present_if = "elementwise_affine", .shape = "normalized_shape"},
    {.suffix = ".bias", .present_if = "bias", .shape = "normalized_shape"},
};
inline constexpr WeightRow kLayerNorm2DWeights[] = {
    {.suffix = ".weight", .shape = "[num_channels]"},
    {.suffix = ".bias", .shape = "[num_channels]"},
};

inline constexpr OpRow kNormRows[] = {
    {.name = "RMSNormOp",
     .type_name = "RMSNorm",
     .operands = between(1, 2),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kRmsNormAttributes,
     .weights = kRmsNormWeights,
     .infer = rules::rms_norm,
     .page = "norm",
     .summary = "Rows divided by their root mean square and weighted.",
     .example = "linalg.CPU.RMSNormOp <name=\"model.norm\"> [epsilon:1e-06] "
                "(%0:tensor<[1, $S, 64], Float32, CPU>) -> (%1:tensor<[1, $S, 64], Float32, CPU>)"},
    {.name = "LayerNormOp",
     .type_name = "LayerNorm",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kLayerNormAttributes,
     .weights = kLayerNormWeights,
     .infer = rules::layer_norm,
     .page = "norm",
     .summary = "Rows shifted to mean 0, scaled to variance 1, weighted and biased.",
     .example = "linalg.CPU.LayerNormOp <name=\"visual.norm1\"> [normalized_shape:[64]] "
                "(%0:tensor<[$N, 64], Float32, CPU>) -> (%1:tensor<[$N, 64], Float32, CPU>)"},
    {.name = "LayerNorm2DOp",
     .type_name = "LayerNorm2D",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kLayerNorm2DAttributes,
     .weights = kLayerNorm2DWeights,
     .infer = rules::layer_norm_2d,
     .page = "norm",
     .summary = "Layer norm over the channels of [N, C, H, W] at each position.",
     .example = "linalg.CPU.LayerNorm2DOp <name=\"neck.norm\"> [num_channels:16] "
                "(%0:tensor<[1, 16, 8, 8], Float32, CPU>) -> "
                "(%1:tensor<[1, 16, 8, 8], Float32, CPU>)"},
    {.name = "SoftmaxOp",
     .type_name = "Softmax",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kSoftmaxAttributes,
     .infer = rules::softmax,
     .page = "norm",
     .summary = "Exponentials along an axis divided by their sum.",
     .example = "linalg.CPU.SoftmaxOp [axis:-1] (%0:tensor<[1, 8, $S, $T], Float32, CPU>) -> "
                "(%1:tensor<[1, 8, $S, $T], Float32, CPU>)"},
    {.name = "CausalMaskOp",
     .type_name = "CausalMask",
     .operands = between(1, 2),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape,
     .attributes = kCausalMaskAttributes,
     .infer = rules::causal_mask,
     .added_operands = {.first = 1, .version = kPositionsVersion},
     .page = "norm",
     .summary = "Scores with the keys that a query must not see overwritten by a large negative.",
     .example = "linalg.CPU.CausalMaskOp(%0:tensor<[1, 8, $S, $past+$S], Float32, CPU>) -> "
                "(%1:tensor<[1, 8, $S, $past+$S], Float32, CPU>)"},
};

}  // namespace mir::dialect_tables
