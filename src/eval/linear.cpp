// Evaluators of matrix products, linear layers, embeddings and indexing.
#include <fmt/format.h>

#include <utility>

#include "dialects/einsum.hpp"
#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "kernels/ref/einsum.hpp"
#include "kernels/ref/gather.hpp"
#include "kernels/ref/matmul.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/quantise.hpp"
#include "kernels/ref/scatter.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/context.hpp"
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

Result<void> embedding(EvalCall& call) {
  const auto flat = call.parameter(".weight");
  if (!flat) return flat.error();
  const std::int64_t width = call.result().shape().back();
  const std::int64_t rows = call.has(key::kVocabSize) ? call.integer(key::kVocabSize)
                            : width > 0               ? flat->elements() / width
                                                      : 0;
  const auto table = flat->reshaped({rows, width});
  if (!table) {
    return call.error(diag::kParameterSize,
                      fmt::format("parameter '@{}.weight': {}",
                                  call.context().text(call.op().path()), table.error().message));
  }
  return ref::embedding(call.in(0), call.view(*table), call.out());
}

Result<void> gather(EvalCall& call) {
  return ref::gather(call.in(0), call.in(1), linalg::Gather(call).dim(), call.out());
}

/// The mask decides the extents of the result.
Result<void> compress(EvalCall& call) {
  const Tensor& x = call.operand(0);
  std::int64_t dim = linalg::Compress(call).dim();
  if (dim < 0) dim += static_cast<std::int64_t>(x.shape().size());
  const std::int64_t count = ref::count_true(call.condition(1));
  auto out =
      Tensor::allocate(x.dtype(), with_extent(x.shape(), static_cast<std::size_t>(dim), count));
  if (!out) return out.error();
  call.result() = *std::move(out);
  return ref::compress(call.in(0), call.condition(1), dim, call.out());
}

namespace {

/// The indices of a list entry as a tensor.
Result<Tensor> listed(const Attr& entry) {
  auto tensor =
      Tensor::allocate(DType::kInt64, {static_cast<std::int64_t>(entry.elements().size())});
  if (!tensor) return tensor;
  const auto values = tensor->as_mutable<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = entry.elements()[i]->integer();
  return tensor;
}

/// `from` with dimension `dim` indexed by one entry of `indices`.
Result<Tensor> indexed(EvalCall& call, const Tensor& from, const Attr& entry, std::size_t dim) {
  if (entry.kind() != AttrKind::kInt && entry.kind() != AttrKind::kArray) {
    const auto bounds = slice_bounds(entry, from.shape()[dim], call.context());
    if (!bounds) return call.error(bounds.error().code, bounds.error().message);
    auto out = Tensor::allocate(from.dtype(), with_extent(from.shape(), dim, bounds->length));
    if (!out) return out;
    const auto copied =
        ref::copy(sliced(call, call.view(from), dim, *bounds), call.view_to_write(*out));
    return copied ? std::move(out) : Result<Tensor>(copied.error());
  }
  auto indices = entry.kind() == AttrKind::kArray
                     ? listed(entry)
                     : Result<Tensor>(call.operand(static_cast<std::size_t>(entry.integer())));
  if (!indices) return indices;
  Shape shape = from.shape();
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(at, indices->shape().begin(), indices->shape().end());
  auto out = Tensor::allocate(from.dtype(), std::move(shape));
  if (!out) return out;
  const auto gathered = ref::gather(call.view(from), call.view(*indices),
                                    static_cast<std::int64_t>(dim), call.view_to_write(*out));
  return gathered ? std::move(out) : Result<Tensor>(gathered.error());
}

}  // namespace

Result<void> index(EvalCall& call) {
  const Attr* indices = call.attribute(key::kIndices);
  if (indices == nullptr) {
    return call.error(diag::kMissingAttribute, "attribute 'indices' is missing");
  }
  Tensor current = call.operand(0);
  // From the last dimension on, so that earlier ones keep their numbers.
  for (std::size_t dim = current.shape().size(); dim-- > 0;) {
    auto next = indexed(call, current, *indices->elements()[dim], dim);
    if (!next) return next.error();
    current = *std::move(next);
  }
  const auto shape = call.result_shape();
  if (!shape) return shape.error();
  auto result = current.reshaped(*shape);
  if (!result) return result.error();
  call.result() = *std::move(result);
  return {};
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

Result<void> scatter(EvalCall& call) {
  const linalg::Scatter options(call);
  using Reduction = ref::ScatterReduction;
  const std::string_view reduce = options.reduce();
  const Reduction reduction = reduce == "add"   ? Reduction::kAdd
                              : reduce == "mul" ? Reduction::kMul
                              : reduce == "max" ? Reduction::kMax
                              : reduce == "min" ? Reduction::kMin
                                                : Reduction::kNone;
  return ref::scatter(call.in(0), call.in(1), call.in(2), options.dim(), reduction, call.out());
}

}  // namespace mir::eval
