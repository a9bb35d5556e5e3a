#include "mir/pass.hpp"
#include "mir/upgrade.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/lower_program.hpp"

namespace mir {

namespace {

/// What a conversion of a whole module is as a pass.
template <class Convert>
auto converting(const Convert& convert) {
  return [convert](PassRun& run) {
    return convert(run.module(), run.diagnostics()) ? run.result() : PassResult::kFailed;
  };
}

constexpr std::string_view kPortable =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>) {
    linalg.CPU.NegOp(%x) -> (%y:tensor<[2], Float32, CPU>)
    linalg.CPU.AddOp(%y, %x) -> (%z:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
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

constexpr std::string_view kDump =
    R"(@main () -> () {
    graph.CallGraphOp @net (%1:tensor<[2, 4], Float32, CPU>) -> (%4:tensor<[2, 4], Float32, CPU>)
    graph.SubGraphOp @net <CPU> {
        (%1:tensor<[2, 4], Float32, CPU>) -> (%4:tensor<[2, 4], Float32, CPU>) {
            linalg.CPU.SiLUOp <name="net.act">(%1:tensor<[2, 4], Float32, CPU>) -> (%2:tensor<[2, 4], Float32, CPU>)
            linalg.CPU.TransposeOp(%2:tensor<[2, 4], Float32, CPU>) -> (%3:tensor<[4, 2], Float32, CPU>)
            linalg.CPU.TransposeOp(%3:tensor<[4, 2], Float32, CPU>) -> (%4:tensor<[2, 4], Float32, CPU>)
            cf.ReturnOp (%4:tensor<[2, 4], Float32, CPU>) -> ()
        }
    }
}
)";

}  // namespace

void register_conversions(PassRegistry& registry, Conversions& conversions) {
  registry.add({.name = "downgrade",
                .summary = "turns a portable module into a dump as a version of upstream prints it",
                .takes = PassForm::kPortable,
                .gives = PassForm::kDump,
                .example = std::string(kPortable),
                .run = converting([&](Module& module, Diagnostics& diagnostics) {
                  return downgrade(module, conversions.generation, conversions.losses, diagnostics);
                })});
  registry.add({.name = "lift-program",
                .summary = "turns the instructions of a lowered dump back into graphs",
                .takes = PassForm::kDump,
                .example = std::string(kProgram),
                .run = converting([&](Module& module, Diagnostics& diagnostics) {
                  return lift_program(module, conversions.granted, conversions.losses, diagnostics);
                })});
  registry.add({.name = "lower-program",
                .summary = "turns a portable module into a program of upstream's machine",
                .takes = PassForm::kPortable,
                .gives = PassForm::kDump,
                .example = std::string(kPortable),
                .run = converting([&](Module& module, Diagnostics& diagnostics) {
                  return lower_program(module, conversions.losses, diagnostics);
                })});
  registry.add({.name = "upgrade",
                .summary = "turns a dump into a portable module, lifting its program first",
                .gives = PassForm::kPortable,
                .example = std::string(kDump),
                .run = converting([&](Module& module, Diagnostics& diagnostics) {
                  return upgrade(module, conversions.granted, conversions.losses, diagnostics);
                }),
                .fix_up = [&](Module& module, Diagnostics& diagnostics) {
                  if (module.is_portable()) return;
                  take_corrections(module, conversions.granted, conversions.losses, diagnostics);
                }});
}

}  // namespace mir
