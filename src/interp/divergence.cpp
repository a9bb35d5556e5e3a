// Searches for the first step whose results differ from a dump or from another session.
#include "interp/divergence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "interp/session_run.hpp"
#include "interp/step_pairs.hpp"
#include "mir/codes/runs.hpp"
#include "plan/kernel_bounds.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

std::string type_text(const Tensor& tensor) {
  return fmt::format("{} [{}]", name_of(tensor.dtype()), fmt::join(tensor.shape(), ", "));
}

bool same_type(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return same_type(a, b) && (a.bytes().empty() || std::memcmp(a.bytes().data(), b.bytes().data(),
                                                              a.bytes().size()) == 0);
}

std::string words(const Comparison& comparison) {
  if (comparison.over_tolerance == 0) {
    return fmt::format("cosine {}, correlation {}, top {} agreement {} miss {}",
                       render(comparison.cosine), render(comparison.correlation),
                       comparison.top_count, render(comparison.top_agreement),
                       render(comparison.tolerance));
  }
  return fmt::format("{} of {} elements are over tolerance ({}), by up to {:.6g}",
                     comparison.over_tolerance, comparison.elements, render(comparison.tolerance),
                     comparison.max_abs_error);
}

/// Distances over their bounds in words; empty: there are none.
std::string beyond_bounds(const Tensor& expected, const Tensor& found,
                          std::span<const double> bounds) {
  std::size_t over = 0;
  double most = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double want = element_as_double(expected, static_cast<std::int64_t>(i));
    const double got = element_as_double(found, static_cast<std::int64_t>(i));
    const double distance = std::fabs(got - want);
    const bool is_close = std::isfinite(distance) && distance <= bounds[i];
    if (got == want || (got != got && want != want) || is_close) continue;
    ++over;
    most = std::max(most, bounds[i] > 0 && distance == distance
                              ? distance / bounds[i]
                              : std::numeric_limits<double>::infinity());
  }
  if (over == 0) return {};
  return fmt::format(
      "{} of {} elements are beyond the bound of the fast kernel, by up to {:.3g} "
      "times",
      over, bounds.size(), most);
}

}  // namespace

Result<void> DivergenceSearch::observe(const StepResults& step) {
  for (std::uint32_t i = 0; i < step.results.size(); ++i) {
    const auto other = other_result(step, i);
    if (!other) return other.error();
    if (!other->tensor) {
      ++counts_.without_partner;
      continue;
    }
    if (auto agrees = judge(step, i, *other); !agrees) return agrees;
  }
  leave(step);
  return {};
}

/// Returns the tolerance of the coarser one of two float types. Numbers that were computed from
/// codes may also differ by a code.
Tolerance DivergenceSearch::tolerance_of(const Tensor& mine, const Other& other) const {
  Tolerance tolerance = rules_.tolerances.of(mine.dtype());
  const DType theirs = other.tensor->dtype();
  if (rules_.tolerances.states(mine.dtype()) || !is_float(mine.dtype()) || !is_float(theirs)) {
    return tolerance;
  }
  const Tolerance coarser = rules_.tolerances.of(theirs);
  if (coarser.rel > tolerance.rel) tolerance = coarser;
  tolerance.abs = std::max(tolerance.abs, other.step);
  return tolerance;
}

Result<std::string> DivergenceSearch::compare(const StepResults& step, const Tensor& mine,
                                              const Other& other,
                                              std::optional<Comparison>& shown) {
  const Tensor& theirs = *other.tensor;
  Tolerance tolerance = tolerance_of(mine, other);
  bool is_bounded = false;
  std::string beyond;
  const bool has_equal_operands = rules_.continuation != Continuation::kOwn;
  if (has_equal_operands && same_type(mine, theirs) && !rules_.tolerances.states(mine.dtype())) {
    const auto bounds = bounds_of(step, theirs);
    if (!bounds) return bounds.error();
    is_bounded = bounds->has_value();
    if (is_bounded) beyond = beyond_bounds(theirs, mine, **bounds);
    if (is_bounded && beyond.empty() && rules_.continuation == Continuation::kUntilDifference) {
      return beyond;
    }
    if (is_bounded) tolerance = {};
  }
  auto comparison = compare_tensors(theirs, mine, tolerance);
  if (!comparison) {
    return same_type(mine, theirs)
               ? std::string("its bytes are others")
               : fmt::format("it is {}, the other {}", type_text(mine), type_text(theirs));
  }
  if (!is_bounded && !comparison->passed()) beyond = words(*comparison);
  shown = *std::move(comparison);
  return beyond;
}

Result<void> DivergenceSearch::judge(const StepResults& step, std::uint32_t number,
                                     const Other& other) {
  const Tensor& mine = step.results[number];
  const Tensor& theirs = *other.tensor;
  ComparedResult result{.run = number_,
                        .step = step.step,
                        .result = number,
                        .place = places().of(step.step, number),
                        .op = &step.op,
                        .other_op = other.op,
                        .comparison = {},
                        .difference = {}};
  const bool is_equal = same_bits(mine, theirs);
  if (!is_equal) {
    auto difference = compare(step, mine, other, result.comparison);
    if (!difference) return std::move(difference).error();
    result.difference = *std::move(difference);
  }
  const bool agrees = result.agrees();
  ++(is_equal ? counts_.equal_bits : agrees ? counts_.within_tolerance : counts_.beyond_tolerance);
  if (!agrees && !found_) found_ = result;
  if (rules_.continuation == Continuation::kUntilDifference && !agrees) {
    return Error{diag::kDiverges,
                 fmt::format("'{}' is the first op whose operands agree and whose results do not: "
                             "result {} ('{}'): {}",
                             found_->op->info().mnemonic, number, render(found_->place),
                             found_->difference)};
  }
  if (rules_.continuation != Continuation::kUntilDifference) {
    if (result.comparison) result.comparison->worst.clear();
    results_.push_back(std::move(result));
  }
  const bool is_shared =
      rules_.continuation != Continuation::kOwn && mine.shape() == theirs.shape();
  return is_shared ? share(step, number, theirs) : Result<void>();
}

namespace {

/// Returns a tensor of this type with the numbers of `tensor`; no value if the type has other
/// numbers.
std::optional<Tensor> in_type(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (!is_float(tensor.dtype()) || !is_float(dtype)) return std::nullopt;
  auto converted = convert_floats(tensor, dtype);
  return converted ? std::optional(*std::move(converted)) : std::nullopt;
}

class AgainstRecorded final : public DivergenceSearch {
 public:
  AgainstRecorded(const RecordedResults& recorded, const Session& session,
                  const ComparisonRules& rules)
      : DivergenceSearch(session, rules), recorded_(recorded) {}

  bool begin(std::size_t run, std::size_t entry, std::span<const Tensor>) override {
    set_run(run, entry);
    return true;
  }
  bool end() override { return true; }

 private:
  Result<Other> other_result(const StepResults& step, std::uint32_t number) override {
    auto found =
        recorded_.find(run(), places().of(step.step, number), places().layers(step.step, number));
    if (!found) return std::move(found).error();
    if (!*found) return Other{};
    const RecordedResult& result = **found;
    const Tensor& mine = step.results[number];
    const bool is_of_codes = result.codes.is_given() && is_float(mine.dtype());
    auto tensor = is_of_codes ? result.numbers() : Result<Tensor>(result.tensor);
    if (!tensor) return std::move(tensor).error();
    return Other{with_extents_of(mine, *std::move(tensor)), nullptr,
                 is_of_codes ? result.codes.largest() : 0};
  }
  Result<void> share(const StepResults& step, std::uint32_t number, const Tensor& theirs) override {
    if (auto tensor = in_type(theirs, step.results[number].dtype())) {
      step.results[number] = *std::move(tensor);
    }
    return {};
  }

  /// Returns the tensor with the extents of `mine` if only extents of 1 differ.
  static Tensor with_extents_of(const Tensor& mine, Tensor tensor) {
    const auto extents = [](const Tensor& of) {
      Shape shape = of.shape();
      std::erase(shape, 1);
      return shape;
    };
    if (tensor.shape() == mine.shape() || extents(tensor) != extents(mine)) return tensor;
    const auto owner = std::make_shared<Tensor>(tensor);
    auto view = Tensor::borrow(tensor.dtype(), mine.shape(), owner->bytes(), owner);
    return view ? *std::move(view) : tensor;
  }

  const RecordedResults& recorded_;
};

/// Against a session that runs at the same time.
class SessionSearch : public DivergenceSearch {
 public:
  SessionSearch(const Session& session, Session& other, std::vector<std::vector<std::size_t>> pairs,
                const ComparisonRules& rules, Diagnostics& diagnostics)
      : DivergenceSearch(session, rules),
        other_(other),
        pairs_(std::move(pairs)),
        diagnostics_(diagnostics) {}

  bool begin(std::size_t run, std::size_t entry, std::span<const Tensor> inputs) override {
    set_run(run, entry);
    options_.entry = entry;
    inputs_.assign(inputs.begin(), inputs.end());
    run_.emplace(SessionAccess::state(other_), options_, diagnostics_);
    return run_->begin(inputs_, true);
  }

  bool end() override {
    const bool good = run_->compute(schedule_of_other().steps().size()) && run_->finish();
    run_.reset();
    return good;
  }

 protected:
  Session& other() { return other_; }
  std::size_t entry() const { return options_.entry; }

 private:
  const Schedule& schedule_of_other() const {
    return SessionAccess::schedule(other_, options_.entry);
  }
  std::size_t partner_of(const StepResults& step) const {
    return pairs_[options_.entry][step.step];
  }

  Result<Other> other_result(const StepResults& step, std::uint32_t number) override {
    const std::size_t partner = partner_of(step);
    if (partner == kNoStep) return Other{};
    const Op* op = schedule_of_other().steps()[partner].op;
    if (!run_->compute(partner + 1)) {
      return Error{diag::kDiverges,
                   fmt::format("the other run fails at '{}'", op->info().mnemonic)};
    }
    auto tensor = run_->execution().result(partner, number);
    if (!tensor) return std::move(tensor).error();
    return Other{*std::move(tensor), op};
  }

  /// The other run continues with the tensor of the first one. If their types differ, both continue
  /// with the tensor of the smaller type.
  Result<void> share(const StepResults& step, std::uint32_t number, const Tensor& theirs) override {
    Tensor& mine = step.results[number];
    if (info(theirs.dtype()).unit_bytes < info(mine.dtype()).unit_bytes) {
      if (auto tensor = in_type(theirs, mine.dtype())) mine = *std::move(tensor);
      return {};
    }
    auto tensor = in_type(mine, theirs.dtype());
    if (!tensor) return {};
    return run_->execution().replace_result(partner_of(step), number, *std::move(tensor));
  }

  void leave(const StepResults& step) override {
    if (partner_of(step) != kNoStep) run_->execution().release();
  }

  Session& other_;
  std::vector<std::vector<std::size_t>> pairs_;  // by entry
  Diagnostics& diagnostics_;
  RunOptions options_;
  std::optional<SessionRun> run_;
  std::vector<Tensor> inputs_;  // of run_
};

/// Against reference kernels, within the bounds of the fast ones.
class ReferenceSearch final : public SessionSearch {
 public:
  ReferenceSearch(const Session& session, Session& reference,
                  std::vector<std::vector<std::size_t>> pairs, Activations activations,
                  const ComparisonRules& rules, Diagnostics& diagnostics)
      : SessionSearch(session, reference, std::move(pairs), rules, diagnostics),
        activations_(activations) {}

 private:
  Result<std::optional<std::vector<double>>> bounds_of(const StepResults& step,
                                                       const Tensor& theirs) override {
    const SessionAccess::State& state = SessionAccess::state(other());
    return kernel_bounds({.op = step.op,
                          .operands = step.operands,
                          .environment = {.parameters = &state.weights.table(),
                                          .dims = &state.entries[entry()].binder.bindings(),
                                          .quantisations = &state.quantisations},
                          .activations = activations_},
                         theirs);
  }

  Activations activations_;
};

/// The pairs of steps of each entry.
Result<std::vector<std::vector<std::size_t>>> pair_entries(const Session& session,
                                                           const Session& other) {
  std::vector<std::vector<std::size_t>> pairs;
  for (std::size_t entry = 0; entry < session.entry_count(); ++entry) {
    auto paired =
        pair_steps(SessionAccess::schedule(session, entry), SessionAccess::schedule(other, entry));
    if (!paired) return std::move(paired).error();
    pairs.push_back(*std::move(paired));
  }
  return pairs;
}

}  // namespace

std::unique_ptr<DivergenceSearch> search_against(const RecordedResults& recorded,
                                                 const Session& session,
                                                 const ComparisonRules& rules) {
  return std::make_unique<AgainstRecorded>(recorded, session, rules);
}

Result<std::unique_ptr<DivergenceSearch>> search_against(Session& other, const Session& session,
                                                         const ComparisonRules& rules,
                                                         Diagnostics& diagnostics) {
  auto pairs = pair_entries(session, other);
  if (!pairs) return std::move(pairs).error();
  return std::unique_ptr<DivergenceSearch>(
      std::make_unique<SessionSearch>(session, other, *std::move(pairs), rules, diagnostics));
}

Result<std::unique_ptr<DivergenceSearch>> search_beyond_bounds(Session& reference,
                                                               const Session& session,
                                                               Activations activations,
                                                               const ComparisonRules& rules,
                                                               Diagnostics& diagnostics) {
  auto pairs = pair_entries(session, reference);
  if (!pairs) return std::move(pairs).error();
  return std::unique_ptr<DivergenceSearch>(std::make_unique<ReferenceSearch>(
      session, reference, *std::move(pairs), activations, rules, diagnostics));
}

}  // namespace mir
