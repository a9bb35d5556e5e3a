// One run of a session.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "eval/evaluate.hpp"
#include "interp/binder.hpp"
#include "interp/session_access.hpp"
#include "interp/weight_store.hpp"

namespace mir {

/// The first step on a cache whose length is a symbol, or an extent of several.
struct CacheLength {
  std::size_t step = 0;
  Symbol cache;
  Dim past;
};
std::vector<CacheLength> find_cache_lengths(const Schedule& schedule);

struct Session::State {
  struct Entry {
    Schedule schedule;
    ParameterUses uses;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::vector<Tensor> constants;           ///< by slot; undefined for slots of other kinds
    std::vector<CacheLength> cache_lengths;  ///< what caches bind
    Binder binder;                           ///< of the run at hand; kept for its memory
    std::optional<ExecutionPlan> plan = std::nullopt;
    std::optional<ExecutionPlan> observed_plan =
        std::nullopt;  ///< without fusion; made when needed
  };

  /// What the plans of all entries share.
  struct Fast {
    Fusion fusion = Fusion::kAll;
    Activations activations = Activations::kFloat32;
    PackedWeights weights;
    CacheStore caches;
    std::unique_ptr<fast::Context> context;
    std::unordered_set<Symbol> only_packed;  ///< weights that nothing but products read
  };

  explicit State(std::shared_ptr<WeightPool> pool) : weights(std::move(pool)) {}

  std::vector<Entry> entries;
  WeightStore weights;
  CacheTable caches;
  CustomOps custom_ops;
  QuantisationTable quantisations;
  std::unique_ptr<Fast> fast;  ///< null: reference kernels
  std::string plan_refusal;

  std::int64_t cache_length(Symbol cache) const;
  /// Binds the symbols of `past` from the caches: `past` of the first step on each cache is the
  /// number of tokens that it holds. The step and the contradiction where one does not fit.
  std::optional<std::pair<const Step*, Error>> bind_cache_lengths(const Entry& entry,
                                                                  Binder& binder) const;
  Result<ExecutionPlan> make_plan(const Entry& entry, Fusion fusion);
  /// Weights that nothing but products read: where they can be packed, their packed form is all
  /// that runs need.
  std::unordered_set<Symbol> find_only_packed() const;
  /// Plans of all entries, or none and why.
  void make_plans(const SessionOptions& options, Diagnostics& diagnostics);
  /// Opens it for the plans that are made next; false after reporting that it is something else.
  bool open_packed_cache(const SessionOptions& options, Diagnostics& diagnostics);
  void write_packed_cache(const SessionOptions& options, Diagnostics& diagnostics);
};

class SessionRun {
 public:
  SessionRun(SessionAccess::State& state, const RunOptions& options, Diagnostics& diagnostics);
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;
  ~SessionRun();

  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs);

  // The parts of run(), for a caller that goes from step to step.
  bool begin(std::span<const Tensor> inputs);
  bool execute(const Step& step);
  /// Behind execute(): what the step read last.
  void release(const Step& step);
  std::vector<Tensor> finish();

  /// Results of a step that was executed. A cache that the step wrote holds what is put here.
  const Tensor& result(const Step& step, std::uint32_t number) const;
  void replace_result(const Step& step, std::uint32_t number, const Tensor& tensor);

 private:
  bool bind_inputs(std::span<const Tensor> inputs);
  bool check_input(std::size_t number, const Tensor& tensor);
  bool bind_caches();
  std::optional<std::vector<Tensor>> run_plan(std::span<const Tensor> inputs);
  ExecutionPlan* plan_to_run();
  bool fits_memory();
  bool files_are_intact(std::span<const Tensor> inputs);
  void report_time(const Step& step, KernelTiming::Clock::time_point begin,
                   std::span<const Tensor> operands, std::span<const Tensor> results) const;
  bool acquire_weights(const Step& step);
  void release_weights();
  std::size_t number_of(const Step& step) const {
    return static_cast<std::size_t>(&step - schedule_.steps().data());
  }
  bool check_result(const Step& step, std::uint32_t number, const Tensor& tensor);
  const Tensor& value_of(SlotIndex slot) const;
  bool fail(const Step& step, const Error& error);

  SessionAccess::State& state_;
  SessionAccess::State::Entry& entry_;
  const Schedule& schedule_;
  const RunOptions& options_;
  Diagnostics& diagnostics_;
  Binder& binder_;
  CacheTable caches_;  // replaces the session's when the run succeeds
  std::vector<Tensor> values_;
  std::optional<std::size_t> acquired_;  // the step whose parameters are there
  bool has_outputs_ = false;             // parameters that are outputs are there
};

}  // namespace mir
