#include "passes/eliminations.hpp"

#include "mir/pass.hpp"

namespace mir {

void register_eliminations(PassRegistry& registry) {
  registry.add({.name = "eliminate-dead-ops",
                .summary = "removes pure operations whose results nothing reads",
                .takes = PassForm::kPortable,
                .run = eliminate_dead_ops});
  registry.add({.name = "eliminate-debug",
                .summary = "removes comments that were traced as operations",
                .run = eliminate_debug});
  registry.add({.name = "eliminate-unused-graphs",
                .summary = "removes graphs that no call from the module body leads to",
                .takes = PassForm::kPortable,
                .run = eliminate_unused_graphs});
}

}  // namespace mir
