// Registers conversions between dumps, portable modules and programs as passes.
#include <fmt/format.h>

#include "mir/codes/usage.hpp"
#include "mir/pass.hpp"
#include "mir/upgrade.hpp"
#include "upgrade/lower_program.hpp"
#include "upgrade/steps.hpp"

namespace mir {

namespace {

/// Returns a conversion of a whole module as a pass.
template <class Convert>
auto converting(const Convert& convert) {
  return [convert](PassRun& run) { return convert(run) ? run.result() : PassResult::kFailed; };
}

}  // namespace

void register_conversions(PassRegistry& registry) {
  registry.add({.name = "downgrade",
                .summary = "turns a portable module into a dump as a version of upstream prints it",
                .takes = PassForm::kPortable,
                .gives = PassForm::kDump,
                .run = converting([](PassRun& run) {
                  return downgrade(run.module(), run.facts<ConversionFacts>().generation,
                                   run.report<LossReport>(), run.diagnostics(), run.explain());
                })});
  registry.add({.name = "lower-program",
                .summary = "turns a portable module into a program of upstream's machine",
                .takes = PassForm::kPortable,
                .gives = PassForm::kDump,
                .run = converting([](PassRun& run) {
                  return lower_program(run.module(), run.report<LossReport>(), run.diagnostics(),
                                       run.explain());
                })});
  register_upgrade(registry);
}

Result<ConversionFacts> example_facts(const Pass& pass) {
  ConversionFacts facts;
  UpgradeOptions& granted = facts.granted;
  for (const std::string_view fact : pass.example_facts) {
    const auto equals = fact.find('=');
    const std::string_view option = fact.substr(0, equals), value = fact.substr(equals + 1);
    if (option == "--assume") {
      if (auto taken = grant(granted, value); !taken) return taken.error();
    } else if (option == "--sidecar") {
      if (auto taken = grant_sidecar(granted, value); !taken) return taken.error();
    } else if (option == "--symbolic-dim") {
      const auto dim = parse_symbolic_dim(value);
      if (!dim) return dim.error();
      granted.symbolic_dims.push_back(*dim);
    } else {
      return Error{diag::kUsage, fmt::format("'{}' supplies no fact", option)};
    }
  }
  return facts;
}

}  // namespace mir
