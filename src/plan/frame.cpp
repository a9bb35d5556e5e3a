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

/// Whether the value lies in memory as a tensor does. Units of several elements always do.
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

TensorExtents Frame::extents(PlanSlot slot) const {
  if (values[slot].is_planned) return tensors[slot].type();
  return {whole[slot]->dtype(), whole[slot]->shape()};
}

Result<Tensor> Frame::tensor(PlanSlot slot) const {
  return whole[slot] != nullptr ? Result<Tensor>(*whole[slot]) : to_tensor(tensors[slot], context);
}

void Frame::set(PlanSlot slot, Tensor tensor) {
  if (values[slot].home == Home::kTensor) {
    made[slot] = std::move(tensor);
  } else {
    assign(tensors[slot], tensor, context);
  }
}

}  // namespace mir
