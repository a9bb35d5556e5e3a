// Evaluators of ops that move elements, and of constants and fills.
#include "kernels/ref/movement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "eval/evaluators.hpp"
#include "eval/slice_operands.hpp"
#include "kernels/ref/random.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/context.hpp"
#include "weights/elements.hpp"
#include "weights/random.hpp"

namespace mir::eval {

Result<void> same_bytes(EvalCall& call) {
  const auto shape = call.result_shape();
  if (!shape) return shape.error();
  auto result = call.operand(0).reshaped(*shape);
  if (!result) return std::move(result).error();
  call.result() = *std::move(result);
  return {};
}

Result<void> match_shape(EvalCall& call) {
  const auto shape = call.result_shape();
  if (!shape) return shape.error();
  const Tensor& x = call.operand(0);
  if (!std::ranges::equal(x.shape(), *shape)) {
    return call.error(diag::kShapeMismatch,
                      fmt::format("operand 0 is [{}], 'shape' is [{}]", fmt::join(x.shape(), ", "),
                                  fmt::join(*shape, ", ")));
  }
  return same_bytes(call);
}

Result<void> param(EvalCall& call) {
  const auto shape = call.result_shape();
  if (!shape) return shape.error();
  const std::string_view name = linalg::Param(call).name();
  const auto* parameters = call.environment().parameters;
  if (parameters != nullptr) {
    const auto found = parameters->find(call.context().intern(name));
    if (found != parameters->end()) {
      auto result = found->second.reshaped(*shape);
      if (!result) return call.error(diag::kParameterSize, result.error().message);
      call.result() = *std::move(result);
      return {};
    }
  }
  return call.error(diag::kParameterMissing, fmt::format("parameter '@{}' has no value", name));
}

namespace {

/// Copies the operand with its dimension order[i] as dimension i.
Result<void> reorder(EvalCall& call, const std::vector<std::size_t>& order) {
  const ref::View x = call.in(0);
  ref::Dims extents, strides;
  for (const std::size_t dim : order) {
    extents.push_back(x.extents[dim]);
    strides.push_back(x.strides[dim]);
  }
  return ref::copy({x.dtype, x.data, extents, strides}, call.out());
}

std::size_t dimension(std::int64_t axis, const Tensor& tensor) {
  return static_cast<std::size_t>(axis < 0 ? axis + tensor.rank() : axis);
}

std::vector<ref::View> all_operands(EvalCall& call) {
  std::vector<ref::View> views;
  for (std::size_t i = 0; i < call.operand_count(); ++i) views.push_back(call.in(i));
  return views;
}

}  // namespace

Result<void> transpose(EvalCall& call) {
  const linalg::Transpose options(call);
  const Tensor& x = call.operand(0);
  std::vector<std::size_t> order(x.shape().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::swap(order[dimension(options.dim0(), x)], order[dimension(options.dim1(), x)]);
  return reorder(call, order);
}

Result<void> permute(EvalCall& call) {
  std::vector<std::size_t> order;
  for (const Attr* axis : call.attribute(key::kAxis)->elements()) {
    order.push_back(dimension(axis->integer(), call.operand(0)));
  }
  return reorder(call, order);
}

Result<void> slice(EvalCall& call) {
  const auto part = sliced(call, call.in(0));
  return part ? ref::copy(*part, call.out()) : Result<void>(part.error());
}

Result<void> split(EvalCall& call) {
  const std::size_t dim = dimension(linalg::Split(call).dim(), call.operand(0));
  SliceBounds bounds;
  for (std::size_t i = 0; i < call.result_count(); ++i) {
    bounds.length = call.result(i).shape()[dim];
    const auto copied = ref::copy(sliced(call, call.in(0), dim, bounds), call.out(i));
    if (!copied) return copied;
    bounds.start += bounds.length;
  }
  return {};
}

Result<void> concat(EvalCall& call) {
  return ref::concat(all_operands(call), linalg::Concat(call).dim(), call.out());
}

Result<void> stack(EvalCall& call) {
  return ref::stack(all_operands(call), linalg::Stack(call).dim(), call.out());
}

Result<void> repeat(EvalCall& call) {
  const linalg::Repeat options(call);
  return ref::repeat(call.in(0), options.dim(), options.repeat_times(), call.out());
}

Result<void> copy(EvalCall& call) {
  if (call.result_count() == 0) {
    return call.error(diag::kNotExecutable, "without a result it writes its operand");
  }
  if (auto whole = ref::copy(call.in(1), call.out()); !whole) return whole;
  const auto part = sliced(call, call.out());
  if (!part) return part.error();
  auto source = call.operand(0).reshaped(Shape(part->extents.begin(), part->extents.end()));
  if (!source) return call.error(source.error().code, source.error().message);
  // The view points into the result, which is this call's own.
  const ref::MutableView destination{part->dtype, const_cast<void*>(part->data), part->extents,
                                     part->strides};
  return ref::copy(call.view(*source), destination);
}

namespace {

/// One element as all of the result.
Result<void> spread(EvalCall& call, const Tensor& element) {
  const auto strides = call.keep(ref::Dims(call.result().shape().size(), 0));
  return ref::copy({element.dtype(), element.bytes().data(), call.result().shape(), strides},
                   call.out());
}

/// The first `count` numbers of the op's sequence as elements of the result.
Result<Tensor> sequence(EvalCall& call, std::int64_t count) {
  const auto element = ref::sequence_element(call.result().dtype());
  if (!element) return element.error();
  auto values = Tensor::allocate(call.result().dtype(), {count});
  if (!values) return values;
  const ref::Sequence numbers = sequence_of(call);
  std::byte* at = values->mutable_bytes();
  for (std::int64_t i = 0; i < count; ++i, at += info(values->dtype()).unit_bytes) {
    element->write(numbers, i, at);
  }
  return values;
}

/// Uniform on [start, end), from the stream of `seed`, in row-major order.
Result<void> fill_randomly(EvalCall& call) {
  const double start = call.number(key::kStart), end = call.number(key::kEnd);
  const RandomStream stream(static_cast<std::uint64_t>(call.integer(key::kSeed)), "");
  const Interval interval{.centre = start + (end - start) / 2, .half_width = (end - start) / 2};
  const auto values = random_reals(stream, DType::kFloat64, call.result().shape(), interval);
  return values ? ref::cast(call.view(*values), call.out()) : Result<void>(values.error());
}

}  // namespace

Result<void> fill(EvalCall& call) {
  const std::string_view type = linalg::Fill(call).type();
  if (type == "zeros") return {};
  if (type == "random") return fill_randomly(call);
  if (type == "arange") {
    auto values = sequence(call, call.result().elements());
    if (values) values = values->reshaped(call.result().shape());
    return values ? ref::copy(call.view(*values), call.out()) : Result<void>(values.error());
  }
  const DType dtype = call.result().dtype();
  const auto element = element_of(dtype, type == "ones" ? "1" : call.number_text(key::kValue));
  return element ? spread(call, *element) : Result<void>(element.error());
}

Result<void> extent(EvalCall& call) {
  const Tensor& x = call.operand(0);
  call.result().as_mutable<std::int64_t>().front() =
      x.shape()[dimension(linalg::Extent(call).dim(), x)];
  return {};
}

Result<void> iota(EvalCall& call) {
  const Shape& shape = call.result().shape();
  const auto dim = ref::normalise_axis(linalg::Iota(call).dim(), shape.size());
  if (!dim) return dim.error();
  const auto values = sequence(call, shape[*dim]);
  if (!values) return values.error();
  ref::Dims strides(shape.size(), 0);
  strides[*dim] = 1;
  return ref::copy({values->dtype(), values->bytes().data(), shape, call.keep(std::move(strides))},
                   call.out());
}

Result<void> random_uniform(EvalCall& call) {
  return ref::random_uniform(call.in(0), call.out(0), call.out(1));
}

Result<void> no_content(EvalCall&) {
  return {};
}

}  // namespace mir::eval
