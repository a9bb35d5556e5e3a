// Runs the upgrade steps on a module, alone or as passes.
#include "mir/upgrade.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "mir/pass.hpp"
#include "upgrade/form_limits.hpp"
#include "upgrade/steps.hpp"

namespace mir {

namespace {

PassResult run_step(const UpgradeStep& step, PassRun& run) {
  Module& module = run.module();
  Diagnostics& diagnostics = run.diagnostics();
  const UpgradeOptions& granted = run.facts<ConversionFacts>().granted;
  LossReport& losses = run.report<LossReport>();
  if (module.is_portable()) {
    if (step.on_portable != nullptr) step.on_portable(module, granted, diagnostics);
    return PassResult::kUnchanged;
  }
  if (!refuse_several_blocks(module, "portable form", losses, diagnostics)) {
    return PassResult::kFailed;
  }
  const std::size_t errors = diagnostics.error_count();
  Recovery recovery(module, granted, losses, diagnostics);
  recovery.explain = run.explain();
  if (module.body().empty()) recovery.rewriter.create_block(module.body());
  step.run(recovery);
  return diagnostics.error_count() == errors ? run.result() : PassResult::kRefused;
}

Pass pass_of(const UpgradeStep& step) {
  Pass pass{
      .name = std::string(step.name),
      .summary = std::string(step.summary),
      .gives = step.gives,
      .after_refusal = step.after_refusal,
      .run = [&step](PassRun& run) { return run_step(step, run); },
  };
  if (step.is_fix_up) {
    pass.fix_up = [&step](PassRun& run) {
      if (run.module().is_portable()) return;
      Recovery recovery(run.module(), run.facts<ConversionFacts>().granted,
                        run.report<LossReport>(), run.diagnostics());
      step.run(recovery);
    };
  }
  return pass;
}

}  // namespace

void register_upgrade(PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const UpgradeStep& step : upgrade_steps()) {
    registry.add(pass_of(step));
    names.push_back(step.name);
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
  PassRegistry registry;
  register_upgrade(registry);
  const Pipeline& pipeline = registry.pipelines().find("upgrade")->second.pipeline;
  TypedMap facts, reports;
  facts.set(ConversionFacts{.granted = options});
  reports.set(std::move(report));
  const bool good =
      run_pipeline(module, pipeline, {.facts = &facts, .reports = &reports}, diagnostics);
  report = std::move(reports.get<LossReport>());
  return good;
}

}  // namespace mir
