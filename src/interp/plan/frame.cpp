#include "frame.hpp"

#include <algorithm>
#include <cstring>

#include "mir/kernels/ref/movement.hpp"

namespace mir {

namespace {

/// Whether the value lies in memory as a tensor does. Units of several elements always do.
bool is_dense(const TensorRef& value, const ref::Dims& strides) {
  return std::ranges::equal(strides, value.view().strides) || info(value.dtype).lanes != 1;
}

}  // namespace

Result<void> assign(const TensorRef& value, const Tensor& tensor) {
  if (tensor.bytes().empty()) return {};
  const auto strides = ref::row_major_strides(value.shape());
  if (is_dense(value, strides)) {
    std::memcpy(value.data, tensor.bytes().data(), tensor.bytes().size());
    return {};
  }
  return ref::copy({value.dtype, tensor.bytes().data(), tensor.shape(), strides},
                   value.mutable_view());
}

Result<Tensor> to_tensor(const TensorRef& value) {
  auto tensor = Tensor::allocate(value.dtype, Shape(value.shape().begin(), value.shape().end()));
  if (!tensor || tensor->bytes().empty()) return tensor;
  const auto strides = ref::row_major_strides(value.shape());
  if (is_dense(value, strides)) {
    std::memcpy(tensor->mutable_bytes(), value.data, tensor->bytes().size());
    return tensor;
  }
  auto done =
      ref::copy(value.view(), {value.dtype, tensor->mutable_bytes(), tensor->shape(), strides});
  return done ? std::move(tensor) : Result<Tensor>(done.error());
}

}  // namespace mir
