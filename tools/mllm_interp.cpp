// mllm-interp: runs a module.
#include <fmt/format.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "interp/describe.hpp"
#include "mir/fusion.hpp"
#include "mir/session.hpp"
#include "progress.hpp"
#include "report_text.hpp"
#include "support/platform/memory.hpp"
#include "tools/interp/execution.hpp"
#include "tools/interp/loading.hpp"
#include "tools/interp/run_names.hpp"
#include "tools/interp/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

/// Options of a run; an error for a binding that has no number.
Result<RunOptions> run_options(const InterpSettings& settings, const Module& module) {
  RunOptions options;
  if (const auto memory = machine_memory()) options.memory_limit = *memory;
  for (const std::string& text : *settings.run.bind) {
    if (const auto bound = add_binding(options.dims, module.context(), text); !bound)
      return bound.error();
  }
  if (const auto known = check_bindings(options.dims, module); !known) return known.error();
  options.progress = count_progress(" steps");
  return options;
}

ExitCode show_description(const Run& run, const Module& module, const Invocation& invocation,
                          const InterpSettings& settings, const DimBindings& dims,
                          Diagnostics& diagnostics) {
  const auto schedule =
      Schedule::build(module, *settings.run.entry, diagnostics, {.graphs = invocation.bound_ops});
  if (!schedule) return run.report(diagnostics, module.context().sources());
  const Description description = describe(*schedule, dims);
  if (*settings.format == TextFormat::kJson) {
    print_document(to_json(description));
  } else {
    print_report(std::string_view(render(description)));
  }
  return run.report(diagnostics, module.context().sources());
}

/// Applies the passes of --passes to a module that has been verified.
bool apply_passes(const Pipeline& pipeline, const Verification& verification, Module& module,
                  Diagnostics& diagnostics) {
  if (pipeline.empty()) return true;
  bool is_verified = !pipeline.first()->fix_up;
  const auto verify = [&](Module& changed, Diagnostics& found) {
    return std::exchange(is_verified, false) || verification.accepts(changed, found);
  };
  return run_pipeline(module, pipeline, {.verify = verify, .verifies_each = false}, diagnostics);
}

/// Applies the passes of --fusion, if the run uses them, to a module that has been verified.
bool apply_fusion(const InterpSettings& settings, const Invocation& invocation, Module& module,
                  Diagnostics& diagnostics) {
  if (*settings.kernels != KernelChoice::kFast || settings.observes_steps()) return true;
  std::vector<std::string> entered = entries_of(settings.run).names;
  std::erase(entered, "");  // the body
  for (const auto& [op, graph] : invocation.bound_ops) entered.push_back(graph);
  const FusionScope scope{.kept = entered, .keeps_declared_ops = !invocation.bound_ops.empty()};
  return fuse(module, *settings.fusion, settings.known.registry, scope, diagnostics);
}

ExitCode run_interp(const Run& run, InterpSettings& settings) {
  if (run.files().size() > 1) return run.usage_error("one file is run at a time");
  const auto invocation = Invocation::create(run.files().front(), settings.run);
  if (!invocation) return run.refuse(invocation.error());
  if (const auto good = check_settings(settings); !good) return run.refuse(good.error());
  SourceManager pipelines;
  Diagnostics diagnostics = run.diagnostics();
  const std::optional<Pipeline> pipeline =
      read_pipelines(settings.passes, {}, settings.known.registry, pipelines, diagnostics);
  if (!pipeline) return run.report(diagnostics, pipelines);
  IRContext context;
  if (!invocation->register_dialects(context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const auto file = invocation->read(context.sources());
  if (!file) return run.report(file.error());
  const Loading loading = settings.follows_program()    ? Loading::kProgram
                          : settings.against.is_given() ? Loading::kPaired
                                                        : Loading::kGraphs;
  const LoadedModule loaded =
      load_module(run, **file, *invocation, settings.verification, loading, context, diagnostics);
  if (loaded.module == nullptr) return run.report(diagnostics, context.sources());
  const Module& module = *loaded.module;
  const Verification verification = verification_of_run(run, *invocation, settings.verification);
  if (!apply_passes(*pipeline, verification, *loaded.module, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  if (const auto known = names_of(module, settings.run).check(settings.options); !known)
    return worst(run.report(diagnostics, context.sources()), run.report(known.error()));
  const auto options = run_options(settings, module);
  if (!options) return run.usage_error(options.error().message);
  if (settings.describe)
    return show_description(run, module, *invocation, settings, options->dims, diagnostics);
  if (!apply_fusion(settings, *invocation, *loaded.module, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  if (invocation->leaves_expectations)
    print_report("expected outputs of the pack are skipped: the options change the outputs\n");
  return execute(run, loaded, *invocation, settings, *options, diagnostics);
}

}  // namespace

const Tool mir::tools::kMllmInterp = tool_of<kInterpTool, run_interp>();
