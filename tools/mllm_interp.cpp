// mllm-interp: runs a module.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "interp/settings.hpp"
#include "mir/dialects/dialects.hpp"
#include "mir/files/compare.hpp"
#include "mir/interp/describe.hpp"
#include "mir/interp/ports.hpp"
#include "mir/interp/session.hpp"
#include "mir/interp/summary.hpp"
#include "mir/ir/resolve.hpp"
#include "mir/passes/upgrade.hpp"
#include "verification.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

/// The module to run, portable and verified; null after reporting.
Module* load(const Run& run, const SourceFile& file, const InterpSettings& settings,
             const Verification& verification, IRContext& context, Diagnostics& diagnostics) {
  const auto modules = read_modules(file, context, diagnostics);
  if (diagnostics.has_errors()) return nullptr;
  const std::string_view name = run.arguments().value("module");
  Module* chosen = nullptr;
  for (Module* module : modules) {
    if (name.empty() ? modules.size() == 1 : context.text(module->name()) == name) chosen = module;
  }
  if (chosen == nullptr) {
    diagnostics.error(DiagCode::kEntryUnknown, {},
                      name.empty() ? fmt::format("'{}' has {} modules, choose one with --module",
                                                 file.name(), modules.size())
                                   : fmt::format("'{}' has no module '{}'", file.name(), name));
    return nullptr;
  }
  if (!chosen->is_portable()) {
    LossReport losses;
    const bool upgraded = upgrade(*chosen, settings.assumed, losses, diagnostics);
    diagnostics.remark(
        DiagCode::kLostMeaning, {},
        fmt::format("'{}' is upgraded in memory: {}", file.name(), losses.summary()));
    if (!upgraded) return nullptr;
  }
  return verification.accepts(*chosen, diagnostics) ? chosen : nullptr;
}

/// What shall happen to the outputs.
struct Delivery {
  std::vector<OutputFile> files;
  std::vector<Expectation> expectations;
};

Result<Delivery> delivery_of(const Arguments& arguments, const Schedule& schedule) {
  auto files = parse_output_files(schedule, arguments.values("output"));
  if (!files) return std::move(files).error();
  auto expectations = parse_expectations(schedule, arguments.values("expect"));
  if (!expectations) return std::move(expectations).error();
  return Delivery{*std::move(files), *std::move(expectations)};
}

ExitCode deliver(const Run& run, const Schedule& schedule, const InterpSettings& settings,
                 const Delivery& delivery, std::span<const Tensor> outputs) {
  const auto ports = output_ports(schedule);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (run.arguments().value("print-outputs", "yes") == "yes") {
      fmt::print("%{}: {}\n", ports[i].name, render(summarise(outputs[i])));
    }
    if (settings.top == 0) continue;
    const auto row = top_elements(outputs[i], settings.top);
    if (!row) return run.report(row.error());
    for (const RankedElement& each : *row) fmt::print("  {}: {:.6g}\n", each.index, each.value);
  }
  const auto written = write_outputs(schedule, delivery.files, outputs);
  if (!written) return run.report(written.error());
  ExitCode code = ExitCode::kSuccess;
  for (const Expectation& each : delivery.expectations) {
    const auto expected = load_expected(schedule, each, outputs[each.port]);
    if (!expected) return run.report(expected.error());
    const auto comparison = compare_tensors(*expected, outputs[each.port], settings.tolerance);
    if (!comparison) return run.report(comparison.error());
    fmt::print("%{}: {}\n", ports[each.port].name, render(*comparison));
    if (comparison->passed()) continue;
    code = run.report(Error{DiagCode::kNotAsExpected,
                            fmt::format("output '%{}' is not as expected", ports[each.port].name)});
  }
  return code;
}

ExitCode execute(const Run& run, const Module& module, const InterpSettings& settings,
                 const RunOptions& options, Diagnostics& diagnostics) {
  const Arguments& arguments = run.arguments();
  const SourceManager& sources = module.context().sources();
  WeightSet weights;
  for (const std::string& spec : arguments.values("weights")) {
    if (const auto added = weights.add(spec); !added) return run.report(added.error());
  }
  auto session = Session::create(
      module, {.entry = std::string(arguments.value("entry")), .weights = &weights}, diagnostics);
  if (!session) return run.report(diagnostics, sources);
  const auto delivery = delivery_of(arguments, session->schedule());
  if (!delivery) return run.report(delivery.error());
  const auto inputs = load_inputs(session->schedule(), arguments.values("input"), options.dims);
  if (!inputs) return run.report(inputs.error());
  const auto outputs = session->run(*inputs, diagnostics, options);
  const ExitCode code = run.report(diagnostics, sources);
  if (!outputs) return code;
  return worst(code, deliver(run, session->schedule(), settings, *delivery, *outputs));
}

ExitCode body(const Run& run) {
  const Arguments& arguments = run.arguments();
  const auto settings = interp_settings(arguments);
  if (!settings) return run.usage_error(settings.error().message);
  const auto verification = Verification::create(run);
  if (!verification) return run.usage_error(verification.error().message);
  IRContext context;
  register_builtin_dialects(context);
  ExitCode code = ExitCode::kSuccess;
  const SourceFile* file = run.read(run.files().front(), context.sources(), code);
  if (file == nullptr) return code;
  Diagnostics diagnostics = run.diagnostics();
  const Module* module = load(run, *file, *settings, *verification, context, diagnostics);
  if (module == nullptr) return run.report(diagnostics, context.sources());
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
  if (!arguments.has("describe")) return execute(run, *module, *settings, options, diagnostics);
  const auto schedule = Schedule::build(*module, arguments.value("entry"), diagnostics);
  if (!schedule) return run.report(diagnostics, context.sources());
  const Description description = describe(*schedule, options.dims);
  fmt::print("{}", arguments.has("json") ? to_json(description) : render(description));
  return run.report(diagnostics, context.sources());
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kInterpTool, argc, argv, body);
}
