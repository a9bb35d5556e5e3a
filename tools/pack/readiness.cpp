// Checks that a pack can run: its files are readable and a session opens.
#include "readiness.hpp"

#include "creation.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/runs.hpp"
#include "mir/session.hpp"
#include "mir/weights.hpp"
#include "tools/interp/loading.hpp"
#include "tools/interp/run_names.hpp"

namespace mir::tools {
namespace {

/// The tensors of a spec, one for each run where its path has `{run}`.
Result<void> read_spec(TensorSpec spec, std::size_t runs) {
  if (!spec.has_type()) return {};
  for (const auto& path : paths_of_runs(spec.path, runs)) {
    spec.path = path;
    if (const auto tensor = load_file(spec); !tensor) return tensor.error();
  }
  return {};
}

Result<void> read_specs(const Invocation& invocation, const OptionList<std::string>& option,
                        std::size_t runs) {
  for (const auto& value : *option) {
    const auto spec = parse_tensor_spec(value, invocation.files(option));
    if (!spec) return spec.error();
    if (auto read = read_spec(*spec, runs); !read) return read;
  }
  return {};
}

Result<void> read_files(const Invocation& invocation) {
  const RunSettings& settings = invocation.settings;
  const auto weights = open_weights(*settings.weights, invocation.files(settings.weights));
  if (!weights) return weights.error();
  for (const Feed& feed : invocation.feeds) {
    if (feed.kind != Feed::Kind::kTensor) continue;
    if (auto read = read_spec(feed.spec, 1); !read) return read;
  }
  if (auto read = read_specs(invocation, settings.input, 1); !read) return read;
  return read_specs(invocation, settings.expect, settings.run_count());
}

/// Adds the errors with which a run would end before its first step, except for missing parameters.
Result<void> open_session(const Module& module, const Invocation& invocation,
                          Diagnostics& diagnostics) {
  const RunSettings& settings = invocation.settings;
  const auto weights = open_weights(*settings.weights, invocation.files(settings.weights));
  if (!weights) return weights.error();
  const RunEntries entries = entries_of(settings);
  SessionOptions options;
  options.entry = entries.names.front();
  options.further_entries.assign(entries.names.begin() + 1, entries.names.end());
  options.bound_ops = invocation.bound_ops;
  options.weights = &*weights;
  Diagnostics found(0);
  const auto session = Session::create(module, options, found);
  found.withdraw([](const Diagnostic& each) { return each.code == diag::kParameterMissing; });
  if (found.has_errors()) diagnostics.append(std::move(found));
  if (!session) return {};
  if (!invocation.feeds.empty()) {
    const auto feeds = FeedPlan::create(*session, entries.of_run, invocation.feeds);
    if (!feeds && feeds.error().code != diag::kInputMissing) return feeds.error();
  }
  DimBindings dims;
  for (const std::string& text : *settings.bind) {
    if (auto bound = add_binding(dims, module.context(), text); !bound) return bound;
  }
  if (settings.input->size() < session->inputs().size()) return {};
  const auto inputs = load_inputs(*session, *settings.input, dims, invocation.files(settings.input),
                                  invocation.input_defaults());
  return inputs ? Result<void>() : inputs.error();
}

}  // namespace

ExitCode check_readiness(const Run& run, const Invocation& invocation,
                         const VerificationSettings& checks) {
  IRContext context;
  Diagnostics diagnostics = run.diagnostics();
  if (!invocation.register_dialects(context, diagnostics)) {
    return run.report(diagnostics, context.sources());
  }
  const auto file = invocation.read(context.sources());
  if (!file) return run.report(file.error());
  const Module* module =
      load_module(run, **file, invocation, checks, Loading::kGraphs, context, diagnostics).module;
  auto good = read_files(invocation);
  if (module != nullptr) {
    if (good) good = names_of(*module, invocation.settings).check(invocation.settings.options);
    if (good) good = open_session(*module, invocation, diagnostics);
  }
  const ExitCode code = run.report(diagnostics, context.sources());
  return good ? code : worst(code, run.report(good.error()));
}

}  // namespace mir::tools
