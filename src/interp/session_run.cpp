#include "interp/session_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "plan/memory.hpp"
#include "plan/report.hpp"
#include "plan/work.hpp"
#include "support/mapping_guard.hpp"

namespace mir {

std::vector<CacheLength> find_cache_lengths(const Schedule& schedule) {
  std::vector<CacheLength> lengths;
  std::unordered_set<Symbol> seen;
  for (std::size_t step = 0; step < schedule.steps().size(); ++step) {
    const Op& op = *schedule.steps()[step].op;
    const Symbol cache = cache_of(op);
    if (!cache || !seen.insert(cache).second) continue;
    const Attr* past = op.attribute("past");
    if (past == nullptr || past->kind() != AttrKind::kDim) continue;
    lengths.push_back({.step = step, .cache = cache, .past = past->dim()});
  }
  return lengths;
}

std::optional<std::pair<const Step*, Error>> SessionAccess::State::bind_cache_lengths(
    const Entry& entry, Binder& binder) const {
  const IRContext& context = entry.schedule.module().context();
  for (const CacheLength& length : entry.cache_lengths) {
    const auto outcome =
        binder.require(length.past, cache_length(length.cache),
                       {.kind = DimPlace::Kind::kCache, .name = context.text(length.cache)});
    if (!outcome) return std::pair(&entry.schedule.steps()[length.step], outcome.error());
  }
  return std::nullopt;
}

SessionRun::SessionRun(SessionAccess::State& state, const RunOptions& options,
                       Diagnostics& diagnostics)
    : state_(state),
      entry_(state.entries[options.entry]),
      schedule_(entry_.schedule),
      options_(options),
      diagnostics_(diagnostics),
      binder_(entry_.binder),
      caches_(state.caches),
      values_(state.fast == nullptr ? schedule_.slots().size() : 0) {
  binder_.restart(options.dims);
}

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
  const auto report_shortened = [&](const std::string& what) {
    diagnostics_.error(DiagCode::kFileShortened, schedule_.module().top()->span(),
                       fmt::format("the file of {} was shortened during the run", what));
    return false;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!lies_in_shortened_file(inputs[i].bytes())) continue;
    return report_shortened(fmt::format("input '%{}'", entry_.inputs[i].name));
  }
  if (state_.fast != nullptr && lies_in_shortened_file(state_.fast->weights.cache_mapping())) {
    return report_shortened("packed weights");
  }
  const Symbol parameter = state_.weights.in_shortened_file();
  if (!parameter) return true;
  return report_shortened(
      fmt::format("parameter '@{}'", schedule_.module().context().text(parameter)));
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
  const TensorType* type = schedule_.entry().arguments()[number].tensor_type();
  const bool fits = type != nullptr && tensor.defined() && type->rank() == tensor.shape().size() &&
                    (!type->dtype() || *type->dtype() == tensor.dtype());
  if (fits) return true;
  const Port& port = entry_.inputs[number];
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
      const Value& input = schedule_.entry().arguments()[i];
      const auto dims = input.tensor_type()->dims();
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
  // A plan reads them where the caller has them.
  for (std::size_t i = 0; i < inputs.size() && state_.fast == nullptr; ++i) {
    values_[schedule_.inputs()[i]] = inputs[i];
  }
  return true;
}

bool SessionRun::bind_caches() {
  const auto problem = state_.bind_cache_lengths(entry_, binder_);
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
    const auto seen = options_.observe({number_of(step), *step.op, operands, *results});
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
  options_.timed({.step = number_of(step),
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
    const auto outcome = binder_.require(declared->dims()[dim], tensor.shape()[dim],
                                         {.kind = DimPlace::Kind::kResult,
                                          .dim = dim,
                                          .number = number,
                                          .name = step.op->info().mnemonic});
    if (!outcome) return mismatch(fmt::format(": {}", outcome.error().message));
  }
  return true;
}

}  // namespace mir
