// Op rows of the prog dialect.
#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

using enum AttrType;

constexpr AttrRow kSymbolAttributes[] = {
    {.name = "symbol", .type = kString, .required = true, .summary = "the name it declares"},
};
constexpr AttrRow kOffsetAttributes[] = {
    {.name = "offset", .type = kInt, .summary = "address of the label minus that of the jump"},
};
constexpr AttrRow kKernelType = {
    .name = "op_type", .type = kString, .required = true, .summary = "type name of the kernel"};
constexpr AttrRow kKernelOptions = {
    .name = "op_options", .type = kDict, .required = true, .summary = "its options, or null"};
constexpr AttrRow kLaunchAttributes[] = {
    {.name = "symbol_name",
     .type = kString,
     .summary = "kernel symbol that owns weights and state"},
    kKernelType,
    kKernelOptions,
};
constexpr AttrRow kKernelSymbolAttributes[] = {
    {.name = "symbol", .type = kString, .required = true, .summary = "name of the kernel"},
    kKernelType,
    kKernelOptions,
};
constexpr AttrRow kModeAttributes[] = {
    {.name = "flag", .type = kInt, .required = true, .summary = "0 clear, 1 eager, 2 static"},
};
constexpr AttrRow kBindAttributes[] = {
    {.name = "type", .type = kInt, .required = true, .summary = "0 input, 1 output"},
    {.name = "program_uuid", .type = kInt, .required = true, .summary = "number of the value"},
    {.name = "input_pos", .type = kInt, .required = true, .summary = "position among them"},
};
constexpr std::string_view kInstructionAliases[] = {"inst"};

constexpr OpRow kProgRows[] = {
    {.name = "fragment",
     .regions = exactly(1),
     .traits = Trait::kSymbol | Trait::kIsolated,
     .page = "program",
     .summary = "A list of instructions (code), of nothing left to run (data) or of symbols "
                "(table).",
     .example = "prog.fragment @code <CPU> <code> { prog.exit() -> () }"},
    {.name = "label",
     .traits = Trait::kSymbol,
     .effects = Effect::kControl,
     .attributes = kSymbolAttributes,
     .page = "program",
     .summary = "Where a jump arrives; does nothing itself.",
     .example = "prog.label[symbol:model.__entry]"},
    {.name = "jump",
     .effects = Effect::kControl,
     .attributes = kOffsetAttributes,
     .page = "program",
     .summary = "Calls the code at a label: pushes its own address and goes on there.",
     .example = "prog.jump model.__entry[offset:5]"},
    {.name = "kernel_launch",
     .operands = at_least(0),
     .results = at_least(0),
     .traits = Trait::kTypedByName,
     .effects = Effect::kReadsState | Effect::kWritesState,
     .attributes = kLaunchAttributes,
     .page = "program",
     .summary = "Runs a kernel on the operands' slots and stores its results.",
     .example = "prog.kernel_launch(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"
                "[symbol_name:model.act, op_type:SiLU, op_options:null]"},
    {.name = "kernel_symbol",
     .traits = Trait::kSymbol,
     .attributes = kKernelSymbolAttributes,
     .page = "program",
     .summary = "Declares a kernel instance with its options; it owns weights and state.",
     .example = "prog.kernel_symbol[symbol:model.norm, op_type:RMSNorm, "
                "op_options:{\"add_unit_offset\":false,\"epsilon\":0.00001}]"},
    {.name = "value_symbol",
     .results = exactly(1),
     .traits = Trait::kSymbol,
     .attributes = kSymbolAttributes,
     .page = "program",
     .summary = "Declares a parameter or, with a constant, fills a slot before the program starts.",
     .example = "prog.value_symbol() -> (%0:tensor<[1], Float32, CPU>"
                "[@constant_0][constant:[0.125]])[symbol:constant_0]"},
    {.name = "mode_config",
     .effects = Effect::kControl,
     .attributes = kModeAttributes,
     .page = "program",
     .summary = "Chooses eager or static execution; both give the same results.",
     .example = "prog.mode_config[flag:2]"},
    {.name = "bind",
     .effects = Effect::kControl,
     .attributes = kBindAttributes,
     .page = "program",
     .summary = "Ties an input or output of the program to a value's slot.",
     .example = "prog.bind[type:0, program_uuid:583, input_pos:0]"},
    {.name = "alloc",
     .results = exactly(1),
     .page = "program",
     .summary = "Gives a slot storage of undefined content.",
     .example = "prog.alloc() -> (%0:tensor<[64], Float32, CPU>)"},
    {.name = "free",
     .operands = exactly(1),
     .effects = Effect::kWritesOperand0,
     .page = "program",
     .summary = "Empties a slot; no later instruction may read it.",
     .example = "prog.free(%0:tensor<[64], Float32, CPU>) -> ()"},
    {.name = "exit",
     .effects = Effect::kControl,
     .page = "program",
     .summary = "Stops the program.",
     .example = "prog.exit() -> ()"},
    {.name = "ret",
     .effects = Effect::kControl,
     .page = "program",
     .summary = "Returns to the instruction after the jump that came here.",
     .example = "prog.ret"},
    {.name = "entry_point",
     .operands = at_least(0),
     .results = at_least(0),
     .traits = Trait::kSymbol,
     .effects = Effect::kControl,
     .attributes = kSymbolAttributes,
     .page = "program",
     .summary = "Names a start address with its inputs and outputs.",
     .example = "prog.entry_point (%0:tensor<[2], Float32, CPU>) -> "
                "(%1:tensor<[2], Float32, CPU>) [symbol:main]"},
    {.name = "InstructionOp",
     .aliases = kInstructionAliases,
     .operands = at_least(0),
     .results = at_least(0),
     .traits = Trait::kDumpOnly | Trait::kNoMeaning,
     .page = "program",
     .summary = "One or more fused instructions; occurs in early dumps only.",
     .example = "prog.inst (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)"},
};
static_assert(are_sound(DialectId::kProg, kProgRows));

}  // namespace

constinit const Dialect kProg{
    .name = "prog", .rows = kProgRows, .summary = "The linear program that a graph is lowered to."};

}  // namespace mir::dialect_tables
