// Times of kernel calls by kernel and by step, next to the machine's limits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/probe.hpp"
#include "kernels/fast/limits.hpp"
#include "mir/session.hpp"
#include "plan/execution_plan.hpp"

namespace mir {

class Profile {
 public:
  /// Kernel calls of one kind. Times are in seconds.
  struct Row {
    std::string kernel;
    std::uint64_t calls = 0;
    double seconds = 0;
    Work work;
  };
  /// The calls of one step in all runs of a phase.
  struct StepRow {
    Row row;
    std::string place;  ///< "@main%12", of the step's first result; empty when it has none
  };
  /// Figures of the plan of a phase, as of its last run.
  struct PlanRow {
    std::uint64_t planned_bytes = 0;
    std::uint64_t lower_bound = 0;
    FoldedNodes folded;
  };
  /// Runs that do the same: the first one, or those of one --then.
  struct Phase {
    std::string title;
    std::uint64_t runs = 0;
    double seconds = 0;  ///< of the runs, kernels or not
    std::vector<StepRow> steps;
    std::optional<PlanRow> plan = {};  ///< none with reference kernels

    std::vector<Row> kernels() const;  ///< most time first
    Row total() const;
  };
  /// Memory of the process, in bytes; pages of mapped files count where they are in memory.
  struct Memory {
    SessionMemory session;            ///< after the last run
    std::uint64_t values = 0;         ///< planned, of the phase that needs most
    std::uint64_t most_planning = 0;  ///< until plans are made and weights are packed
    std::uint64_t after_planning = 0;
    std::uint64_t most_running = 0;

    /// Memory of runs besides weights, values and caches, each counted once; negative if some of
    /// them were not touched.
    std::int64_t rest() const {
      return static_cast<std::int64_t>(most_running) -
             static_cast<std::int64_t>(session.parameters + values + session.caches);
    }
  };
  struct Event {
    std::uint32_t phase = 0;
    std::uint32_t step = 0;  ///< index into the phase's steps
    KernelTiming::Clock::time_point begin;
    KernelTiming::Clock::time_point end;
  };
  /// Limit of events that are kept. Further ones are only counted.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 20;

  /// `keeps_events`: each call on its own too, for to_trace().
  explicit Profile(bool keeps_events) : keeps_events_(keeps_events) {}

  /// Runs that follow belong to a phase of this title.
  void begin_phase(std::string title);
  /// `plan`: what the run was run by.
  void end_run(double seconds, const ExecutionPlan& plan);
  /// Adds a kernel call. The schedule of `timing` must live as long as calls are added to the
  /// phase.
  void add(const KernelTiming& timing);
  /// `values` is the profile's to set.
  void set_memory(const Memory& memory);
  const std::optional<Memory>& memory() const { return memory_; }

  std::span<const Phase> phases() const { return phases_; }
  std::span<const Event> events() const { return events_; }
  std::uint64_t dropped_events() const { return dropped_; }

 private:
  std::uint32_t step_row(const KernelTiming& timing);

  bool keeps_events_;
  std::vector<Phase> phases_;
  using RowKey = std::tuple<const Schedule*, std::size_t, std::string_view>;  // step and kernel
  // Both belong to the last phase.
  std::map<RowKey, std::uint32_t> rows_;
  std::map<const Schedule*, ResultPlaces> places_;
  std::vector<Event> events_;
  std::optional<Memory> memory_;
  std::uint64_t dropped_ = 0;
};

/// The limit that bounds a kernel: the one of the two at which its work would take longer.
struct Roofline {
  double share = 0;           ///< time at that limit over the time taken
  std::string_view bound_by;  ///< "compute", "memory", or "-" when there is no work
};
Roofline roofline(const Profile::Row& row, const fast::MachineLimits& limits);

/// A table for each phase, most time first.
std::string render(const Profile& profile, const fast::MachineLimits& limits);
/// One object: limits, phases with kernels and steps.
std::string to_json(const Profile& profile, const fast::MachineLimits& limits);
/// One line for each phase and step.
std::string to_csv(const Profile& profile);
/// Events as Chrome's trace viewer and Perfetto read them, in microseconds from the first one.
std::string to_trace(const Profile& profile);

}  // namespace mir
