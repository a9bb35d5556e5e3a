// Fast kernels of ops in plans: one row for each op that has one.
//
// Everything that plans, comparisons of kernel sets and listings know of the fast kernel
// of an op follows from its row. An op without a row is computed by its reference kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "eval/evaluate.hpp"
#include "kernels/fast/compare.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/reduction.hpp"
#include "plan/kernel_bounds.hpp"
#include "plan/plan_node.hpp"

namespace mir {

class PlanBuilder;
struct FastOp;

/// Admitted memory layouts of an operand.
enum class OperandOrder : std::uint8_t {
  kRowMajor,
  kRows,     ///< those of the last dimension are adjacent; other strides are arbitrary
  kStrided,  ///< any strides
};

/// Operand orders that a node accepts.
struct OperandOrders {
  OperandOrder first = OperandOrder::kRowMajor;
  OperandOrder others = OperandOrder::kRowMajor;

  constexpr OperandOrder of(std::size_t operand) const { return operand == 0 ? first : others; }
};

/// Element types of one operand, result or parameter.
struct ElementTypes {
  bool (*has)(DType) = nullptr;  ///< null: as the operand or result before it
  bool as_result = false;        ///< must equal the type of result 0
};

/// Element types that the fast kernel of an op accepts.
struct AdmittedTypes {
  ElementTypes operands[4];
  ElementTypes results[2];
  /// Condition on several types at once, or null.
  bool (*together)(const Op& op) = nullptr;
  // Types of parameters that the op owns.
  ElementTypes weight = {};
  ElementTypes bias = {};
};

/// Number of dimensions along which a convolution slides.
struct SpatialRank {
  std::size_t value = 0;
};

/// The function of an op whose kernel computes several; kernels of one op need none.
using FastFunction = std::variant<std::monostate, fast::Unary, fast::Binary, fast::Comparison,
                                  fast::Logical, fast::Reduction, SpatialRank>;

/// A step whose op has a row that admits it. Operands lie in the row's orders.
struct FastStep : PlannedStep {
  const FastOp& row;
  const ParameterTable& parameters;
};

/// The fast kernel of one op: its maker, the steps that it accepts, its error bound.
/// Exactly one of `make` and `build` is set.
struct FastOp {
  OpId op = OpId::kNone;
  /// Returns the node of a step.
  std::unique_ptr<PlanNode> (*make)(const FastStep& step) = nullptr;
  /// Adds the nodes or the view of a step to the plan. Returns false, and adds nothing, if the step
  /// needs the reference kernel.
  bool (PlanBuilder::*build)(std::size_t step) = nullptr;
  /// Like `build`, for a step that computes on codes. Null if such steps need the reference kernel.
  bool (PlanBuilder::*build_on_codes)(std::size_t step) = nullptr;
  FastFunction function = {};
  AdmittedTypes types = {};
  /// Condition on attributes and extents, or null.
  bool (*accepts)(const Op& op) = nullptr;
  OperandOrders orders = {};
  ErrorBound bound = {};
  /// True if the node finds out extents of its results: only then may its step begin a phase.
  bool decides_extents = false;

  /// True if the kernel takes an op of these operands, results and attributes. Arity is that of the
  /// op's row; nothing is assumed about a module that was not verified.
  bool admits(const Op& op) const;
  /// True if the op owns no parameter of this suffix, or the table has it with an admitted type.
  bool admits_parameter(const Op& op, std::string_view suffix,
                        const ParameterTable& parameters) const;
  /// True if admits_parameter() holds for every parameter that the op owns.
  bool admits_parameters(const Op& op, const ParameterTable& parameters) const;
};

/// All rows, in the order of OpId.
std::span<const FastOp> fast_ops();
/// Returns the row of an op, or null. An op that is declared at run time with Trait::kSameBytes
/// shares the row of a view.
const FastOp* find_fast_op(const Op& op);

/// True if an op has a row. Plans use its fast kernel for the steps that the row admits.
bool has_fast_node(OpId op);
/// The function that an op applies to each element; no value for other ops.
std::optional<fast::Unary> unary_of(const Op& op);

}  // namespace mir
