// linalg rows: order of elements and logic of truth values. No dump has these ops.
#pragma once

#include "dialects/linalg/elementwise.hpp"
#include "dialects/rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr OpRow kComparisonRows[] = {
    {.name = "NotEqualOp",
     .type_name = "NotEqual",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::equal,
     .page = "elementwise",
     .summary = "Whether elements differ, with broadcasting, as Bool.",
     .example =
         "linalg.CPU.NotEqualOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "LessOp",
     .type_name = "Less",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kPortableOnly,
     .infer = rules::compare,
     .page = "elementwise",
     .summary = "Whether elements of operand 0 are below those of operand 1, as Bool.",
     .example =
         "linalg.CPU.LessOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "LessEqualOp",
     .type_name = "LessEqual",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kPortableOnly,
     .infer = rules::compare,
     .page = "elementwise",
     .summary = "Whether elements of operand 0 are at most those of operand 1, as Bool.",
     .example =
         "linalg.CPU.LessEqualOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "GreaterOp",
     .type_name = "Greater",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kPortableOnly,
     .infer = rules::compare,
     .page = "elementwise",
     .summary = "Whether elements of operand 0 are above those of operand 1, as Bool.",
     .example =
         "linalg.CPU.GreaterOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], Float32, CPU>) "
         "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "GreaterEqualOp",
     .type_name = "GreaterEqual",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kPortableOnly,
     .infer = rules::compare,
     .page = "elementwise",
     .summary = "Whether elements of operand 0 are at least those of operand 1, as Bool.",
     .example = "linalg.CPU.GreaterEqualOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[2, 1], "
                "Float32, CPU>) "
                "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "AndOp",
     .type_name = "And",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::logical,
     .page = "elementwise",
     .summary = "Whether both truth values hold, with broadcasting.",
     .example = "linalg.CPU.AndOp(%0:tensor<[2, 3], Bool, CPU>, %1:tensor<[2, 1], Bool, CPU>) "
                "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "OrOp",
     .type_name = "Or",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::logical,
     .page = "elementwise",
     .summary = "Whether one of two truth values or both hold, with broadcasting.",
     .example = "linalg.CPU.OrOp(%0:tensor<[2, 3], Bool, CPU>, %1:tensor<[2, 1], Bool, CPU>) "
                "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "XorOp",
     .type_name = "Xor",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = kMap | Trait::kCommutative | Trait::kPortableOnly,
     .infer = rules::logical,
     .page = "elementwise",
     .summary = "Whether exactly one of two truth values holds, with broadcasting.",
     .example = "linalg.CPU.XorOp(%0:tensor<[2, 3], Bool, CPU>, %1:tensor<[2, 1], Bool, CPU>) "
                "-> (%2:tensor<[2, 3], Bool, CPU>)"},
    {.name = "NotOp",
     .type_name = "Not",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kSameMap | Trait::kInvolution | Trait::kPortableOnly,
     .infer = rules::logical,
     .page = "elementwise",
     .summary = "Whether a truth value does not hold.",
     .example = "linalg.CPU.NotOp(%0:tensor<[2, 3], Bool, CPU>) -> "
                "(%1:tensor<[2, 3], Bool, CPU>)"},
};

}  // namespace mir::dialect_tables
