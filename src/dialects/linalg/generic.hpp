// linalg row of the generic op.
#pragma once

#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr AttrRow kGenericAttributes[] = {
    {.name = "loops",
     .type = AttrType::kDict,
     .required = true,
     .summary = "the extent of each loop, by its symbol, the outermost loop first"},
    {.name = "maps",
     .type = AttrType::kMaps,
     .required = true,
     .summary = "the index that an iteration has in each operand, then in each result"},
    {.name = "sums",
     .summary = "for each loop that the map of a result lacks: add, mul, max, min, and, or; a "
                "dictionary, or a list with one for each result"},
    {.name = "bounds",
     .summary = "relations `index < extent`; a result whose map has the index ends at the extent"},
    {.name = "where", .summary = "relations; iterations for which one does not hold are left out"},
    {.name = "start",
     .summary = "for each result the number that its elements have before the first iteration"},
    {.name = "indices",
     .type = AttrType::kDict,
     .summary = "symbols whose values are the elements of integer operands, by operand number"},
    {.name = "sizes",
     .type = AttrType::kDict,
     .summary = "symbols in maps and relations that are extents from around the op"},
    {.name = "accumulate",
     .type = AttrType::kDict,
     .summary = "for loops of floating sums the numbers that the accumulator holds: Float32, or "
                "fma32 with one rounding for each term"},
    {.name = "parallel", .summary = "loops whose iterations may run at the same time"},
    {.name = "vector", .summary = "loops whose iterations may run in the lanes of a vector"},
    {.name = "unroll", .summary = "loops whose iterations are written one after the other"},
    {.name = "dtypes", .summary = "element types of the results; that of operand 0 if left out"},
};

inline constexpr OpRow kGenericRows[] = {
    {.name = "GenericOp",
     .type_name = "Generic",
     .operands = at_least(0),
     .results = at_least(1),
     .regions = exactly(1),
     .traits = Trait::kPure | Trait::kIsolated | Trait::kPortableOnly,
     .attributes = kGenericAttributes,
     .infer = rules::generic,
     .verify = rules::verify_generic,
     .version = 2,
     .work = works::generic_loops,
     .page = "generic",
     .summary =
         "Runs a region for each iteration of its loops, on elements that index maps select.",
     .example =
         "linalg.CPU.GenericOp [loops:{i:2, j:4, k:3}, maps:[[$i, $k], [$k, $j], [$i, $j]], "
         "sums:{k:add}] (%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[3, 4], Float32, CPU>) -> "
         "(%2:tensor<[2, 4], Float32, CPU>) { (%3:tensor<[], Float64, CPU>, "
         "%4:tensor<[], Float64, CPU>) -> (%5:tensor<[], Float64, CPU>) { "
         "linalg.CPU.MulOp(%3:tensor<[], Float64, CPU>, %4:tensor<[], Float64, CPU>) -> "
         "(%5:tensor<[], Float64, CPU>) cf.YieldOp (%5:tensor<[], Float64, CPU>) -> () } }"},
};

}  // namespace mir::dialect_tables
