#include <cstdlib>  // __GLIBC__

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>

#include "eval/parameters.hpp"
#include "interp/session_run.hpp"

namespace mir {

std::int64_t Session::State::cache_length(Symbol cache) const {
  if (fast != nullptr) return fast->caches.length(cache);
  const auto found = caches.find(cache);
  return found == caches.end() ? 0 : found->second.length;
}

Result<ExecutionPlan> Session::State::make_plan(const Entry& entry, Fusion fusion) {
  return ExecutionPlan::create(
      entry.schedule, {.fusion = fusion, .activations = fast->activations},
      {.parameters = &weights.table(),
       .acquire =
           [this](Symbol parameter) {
             return weights.acquire({&parameter, 1});
           },
       .release =
           [this](Symbol parameter) {
             if (fast->only_packed.contains(parameter)) weights.release({&parameter, 1}, true);
           },
       .origin = [this](Symbol parameter) { return weights.origin(parameter); },
       .quantisations = &quantisations,
       .constants = entry.constants,
       .weights = &fast->weights,
       .context = fast->context.get()});
}

/// note [packing]: weights that only products read are made, packed and released one after the
/// other, so that besides what runs need one weight at a time is in memory.
void Session::State::make_plans(const SessionOptions& options, Diagnostics& diagnostics) {
  fast = std::make_unique<Fast>();
  if (!open_packed_cache(options, diagnostics)) return;
  fast->only_packed = find_only_packed();
  if (const auto made = weights.acquire_all_but(fast->only_packed); !made) {
    plan_refusal = made.error().message;
    fast.reset();
    return;
  }
  std::uint64_t expected = 0;
  for (const Symbol weight : fast->only_packed) expected += weights.stated_bytes(weight);
  fast->weights.expect(expected + expected / 32);  // panels that are filled up
  fast->fusion = options.fusion;
  fast->activations = options.activations;
  const IsaLevel machine = detected_isa_level();
  const IsaLevel isa = options.isa ? std::min(*options.isa, machine) : machine;
  fast->context = std::make_unique<fast::Context>(options.threads, isa);
  for (Entry& entry : entries) {
    auto plan = make_plan(entry, options.fusion);
    if (plan) {
      entry.plan = *std::move(plan);
      continue;
    }
    // All entries share caches, so either all have plans or none.
    plan_refusal = plan.error().message;
    for (Entry& each : entries) each.plan.reset();
    fast.reset();
    weights.release_all();
    return;
  }
  write_packed_cache(options, diagnostics);
#if defined(__GLIBC__)
  // What the weights were made in goes back to the system.
  (void)malloc_trim(0);
#endif
}

bool Session::State::open_packed_cache(const SessionOptions& options, Diagnostics& diagnostics) {
  if (options.packed_cache.empty()) return true;
  const auto opened = fast->weights.open_cache(options.packed_cache);
  if (!opened) diagnostics.error(opened.error().code, {}, opened.error().message);
  return opened.ok();
}

void Session::State::write_packed_cache(const SessionOptions& options, Diagnostics& diagnostics) {
  if (options.packed_cache.empty()) return;
  if (const std::string& problem = fast->weights.cache_problem(); !problem.empty()) {
    diagnostics.warning(
        DiagCode::kPackedCacheUnusable, {},
        fmt::format("'{}' {}: weights are packed anew", options.packed_cache, problem));
  }
  const auto written = fast->weights.write_cache(*fast->context);
  if (!written) diagnostics.warning(written.error().code, {}, written.error().message);
}

std::unordered_set<Symbol> Session::State::find_only_packed() const {
  std::unordered_set<Symbol> weights_of_products, others;
  for (const Entry& entry : entries) {
    const auto steps = entry.schedule.steps();
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const Op& op = *steps[step].op;
      Symbol weight;
      if (op.has(Trait::kWeighsOperand)) {
        for (const OwnedParameter& owned : owned_parameters(op)) {
          if (owned.suffix == ".weight") weight = owned.symbol;
        }
      }
      for (const Symbol parameter : entry.uses.of(step)) {
        (parameter == weight ? weights_of_products : others).insert(parameter);
      }
    }
    others.insert(entry.uses.outputs().begin(), entry.uses.outputs().end());
  }
  std::erase_if(weights_of_products, [&](Symbol weight) { return others.contains(weight); });
  return weights_of_products;
}

/// The plan that fits the run: steps that are observed are not fused.
ExecutionPlan* SessionRun::plan_to_run() {
  if (!options_.observe || state_.fast->fusion == Fusion::kOff) return &*entry_.plan;
  if (!entry_.observed_plan) {
    auto plan = state_.make_plan(entry_, Fusion::kOff);
    if (!plan) return nullptr;
    entry_.observed_plan = *std::move(plan);
  }
  return &*entry_.observed_plan;
}

std::optional<std::vector<Tensor>> SessionRun::run_plan(std::span<const Tensor> inputs) {
  auto& context = state_.fast->context;
  if (context->pool().threads() != options_.threads) {
    context = std::make_unique<fast::Context>(options_.threads, context->isa());
  }
  const auto top = schedule_.module().top()->span();
  ExecutionPlan* const plan = plan_to_run();
  if (plan == nullptr) {
    diagnostics_.error(DiagCode::kLimitExceeded, top, "there is no memory for a plan");
    return std::nullopt;
  }
  if (auto bound = plan->bind(binder_.bindings()); !bound) {
    diagnostics_.error(bound.error().code, top, bound.error().message);
    return std::nullopt;
  }
  PlanRun run{.inputs = inputs,
              .context = context.get(),
              .caches = &state_.fast->caches,
              .environment = {.parameters = &state_.weights.table(),
                              .caches = &caches_,
                              .dims = &binder_.bindings(),
                              .custom = &state_.custom_ops,
                              .quantisations = &state_.quantisations},
              .stop = options_.stop,
              .timed = options_.timed};
  if (options_.progress) {
    run.done = [&](std::size_t steps) { options_.progress(steps, schedule_.steps().size()); };
  }
  if (options_.observe) {
    run.observe = [&](std::size_t step, std::span<const Tensor> operands,
                      std::span<Tensor> results) {
      return options_.observe({step, *schedule_.steps()[step].op, operands, results});
    };
  }
  auto outcome = plan->run(run);
  if (const auto* failure = std::get_if<PlanFailure>(&outcome)) {
    if (schedule_.steps().empty()) {
      diagnostics_.error(failure->error.code, top, failure->error.message);
    } else {
      fail(schedule_.steps()[failure->step], failure->error);
    }
    return std::nullopt;
  }
  if (!files_are_intact(inputs)) return std::nullopt;
  state_.fast->caches.commit();
  return std::get<std::vector<Tensor>>(std::move(outcome));
}

}  // namespace mir
