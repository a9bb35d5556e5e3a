// Op rows and types of the loop dialect.
#include "dialects/rules.hpp"
#include "dialects/tables.hpp"
#include "dialects/work_rules.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kNestAttributes[] = {
    {.name = "loops",
     .type = AttrType::kDict,
     .required = true,
     .summary = "the extent of each loop, by its symbol, the outermost loop first"},
    {.name = "bounds",
     .summary = "relations `index < extent`; iterations for which one does not hold are left out"},
    {.name = "where", .summary = "relations; iterations for which one does not hold are left out"},
    {.name = "sizes",
     .type = AttrType::kDict,
     .summary = "symbols in maps and relations that are extents from around the kernel"},
    {.name = "indices",
     .type = AttrType::kDict,
     .summary = "symbols whose values are integer operands, by operand number"},
    {.name = "parallel", .summary = "loops whose iterations may run in any order, by symbol"},
    {.name = "vector", .summary = "loops to compile to vector instructions, by symbol"},
    {.name = "unroll", .summary = "loops to unroll, by symbol"},
};

constexpr AttrRow kReadAttributes[] = {
    {.name = "at",
     .type = AttrType::kMap,
     .required = true,
     .summary = "the index of the element, over symbols of the loops around"},
    {.name = "indices",
     .type = AttrType::kDict,
     .summary = "symbols in `at` whose values are integer operands, by operand number"},
};

constexpr std::string_view kJoins[] = {"add", "mul", "max", "min", "and", "or"};

constexpr AttrRow kWriteAttributes[] = {
    {.name = "at",
     .type = AttrType::kMap,
     .required = true,
     .summary = "the index of the element, over symbols of the loops around"},
    {.name = "join",
     .type = AttrType::kString,
     .summary = "how the number is joined to the one that the element has; if left out, the "
                "number replaces it",
     .choices = kJoins},
    {.name = "indices",
     .type = AttrType::kDict,
     .summary = "symbols in `at` whose values are integer operands, by operand number"},
};

constexpr OpRow kLoopRows[] = {
    {.name = "KernelOp",
     .operands = at_least(0),
     .results = at_least(1),
     .regions = exactly(1),
     .traits = Trait::kPure | Trait::kIsolated | Trait::kMayRefuse | Trait::kPortableOnly,
     .verify = rules::verify_kernel,
     .version = 2,
     .work = works::kernel_loops,
     .page = "loop",
     .summary = "Runs loops over buffers: its operands are read, its results are buffers that they "
                "write.",
     .example = "loop.KernelOp (%0:tensor<[4], Float32, CPU>) -> (%1:tensor<[4], Float32, CPU>) { "
                "(%2:!loop.buffer<Float32, [4]>) -> (%3:!loop.buffer<Float32, [4]>) { "
                "loop.BufferOp () -> (%3:!loop.buffer<Float32, [4]>) "
                "loop.NestOp [loops:{i:4}] () -> () { () -> () { "
                "loop.ReadOp [at:[3-$i]] (%2:!loop.buffer<Float32, [4]>) -> "
                "(%4:tensor<[], Float32, CPU>) "
                "loop.WriteOp [at:[$i]] (%4:tensor<[], Float32, CPU>, "
                "%3:!loop.buffer<Float32, [4]>) -> () "
                "cf.YieldOp () -> () } } "
                "cf.YieldOp (%3:!loop.buffer<Float32, [4]>) -> () } }"},
    {.name = "NestOp",
     .operands = at_least(0),
     .results = exactly(0),
     .regions = exactly(1),
     .traits = Trait::kPortableOnly,
     .attributes = kNestAttributes,
     .verify = rules::verify_nest,
     .version = 2,
     .page = "loop",
     .summary = "Runs its region for each iteration of its loops, in the written order.",
     .example = "loop.NestOp [loops:{i:4, r:8}, bounds:[\"8*$i+$r < 30\"], parallel:[i]] () -> () "
                "{ () -> () { cf.YieldOp () -> () } }"},
    {.name = "BufferOp",
     .results = exactly(1),
     .traits = Trait::kPortableOnly,
     .verify = rules::verify_buffer,
     .version = 2,
     .page = "loop",
     .summary = "Makes a buffer without elements, which lives until the end of its block.",
     .example = "loop.BufferOp () -> (%0:!loop.buffer<Float64, [32]>)"},
    {.name = "ReadOp",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPortableOnly,
     .attributes = kReadAttributes,
     .verify = rules::verify_read,
     .version = 2,
     .page = "loop",
     .summary = "Reads an element of a buffer.",
     .example = "loop.ReadOp [at:[2]] (%0:!loop.buffer<Float32, [4]>) -> "
                "(%1:tensor<[], Float64, CPU>)"},
    {.name = "WriteOp",
     .operands = at_least(2),
     .results = exactly(0),
     .traits = Trait::kPortableOnly,
     .attributes = kWriteAttributes,
     .verify = rules::verify_write,
     .version = 2,
     .page = "loop",
     .summary = "Writes an element of a buffer, or joins a number to it.",
     .example = "loop.WriteOp [at:[2], join:add] (%0:tensor<[], Float64, CPU>, "
                "%1:!loop.buffer<Float64, [4]>) -> ()"},
};
static_assert(are_sound(DialectId::kLoop, kLoopRows));

constexpr AttrRow kBufferParameters[] = {
    {.name = "dtype", .type = AttrType::kDType, .required = true, .summary = "element type"},
    {.name = "dims", .type = AttrType::kDims, .required = true, .summary = "extents"},
    {.name = "space",
     .type = AttrType::kString,
     .default_text = "main",
     .summary = "name of the memory that holds it"},
};

constexpr TypeRow kLoopTypes[] = {
    {.name = "buffer",
     .parameters = kBufferParameters,
     .summary = "Memory for elements, which loops read and write.",
     .example = "!loop.buffer<Float64, [8, 32], l1>"},
};
static_assert(are_sound(kLoopTypes));

}  // namespace

constinit const Dialect kLoop{.name = "loop",
                              .attributes = AttrPosition::kBeforeOperands,
                              .rows = kLoopRows,
                              .types = kLoopTypes,
                              .summary = "Loops over buffers, with index maps."};

}  // namespace mir::dialect_tables
