// Joins what the region of a generic op computes to the elements of a result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dialects/generic_form.hpp"
#include "eval/generic_strip.hpp"
#include "mir/tensor.hpp"

namespace mir::eval {

/// One event in the order in which the loops run. Groups are consecutive summed loops of one
/// kind of sum, the outermost first. Each has an accumulator for each of `count` elements of the
/// result that are computed side by side.
struct LoopEvent {
  enum class Kind : std::uint8_t {
    kOpen,      ///< a group begins, for `count` elements; the first one at a place in the result
    kJoin,      ///< iterations of the innermost group, all for the only element
    kJoinEach,  ///< one iteration of the innermost group for each element from `at` on
    kClose,     ///< a group is done: it joins the one around it, the first one is stored
    kStore,     ///< iterations of a result without sums: each is an element
  };
  Kind kind = Kind::kJoin;
  std::size_t group = 0;
  std::int64_t at = 0, step = 0;  ///< the place in the result, of kOpen and kStore
  std::int64_t count = 1;         ///< of iterations, or of elements
};

/// Not thread-safe; borrows the result.
class GenericSums {
 public:
  virtual ~GenericSums() = default;
  /// Writes the start of each element, if there is one.
  virtual void begin() = 0;
  /// Takes events, whose iterations have these values.
  virtual Result<void> take(StripValues values, std::span<const LoopEvent> events) = 0;
};

/// The memory of a result in row-major order.
struct ResultMemory {
  DType dtype = DType::kFloat32;
  std::byte* data = nullptr;
  std::int64_t elements = 0;
};

/// `computed`: the type of what the region computes. Up to `width` elements are side by side.
Result<std::unique_ptr<GenericSums>> make_generic_sums(std::span<const SumKind> groups,
                                                       std::int64_t width, const Attr* start,
                                                       DType computed, const ResultMemory& result);
/// `start` of a result as a number of the type that the region computes. An undefined tensor if it
/// is null.
Result<Tensor> start_number(const Attr* start, DType computed);

}  // namespace mir::eval
