// mllm-interp: runs a module.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "interp/describe.hpp"
#include "mir/dialects.hpp"
#include "mir/ports.hpp"
#include "mir/session.hpp"
#include "tools/interp/execution.hpp"
#include "tools/interp/loading.hpp"
#include "tools/interp/program_run.hpp"
#include "tools/interp/settings.hpp"
#include "verification.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

ExitCode body(const Run& run) {
  if (run.files().size() > 1) return run.usage_error("one file is run at a time");
  auto invocation = Invocation::create(run.files().front(), run.arguments());
  if (!invocation) return run.report(invocation.error());
  const auto settings = interp_settings(*std::move(invocation));
  if (!settings) return run.usage_error(settings.error().message);
  const Arguments& arguments = settings->invocation.arguments;
  const auto verification = Verification::create(run);
  if (!verification) return run.usage_error(verification.error().message);
  IRContext context;
  register_builtin_dialects(context);
  ExitCode code = ExitCode::kSuccess;
  const SourceFile* file = settings->invocation.read(run, context.sources(), code);
  if (file == nullptr) return code;
  Diagnostics diagnostics = run.diagnostics();
  const Module* module = load_module(run, *file, *settings, context, diagnostics);
  if (module == nullptr) return run.report(diagnostics, context.sources());
  if (settings->wants_machine()) return run_program(run, *module, *settings, diagnostics);
  RunOptions options;
  options.threads = settings->threads;
  options.memory_limit = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const std::string& text : arguments.values("bind")) {
    const auto bound = add_binding(options.dims, context, text);
    if (!bound) return run.usage_error(bound.error().message);
  }
  if (::isatty(STDERR_FILENO) != 0) {
    options.progress = [](std::size_t done, std::size_t total) {
      fmt::print(stderr, "\r{}/{} steps{}", done, total, done == total ? "\r\033[K" : "");
    };
  }
  const bool describes = arguments.has("describe");
  if (settings->invocation.leaves_expectations && !describes)
    fmt::print("expected outputs of the pack are not compared: the options compute others\n");
  if (!describes) return execute(run, *module, *settings, options, diagnostics);
  const auto schedule = Schedule::build(*module, arguments.value("entry"), diagnostics,
                                        {.graphs = settings->bound_ops});
  if (!schedule) return run.report(diagnostics, context.sources());
  const Description description = describe(*schedule, options.dims);
  fmt::print("{}", arguments.has("json") ? to_json(description) : render(description));
  return run.report(diagnostics, context.sources());
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kInterpTool, argc, argv, body);
}
