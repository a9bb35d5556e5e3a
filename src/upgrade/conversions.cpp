#include "mir/pass.hpp"
#include "mir/upgrade.hpp"
#include "upgrade/lower_program.hpp"
#include "upgrade/steps.hpp"

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
  registry.add({.name = "lower-program",
                .summary = "turns a portable module into a program of upstream's machine",
                .takes = PassForm::kPortable,
                .gives = PassForm::kDump,
                .example = std::string(kPortable),
                .run = converting([&](Module& module, Diagnostics& diagnostics) {
                  return lower_program(module, conversions.losses, diagnostics);
                })});
  register_upgrade(registry, conversions);
}

}  // namespace mir
