// The first op whose operands agree with those of another run and whose results do not.
//
// A run is compared with another one step by step. Where a result agrees, both go on with one and
// the same tensor, so every op is judged on equal operands, small errors do not add up to a finding
// elsewhere, and of two runs only the results of one step are in memory twice. That is also how
// fast kernels are compared with reference kernels: each on operands of the latter, within its own
// bound. The error of a whole run tells nothing about a kernel, because a model may magnify errors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/dump.hpp"
#include "interp/probe.hpp"
#include "interp/session_access.hpp"
#include "interp/tolerance.hpp"
#include "mir/weights.hpp"

namespace mir {

struct Divergence {
  std::size_t run = 0;
  std::size_t step = 0;
  std::uint32_t result = 0;
  ResultPlace place;
  const Op* op = nullptr;
  const Op* other_op = nullptr;          ///< null for a dump
  std::optional<Comparison> comparison;  ///< none: types or extents differ
  std::string reason;                    ///< in words
};

/// Numbers of results compared so far.
struct AgreementCounts {
  std::size_t equal_bits = 0;
  std::size_t within_tolerance = 0;
  std::size_t without_partner = 0;  ///< results that the other run does not have
};

/// Compares runs of a session with others. Use `observe` as RunOptions::observe: if a result does
/// not agree, it ends the run with kDiverges, and `found` describes the difference.
class DivergenceSearch {
 public:
  virtual ~DivergenceSearch() = default;

  /// Before run `run` of `entry` with these inputs. False after reporting.
  virtual bool begin(std::size_t run, std::size_t entry, std::span<const Tensor> inputs) = 0;
  Result<void> observe(const StepResults& step);
  /// After a run that succeeded. False after reporting.
  virtual bool end() = 0;

  const std::optional<Divergence>& found() const { return found_; }
  const AgreementCounts& counts() const { return counts_; }

 protected:
  /// `session` is the one whose steps are observed.
  DivergenceSearch(const Session& session, const TolerancePolicy& policy)
      : session_(session), policy_(policy) {}
  /// Result `number` of the other run's step; no tensor if the run has no such step. `op` is null
  /// if the other run has no op.
  struct Other {
    std::optional<Tensor> tensor;
    const Op* op = nullptr;
  };
  virtual Result<Other> other_result(const StepResults& step, std::uint32_t number) = 0;
  /// Both runs go on with `agreed`, which the first run has.
  virtual Result<void> agree(const StepResults& step, std::uint32_t number,
                             const Tensor& agreed) = 0;
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
  }
  std::size_t run() const { return number_; }
  const Schedule& schedule() const { return SessionAccess::schedule(session_, entry_); }

 private:
  Result<void> judge(const StepResults& step, std::uint32_t number, const Other& other);
  /// Returns the difference in words; empty if the result is within its bounds or the tolerance of
  /// its type.
  Result<std::string> compare(const StepResults& step, const Tensor& mine, const Tensor& theirs,
                              std::optional<Comparison>& shown);

  const Session& session_;
  TolerancePolicy policy_;
  std::size_t number_ = 0;
  std::size_t entry_ = 0;
  AgreementCounts counts_;
  std::optional<Divergence> found_;
};

/// Searches against the results of a dump, by their places. The run continues with the dump's
/// tensors where they agree.
std::unique_ptr<DivergenceSearch> search_against(const DumpFolder& dump, const Session& session,
                                                 const TolerancePolicy& policy);

/// Searches against another session with the same entries, which runs at the same time. Both
/// sessions' modules must be in one context. Refused if the schedules differ too much to pair their
/// steps.
Result<std::unique_ptr<DivergenceSearch>> search_against(Session& other, const Session& session,
                                                         const TolerancePolicy& policy,
                                                         Diagnostics& diagnostics);

/// Against `reference`, a session with reference kernels on the same module: `session`, whose fast
/// kernels take `activations`, must be within the bounds of its kernels wherever `policy` states
/// nothing for the element type.
Result<std::unique_ptr<DivergenceSearch>> search_beyond_bounds(Session& reference,
                                                               const Session& session,
                                                               Activations activations,
                                                               const TolerancePolicy& policy,
                                                               Diagnostics& diagnostics);

}  // namespace mir
