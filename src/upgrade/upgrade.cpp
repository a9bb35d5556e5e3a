#include "mir/upgrade.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "mir/pass.hpp"
#include "upgrade/one_block.hpp"
#include "upgrade/steps.hpp"

namespace mir {

namespace {

PassResult run_step(const UpgradeStep& step, PassRun& run, Conversions& conversions) {
  Module& module = run.module();
  Diagnostics& diagnostics = run.diagnostics();
  if (module.is_portable()) return PassResult::kUnchanged;
  if (!refuse_several_blocks(module, "portable form", conversions.losses, diagnostics)) {
    return PassResult::kFailed;
  }
  const std::size_t errors = diagnostics.error_count();
  Recovery recovery(module, conversions.granted, conversions.losses, diagnostics);
  if (module.body().empty()) recovery.rewriter.create_block(module.body());
  step.run(recovery);
  return diagnostics.error_count() == errors ? run.result() : PassResult::kRefused;
}

Pass pass_of(const UpgradeStep& step, Conversions& conversions) {
  return {
      .name = std::string(step.name),
      .summary = std::string(step.summary),
      .after_refusal = step.after_refusal,
      .example = std::string(step.example),
      .run = [&step, &conversions](PassRun& run) { return run_step(step, run, conversions); },
  };
}

}  // namespace

void register_upgrade(PassRegistry& registry, Conversions& conversions) {
  std::vector<std::string_view> names;
  for (const UpgradeStep& step : upgrade_steps()) {
    Pass pass = pass_of(step, conversions);
    if (names.empty()) {
      // Without them the module may not verify.
      pass.fix_up = [&conversions](Module& module, Diagnostics& diagnostics) {
        if (module.is_portable()) return;
        take_corrections(module, conversions.granted, conversions.losses, diagnostics);
      };
    }
    names.push_back(step.name);
    if (&step == &upgrade_steps().back()) {
      pass.gives = PassForm::kPortable;
      pass.run = [&step, &conversions](PassRun& run) {
        if (run.module().is_portable()) {
          warn_of_ignored_facts(run.module(), conversions.granted, run.diagnostics());
        }
        return run_step(step, run, conversions);
      };
    }
    registry.add(std::move(pass));
  }
  registry.add_pipeline("upgrade", "turns a dump into a portable module, lifting its program first",
                        fmt::format("{}", fmt::join(names, ",")));
}

std::vector<std::string_view> readers_of_grants() {
  std::vector<std::string_view> names;
  for (const UpgradeStep& step : upgrade_steps()) {
    if (step.reads_facts) names.push_back(step.name);
  }
  return names;
}

bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics) {
  Conversions conversions{.granted = options, .losses = std::move(report)};
  PassRegistry registry;
  register_upgrade(registry, conversions);
  const Pipeline& pipeline = registry.pipelines().find("upgrade")->second.pipeline;
  const bool good = run_pipeline(module, pipeline, {}, diagnostics);
  report = std::move(conversions.losses);
  return good;
}

}  // namespace mir
