// Op rows of the tensor dialect.
#include "dialects/tables.hpp"
#include "dialects/work_rules.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kRegisterAttributes[] = {
    {.name = "symbol",
     .type = AttrType::kString,
     .summary = "name of the parameter; the result carries it as [@symbol]"},
    {.name = "stored",
     .type = AttrType::kString,
     .summary = "name of the tensor in weight files, if it is another one"},
    {.name = "stored_rows",
     .type = AttrType::kInts,
     .summary = "first row and end of the rows of that tensor that are the parameter",
     .range = {0, 0x1p62}},
    {.name = "stored_heads",
     .type = AttrType::kInt,
     .summary = "number of heads whose halves are stored row by row in turn",
     .range = {1, 0x1p62}},
};

constexpr OpRow kTensorRows[] = {
    {.name = "register",
     .results = exactly(1),
     .traits = Trait::kSymbol,
     .attributes = kRegisterAttributes,
     .page = "structure",
     .summary = "Declares a parameter or a global tensor under a symbol.",
     .example = "tensor.CPU.register () -> (%0:tensor<[64, 32], Float32, CPU>[@w])[symbol:w]"},
    {.name = "alloc",
     .results = exactly(1),
     .traits = Trait::kMoves,
     .work = works::nothing,
     .page = "structure",
     .summary = "Gives storage of undefined content.",
     .example = "tensor.CPU.alloc () -> (%0:tensor<[64], Float32, CPU>)"},
    {.name = "free",
     .operands = exactly(1),
     .effects = Effect::kWritesOperand0,
     .work = works::nothing,
     .page = "structure",
     .summary = "Ends the life of a storage: no later op may use it.",
     .example = "tensor.CPU.free (%0:tensor<[64], Float32, CPU>) -> ()"},
};
static_assert(are_sound(DialectId::kTensor, kTensorRows));

}  // namespace

constinit const Dialect kTensor{.name = "tensor",
                                .device_in_path = true,
                                .rows = kTensorRows,
                                .summary = "Parameters and storage."};

}  // namespace mir::dialect_tables
