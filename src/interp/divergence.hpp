// The first op whose operands agree with those of another run and whose results do not.
//
// A run is compared with another one step by step. Where a result agrees, both go on with one and
// the same tensor, so every op is judged on equal operands, small errors do not add up to a finding
// elsewhere, and of two runs only the results of one step are in memory twice. That is also how
// fast kernels are compared with reference kernels: each on operands of the latter, within its own
// bound. The error of a whole run tells nothing about a kernel, because a model may magnify errors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/probe.hpp"
#include "interp/recorded.hpp"
#include "interp/session_access.hpp"
#include "interp/tolerance.hpp"
#include "mir/weights.hpp"

namespace mir {

/// How a comparison continues.
enum class Continuation : std::uint8_t {
  kUntilDifference,  ///< a result that does not agree ends the run
  kShared,  ///< to the end; both runs continue with one tensor, so each op has equal operands
  kOwn,     ///< to the end; each run continues with its own results, so errors accumulate
};

struct ComparisonRules {
  TolerancePolicy tolerances = {};
  Continuation continuation = Continuation::kUntilDifference;
};

/// A result and that of the other run.
struct ComparedResult {
  std::size_t run = 0;
  std::size_t step = 0;
  std::uint32_t result = 0;
  ResultPlace place;
  const Op* op = nullptr;
  const Op* other_op = nullptr;          ///< null for recorded results
  std::optional<Comparison> comparison;  ///< none: the same bits, or types or extents differ
  std::string difference;                ///< in words; empty if they agree

  bool agrees() const { return difference.empty(); }
};

/// Numbers of results compared so far.
struct AgreementCounts {
  std::size_t equal_bits = 0;
  std::size_t within_tolerance = 0;
  std::size_t beyond_tolerance = 0;
  std::size_t without_partner = 0;  ///< results that the other run does not have
};

/// Compares runs of a session with others. Use `observe` as RunOptions::observe. Unless the
/// comparison continues to the end, a result that does not agree ends the run with kDiverges.
class DivergenceSearch {
 public:
  virtual ~DivergenceSearch() = default;

  /// Before run `run` of `entry` with these inputs. False after reporting.
  virtual bool begin(std::size_t run, std::size_t entry, std::span<const Tensor> inputs) = 0;
  Result<void> observe(const StepResults& step);
  /// After a run that succeeded. False after reporting.
  virtual bool end() = 0;

  /// The first result that does not agree.
  const std::optional<ComparedResult>& found() const { return found_; }
  const AgreementCounts& counts() const { return counts_; }
  /// All compared results in the order of the runs, without their worst elements; none if the
  /// comparison ends at the first difference.
  const std::vector<ComparedResult>& results() const { return results_; }

 protected:
  /// `session` is the one whose steps are observed.
  DivergenceSearch(const Session& session, const ComparisonRules& rules)
      : session_(session), rules_(rules) {}
  /// Result `number` of the other run's step; no tensor if the run has no such step. `op` is null
  /// if the other run has no op. `step` is the distance of neighbouring numbers if the tensor was
  /// computed from codes, otherwise 0.
  struct Other {
    std::optional<Tensor> tensor;
    const Op* op = nullptr;
    double step = 0;
  };
  virtual Result<Other> other_result(const StepResults& step, std::uint32_t number) = 0;
  /// Both runs continue with one tensor: `theirs`, or that of the first run. Both have the same
  /// extents. Without effect if neither tensor can have the type of the other.
  virtual Result<void> share(const StepResults& step, std::uint32_t number,
                             const Tensor& theirs) = 0;
  /// Returns bounds of the difference of each element, if tighter ones than those of the element
  /// type are known; see kernel_bounds.
  virtual Result<std::optional<std::vector<double>>> bounds_of(const StepResults&, const Tensor&) {
    return std::optional<std::vector<double>>();
  }
  /// After all results of a step.
  virtual void leave(const StepResults&) {}
  void set_run(std::size_t run, std::size_t entry) {
    number_ = run;
    entry_ = entry;
    places_.emplace(schedule());
  }
  const ResultPlaces& places() const { return *places_; }
  std::size_t run() const { return number_; }
  const Schedule& schedule() const { return SessionAccess::schedule(session_, entry_); }

 private:
  Result<void> judge(const StepResults& step, std::uint32_t number, const Other& other);
  /// Returns the difference in words; empty if the result is within its bounds or the tolerance of
  /// its type. `shown` gets the comparison, if the tensors can be compared.
  Result<std::string> compare(const StepResults& step, const Tensor& mine, const Other& other,
                              std::optional<Comparison>& shown);
  Tolerance tolerance_of(const Tensor& mine, const Other& other) const;

  const Session& session_;
  ComparisonRules rules_;
  std::size_t number_ = 0;
  std::size_t entry_ = 0;
  std::optional<ResultPlaces> places_;  // of the run
  AgreementCounts counts_;
  std::optional<ComparedResult> found_;
  std::vector<ComparedResult> results_;
};

/// Searches against recorded results, by their places or layers. The run continues with the
/// recorded tensors, unless each run continues with its own.
std::unique_ptr<DivergenceSearch> search_against(const RecordedResults& recorded,
                                                 const Session& session,
                                                 const ComparisonRules& rules);

/// Searches against another session with the same entries, which runs at the same time. Both
/// sessions' modules must be in one context. Refused if the schedules differ too much to pair their
/// steps.
Result<std::unique_ptr<DivergenceSearch>> search_against(Session& other, const Session& session,
                                                         const ComparisonRules& rules,
                                                         Diagnostics& diagnostics);

/// Against `reference`, a session with reference kernels on the same module: `session`, whose fast
/// kernels take `activations`, must be within the bounds of its kernels wherever `rules` state
/// nothing for the element type.
Result<std::unique_ptr<DivergenceSearch>> search_beyond_bounds(Session& reference,
                                                               const Session& session,
                                                               Activations activations,
                                                               const ComparisonRules& rules,
                                                               Diagnostics& diagnostics);

}  // namespace mir
