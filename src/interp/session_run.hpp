// One run of a session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "eval/evaluate.hpp"
#include "interp/session_access.hpp"
#include "interp/weight_store.hpp"
#include "plan/binder.hpp"
#include "plan/plan_execution.hpp"
#include "plan/run_symbols.hpp"

namespace mir {

struct Session::State {
  struct Entry {
    Schedule schedule;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::vector<Tensor> constants;  ///< by value of the schedule; undefined for others
    RunSymbols symbols;             ///< including the symbols that caches bind
    Binder binder;                  ///< of the current run; kept for its memory
    std::optional<ExecutionPlan> plan = std::nullopt;
    std::optional<ExecutionPlan> stepwise_plan = std::nullopt;  ///< see plan_of()
  };

  State(std::shared_ptr<WeightPool> pool, const SessionOptions& options);

  std::vector<Entry> entries;
  WeightStore weights;
  CacheStore caches;
  CustomOps custom_ops;
  QuantisationTable quantisations;
  // Options that the plans of all entries share.
  PlanOptions plan_options;
  std::unordered_set<Symbol> only_packed;  ///< weights that nothing but fast products read
  PackedWeights packed;
  std::unique_ptr<fast::Context> context;

  /// Plans of all entries.
  void make_plans(const SessionOptions& options, Diagnostics& diagnostics);
  /// Returns the plan that fits a run. A plan for single steps has results for all of them.
  ExecutionPlan& plan_of(Entry& entry, bool is_stepwise);

 private:
  ExecutionPlan make_plan(const Entry& entry, bool fuses);
  /// Weights that are not made before the plans, which make those that they need.
  struct LateWeights {
    /// Read by nothing but products, and tables that stay as their file has them: where they can be
    /// packed, their packed form is all that runs need.
    std::unordered_set<Symbol> only_packed;
    std::unordered_set<Symbol> all;  ///< with tables that no product reads
  };
  LateWeights find_late_weights() const;
  void make_packed_plans(const SessionOptions& options, Diagnostics& diagnostics);
  void write_packed_cache(const SessionOptions& options, Diagnostics& diagnostics);
};

class SessionRun {
 public:
  SessionRun(SessionAccess::State& state, const RunOptions& options, Diagnostics& diagnostics);
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs);

  // The parts of run(), for a caller that goes from step to step; each is false after reporting.

  /// Inputs must outlive the run.
  bool begin(std::span<const Tensor> inputs, bool is_stepwise);
  /// Computes the steps before number `end` that were not computed yet.
  bool compute(std::size_t end);
  /// Execution of a run that began.
  PlanExecution& execution() { return *execution_; }
  std::optional<std::vector<Tensor>> finish();

 private:
  bool bind_inputs(std::span<const Tensor> inputs);
  bool check_input(std::size_t number, const Tensor& tensor);
  bool bind_symbols();
  Result<void> fits_memory(const ExecutionPlan& plan);
  Result<void> expect_memory(std::uint64_t values) const;
  bool files_are_intact();
  PlanRun plan_run(std::span<const Tensor> inputs);
  void report_failure(const PlanFailure& failure);
  void report_failure(const Step& step, const Error& error);
  Span top() const;

  SessionAccess::State& state_;
  SessionAccess::State::Entry& entry_;
  const Schedule& schedule_;
  const RunOptions& options_;
  Diagnostics& diagnostics_;
  Binder& binder_;
  std::uint64_t iterations_left_ = 0;  // of loops, if they are limited
  std::vector<RegionStep> failed_in_regions_;
  std::uint64_t other_bytes_ = 0;  // that count for a limit of memory, besides values
  PlanRun run_;
  std::optional<PlanExecution> execution_;
};

}  // namespace mir
