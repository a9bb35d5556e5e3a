// A generic op with numbers for all extents, ready to be walked by several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dialects/generic_form.hpp"
#include "extents/compiled_extent.hpp"
#include "kernels/fast/chunks.hpp"
#include "plan/frame.hpp"

namespace mir {

/// Loops of a generic op for one of its results, in the order in which they run: loops of the
/// result, summed loops, and perhaps one more loop of the result, whose elements are computed side
/// by side.
///
/// Offsets, indices and margins are affine expressions of the loops where possible. The value of
/// such an expression changes by a fixed step from one iteration of a loop to the next, so a walk
/// adds steps instead of evaluating maps. A `form` is the number of an affine expression.
struct GenericLoops {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// An index that is no affine expression: with quotients, maxima or indices that data decides.
  struct Rest {
    CompiledExtent index;
    std::int64_t stride = 0;  ///< in elements
    std::int64_t extent = 0;
  };
  /// An affine expression that must be at least 0 and less than `extent`, which is not proved.
  struct Check {
    std::size_t form = 0;
    std::int64_t extent = 0;
  };
  /// Where the element of a tensor lies for an iteration.
  struct Access {
    std::size_t tensor = 0;  ///< number of the operand or result
    std::size_t offset = 0;  ///< affine expression, in elements
    std::vector<Rest> rest;
    std::vector<Check> checks;
  };
  struct FormCondition {
    std::size_t form = 0;
    bool is_equal = false;  ///< otherwise at least 0
  };
  struct Condition {
    CompiledExtent margin;
    bool is_equal = false;
  };

  /// Numbers of loops. If there is none, `name_count`, for a loop of one iteration.
  std::vector<std::size_t> order;
  std::vector<std::int64_t> extents;  ///< by position in the order
  std::size_t name_count = 0;         ///< of loops and indices that data decides
  std::size_t loop_count = 0;
  std::vector<SumKind> groups;
  std::vector<std::size_t> group_starts;  ///< positions
  bool has_column = false;                ///< the innermost loop is one of the result
  bool is_by_element = false;             ///< some index is not affine in the innermost loop

  std::vector<std::int64_t> first;  ///< values of affine expressions, with all loops at 0
  std::vector<std::int64_t> steps;  ///< by position, then by affine expression

  std::vector<Access> operands;  ///< those whose numbers are needed
  std::vector<Access> indices;   ///< in the order of the names after those of the loops
  Access result;
  std::vector<FormCondition> form_conditions;  ///< Conditions that are not proved to hold.
  std::vector<Condition> conditions;           ///< not affine
  /// Affine expressions that are below 0 for elements beyond the end of a result of sums.
  std::vector<std::size_t> ends;
  bool counts_once = false;  ///< the map reaches each element exactly once

  std::size_t form_count() const { return first.size(); }
  std::size_t innermost() const { return order.size() - 1; }
  std::int64_t step(std::size_t position, std::size_t form) const {
    return steps[position * form_count() + form];
  }
  /// True if all indices are affine and proved to be in range, and there are no conditions.
  bool is_plain() const;
};

/// Memory of operands and of one result as the loops address it.
struct GenericTensors {
  std::span<const TensorRef> operands;
  const TensorRef& result;
  std::span<const bool> needs;  ///< operands whose numbers the result depends on
  /// True if what is summed is an operand or the product of two of them, of Float32.
  bool has_products = false;
};

/// Returns no value if an extent is not known, or if the loops exceed what a walk can count: the
/// reference kernel finds out what is wrong.
std::optional<GenericLoops> compile_generic(const GenericForm& form, std::size_t result,
                                            const GenericTensors& tensors, DimTable& dims,
                                            const DimBindings* bindings);

}  // namespace mir
