#include "upgrade/steps.hpp"

#include "upgrade/first_spelling.hpp"
#include "upgrade/lift_program.hpp"

namespace mir {

namespace {

// As the first programs: the module's own instructions stand around the bodies.
constexpr std::string_view kNoEnd =
    R"(@main () -> () {
    prog.fragment @code <CPU> <code> {
        prog.jump net.__entry
        prog.label[symbol:net.__entry]
        prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)[op_type:Neg, op_options:null]
        prog.ret
        prog.kernel_launch(%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)[op_type:SiLU, op_options:null]
    }
}
)";

constexpr std::string_view kProgram =
    R"(@main () -> () {
    prog.fragment @code <CPU> <code> {
        prog.bind[type:0, program_uuid:1, input_pos:0]
        prog.kernel_launch(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)[op_type:Neg, op_options:null]
        prog.kernel_launch(%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)[op_type:SiLU, op_options:null]
        prog.bind[type:1, program_uuid:3, input_pos:0]
        prog.exit() -> ()
    }
}
)";

constexpr std::string_view kFirstSpelling =
    R"(@main () -> () {
    linalg.kCPU.SiLUOp(%1:tensor<[2], kFp32, kCPU>) -> (%2:tensor<[2], kFp32, kCPU>)
}
)";

constexpr std::string_view kRepeatedGraph =
    R"(@main () -> () {
    graph.CallGraphOp @act (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    graph.SubGraphOp @act <CPU> {
        (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>) {
            linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%2:tensor<[2], Float32, CPU>) -> ()
        }
    }
    graph.SubGraphOp @act <CPU> {
        (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>) {
            linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%2:tensor<[2], Float32, CPU>) -> ()
        }
    }
}
)";

constexpr std::string_view kOwnStorage =
    R"(@main () -> () {
    linalg.CPU.ViewOp [to_shape:[2, 2]] (%1:tensor<[4], Float32, CPU>) -> (%2:tensor<[2, 2], Float32, CPU>)
}
)";

constexpr std::string_view kBookkeeping =
    R"(@main () -> () {
    linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    tensor.CPU.free (%1:tensor<[2], Float32, CPU>) -> ()
}
)";

constexpr std::string_view kMention =
    R"(@main () -> () {
    linalg.CPU.SiLUOp(%1:tensor<[4], Float32, CPU>) -> (%2:tensor<[4], Float32, CPU>)
    linalg.CPU.TransposeOp [dim0:0, dim1:1] (%2:tensor<[2, 2], Float32, CPU>) -> (%3:tensor<[2, 2], Float32, CPU>)
}
)";

constexpr std::string_view kViewOfParameter =
    R"(@main () -> () {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%5:tensor<[4], Float32, CPU>[@scale])[symbol:scale]
        }
    }
    linalg.CPU.ViewOp [to_shape:[2, 2]] (%5:tensor<[4], Float32, CPU>[@scale]) -> (%6:tensor<[2, 2], Float32, CPU>[@scale])
}
)";

constexpr std::string_view kViewedParameter =
    R"(@main () -> () {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%5:tensor<[2, 2], Float32, CPU>[@scale])[symbol:scale]
        }
    }
    linalg.CPU.SiLUOp(%5:tensor<[4], Float32, CPU>[@scale]) -> (%6:tensor<[4], Float32, CPU>)
}
)";

constexpr std::string_view kNegativeExtent =
    R"(@main () -> () {
    linalg.CPU.SiLUOp(%1:tensor<[-1, 4], Float32, CPU>) -> (%2:tensor<[-1, 4], Float32, CPU>)
}
)";

constexpr std::string_view kScaledScores =
    R"(@main () -> () {
    linalg.CPU.MatMulOp [transpose_b:true] (%1:tensor<[2, 4], Float32, CPU>, %2:tensor<[2, 4], Float32, CPU>) -> (%3:tensor<[2, 2], Float32, CPU>)
    linalg.CPU.MulOp(%3:tensor<[2, 2], Float32, CPU>, %4:tensor<[1], Float32, CPU>) -> (%5:tensor<[2, 2], Float32, CPU>)
    linalg.CPU.SoftmaxOp [axis:-1] (%5:tensor<[2, 2], Float32, CPU>) -> (%6:tensor<[2, 2], Float32, CPU>)
}
)";

constexpr std::string_view kUndefinedMask =
    R"(@main () -> () {
    graph.CallGraphOp @net (%1:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)
    graph.SubGraphOp @net <CPU> {
        (%1:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>) {
            linalg.CPU.AddOp(%1:tensor<[2], Float32, CPU>, %2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%3:tensor<[2], Float32, CPU>) -> ()
        }
    }
}
)";

constexpr std::string_view kSlice =
    R"(@main () -> () {
    linalg.CPU.SliceOp(%1:tensor<[4, 8], Float32, CPU>) -> (%1:tensor<[4, 8], Float32, CPU>)
    linalg.CPU.SiLUOp(%1:tensor<[4, 8], Float32, CPU>) -> (%2:tensor<[2, 8], Float32, CPU>)
}
)";

constexpr std::string_view kNoInterface =
    R"(@main () -> () {
    linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)";

constexpr std::string_view kNoLinks =
    R"(@main () -> () {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%5:tensor<[3, 4], Float32, CPU>[@up.weight])[symbol:up.weight]
            tensor.CPU.register () -> (%6:tensor<[2, 3], Float32, CPU>[@down.weight])[symbol:down.weight]
        }
    }
    linalg.CPU.LinearOp(%1:tensor<[1, 4], Float32, CPU>) -> (%2:tensor<[1, 3], Float32, CPU>)
    linalg.CPU.LinearOp(%2:tensor<[1, 3], Float32, CPU>) -> (%3:tensor<[1, 2], Float32, CPU>)
}
)";

constexpr std::string_view kNoOptions =
    R"(@main () -> () {
    linalg.CPU.TransposeOp(%1:tensor<[2, 4], Float32, CPU>) -> (%2:tensor<[4, 2], Float32, CPU>)
    linalg.CPU.ReduceSumOp(%2:tensor<[4, 2], Float32, CPU>) -> (%3:tensor<[4, 1], Float32, CPU>)
}
)";

constexpr std::string_view kNoRegister =
    R"(@main () -> () {
    linalg.CPU.LinearOp <name="up"> [bias:false, in_channels:4, out_channels:3] (%1:tensor<[1, 4], Float32, CPU>) -> (%2:tensor<[1, 3], Float32, CPU>)
}
)";

constexpr std::string_view kTwoTypes =
    R"(@main () -> () {
    linalg.QNN.AddOp(%1:tensor<[2], UInt16PerTensorAsym, QNN>, %2:tensor<[2], Int8PerTensor, QNN>) -> (%3:tensor<[2], UInt16PerTensorAsym, QNN>)
}
)";

constexpr std::string_view kOneStorage =
    R"(@main () -> () {
    linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    linalg.CPU.NegOp(%2:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    linalg.CPU.ExpOp(%2:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)";

constexpr std::string_view kTwice =
    R"(@main () -> () {
    linalg.CPU.MulOp(%1:tensor<[2], Float32, CPU>, %2:tensor<[1], Float32, CPU>[constant:[0.5]][constant:[0.5]]) -> (%3:tensor<[2], Float32, CPU>)
}
)";

constexpr std::string_view kBeforeView =
    R"(@main () -> () {
    linalg.CPU.ViewOp [to_shape:[4]] (%1:tensor<[2, 2], Float32, CPU>) -> (%2:tensor<[4], Float32, CPU>)
    linalg.CPU.SiLUOp(%2:tensor<[4], Float32, CPU>) -> (%3:tensor<[2, 2], Float32, CPU>)
}
)";

constexpr std::string_view kDump =
    R"(@main (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>) {
    linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%2:tensor<[2], Float32, CPU>) -> ()
}
)";

constexpr std::string_view kLostOperand =
    R"(@main () -> () {
    prog.fragment @code <CPU> <code> {
        prog.bind[type:0, program_uuid:1, input_pos:0]
        prog.bind[type:0, program_uuid:2, input_pos:1]
        prog.kernel_launch(%2:tensor<[2], Int32, CPU>) -> (%3:tensor<[2], Int32, CPU>)[op_type:Neg, op_options:null]
        prog.kernel_launch(%1:tensor<[4, 8], Float32, CPU>) -> (%4:tensor<[2, 8], Float32, CPU>)[symbol_name:pick, op_type:Index, op_options:null]
        prog.bind[type:1, program_uuid:4, input_pos:0]
        prog.exit() -> ()
    }
}
)";

constexpr std::string_view kLostBound =
    R"(@main () -> () {
    linalg.CPU.ClipOp [min_val:0.0] (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
}
)";

constexpr std::string_view kTwoRows =
    R"(@main (%1:tensor<[2, 8], Float32, CPU>) -> (%2:tensor<[2, 8], Float32, CPU>) {
    linalg.CPU.SiLUOp(%1:tensor<[2, 8], Float32, CPU>) -> (%2:tensor<[2, 8], Float32, CPU>)
    cf.ReturnOp (%2:tensor<[2, 8], Float32, CPU>) -> ()
}
)";

constexpr UpgradeStep kSteps[] = {
    {.name = "take-corrections",
     .summary = "applies supplied facts that contradict a dump, and ends a program without an end",
     .run = [](Recovery& r) { take_corrections(r.module, r.options, r.report, r.diagnostics); },
     .reads_facts = true,
     .is_fix_up = true,
     .example = kNoEnd},
    {.name = "take-operands",
     .summary = "gives launches of a program the operands that they lost and that are supplied",
     .run = [](Recovery& r) { take_operands(r.module, r.options, r.report, r.diagnostics); },
     .after_refusal = true,
     .reads_facts = true,
     .example = kLostOperand,
     .example_facts =
         R"(--sidecar={"schema": 1, "ops": {"pick": {"operands": {"1": "%2:tensor<[2], Int32, CPU>"}}}})"},
    {.name = "lift-program",
     .summary = "turns the instructions of a lowered dump back into graphs",
     .run =
         [](Recovery& r) { lift_program(r.module, r.options, r.report, r.diagnostics, r.explain); },
     .reads_facts = true,
     .example = kProgram},
    {.name = "settle-spelling",
     .summary = "replaces names of devices, types and ops by those of later versions of upstream",
     .run = [](Recovery& r) { spell_as_later_versions(r.module); },
     .example = kFirstSpelling},
    {.name = "drop-repeated-graphs",
     .summary = "removes graphs that a dump repeats",
     .run = drop_repeated_graphs,
     .after_refusal = true,
     .example = kRepeatedGraph},
    {.name = "recover-own-storage",
     .summary = "marks views and slices that have a storage of their own",
     .run = recover_own_storage,
     .after_refusal = true,
     .example = kOwnStorage},
    {.name = "drop-bookkeeping",
     .summary = "removes `tensor.free`, `linalg.register` and comments",
     .run = drop_bookkeeping,
     .after_refusal = true,
     .example = kBookkeeping},
    {.name = "settle-mentions",
     .summary = "inserts the view where a mention has other extents than its value",
     .run = settle_mentions,
     .example = kMention},
    {.name = "settle-symbols",
     .summary = "leaves the symbol of a parameter to its register, where results repeat it",
     .run = settle_symbols,
     .after_refusal = true,
     .example = kViewOfParameter},
    {.name = "settle-parameter-types",
     .summary = "gives a parameter that was viewed in place the type that its first use has",
     .run = settle_parameter_types,
     .after_refusal = true,
     .example = kViewedParameter},
    {.name = "settle-extents",
     .summary = "replaces extents of -1 by unknown ones",
     .run = settle_extents,
     .after_refusal = true,
     .example = kNegativeExtent},
    {.name = "take-grants",
     .summary = "applies supplied attributes, operands, names and constants",
     .run = take_grants,
     .after_refusal = true,
     .reads_facts = true,
     .example = kLostBound,
     .example_facts = "--assume=Clip.max_val=6.0"},
    {.name = "recover-constants",
     .summary = "finds the number that scales the scores of attention",
     .run = recover_constants,
     .after_refusal = true,
     .example = kScaledScores},
    {.name = "recover-arguments",
     .summary = "hands values that a graph reads and does not define in as arguments",
     .run = recover_arguments,
     .after_refusal = true,
     .example = kUndefinedMask},
    {.name = "recover-pieces",
     .summary = "finds bounds and types of slices and splits, and values stored into slices",
     .run = recover_pieces,
     .example = kSlice},
    {.name = "recover-interface",
     .summary = "finds the inputs and outputs of the module",
     .run = recover_interface,
     .after_refusal = true,
     .example = kNoInterface},
    {.name = "recover-links",
     .summary = "names ops after the registered parameters, in the order in which they run",
     .run = recover_links,
     .after_refusal = true,
     .example = kNoLinks},
    {.name = "recover-options",
     .summary = "derives attributes of ops from types and parameters",
     .run = recover_options,
     .after_refusal = true,
     .reads_facts = true,
     .example = kNoOptions},
    {.name = "register-parameters",
     .summary = "registers parameters of named ops that a dump does not register",
     .run = register_parameters,
     .after_refusal = true,
     .example = kNoRegister},
    {.name = "settle-quantised",
     .summary = "inserts casts between operands of different quantised types, and limits ranges",
     .run = settle_quantised,
     .after_refusal = true,
     .example = kTwoTypes},
    {.name = "settle-names",
     .summary = "gives each value a name of its own",
     .run = settle_names,
     .after_refusal = true,
     .example = kOneStorage},
    {.name = "settle-attributes",
     .summary = "removes repeated keys, and adds the quotes that the portable form needs",
     .run = settle_attributes,
     .after_refusal = true,
     .example = kTwice},
    {.name = "check-types",
     .summary = "compares printed types with inferred ones, and reads values before their views",
     .run = check_types,
     .example = kBeforeView},
    {.name = "generalise",
     .summary = "replaces traced extents of inputs by the symbols that --symbolic-dim names",
     .run = generalise,
     .example = kTwoRows,
     .example_facts = "--symbolic-dim=S@input0:0"},
    {.name = "declare-version",
     .summary = "states the version of the portable form",
     .run = declare_version,
     .gives = PassForm::kPortable,
     .on_portable = warn_of_ignored_facts,
     .example = kDump},
};

}  // namespace

std::span<const UpgradeStep> upgrade_steps() {
  return kSteps;
}

}  // namespace mir
