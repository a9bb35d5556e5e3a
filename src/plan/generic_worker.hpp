// One thread of the walk of a generic op.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eval/generic_strip.hpp"
#include "eval/generic_sums.hpp"
#include "kernels/fast/strips.hpp"
#include "plan/generic_loops.hpp"

namespace mir {

/// Op, loops and memory of a walk, for all of its threads. Everything is borrowed.
struct GenericShared {
  const Op& op;
  const GenericLoops& loops;
  std::uint32_t number = 0;
  std::span<const TensorRef> operands;
  const TensorRef& result;
  const Attr* start = nullptr;
  const EvalEnvironment& environment;
  const fast::StripKernels& kernels;
  /// Elements that have an iteration; empty if the map reaches each of them once. One thread walks
  /// all loops if it is not.
  std::vector<bool>& written;
};

/// Consecutive iterations of the innermost loop.
struct Iterations {
  std::int64_t first = 0, last = 0;
  bool is_empty() const { return first >= last; }
  std::int64_t count() const { return last - first; }
};

/// The iterations of one task: those of some outermost loops, numbered as they run, and a part of
/// the innermost loop.
struct GenericTask {
  std::size_t outer_loops = 0;
  std::int64_t outer = 0;
  Iterations inner;
};

/// Walks loops. Returns false on any error; the caller then runs the reference kernel, which
/// reports it.
class GenericWorker {
 public:
  /// Elements that are computed side by side, at most.
  static constexpr std::int64_t kWidth = 512;

  /// Returns null if memory or the region does not allow a walk.
  static std::unique_ptr<GenericWorker> create(const GenericShared& shared);

  /// Writes the start value to every element. Call once, on one worker, before any task.
  void begin() { sums_->begin(); }
  bool run(const GenericTask& task);

 private:
  enum class Way : std::uint8_t {
    kCopy,      ///< elements keep all bits
    kStore,     ///< no sums
    kProducts,  ///< sums of Float32 or of their products, side by side
    kColumns,   ///< one sum of doubles, side by side
    kSums,      ///< any sums
  };
  struct Place {
    std::int64_t at = 0, step = 0;  // in elements
  };
  using Event = eval::LoopEvent;

  GenericWorker(const GenericShared& shared, eval::GenericStrip strip);
  bool prepare();
  Way find_way() const;
  double neutral() const;

  void advance(std::size_t position, std::int64_t iterations);
  bool walk(std::size_t position, std::size_t group);
  bool walk_loops(std::size_t position, std::size_t group);
  bool walk_group(std::size_t position, std::size_t group);
  bool sum_columns(std::size_t position);
  bool walk_innermost();
  bool walk_by_element(Iterations part);
  bool add_terms(std::size_t position);
  bool holds_everywhere(std::size_t position) const;

  bool read_indices(std::int64_t inner);
  bool admit_range(Iterations& part);
  Iterations within_result(Iterations part) const;
  Iterations admitted(Iterations part, std::int64_t margin, std::int64_t step, bool is_equal) const;
  std::optional<Place> place(const GenericLoops::Access& access, Iterations part);
  bool places(const GenericLoops::Access& access, std::span<std::int64_t> out);
  std::int64_t inner_step(std::size_t form) const { return loops_.step(loops_.innermost(), form); }

  bool append(Iterations part);
  bool append_at_once(Iterations part, bool is_alone);
  bool read_indices_by_element(std::size_t count);
  bool admit_elements(std::size_t& count);
  bool gather(const GenericLoops::Access& access, Place from, std::int64_t count);
  bool gather_each(const GenericLoops::Access& access, std::span<const std::int64_t> at);
  bool copy(Place from, Place to, std::int64_t count);
  bool mark(std::int64_t at);
  bool mark(Place to, std::int64_t count);
  bool note(const Event& event);
  bool flush();
  void join(eval::StripValues values);
  bool store(eval::StripValues values);
  bool store_sums(Place to, std::int64_t count);

  const GenericShared& shared_;
  const GenericLoops& loops_;
  eval::GenericStrip strip_;
  std::unique_ptr<eval::GenericSums> sums_;
  Way way_ = Way::kSums;
  StripArithmetic::Function join_ = nullptr;  // of kColumns
  double first_ = 0;                          // of kProducts and kColumns
  std::vector<double> columns_;
  std::vector<std::int64_t> now_;     // values of forms, where the innermost loop is at 0
  std::vector<std::int64_t> values_;  // of names
  Iterations inner_;                  // of the task
  Iterations column_;                 // at hand
  std::vector<Event> events_;         // since the last strip
  std::int64_t filled_ = 0;           // iterations in the strip
  // Of elements: values of names, null for those that stand still, and places.
  std::vector<std::vector<std::int64_t>> lists_;
  std::vector<const std::int64_t*> lists_of_names_;
  std::vector<std::int64_t> at_, to_;
};

}  // namespace mir
