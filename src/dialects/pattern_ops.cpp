// Op rows of the pattern dialect.
#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

constexpr std::string_view kClaims[] = {"bits", "value", "bound"};

constexpr AttrRow kRewriteAttributes[] = {
    {.name = "benefit",
     .type = AttrType::kInt,
     .default_text = "1",
     .summary = "of several patterns that match, the one with the greatest is applied",
     .range = {0, 65535}},
    {.name = "claim",
     .type = AttrType::kString,
     .default_text = "bits",
     .summary = "how near the results stay",
     .choices = kClaims},
    {.name = "relative",
     .type = AttrType::kFloat,
     .summary = "of a bound: relative to the result before",
     .range = {0, 1e300}},
    {.name = "absolute",
     .type = AttrType::kFloat,
     .summary = "of a bound: the same for every result",
     .range = {0, 1e300}},
    {.name = "largest",
     .type = AttrType::kFloat,
     .summary = "of a bound: the largest magnitude of inputs for which it holds",
     .range = {0, 1e300}},
    {.name = "match", .type = AttrType::kString, .summary = "a term in place of the first region"},
    {.name = "rewrite",
     .type = AttrType::kString,
     .summary = "a term in place of the second region"},
    {.name = "let", .type = AttrType::kDict, .summary = "variables by expression"},
    {.name = "classes",
     .type = AttrType::kDict,
     .summary = "operations that an op class.NAME stands for: a list, or traits and operands"},
    {.name = "where", .summary = "conditions: one, a list, or a dictionary of condition to reason"},
};

constexpr OpRow kPatternRows[] = {
    {.name = "RewriteOp",
     .regions = between(0, 2),
     .traits = Trait::kSymbol | Trait::kIsolated | Trait::kTemplate | Trait::kPortableOnly,
     .attributes = kRewriteAttributes,
     .page = "pattern",
     .summary = "A rewrite: ops like those of the first region become those of the second.",
     .example = "pattern.RewriteOp @neg.neg [claim:value] { "
                "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z) "
                "cf.ReturnOp (%z) -> () } (%x) -> (%x) { cf.ReturnOp (%x) -> () } }"},
};
static_assert(are_sound(DialectId::kPattern, kPatternRows));

}  // namespace

constinit const Dialect kPattern{.name = "pattern",
                                 .attributes = AttrPosition::kBeforeOperands,
                                 .rows = kPatternRows,
                                 .summary = "Rewrite patterns written in the language itself."};

}  // namespace mir::dialect_tables
