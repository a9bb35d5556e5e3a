// Op rows of the dialect dialect, by which modules declare dialects.
#include "dialects/folds.hpp"
#include "dialects/tables.hpp"
#include "ir/casts.hpp"
#include "mir/codes/verification.hpp"
#include "mir/infer.hpp"

namespace mir::dialect_tables {

namespace {

bool verify_cast(VerifyContext& cast) {
  const Op& op = cast.op();
  const auto breach = breach_of_cast(op.operand(0)->type(), op.result()->type());
  return !breach || cast.fail(breach->code, breach->message);
}

/// Verification leaves out the bodies of declarations, so this op is none of a body.
bool refuse_run(VerifyContext& run) {
  return run.fail(diag::kMisplacedOp,
                  "'dialect.RunOp' runs a region of a declared op, so it must be in the body of a "
                  "declaration");
}

constexpr AttrRow kDocument = {
    .name = "document", .type = AttrType::kString, .summary = "what people should know of it"};
constexpr AttrRow kSummary = {
    .name = "summary", .type = AttrType::kString, .summary = "its meaning in one sentence"};
constexpr AttrRow kExample = {
    .name = "example", .type = AttrType::kString, .summary = "text that contains it"};

constexpr AttrRow kOpAttributes[] = {
    {.name = "attributes",
     .type = AttrType::kDict,
     .summary = "for each attribute its type, or a dictionary with `type`, `required`, `default`, "
                "`choices`, `range`, `config` and `summary`"},
    {.name = "traits", .summary = "a list of words such as `pure` and `elementwise`"},
    {.name = "effects", .summary = "a list of words such as `reads_state` and `writes_state`"},
    {.name = "resource",
     .type = AttrType::kString,
     .summary = "the attribute that names the state which its effects touch"},
    {.name = "weights",
     .type = AttrType::kDict,
     .summary = "the parameters that it owns: suffix and shape, or a dictionary with `shape` and "
                "`present_if`"},
    {.name = "regions", .summary = "the least and the greatest number of regions"},
    {.name = "successors", .summary = "the least and the greatest number of successors"},
    {.name = "let", .type = AttrType::kDict, .summary = "variables by expression"},
    {.name = "where",
     .summary = "conditions: one, a list, or a dictionary of condition to message"},
    {.name = "fresh", .summary = "extents of results that are known only when it has run"},
    {.name = "lengths", .summary = "symbols of its body that are lengths of the caches in it"},
    {.name = "aliases", .summary = "other names of it"},
    {.name = "type_name", .type = AttrType::kString, .summary = "its `op_type` in programs"},
    kSummary,
    kDocument,
    kExample,
};

constexpr AttrRow kParameters = {.name = "parameters",
                                 .type = AttrType::kDict,
                                 .summary = "in the order of text; each as an attribute of an op"};
constexpr AttrRow kParameterConditions = {
    .name = "where", .summary = "conditions: one, a list, or a dictionary of condition to message"};

constexpr AttrRow kTypeAttributes[] = {
    kParameters,
    kParameterConditions,
    {.name = "held_as",
     .type = AttrType::kString,
     .summary = "the tensor that holds a value in a run: \"tensor<[$rows, 8], $of, CPU>\""},
    kSummary,
    kDocument,
    kExample,
};

constexpr AttrRow kAttributeAttributes[] = {
    kParameters, kParameterConditions, kSummary, kDocument, kExample,
};

constexpr AttrRow kRunAttributes[] = {
    {.name = "region",
     .type = AttrType::kInt,
     .default_text = "0",
     .summary = "the number of the region, from 0 on",
     .range = {.low = 0}},
};

constexpr OpRow kDialectRows[] = {
    {.name = "OpOp",
     .regions = at_least(1),
     .traits = Trait::kSymbol | Trait::kIsolated | Trait::kTemplate | Trait::kPortableOnly,
     .attributes = kOpAttributes,
     .page = "dialect",
     .summary = "Declares an op of the dialect that the module is: its signature and its meaning.",
     .example = "dialect.OpOp @TwiceOp { (%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) { "
                "linalg.D.AddOp(%x, %x) -> (%y) cf.ReturnOp (%y) -> () } }"},
    {.name = "TypeOp",
     .traits = Trait::kSymbol | Trait::kPortableOnly,
     .attributes = kTypeAttributes,
     .page = "dialect",
     .summary = "Declares a type of the dialect that the module is.",
     .example = "dialect.TypeOp @tile [parameters:{rows:int}] () -> ()"},
    {.name = "AttributeOp",
     .traits = Trait::kSymbol | Trait::kPortableOnly,
     .attributes = kAttributeAttributes,
     .page = "dialect",
     .summary = "Declares a kind of attributes of the dialect that the module is.",
     .example = "dialect.AttributeOp @layout [parameters:{order:string}] () -> ()"},
    {.name = "RunOp",
     .operands = at_least(0),
     .results = at_least(0),
     .traits = Trait::kPortableOnly,
     .attributes = kRunAttributes,
     .verify = refuse_run,
     .version = 2,
     .page = "dialect",
     .summary = "In the body of a declaration: runs a region of the op at hand.",
     .example = "dialect.RunOp [region:0] (%0:tensor<[2], Float32, CPU>) -> "
                "(%1:tensor<[2], Float32, CPU>)"},
    {.name = "CastOp",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves | Trait::kSameBytes | Trait::kPortableOnly,
     .fold = folds::cast,
     .verify = verify_cast,
     .version = 2,
     .page = "dialect",
     .summary = "Makes a value of a declared type from the tensor that holds it, or the tensor "
                "from the value.",
     .example = "dialect.CastOp (%0:tensor<[2], Float32, CPU>) -> (%1:!npu.tile<2>)"},
};
static_assert(are_sound(DialectId::kDialect, kDialectRows));

}  // namespace

constinit const Dialect kDialect{.name = "dialect",
                                 .attributes = AttrPosition::kBeforeOperands,
                                 .rows = kDialectRows,
                                 .summary = "Dialects written in the language itself."};

}  // namespace mir::dialect_tables
