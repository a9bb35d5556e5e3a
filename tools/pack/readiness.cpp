#include "readiness.hpp"

#include "creation.hpp"
#include "mir/dialects.hpp"
#include "mir/weights.hpp"
#include "tools/interp/loading.hpp"

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
  for (const auto& value : *settings.weights) {
    const auto source = WeightSource::open(value, invocation.files(settings.weights));
    if (!source) return source.error();
  }
  for (const Feed& feed : invocation.feeds) {
    if (feed.kind != Feed::Kind::kTensor) continue;
    if (auto read = read_spec(feed.spec, 1); !read) return read;
  }
  if (auto read = read_specs(invocation, settings.input, 1); !read) return read;
  return read_specs(invocation, settings.expect, settings.run_count());
}

}  // namespace

ExitCode check_readiness(const Run& run, const Invocation& invocation,
                         const VerificationSettings& checks) {
  IRContext context;
  register_builtin_dialects(context);
  const auto file = invocation.read(context.sources());
  if (!file) return run.report(file.error());
  Diagnostics diagnostics = run.diagnostics();
  load_module(run, **file, invocation, checks, Loading::kGraphs, context, diagnostics);
  const ExitCode code = run.report(diagnostics, context.sources());
  const auto read = read_files(invocation);
  return read ? code : worst(code, run.report(read.error()));
}

}  // namespace mir::tools
