#include "session_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "mir/interp/ports.hpp"
#include "mir/plan/memory.hpp"
#include "mir/plan/report.hpp"
#include "mir/support/mapping_guard.hpp"

namespace mir {

std::optional<std::pair<const Step*, Error>> bind_cache_lengths(const Schedule& schedule,
                                                                const CacheLengths& length_of,
                                                                Binder& binder) {
  IRContext& context = schedule.module().context();
  std::unordered_set<Symbol> seen;
  for (const Step& step : schedule.steps()) {
    const Symbol cache = cache_of(*step.op);
    if (!cache || !seen.insert(cache).second) continue;
    const Attr* past = step.op->attribute("past");
    if (past == nullptr || past->kind() != AttrKind::kDim) continue;
    const auto outcome =
        binder.require(past->dim(), length_of(cache),
                       fmt::format("the length of cache '@{}'", context.text(cache)));
    if (!outcome) return std::pair(&step, outcome.error());
  }
  return std::nullopt;
}

SessionRun::SessionRun(Session::State& state, const RunOptions& options, Diagnostics& diagnostics)
    : state_(state),
      entry_(state.entries[options.entry]),
      schedule_(entry_.schedule),
      options_(options),
      diagnostics_(diagnostics),
      binder_(schedule_.module().context(), options.dims),
      caches_(state.caches),
      values_(schedule_.slots().size()) {}

SessionRun::~SessionRun() {
  release_weights();
  if (has_outputs_) state_.weights.release(entry_.uses.outputs(), options_.is_last);
}

bool SessionRun::begin(std::span<const Tensor> inputs) {
  if (!bind_inputs(inputs) || !bind_caches() || !fits_memory()) return false;
  const auto outputs = state_.weights.acquire(entry_.uses.outputs());
  has_outputs_ = static_cast<bool>(outputs);
  if (has_outputs_) return true;
  diagnostics_.error(outputs.error().code, schedule_.module().top()->span(),
                     outputs.error().message);
  return false;
}

bool SessionRun::acquire_weights(const Step& step) {
  release_weights();
  const std::size_t number = number_of(step);
  const auto acquired = state_.weights.acquire(entry_.uses.of(number));
  if (!acquired) return fail(step, acquired.error());
  acquired_ = number;
  return true;
}

void SessionRun::release_weights() {
  if (!acquired_) return;
  const auto all = entry_.uses.of(*acquired_), last = entry_.uses.last_of(*acquired_);
  state_.weights.release(all.first(all.size() - last.size()), false);
  state_.weights.release(last, options_.is_last);
  acquired_.reset();
}

void SessionRun::release(const Step& step) {
  release_weights();
  for (const SlotIndex slot : schedule_.releases(step)) values_[slot] = Tensor();
}

std::vector<Tensor> SessionRun::finish() {
  std::vector<Tensor> outputs;
  for (const SlotIndex slot : schedule_.outputs()) outputs.push_back(value_of(slot));
  state_.caches = std::move(caches_);
  return outputs;
}

std::optional<std::vector<Tensor>> SessionRun::run(std::span<const Tensor> inputs) {
  if (!begin(inputs)) return std::nullopt;
  if (state_.fast != nullptr) return run_plan(inputs);
  std::size_t done = 0;
  for (const Step& step : schedule_.steps()) {
    if (options_.stop.stop_requested()) {
      fail(step, {DiagCode::kCancelled, fmt::format("the run was stopped after {} of {} steps",
                                                    done, schedule_.steps().size())});
      return std::nullopt;
    }
    if (!execute(step)) return std::nullopt;
    release(step);
    if (options_.progress) options_.progress(++done, schedule_.steps().size());
  }
  if (!files_are_intact(inputs)) return std::nullopt;
  return finish();
}

const Tensor& SessionRun::result(const Step& step, std::uint32_t number) const {
  return values_[step.first_result + number];
}

void SessionRun::replace_result(const Step& step, std::uint32_t number, const Tensor& tensor) {
  values_[step.first_result + number] = tensor;
  const auto cache = caches_.find(cache_of(*step.op));
  if (cache == caches_.end()) return;
  (number == 0 ? cache->second.keys : cache->second.values) = tensor;
}

bool SessionRun::files_are_intact(std::span<const Tensor> inputs) {
  const auto report_if_shortened = [&](const Tensor& tensor, const std::string& what) {
    if (!lies_in_shortened_file(tensor.bytes())) return false;
    diagnostics_.error(DiagCode::kFileShortened, schedule_.module().top()->span(),
                       fmt::format("the file of {} was shortened during the run", what));
    return true;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (report_if_shortened(inputs[i], fmt::format("input '%{}'", input_port(schedule_, i).name)))
      return false;
  }
  const Symbol parameter = state_.weights.in_shortened_file();
  if (!parameter) return true;
  diagnostics_.error(DiagCode::kFileShortened, schedule_.module().top()->span(),
                     fmt::format("the file of parameter '@{}' was shortened during the run",
                                 schedule_.module().context().text(parameter)));
  return false;
}

bool SessionRun::fail(const Step& step, const Error& error) {
  report(diagnostics_, *step.op, schedule_.calls(), step.call, error.code, error.message);
  return false;
}

const Tensor& SessionRun::value_of(SlotIndex slot) const {
  const Slot& info = schedule_.slots()[slot];
  if (info.kind == SlotKind::kConstant) return entry_.constants[slot];
  if (info.kind == SlotKind::kParameter) return state_.weights.table().at(info.value->symbol());
  return values_[slot];
}

bool SessionRun::check_input(std::size_t number, const Tensor& tensor) {
  const Port port = input_port(schedule_, number);
  const bool fits = port.type != nullptr && tensor.defined() &&
                    port.type->rank() == tensor.shape().size() &&
                    (!port.type->dtype() || *port.type->dtype() == tensor.dtype());
  if (fits) return true;
  diagnostics_.error(DiagCode::kInputMismatch, schedule_.module().top()->span(),
                     fmt::format("input {} '%{}' is {}, expected {}", number, port.name,
                                 tensor.defined() ? fmt::format("{} [{}]", name_of(tensor.dtype()),
                                                                fmt::join(tensor.shape(), ", "))
                                                  : "no tensor",
                                 port.type == nullptr ? "no tensor" : port.type->spelling()));
  return false;
}

bool SessionRun::bind_inputs(std::span<const Tensor> inputs) {
  const Span at = schedule_.module().top()->span();
  if (inputs.size() != schedule_.inputs().size()) {
    diagnostics_.error(DiagCode::kInputMissing, at,
                       fmt::format("{} inputs are given, {} takes {}", inputs.size(),
                                   schedule_.title(), schedule_.inputs().size()));
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
      const Port port = input_port(schedule_, i);
      for (std::size_t dim = 0; dim < port.type->rank(); ++dim) {
        const auto outcome =
            binder_.require(port.type->dims()[dim], inputs[i].shape()[dim],
                            fmt::format("extent {} of input {} '%{}'", dim, i, port.name));
        if (!outcome) {
          diagnostics_.error(outcome.error().code, at, outcome.error().message);
          return false;
        }
        open = open || *outcome == Binder::Outcome::kOpen;
      }
    }
    last_round = binder_.bindings().entries().size() == bound_before;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) values_[schedule_.inputs()[i]] = inputs[i];
  return true;
}

bool SessionRun::bind_caches() {
  const auto problem = bind_cache_lengths(
      schedule_, [&](Symbol cache) { return state_.cache_length(cache); }, binder_);
  return !problem || fail(*problem->first, problem->second);
}

bool SessionRun::fits_memory() {
  if (options_.memory_limit == 0) return true;
  const auto estimate = estimate_memory(schedule_, binder_.bindings());
  if (!estimate) return true;
  const std::uint64_t needed = estimate->peak() - estimate->parameters;
  if (needed <= options_.memory_limit) return true;
  diagnostics_.error(DiagCode::kLimitExceeded, schedule_.module().top()->span(),
                     fmt::format("{} needs {} bytes besides its parameters, at most {} are allowed",
                                 schedule_.title(), needed, options_.memory_limit));
  return false;
}

bool SessionRun::execute(const Step& step) {
  if (!acquire_weights(step)) return false;
  std::vector<Tensor> operands;
  for (const SlotIndex slot : schedule_.operands(step)) operands.push_back(value_of(slot));
  const EvalEnvironment environment{.parameters = &state_.weights.table(),
                                    .caches = &caches_,
                                    .dims = &binder_.bindings(),
                                    .custom = &state_.custom_ops,
                                    .quantisations = &state_.quantisations};
  const auto begin =
      options_.timed ? KernelTiming::Clock::now() : KernelTiming::Clock::time_point();
  auto results = evaluate(*step.op, operands, environment);
  if (!results) return fail(step, results.error());
  if (options_.timed) report_time(step, begin, operands, *results);
  for (std::uint32_t i = 0; i < results->size(); ++i) {
    if (!check_result(step, i, (*results)[i])) return false;
  }
  if (options_.observe) {
    const auto seen = options_.observe({schedule_, number_of(step), operands, *results});
    if (!seen) return fail(step, seen.error());
  }
  std::ranges::move(*results, values_.begin() + step.first_result);
  return true;
}

void SessionRun::report_time(const Step& step, KernelTiming::Clock::time_point begin,
                             std::span<const Tensor> operands,
                             std::span<const Tensor> results) const {
  const auto end = KernelTiming::Clock::now();
  const auto extents_of = [](std::span<const Tensor> tensors) {
    std::vector<TensorExtents> extents;
    for (const Tensor& tensor : tensors) extents.push_back({tensor.dtype(), tensor.shape()});
    return extents;
  };
  options_.timed(schedule_, {.step = number_of(step),
                             .kernel = step.op->info().mnemonic,
                             .begin = begin,
                             .end = end,
                             .work = work_of(*step.op, extents_of(operands), extents_of(results),
                                             state_.weights.table())});
}

bool SessionRun::check_result(const Step& step, std::uint32_t number, const Tensor& tensor) {
  const TensorType* declared = step.op->result(number)->tensor_type();
  const auto mismatch = [&](std::string_view why) {
    return fail(step, {DiagCode::kResultMismatch,
                       fmt::format("result {} of '{}' is {} [{}], declared is {}{}", number,
                                   step.op->info().mnemonic, name_of(tensor.dtype()),
                                   fmt::join(tensor.shape(), ", "),
                                   declared == nullptr ? "no tensor" : declared->spelling(), why)});
  };
  if (declared == nullptr || declared->rank() != tensor.shape().size() ||
      (declared->dtype() && *declared->dtype() != tensor.dtype())) {
    return mismatch("");
  }
  for (std::size_t dim = 0; dim < declared->rank(); ++dim) {
    const std::string place =
        fmt::format("extent {} of result {} of '{}'", dim, number, step.op->info().mnemonic);
    const auto outcome = binder_.require(declared->dims()[dim], tensor.shape()[dim], place);
    if (!outcome) return mismatch(fmt::format(": {}", outcome.error().message));
  }
  return true;
}

}  // namespace mir
