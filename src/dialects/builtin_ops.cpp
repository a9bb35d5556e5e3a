#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kModuleAttributes[] = {
    {.name = "mir_version",
     .type = AttrType::kInt,
     .summary = "version of the portable form; a module without it is a dump"},
    {.name = "origin", .summary = "where the module comes from, for people"},
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

}  // namespace

constinit const Dialect kBuiltin{
    .name = "builtin", .rows = kBuiltinRows, .summary = "The module itself."};

}  // namespace mir::dialect_tables
