// Overhead of fast runs besides their kernels: time per step, the start of a module, the memory of
// activations.
//
//   plan_bench [--repeats=20] [--nodes=1000] [--layers=54]
//
// Figures are the least of the repeats: whatever is above it is other work on the machine.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "decoder.hpp"
#include "interp/session_access.hpp"
#include "mir/dialects.hpp"
#include "mir/fusion.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"

namespace {

using namespace mir;

struct Settings {
  std::int64_t repeats = 20;
  std::int64_t nodes = 1000;
  std::int64_t layers = 54;
};

/// Seconds by the clock, or of this process's processor time.
double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double processor_seconds() {
  timespec time{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool read(std::string_view argument, Settings& settings) {
  const auto equals = argument.find('=');
  if (equals == argument.npos) return false;
  std::int64_t* const target = argument.starts_with("--repeats=")  ? &settings.repeats
                               : argument.starts_with("--nodes=")  ? &settings.nodes
                               : argument.starts_with("--layers=") ? &settings.layers
                                                                   : nullptr;
  if (target == nullptr) return false;
  const std::string_view value = argument.substr(equals + 1);
  return std::from_chars(value.data(), value.data() + value.size(), *target).ec == std::errc();
}

bool fail(const Diagnostics& diagnostics) {
  for (const Diagnostic& each : diagnostics.sorted()) fmt::print(stderr, "{}\n", each.message);
  return false;
}

/// A chain of steps on eight numbers each.
std::string chain(std::int64_t nodes) {
  const auto value = [](std::int64_t i) { return fmt::format("%{}:tensor<[8], Float32, CPU>", i); };
  std::string text = fmt::format("@main [mir_version:1] ({}) -> ({}) {{\n", value(0), value(nodes));
  for (std::int64_t i = 0; i < nodes; ++i) {
    text += fmt::format("  linalg.CPU.NegOp ({}) -> ({})\n", value(i), value(i + 1));
  }
  return text + fmt::format("  cf.ReturnOp ({}) -> ()\n}}\n", value(nodes));
}

/// The only module of a text, verified; null after reporting.
const Module* load(const std::string& text, IRContext& context, Diagnostics& diagnostics) {
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("bench.mir", text);
  const auto modules = read_modules(*file, context, diagnostics);
  if (diagnostics.has_errors() || modules.size() != 1) return nullptr;
  return verify(*modules.front(), diagnostics) ? modules.front() : nullptr;
}

bool measure_dispatch(const Settings& settings) {
  IRContext context;
  Diagnostics diagnostics;
  const Module* const module = load(chain(settings.nodes), context, diagnostics);
  if (module == nullptr) return fail(diagnostics);
  const std::vector<Tensor> inputs = {*Tensor::allocate(DType::kFloat32, {8})};
  for (const unsigned threads : {1U, 2U}) {
    auto session = Session::create(
        *module, {.entry = "", .kernels = KernelSet::kFast, .threads = threads}, diagnostics);
    if (!session) return fail(diagnostics);
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i <= settings.repeats; ++i) {
      const double begin = seconds();
      if (!session->run(inputs, diagnostics, {})) return fail(diagnostics);
      if (i > 0) least = std::min(least, seconds() - begin);
    }
    fmt::print("dispatch: {:.3f} us a node of {}, {} thread{}\n",
               least * 1e6 / static_cast<double>(settings.nodes), settings.nodes, threads,
               threads == 1 ? "" : "s");
  }
  return true;
}

/// Parse, verify and plan apart, as processor time of one thread.
bool measure_start(const Settings& settings) {
  std::string text;
  {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    const bench::DecoderShape shape{.layers = settings.layers,
                                    .hidden = 64,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .ffn = 160,
                                    .vocab = 256};
    const Module* module = bench::decoder_module(context, shape, diagnostics);
    if (module == nullptr) return fail(diagnostics);
    text = print(*module);
  }
  WeightSet weights;
  if (!weights.add("splat:0.5")) return false;
  double parsed = std::numeric_limits<double>::infinity(), verified = parsed, fused = parsed,
         planned = parsed;
  std::size_t steps = 0;
  PassRegistry passes;
  register_standard_passes(passes);
  for (std::int64_t i = 0; i < settings.repeats; ++i) {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    const double start = processor_seconds();
    const SourceFile* file = context.sources().add("bench.mir", text);
    const auto modules = read_modules(*file, context, diagnostics);
    if (diagnostics.has_errors() || modules.size() != 1) return fail(diagnostics);
    const double read = processor_seconds();
    if (!verify(*modules.front(), diagnostics)) return fail(diagnostics);
    const double checked = processor_seconds();
    if (!fuse(*modules.front(), Fusion::kAll, passes, {}, diagnostics)) return fail(diagnostics);
    const double stated = processor_seconds();
    const auto session = Session::create(
        *modules.front(), {.entry = "", .weights = &weights, .kernels = KernelSet::kFast},
        diagnostics);
    const double end = processor_seconds();
    if (!session) return fail(diagnostics);
    parsed = std::min(parsed, read - start);
    verified = std::min(verified, checked - read);
    fused = std::min(fused, stated - checked);
    planned = std::min(planned, end - stated);
    steps = SessionAccess::schedule(*session).steps().size();
  }
  fmt::print(
      "start of {} steps: parse {:.2f} + verify {:.2f} + fuse {:.2f} + plan {:.2f} = {:.2f} ms\n",
      steps, parsed * 1e3, verified * 1e3, fused * 1e3, planned * 1e3,
      (parsed + verified + fused + planned) * 1e3);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (!read(argv[i], settings)) {
      fmt::print(stderr, "plan_bench: what is '{}'?\n", argv[i]);
      return 2;
    }
  }
  return measure_dispatch(settings) && measure_start(settings) ? 0 : 1;
}
