// linalg rows: arithmetic, functions, running sums and positions that no dump has.
#pragma once

#include "dialects/linalg/elementwise.hpp"
#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr AttrRow kCumSumAttributes[] = {
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "along this dimension"},
    {.name = "exclusive",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "sums without the element itself"},
    {.name = "reverse",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "sums from the end"},
};
inline constexpr AttrRow kIotaAttributes[] = {
    {.name = "shape", .type = AttrType::kAny, .required = true, .summary = "extents of the result"},
    {.name = "dtype",
     .type = AttrType::kString,
     .required = true,
     .summary = "element type of the result"},
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "dimension that counts"},
    {.name = "start", .type = AttrType::kFloat, .default_text = "0", .summary = "first number"},
    {.name = "step",
     .type = AttrType::kFloat,
     .default_text = "1",
     .summary = "from one number to the next"},
};

inline constexpr AttrRow kRandomUniformAttributes[] = {
    {.name = "shape", .type = AttrType::kAny, .required = true, .summary = "extents of the result"},
};

inline constexpr OpRow kPortableMathRows[] = {
    {.name = "MaximumOp",
     .type_name = "Maximum",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::binary_real,
     .page = "elementwise",
     .summary = "The larger of two elements, with broadcasting; a NaN wins.",
     .example =
         "linalg.CPU.MaximumOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Float32, CPU>)"},
    {.name = "MinimumOp",
     .type_name = "Minimum",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::binary_real,
     .page = "elementwise",
     .summary = "The smaller of two elements, with broadcasting; a NaN wins.",
     .example =
         "linalg.CPU.MinimumOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Float32, CPU>)"},
    {.name = "RemOp",
     .type_name = "Rem",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kPortableOnly,
     .infer = rules::binary_real,
     .page = "elementwise",
     .summary = "Remainder of the truncated quotient; it has the sign of operand 0.",
     .example =
         "linalg.CPU.RemOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Float32, CPU>)"},
    {.name = "SignOp",
     .type_name = "Sign",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kIdempotent | Trait::kPortableOnly,
     .infer = rules::unary,
     .page = "elementwise",
     .summary = "-1, 0 or 1 by the sign of x; a zero keeps its sign.",
     .example = "linalg.CPU.SignOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "FloorOp",
     .type_name = "Floor",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kIdempotent | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "The largest whole number that is not above x.",
     .example = "linalg.CPU.FloorOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "CeilOp",
     .type_name = "Ceil",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kIdempotent | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "The smallest whole number that is not below x.",
     .example = "linalg.CPU.CeilOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "RoundOp",
     .type_name = "Round",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kIdempotent | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "The nearest whole number, of two as near the even one.",
     .example = "linalg.CPU.RoundOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "TruncOp",
     .type_name = "Trunc",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kIdempotent | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "The whole part of x: rounded toward zero.",
     .example = "linalg.CPU.TruncOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "SqrtOp",
     .type_name = "Sqrt",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "Square root.",
     .example = "linalg.CPU.SqrtOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "RsqrtOp",
     .type_name = "Rsqrt",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "1 / sqrt(x).",
     .example = "linalg.CPU.RsqrtOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "TanhOp",
     .type_name = "Tanh",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "Hyperbolic tangent.",
     .example = "linalg.CPU.TanhOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "ErfOp",
     .type_name = "Erf",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kPortableOnly,
     .infer = rules::unary_float,
     .page = "elementwise",
     .summary = "Error function: 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.",
     .example = "linalg.CPU.ErfOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "CumSumOp",
     .type_name = "CumSum",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kSameShape | Trait::kPortableOnly,
     .attributes = kCumSumAttributes,
     .infer = rules::cum_sum,
     .page = "reduction",
     .summary = "Running sums along a dimension.",
     .example = "linalg.CPU.CumSumOp [dim:-1] (%0:tensor<[2, 5], Float32, CPU>) -> "
                "(%1:tensor<[2, 5], Float32, CPU>)"},
    {.name = "IotaOp",
     .type_name = "Iota",
     .operands = exactly(0),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kPortableOnly,
     .attributes = kIotaAttributes,
     .infer = rules::iota,
     .work = works::results_once,
     .page = "movement",
     .summary = "Positions along a dimension: start, start + step, and so on.",
     .example = "linalg.CPU.IotaOp [shape:[2, 6], dtype:Int32, dim:1] () -> "
                "(%0:tensor<[2, 6], Int32, CPU>)"},
    {.name = "RandomUniformOp",
     .type_name = "RandomUniform",
     .operands = exactly(1),
     .results = exactly(2),
     .traits = Trait::kPure | Trait::kPortableOnly,
     .attributes = kRandomUniformAttributes,
     .infer = rules::random_uniform,
     .page = "movement",
     .summary = "Random numbers from 0 to below 1 by a counter, and the state for the next ones.",
     .example = "linalg.CPU.RandomUniformOp [shape:[2, 3]] (%0:tensor<[2], Int64, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>, %2:tensor<[2], Int64, CPU>)"},
};

}  // namespace mir::dialect_tables
