// Runs an entry once: checks and binds inputs, computes steps and reports failures.
#include "interp/session_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_set>
#include <utility>
#include <variant>

#include "dialects/parameters.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/limits.hpp"
#include "mir/module.hpp"
#include "plan/memory.hpp"
#include "plan/report.hpp"
#include "plan/step_work.hpp"
#include "support/platform/mapped_file.hpp"

namespace mir {

SessionRun::SessionRun(SessionAccess::State& state, const RunOptions& options,
                       Diagnostics& diagnostics)
    : state_(state),
      entry_(state.entries[options.entry]),
      schedule_(entry_.schedule),
      options_(options),
      diagnostics_(diagnostics),
      binder_(entry_.binder) {
  binder_.restart(options.dims);
}

std::optional<std::vector<Tensor>> SessionRun::run(std::span<const Tensor> inputs) {
  if (!begin(inputs, options_.observe != nullptr)) return std::nullopt;
  if (!compute(schedule_.steps().size())) return std::nullopt;
  return finish();
}

bool SessionRun::begin(std::span<const Tensor> inputs, bool is_stepwise) {
  state_.caches.rollback();  // of a run that failed
  if (!bind_inputs(inputs) || !bind_symbols()) return false;
  ExecutionPlan& plan = state_.plan_of(entry_, is_stepwise);
  if (const auto failure = plan.bind(binder_.bindings())) {
    report_failure(*failure);
    return false;
  }
  if (auto fits = fits_memory(plan); !fits) {
    diagnostics_.error(fits.error().code, top(), fits.error().message);
    return false;
  }
  run_ = plan_run(inputs);
  run_.decided = [this, &plan] { return expect_memory(plan.planned_bytes()); };
  execution_.emplace(plan, run_);
  const auto failure = execution_->begin();
  if (failure) report_failure(*failure);
  return !failure;
}

PlanRun SessionRun::plan_run(std::span<const Tensor> inputs) {
  PlanRun run{.inputs = inputs,
              .context = state_.context.get(),
              .parameters = &state_.weights,
              .environment = {.parameters = &state_.weights.table(),
                              .caches = &state_.caches,
                              .dims = &binder_.bindings(),
                              .custom = &state_.custom_ops,
                              .quantisations = &state_.quantisations,
                              .parallel_order = options_.parallel_order},
              .binder = &binder_,
              .is_last = options_.is_last,
              .stop = options_.stop,
              .failed_in_regions = &failed_in_regions_,
              .timed = options_.timed};
  if (options_.most_iterations) {
    iterations_left_ = *options_.most_iterations;
    run.iterations_left = &iterations_left_;
  }
  if (options_.progress) {
    run.done = [this](std::size_t steps) { options_.progress(steps, schedule_.steps().size()); };
  }
  if (options_.observe) {
    run.observe = [this](std::size_t step, std::span<const Tensor> operands,
                         std::span<Tensor> results) {
      return options_.observe({step, *schedule_.steps()[step].op, operands, results});
    };
  }
  return run;
}

bool SessionRun::compute(std::size_t end) {
  const auto failure = execution_->compute(end);
  if (failure) report_failure(*failure);
  return !failure;
}

std::optional<std::vector<Tensor>> SessionRun::finish() {
  auto outcome = execution_->finish();
  if (const auto* failure = std::get_if<PlanFailure>(&outcome)) {
    report_failure(*failure);
    return std::nullopt;
  }
  if (!files_are_intact()) return std::nullopt;
  state_.caches.commit();
  return std::get<std::vector<Tensor>>(std::move(outcome));
}

bool SessionRun::files_are_intact() {
  const auto report_shortened = [&](const std::string& what) {
    diagnostics_.error(diag::kFileShortened, top(),
                       fmt::format("the file of {} was shortened during the run", what));
    return false;
  };
  for (std::size_t i = 0; i < run_.inputs.size(); ++i) {
    if (!lies_in_shortened_file(run_.inputs[i].bytes())) continue;
    return report_shortened(fmt::format("input '%{}'", entry_.inputs[i].name));
  }
  if (lies_in_shortened_file(state_.packed.cache_mapping())) {
    return report_shortened("packed weights");
  }
  const Symbol parameter = state_.weights.in_shortened_file();
  if (!parameter) return true;
  return report_shortened(
      fmt::format("parameter '@{}'", schedule_.module().context().text(parameter)));
}

Span SessionRun::top() const {
  return schedule_.module().top()->span();
}

void SessionRun::report_failure(const PlanFailure& failure) {
  if (failure.step) return report_failure(schedule_.steps()[*failure.step], failure.error);
  diagnostics_.error(failure.error.code, top(), failure.error.message);
}

void SessionRun::report_failure(const Step& step, const Error& error) {
  if (failed_in_regions_.empty()) {
    report(diagnostics_, *step.op, schedule_.calls(), step.call, error.code, error.message);
    return;
  }
  const auto step_of = [](const RegionStep& each) -> const Step& {
    return each.schedule->steps()[each.step];
  };
  const RegionStep& first = failed_in_regions_.front();
  Diagnostic& diagnostic = report(diagnostics_, *step_of(first).op, first.schedule->calls(),
                                  step_of(first).call, error.code, error.message);
  const auto note = [&](const Op& op) {
    diagnostic.note(op.span(), fmt::format("in a region of this '{}'", op.name()));
  };
  for (const RegionStep& each : std::span(failed_in_regions_).subspan(1)) note(*step_of(each).op);
  note(*step.op);
}

bool SessionRun::check_input(std::size_t number, const Tensor& tensor) {
  const TensorType* type = schedule_.entry().entry_arguments()[number].held_type();
  const bool fits = type != nullptr && tensor.defined() && type->rank() == tensor.shape().size() &&
                    (!type->dtype() || *type->dtype() == tensor.dtype());
  if (fits) return true;
  const Port& port = entry_.inputs[number];
  diagnostics_.error(diag::kInputMismatch, top(),
                     fmt::format("input {} '%{}' is {}, expected {}", number, port.name,
                                 tensor.defined() ? fmt::format("{} [{}]", name_of(tensor.dtype()),
                                                                fmt::join(tensor.shape(), ", "))
                                                  : "no tensor",
                                 port.type == nullptr ? "no tensor" : port.type->spelling()));
  return false;
}

bool SessionRun::bind_inputs(std::span<const Tensor> inputs) {
  const Span at = top();
  if (inputs.size() != schedule_.inputs().size()) {
    diagnostics_.error(diag::kInputMissing, at,
                       fmt::format("{} inputs are given, {} takes {}", inputs.size(),
                                   schedule_.title(), schedule_.inputs().size()));
    return false;
  }
  if (const auto given = binder_.check_given(); !given) {
    diagnostics_.error(given.error().code, at, given.error().message);
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) good = check_input(i, inputs[i]) && good;
  if (!good) return false;
  // Symbols that one extent leaves open may be bound by a later one.
  for (bool last_round = false, open = true; open && !last_round;) {
    const std::size_t bound_before = binder_.bindings().entries().size();
    open = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = schedule_.entry().entry_arguments()[i];
      const auto dims = input.held_type()->dims();
      for (std::size_t dim = 0; dim < dims.size(); ++dim) {
        const auto outcome = binder_.require(
            dims[dim], inputs[i].shape()[dim],
            {.kind = DimPlace::Kind::kInput, .dim = dim, .number = i, .value = &input});
        if (!outcome) {
          diagnostics_.error(outcome.error().code, at, outcome.error().message);
          return false;
        }
        open = open || *outcome == Binder::Outcome::kOpen;
      }
    }
    last_round = binder_.bindings().entries().size() == bound_before;
  }
  return true;
}

bool SessionRun::bind_symbols() {
  auto problem = entry_.symbols.bind(binder_, state_.caches, schedule_.module().context());
  if (problem) report_failure({problem->step, std::move(problem->error)});
  return !problem;
}

/// The plan knows what its values need; those that it does not place are estimated by their types.
/// Until data decides a declared symbol, it counts with the least value that it may have.
Result<void> SessionRun::fits_memory(const ExecutionPlan& plan) {
  if (options_.memory_limit == 0) return {};
  DimBindings bindings = binder_.bindings();
  for (const SymbolDeclaration& each : binder_.declarations()) {
    if (!bindings.find(each.name)) bindings.bind(each.name, each.least);
  }
  const auto estimate = estimate_memory(schedule_, bindings);
  if (!estimate) return expect_memory(plan.planned_bytes());
  other_bytes_ = estimate->peak() - estimate->parameters - estimate->activations;
  return expect_memory(plan.planned_bytes() == 0 ? estimate->activations
                                                 : plan.planned_bytes() + estimate->outputs);
}

/// Beside `other_bytes_`.
Result<void> SessionRun::expect_memory(std::uint64_t values) const {
  const std::uint64_t needed = values + other_bytes_;
  if (options_.memory_limit == 0 || needed <= options_.memory_limit) return {};
  return Error{diag::kLimitExceeded,
               fmt::format("{} needs {} bytes besides its parameters, at most {} are allowed",
                           schedule_.title(), needed, options_.memory_limit)};
}

}  // namespace mir
