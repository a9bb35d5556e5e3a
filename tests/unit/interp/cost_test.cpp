// The estimated cost of a module beside the work that a run of it reports.
#include "passes/estimate/cost.hpp"

#include <fmt/format.h>

#include "../project_files.hpp"
#include "interp/profile.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "module_text.hpp"
#include "page_examples.hpp"

namespace mir::cost_test {

namespace {

using test::Runner;
using test::Text;

struct Amounts {
  double flop = 0;
  double bytes = 0;
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

std::ostream& operator<<(std::ostream& out, const Amounts& amounts) {
  return out << amounts.flop << " FLOP, " << amounts.bytes << " bytes";
}

/// Values for all symbols of extents that texts use.
DimBindings bindings_of(IRContext& context, std::int64_t extent) {
  DimBindings bindings;
  for (const char* symbol : {"S", "T", "N"}) bindings.bind(context.intern(symbol), extent);
  bindings.bind(context.intern("past"), 0);
  return bindings;
}

/// Gives the symbols that occur in the module these values.
void bind_symbols(Module& module, const DimBindings& bindings) {
  PassRegistry registry;
  register_standard_passes(registry);
  std::string values;
  for (const auto& [symbol, value] : bindings.entries()) {
    const std::string_view name = module.context().text(symbol);
    if (print(module).find(fmt::format("${}", name)) == std::string::npos) continue;
    values += fmt::format("{}{}={}", values.empty() ? "" : ",", name, value);
  }
  if (values.empty()) return;
  Diagnostics problems;
  const SourceFile text("pipeline", fmt::format("bind-symbols{{{}}}", values), 1);
  const auto pipeline = registry.read_pipeline(text, problems);
  REQUIRE(pipeline);
  REQUIRE(run_pipeline(module, *pipeline, {}, problems));
}

/// When the symbols of a module get values: before the estimate, or in its result.
enum class Bound : bool { kAfter, kBefore };

Amounts estimate_of(const std::string& text, std::int64_t extent, Bound bound = Bound::kBefore) {
  const Text read(text);
  const DimTable& table = read.module->context().dims();
  const DimBindings bindings = bindings_of(read.module->context(), extent);
  if (bound == Bound::kBefore) bind_symbols(*read.module, bindings);
  const OpWork work = CostEstimate(*read.module).body().work;
  const auto number = [&](Dim amount) {
    CAPTURE(table.print(amount));
    const auto value = table.evaluate(amount, bindings);
    REQUIRE(value);
    return static_cast<double>(*value);
  };
  return {number(work.flop), number(work.read) + number(work.written)};
}

/// What the kernels of a run report, one kernel for each op.
Amounts profile_of(const std::string& text, std::int64_t extent, KernelSet kernels) {
  SessionOptions session;
  session.kernels = kernels;
  session.fuses = false;
  Runner runner(text, session);
  RunOptions options;
  options.dims = bindings_of(runner.context(), extent);
  Amounts amounts;
  options.timed = [&](const KernelTiming& timing) {
    amounts.flop += timing.work.flop;
    amounts.bytes += timing.work.bytes;
  };
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < runner.schedule().inputs().size(); ++i) {
    arguments.push_back(fmt::format("{}=random:{}", i, i));
  }
  const auto inputs = load_inputs(runner.session(), arguments, options.dims);
  REQUIRE(inputs);
  runner.run(*inputs, options);
  return amounts;
}

}  // namespace

TEST_CASE("cost: the estimate of a bound module is the work of a run") {
  std::size_t compared = 0;
  for (const test::PageExample& example : test::page_examples()) {
    const std::string& text = example.text;
    CAPTURE(example.page);
    CAPTURE(example.number);
    if (text.find("pattern.RewriteOp") != text.npos) continue;
    // The estimate counts a region once, the profile as often as it runs.
    if (example.page == "control-flow") continue;
    // The estimate has symbols that only a run finds out.
    if (!symbols_found_out_by(*Text(text).module->top()).empty()) continue;
    for (const std::int64_t extent : {4, 7}) {
      CHECK(estimate_of(text, extent) == profile_of(text, extent, KernelSet::kRef));
      ++compared;
    }
  }
  CHECK(compared >= 20);
}

TEST_CASE("cost: a model with calls, a cache and attention") {
  for (const std::int64_t extent : {1, 5}) {
    const Amounts estimate = estimate_of(test::kAttention, extent);
    CHECK(estimate.flop > 0);
    CHECK(estimate == profile_of(test::kAttention, extent, KernelSet::kRef));
    CHECK(estimate.flop == profile_of(test::kAttention, extent, KernelSet::kFast).flop);
    CHECK(estimate == estimate_of(test::kAttention, extent, Bound::kAfter));
  }
}

}  // namespace mir::cost_test
