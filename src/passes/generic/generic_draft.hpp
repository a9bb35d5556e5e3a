// Builds linalg.GenericOp: loops with symbols of their own, maps, sums, a region.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir {

/// A generic op with one result, before it is created.
class GenericDraft {
 public:
  /// The new op has the device and the path of `op`.
  GenericDraft(Rewriter& rewriter, const Op& op);
  /// The new op has no path.
  GenericDraft(Rewriter& rewriter, Symbol device);

  /// Adds a loop inside those before it. Returns its symbol.
  Dim add_loop(Dim extent);
  /// Adds a loop for each extent.
  std::vector<Dim> add_loops(std::span<const Dim> extents);
  /// Adds a loop whose iterations are joined by `sum`: "add", "max", ...
  Dim add_sum(Dim extent, std::string_view sum);
  /// Returns a symbol of the op for an extent from around it; a constant stays as it is.
  Dim size(Dim extent);
  void add_operand(Value& value, std::vector<Dim> map);
  /// Adds an operand of integers that decide indices of other operands. Returns the symbol of its
  /// element.
  Dim add_index(Value& value, std::vector<Dim> map);
  /// Leaves out iterations for which `a <= b` does not hold.
  void require_at_most(Dim a, Dim b);
  /// Iterations for which `index < extent` does not hold do not exist.
  void set_bound(Dim index, Dim extent);
  /// Elements without an iteration have this number.
  void set_start(double number) { start_ = number; }

  /// The numbers of the operands in the region.
  using Numbers = std::span<Value* const>;
  /// Creates the op at the insertion point and returns its result. `compute` creates the ops of the
  /// region and returns what it passes on.
  Value* create(const TensorType& result, std::vector<Dim> map,
                const std::function<Value*(Numbers numbers)>& compute);

  /// Creates an op of linalg on numbers, which computes a number of `dtype`.
  Value* number_op(OpId op, std::span<Value* const> operands, DType dtype,
                   std::span<const NamedAttr> attributes = {});

 private:
  const TensorType* number_type(DType dtype);
  const Attr* dims_of(std::span<const Dim> map);

  Rewriter& rewriter_;
  IRContext& context_;
  Symbol device_, path_;
  std::vector<NamedAttr> loops_, sums_, sizes_, indices_;
  std::vector<std::string> conditions_, bounds_;
  std::vector<Value*> operands_;
  std::vector<const Attr*> maps_;
  std::optional<double> start_;
};

/// A number of Float64 as a constant in the region of an op.
Value* generic_number(Rewriter& rewriter, const Op& op, double value);
/// A list of numbers of Float64, [count], as such a constant.
Value* generic_numbers(Rewriter& rewriter, const Op& op, std::span<const double> values);

/// Creates a generic op, with the device and the path of `op`, that computes each element of the
/// result from one element of each value. Values are aligned at the last dimension, and repeated
/// where their extent is 1.
Value* generic_elements(
    Rewriter& rewriter, const Op& op, const TensorType& result, std::span<Value* const> values,
    const std::function<Value*(GenericDraft& draft, GenericDraft::Numbers numbers)>& compute);

/// The type with other extents or another element type.
const TensorType* with_extents(IRContext& context, const TensorType& type,
                               std::span<const Dim> extents, DType dtype);

}  // namespace mir
