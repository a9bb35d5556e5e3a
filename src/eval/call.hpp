// Inputs and results of one evaluation, as an evaluator sees them.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/evaluate.hpp"
#include "kernels/ref/view.hpp"
#include "mir/op_attributes.hpp"

namespace mir::eval {

/// Operands, attributes, parameters and results of one op; views live as long as the call. In the
/// attributes, which prepare() checks, symbols are replaced by their values, unbound ones by `?`.
class EvalCall : public OpAttributes {
 public:
  EvalCall(const Op& op, std::span<const Tensor> operands, const EvalEnvironment& environment)
      : OpAttributes(op), operands_(operands), environment_(environment) {}
  EvalCall(const EvalCall&) = delete;
  EvalCall& operator=(const EvalCall&) = delete;

  /// Checks the number of operands and the attributes against the op's row.
  Result<void> prepare();
  /// Puts the operands through the row's rule, which gives the result types.
  Result<void> infer();
  /// Memory for every result, zero-filled.
  Result<void> allocate_results();

  IRContext& context() const;
  const EvalEnvironment& environment() const { return environment_; }
  std::size_t operand_count() const { return operands_.size(); }
  const Tensor& operand(std::size_t i) const { return operands_[i]; }
  std::size_t result_count() const { return result_types_.size(); }
  Tensor& result(std::size_t i = 0) { return results_[i]; }
  std::vector<Tensor> take_results() { return std::move(results_); }
  /// Extents of result i; an error when the rule and the declared type leave one open.
  Result<Shape> result_shape(std::size_t i = 0) const;

  ref::View in(std::size_t i) { return view(operands_[i]); }
  /// Operand i as kernels take conditions: masks of Int8 read as bytes, true when not zero.
  ref::View condition(std::size_t i);
  ref::MutableView out(std::size_t i = 0) { return view_to_write(results_[i]); }
  /// These borrow the tensor's extents and bytes.
  ref::View view(const Tensor& tensor);
  ref::MutableView view_to_write(Tensor& tensor);
  /// A list that lives as long as the call: extents or strides of views.
  std::span<const std::int64_t> keep(ref::Dims dims) { return kept_.emplace_back(std::move(dims)); }

  /// How the codes of a value or parameter are meant; null: they are numbers.
  const ref::Quantisation* quantisation(const Value& value) const;
  const ref::Quantisation* quantisation(Symbol parameter) const;

  // See note [stand-ins]: after the first call parameter() gives stand-ins too.
  void stand_in_for_operands(std::vector<Tensor> operands);
  /// The element type that the rule gives result i; none when it is not known.
  std::optional<DType> result_dtype(std::size_t i) const;
  void set_result_dtype(std::size_t i, DType dtype);

  bool owns(std::string_view suffix) const;
  /// The element type that the parameter `<path><suffix>` is stored in; none when it has no value.
  std::optional<DType> stored_dtype(std::string_view suffix) const;
  /// The parameter `<path><suffix>`.
  Result<Tensor> parameter(std::string_view suffix);
  /// Like the above, in `shape`, which must have the parameter's element count.
  Result<Tensor> parameter(std::string_view suffix, Shape shape);

  /// "'AddOp': message".
  Error error(DiagCode code, std::string_view message) const;

 private:
  Result<void> check_attributes();
  Result<std::vector<const Type*>> operand_types() const;
  const TensorType* merged(const Type* inferred, const Type* declared) const;

  std::span<const Tensor> operands_;
  const EvalEnvironment& environment_;
  std::vector<NamedAttr> bound_attributes_;
  std::vector<const TensorType*> result_types_;
  std::vector<Tensor> results_;
  std::deque<ref::Dims> kept_;
  bool has_stand_ins_ = false;
  std::vector<Tensor> stand_ins_;  // what operands_ borrows then
};

}  // namespace mir::eval
