// Op rows of the dbg dialect.
#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

constexpr AttrRow kCommentAttributes[] = {
    {.name = "text", .type = AttrType::kString, .required = true, .summary = "the comment"},
};

constexpr OpRow kDbgRows[] = {
    {.name = "CommentOp",
     .attributes = kCommentAttributes,
     .page = "structure",
     .summary = "A comment as an op; text writes it as a '//' line.",
     .example = "dbg.CommentOp () -> ()[text:\"attention starts here\"]"},
    {.name = "HintsOp",
     .operands = at_least(0),
     .results = at_least(0),
     .successors = at_least(0),
     .traits = Trait::kNoMeaning,
     .page = "structure",
     .summary = "Reserved name without a meaning.",
     .example = "dbg.HintsOp () -> ()"},
};
static_assert(are_sound(DialectId::kDbg, kDbgRows));

}  // namespace

constinit const Dialect kDbg{.name = "dbg", .rows = kDbgRows, .summary = "What helps a reader."};

}  // namespace mir::dialect_tables
