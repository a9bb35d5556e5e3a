#include "mir/pass.hpp"
#include "mir/upgrade.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/lower_program.hpp"

namespace mir {

void register_conversions(PassRegistry& registry, Conversions& conversions) {
  registry.add({.name = "downgrade",
                .summary = "turns a portable module into a dump as a version of upstream prints it",
                .takes = PassForm::kPortable,
                .run = [&](Module& module, Diagnostics& diagnostics) {
                  return downgrade(module, conversions.generation, conversions.losses, diagnostics);
                }});
  registry.add({.name = "lift-program",
                .summary = "turns the instructions of a lowered dump back into graphs",
                .takes = PassForm::kDump,
                .run = [&](Module& module, Diagnostics& diagnostics) {
                  return lift_program(module, conversions.granted, conversions.losses, diagnostics);
                }});
  registry.add({.name = "lower-program",
                .summary = "turns a portable module into a program of upstream's machine",
                .takes = PassForm::kPortable,
                .run = [&](Module& module, Diagnostics& diagnostics) {
                  return lower_program(module, conversions.losses, diagnostics);
                }});
  registry.add({.name = "upgrade",
                .summary = "turns a dump into a portable module, lifting its program first",
                .run =
                    [&](Module& module, Diagnostics& diagnostics) {
                      return upgrade(module, conversions.granted, conversions.losses, diagnostics);
                    },
                .correct =
                    [&](Module& module, Diagnostics& diagnostics) {
                      if (module.is_portable()) return;
                      take_corrections(module, conversions.granted, conversions.losses,
                                       diagnostics);
                    }});
}

}  // namespace mir
