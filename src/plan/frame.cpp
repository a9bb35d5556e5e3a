// Copies tensors into and out of strided values, and reads values of a run as tensors.
#include "plan/frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/fast/movement.hpp"

namespace mir {

TensorRef row_major_at(const TensorRef& value, std::byte* data) {
  TensorRef tensor = value;
  tensor.data = data;
  std::int64_t stride = 1;
  for (std::size_t i = value.rank; i-- > 0;) {
    tensor.strides[i] = stride;
    stride *= value.extents[i];
  }
  return tensor;
}

namespace {

/// True if the value lies in memory as a tensor does. Units of several elements always do.
bool is_dense(const TensorRef& value) {
  return info(value.dtype).lanes != 1 || row_major_at(value, nullptr).strides == value.strides;
}

}  // namespace

void copy_elements(const TensorRef& from, const TensorRef& to, fast::Context& context) {
  fast::CopyOperands operands{.from = from.data,
                              .to = to.data,
                              .element_bytes = info(to.dtype).unit_bytes,
                              .rank = to.rank};
  std::ranges::copy(to.extents, operands.extents.begin());
  std::ranges::copy(from.strides, operands.from_strides.begin());
  std::ranges::copy(to.strides, operands.to_strides.begin());
  fast::copy(operands, context);
}

void assign(const TensorRef& value, const Tensor& tensor, fast::Context& context) {
  const std::span<const std::byte> bytes = tensor.bytes();
  if (bytes.empty()) return;
  if (is_dense(value)) {
    std::memcpy(value.data, bytes.data(), bytes.size());
  } else {
    // A copy only reads what it copies from.
    copy_elements(row_major_at(value, const_cast<std::byte*>(bytes.data())), value, context);
  }
}

void write(const TensorRef& value, Tensor& tensor, fast::Context& context) {
  if (tensor.bytes().empty()) return;
  if (is_dense(value)) {
    std::memcpy(tensor.mutable_bytes(), value.data, tensor.bytes().size());
  } else {
    copy_elements(value, row_major_at(value, tensor.mutable_bytes()), context);
  }
}

Result<Tensor> to_tensor(const TensorRef& value, fast::Context& context) {
  auto tensor = Tensor::allocate(value.dtype, Shape(value.shape().begin(), value.shape().end()));
  if (tensor) write(value, *tensor, context);
  return tensor;
}

TensorExtents Frame::extents(PlanValueIndex index) const {
  if (values[index].is_planned) return tensors[index].type();
  return {whole[index]->dtype(), whole[index]->shape()};
}

Result<Tensor> Frame::tensor(PlanValueIndex index) const {
  return whole[index] != nullptr ? Result<Tensor>(*whole[index])
                                 : to_tensor(tensors[index], context);
}

void Frame::set(PlanValueIndex index, Tensor tensor) {
  if (values[index].home == Home::kTensor) {
    made[index] = std::move(tensor);
  } else {
    assign(tensors[index], tensor, context);
  }
}

}  // namespace mir
