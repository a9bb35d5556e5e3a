// Evaluators of ops that select and replace elements by indices or masks.
#include <fmt/format.h>

#include <utility>

#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/gather.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/scatter.hpp"
#include "mir/codes/verification.hpp"
#include "mir/context.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

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

Result<void> masked_scatter(EvalCall& call) {
  return ref::where(call.condition(1), call.in(2), call.in(0), call.out());
}

}  // namespace mir::eval
