// When the extents of values become known.
//
// Most are known before a run computes anything: by its inputs and its caches. Data decides others,
// such as the number of rows that a mask selects: they are known as soon as a step has computed a
// result whose type has their symbol. A run has a phase for each such step: values of phase 0 get
// their places before it, those of a later phase when the step that begins the phase is done.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/run_symbols.hpp"
#include "plan/schedule.hpp"

namespace mir {

class Phases {
 public:
  Phases(const Schedule& schedule, const RunSymbols& symbols);

  /// Returns the phase in which all extents of a value are known, at the latest the phase that the
  /// step that makes it begins. No value if they are not known then, or if the value is not a
  /// tensor.
  std::optional<std::uint16_t> of(ValueIndex value) const { return phases_[value]; }
  /// The steps that begin phases 1, 2, ..., in order.
  std::span<const std::size_t> steps() const { return steps_; }
  bool is_begun_by(std::size_t step) const;

 private:
  class Finder;

  std::vector<std::optional<std::uint16_t>> phases_;
  std::vector<std::size_t> steps_;
};

}  // namespace mir
