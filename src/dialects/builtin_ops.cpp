// Op and type rows of the builtin dialect.
#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kModuleAttributes[] = {
    {.name = "mir_version",
     .type = AttrType::kInt,
     .summary = "version of the portable form; a module without it is a dump"},
    {.name = "symbols",
     .type = AttrType::kDict,
     .summary = "values that symbols of extents may have, as {S:{min:1, max:4096, multiple:32}}"},
    {.name = "where",
     .summary = "relations between symbols of extents: \"$S <= $T\", or a list of them"},
    {.name = "origin", .summary = "where the module comes from, for people"},
    {.name = "summary",
     .type = AttrType::kString,
     .summary = "of a module that declares a dialect: what it is for"},
    {.name = "family",
     .type = AttrType::kDict,
     .summary =
         "of a dialect of models: which checkpoints it reads, and the names of their weights"},
    {.name = "device_in_path",
     .type = AttrType::kBool,
     .summary = "of a module that declares a dialect: its ops are named `dialect.Device.Op`"},
    {.name = "attributes_last",
     .type = AttrType::kBool,
     .summary = "of a module that declares a dialect: text prints attributes after the results"},
};

constexpr OpRow kBuiltinRows[] = {
    {.name = "ModuleOp",
     .regions = exactly(1),
     .traits = Trait::kSymbol | Trait::kIsolated,
     .attributes = kModuleAttributes,
     .page = "structure",
     .summary = "A module: its one region holds everything; text writes it as '@main ... { }'.",
     .example = "builtin.ModuleOp @main { () -> () { } }"},
};
static_assert(are_sound(DialectId::kBuiltin, kBuiltinRows));

constexpr AttrRow kTensorParameters[] = {
    {.name = "dims", .type = AttrType::kDims, .required = true, .summary = "extents"},
    {.name = "dtype", .type = AttrType::kString, .required = true, .summary = "element type"},
    {.name = "device", .type = AttrType::kDevice, .required = true, .summary = "where it is"},
    {.name = "encoding",
     .default_text = "null",
     .summary = "layout, sharding, memory space or quantisation"},
};

constexpr AttrRow kScalarParameters[] = {
    {.name = "dtype", .type = AttrType::kDType, .required = true, .summary = "element type"},
};

constexpr AttrRow kFunctionParameters[] = {
    {.name = "inputs",
     .type = AttrType::kTypes,
     .required = true,
     .summary = "types of the arguments"},
    {.name = "results",
     .type = AttrType::kTypes,
     .required = true,
     .summary = "types of the results"},
};

constexpr TypeRow kBuiltinTypes[] = {
    {.name = "tensor",
     .parameters = kTensorParameters,
     .summary = "An array of numbers; text writes it without '!builtin.'.",
     .example = "tensor<[1, $S], Float32, CPU>"},
    {.name = "any", .summary = "Any type, of a value in a pattern.", .example = "!builtin.any"},
    {.name = "index", .summary = "An integer that counts or selects.", .example = "!builtin.index"},
    {.name = "scalar",
     .parameters = kScalarParameters,
     .summary = "One number.",
     .example = "!builtin.scalar<Float32>"},
    {.name = "function",
     .parameters = kFunctionParameters,
     .summary = "A function from arguments to results.",
     .example = "!builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], "
                "[!builtin.scalar<Bool>]>"},
};
static_assert(are_sound(kBuiltinTypes));

}  // namespace

constinit const Dialect kBuiltin{
    .name = "builtin",
    .rows = kBuiltinRows,
    .types = kBuiltinTypes,
    .summary = "The module itself, and the types that every dialect may use."};

}  // namespace mir::dialect_tables
