// Evaluators of matrix products, contractions and linear layers.
#include <utility>

#include "dialects/einsum.hpp"
#include "eval/evaluators.hpp"
#include "kernels/ref/einsum.hpp"
#include "kernels/ref/matmul.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/quantise.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/linalg_ops.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir::eval {

Result<void> matmul(EvalCall& call) {
  const linalg::MatMul stated(call);
  const ref::MatMulOptions options{.transpose_a = stated.transpose_a(),
                                   .transpose_b = stated.transpose_b()};
  return ref::matmul(call.in(0), call.in(1), options, call.out());
}

namespace {

/// The weight as [out, in]; QNN's forms keep it as [1, 1, in, out].
ref::View weight_rows(EvalCall& call, const Tensor& weight) {
  const ref::View view = call.view(weight);
  if (!call.string(key::kImplType).starts_with("QNN")) return view;
  const std::int64_t rows = weight.shape()[0];
  return {view.dtype, view.data, view.extents, call.keep({1, rows})};
}

/// The activations as the weight takes them: rounded to 8 bits where it is stored in blocks that
/// ask for it.
Result<Tensor> activations(EvalCall& call) {
  const Tensor& x = call.operand(0);
  const auto stored = call.stored_dtype(".weight");
  const bool is_real = call.quantisation(*call.op().operand(0)) == nullptr;
  if (!stored || !rounds_activations(*stored) || !is_real) return x;
  auto out = Tensor::allocate(x.dtype(), x.shape());
  if (!out) return out;
  const auto done = ref::round_activations(call.view(x), call.view_to_write(*out));
  return done ? std::move(out) : Result<Tensor>(done.error());
}

/// Integers and Bool converted to Float64; any other tensor as it is.
Result<Tensor> numbers(EvalCall& call, const Tensor& parameter) {
  if (!is_integer(parameter.dtype())) return parameter;
  auto out = Tensor::allocate(DType::kFloat64, parameter.shape());
  if (!out) return out;
  const auto done = ref::cast(call.view(parameter), call.view_to_write(*out));
  return done ? std::move(out) : Result<Tensor>(done.error());
}

/// A parameter of a product in these extents.
Result<Tensor> factor(EvalCall& call, std::string_view suffix, Shape shape) {
  const auto stored = call.parameter(suffix, std::move(shape));
  return stored ? numbers(call, *stored) : stored;
}

}  // namespace

Result<void> linear(EvalCall& call) {
  if (call.operand_count() > 2) {
    return call.error(diag::kNotExecutable, "weights as operands are not computed");
  }
  if (call.result().rank() == 0) {
    return call.error(diag::kRankMismatch, "the destination has no dimension");
  }
  const std::int64_t rows = call.result().shape().back();
  const auto weight = factor(call, ".weight", {rows, call.operand(0).shape().back()});
  if (!weight) return weight.error();
  const auto x = activations(call);
  if (!x) return x.error();
  const ref::View matrix = weight_rows(call, *weight);
  if (!call.owns(".bias")) return ref::linear(call.view(*x), matrix, nullptr, call.out());
  const auto bias = factor(call, ".bias", {rows});
  if (!bias) return bias.error();
  const ref::View offset = call.view(*bias);
  return ref::linear(call.view(*x), matrix, &offset, call.out());
}

Result<void> einsum(EvalCall& call) {
  std::vector<ref::View> inputs;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < call.operand_count(); ++i) {
    inputs.push_back(call.in(i));
    ranks.push_back(inputs.back().extents.size());
  }
  const auto equation = read_einsum(linalg::Einsum(call).equation(), ranks);
  if (!equation) return call.error(equation.error().code, equation.error().message);
  return ref::einsum(inputs, equation->operands, equation->result, call.out());
}

}  // namespace mir::eval
