// Makes execution plans of a session's entries, and packs weights for them.
#include <cstdlib>  // __GLIBC__

#if defined(__GLIBC__)
#endif

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "eval/parameters.hpp"
#include "interp/session_run.hpp"
#include "kernels/isa.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "plan/parameter_uses.hpp"
#include "plan/stored_table.hpp"
#include "support/platform/memory.hpp"

namespace mir {

Session::State::State(std::shared_ptr<WeightPool> pool, const SessionOptions& options)
    : weights(std::move(pool)),
      custom_ops(options.custom_ops),
      plan_options{.kernels = options.kernels,
                   .fuses = options.kernels == KernelSet::kFast && options.fuses,
                   .activations = options.activations} {
  const IsaLevel machine = detected_isa_level();
  const IsaLevel isa = options.isa ? std::min(*options.isa, machine) : machine;
  context = std::make_unique<fast::Context>(
      options.kernels == KernelSet::kFast ? options.threads : 1, isa);
}

ExecutionPlan Session::State::make_plan(const Entry& entry, bool fuses) {
  PlanOptions options = plan_options;
  options.fuses = fuses;
  return ExecutionPlan::create(entry.schedule, options,
                               {.parameters = &weights,
                                .only_packed = &only_packed,
                                .quantisations = &quantisations,
                                .constants = entry.constants,
                                .weights = &packed,
                                .context = context.get()});
}

void Session::State::make_plans(const SessionOptions& options, Diagnostics& diagnostics) {
  if (plan_options.kernels == KernelSet::kFast) {
    const unsigned threads = context->pool().threads();
    if (threads < options.threads) {
      diagnostics.warning(
          diag::kLimitExceeded, {},
          fmt::format("{} of {} threads compute: there are no more", threads, options.threads));
    }
    return make_packed_plans(options, diagnostics);
  }
  for (Entry& entry : entries) entry.plan = make_plan(entry, plan_options.fuses);
}

/// note [packing]: weights that only products read are made, packed and released one after the
/// other, so that one weight at a time is in memory besides what runs need.
void Session::State::make_packed_plans(const SessionOptions& options, Diagnostics& diagnostics) {
  if (!options.packed_cache.empty()) {
    const auto opened = packed.open_cache(options.packed_cache, !options.checks_packed_cache);
    if (!opened) {
      diagnostics.error(opened.error().code, {}, opened.error().message);
      return;
    }
  }
  LateWeights late = find_late_weights();
  only_packed = std::move(late.only_packed);
  weights.try_acquire_all_but(late.all);
  std::uint64_t expected = 0;
  for (const Symbol weight : only_packed) expected += weights.stated_bytes(weight);
  packed.expect(expected + expected / 32);  // panels that are filled up
  for (Entry& entry : entries) entry.plan = make_plan(entry, plan_options.fuses);
  write_packed_cache(options, diagnostics);
  return_free_memory();  // in which the weights were made
}

void Session::State::write_packed_cache(const SessionOptions& options, Diagnostics& diagnostics) {
  if (options.packed_cache.empty()) return;
  if (const std::string& problem = packed.cache_problem(); !problem.empty()) {
    diagnostics.warning(
        diag::kPackedCacheUnusable, {},
        fmt::format("'{}' {}: weights are packed again", options.packed_cache, problem));
  }
  const auto written = packed.write_cache(*context);
  if (!written) diagnostics.warning(written.error().code, {}, written.error().message);
}

Session::State::LateWeights Session::State::find_late_weights() const {
  std::unordered_set<Symbol> weights_of_products, tables, others;
  const auto visit = [&](const Schedule& schedule) {
    const ParameterUses uses(schedule);
    for (std::size_t number = 0; number < schedule.steps().size(); ++number) {
      const Op& op = *schedule.steps()[number].op;
      Symbol weight;
      if (op.has(Trait::kWeighsOperand)) {
        for (const OwnedParameter& owned : owned_parameters(op)) {
          if (owned.suffix == ".weight") weight = owned.symbol;
        }
      }
      const bool has_table = stored_table(op, weights).has_value();
      for (const Symbol parameter : uses.of(number)) {
        (parameter == weight ? weights_of_products : has_table ? tables : others).insert(parameter);
      }
    }
    others.insert(uses.outputs().begin(), uses.outputs().end());
  };
  for (const Entry& entry : entries) entry.schedule.for_each(visit);
  LateWeights late{.only_packed = std::move(weights_of_products), .all = {}};
  std::erase_if(late.only_packed, [&](Symbol weight) { return others.contains(weight); });
  late.all = late.only_packed;
  for (const Symbol table : tables) {
    if (!others.contains(table)) late.all.insert(table);
  }
  return late;
}

ExecutionPlan& Session::State::plan_of(Entry& entry, bool is_stepwise) {
  if (!is_stepwise || !plan_options.fuses) return *entry.plan;
  if (!entry.stepwise_plan) entry.stepwise_plan = make_plan(entry, false);
  return *entry.stepwise_plan;
}

}  // namespace mir
