#include "frame.hpp"

#include <algorithm>
#include <cstring>

#include "mir/kernels/ref/movement.hpp"

namespace mir {

Result<Tensor> to_tensor(const TensorRef& value) {
  auto tensor = Tensor::allocate(value.dtype, Shape(value.shape().begin(), value.shape().end()));
  if (!tensor || tensor->bytes().empty()) return tensor;
  const auto strides = ref::row_major_strides(value.shape());
  if (std::ranges::equal(strides, value.view().strides) || info(value.dtype).lanes != 1) {
    std::memcpy(tensor->mutable_bytes(), value.data, tensor->bytes().size());
    return tensor;
  }
  auto done =
      ref::copy(value.view(), {value.dtype, tensor->mutable_bytes(), tensor->shape(), strides});
  return done ? std::move(tensor) : Result<Tensor>(done.error());
}

}  // namespace mir
