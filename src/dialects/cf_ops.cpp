#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

constexpr OpRow kCfRows[] = {
    {.name = "ReturnOp",
     .operands = at_least(0),
     .traits = Trait::kTerminator,
     .effects = Effect::kControl,
     .page = "structure",
     .summary = "Ends a graph and returns its operands to the caller.",
     .example = "cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()"},
};
static_assert(are_sound(DialectId::kCf, kCfRows));

}  // namespace

constinit const Dialect kCf{.name = "cf", .rows = kCfRows, .summary = "Control flow."};

}  // namespace mir::dialect_tables
