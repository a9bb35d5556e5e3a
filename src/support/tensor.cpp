// Allocates, borrows and reshapes tensors, with overflow checks on their sizes.
#include "mir/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "support/memory_size.hpp"

namespace mir {

namespace {

constexpr std::uintptr_t kAlignment = 64;
constexpr std::byte kNoBytes{};

std::string described(DType dtype, std::span<const std::int64_t> shape) {
  return fmt::format("a [{}] tensor of {}", fmt::join(shape, ", "), name_of(dtype));
}

struct Extent {
  std::int64_t elements;
  std::uint64_t bytes;

  /// True if a tensor can have these elements. Those of less than a byte are counted, too.
  bool fits() const {
    return bytes <= Tensor::kMaxBytes && elements <= std::numeric_limits<std::ptrdiff_t>::max();
  }
};

Result<Extent> extent_of(DType dtype, const Shape& shape) {
  auto elements = element_count(shape);
  if (!elements) return std::move(elements).error();
  const auto bytes = storage_bytes(dtype, static_cast<std::uint64_t>(*elements));
  if (bytes) return Extent{*elements, *bytes};
  if (static_cast<std::uint64_t>(*elements) % info(dtype).lanes == 0) {
    return Error{diag::kLimitExceeded,
                 fmt::format("{} needs more than 2^64 - 1 bytes", described(dtype, shape))};
  }
  return Error{diag::kTensorStorage,
               fmt::format("{} has {} elements, expected a multiple of {}", described(dtype, shape),
                           *elements, info(dtype).lanes)};
}

Error no_memory(DType dtype, const Shape& shape, std::uint64_t bytes) {
  return {diag::kLimitExceeded,
          fmt::format("no memory for {} ({} bytes)", described(dtype, shape), bytes)};
}

/// Alignment that `as<T>()` needs for the element's own type; blocks are read byte by byte.
std::uintptr_t natural_alignment(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.type_class == DTypeClass::kBlock) return 1;
  return row.type_class == DTypeClass::kComplex ? row.unit_bytes / 2u : row.unit_bytes;
}

}  // namespace

Result<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      return Error{diag::kTensorStorage, fmt::format("extent {} of shape [{}] is negative", extent,
                                                     fmt::join(shape, ", "))};
    }
  }
  if (std::ranges::find(shape, 0) != shape.end()) return std::int64_t{0};
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (count > std::numeric_limits<std::int64_t>::max() / extent) {
      return Error{diag::kLimitExceeded, fmt::format("shape [{}] has more than 2^63 - 1 elements",
                                                     fmt::join(shape, ", "))};
    }
    count *= extent;
  }
  return count;
}

Result<std::uint64_t> tensor_bytes(DType dtype, const Shape& shape) {
  const auto extent = extent_of(dtype, shape);
  if (!extent) return extent.error();
  if (!extent->fits()) return no_memory(dtype, shape, extent->bytes);
  return extent->bytes;
}

Result<Tensor> Tensor::allocate(DType dtype, Shape shape) {
  const auto extent = extent_of(dtype, shape);
  if (!extent) return extent.error();
  // calloc leaves the pages of a large tensor untouched until they are used.
  void* storage =
      extent->fits() ? std::calloc(memory_size(extent->bytes + kAlignment), 1) : nullptr;
  if (storage == nullptr) {
    return no_memory(dtype, shape, extent->bytes);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(storage);
  const std::uintptr_t aligned = (address + kAlignment - 1) & ~(kAlignment - 1);
  Tensor tensor;
  tensor.owner_ = std::shared_ptr<const void>(storage, [](void* block) { std::free(block); });
  tensor.writable_ = static_cast<std::byte*>(storage) + (aligned - address);
  tensor.bytes_ = {tensor.writable_, memory_size(extent->bytes)};
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.elements_ = extent->elements;
  return tensor;
}

Result<Tensor> Tensor::borrow(DType dtype, Shape shape, std::span<const std::byte> bytes,
                              std::shared_ptr<const void> owner) {
  const auto extent = extent_of(dtype, shape);
  if (!extent) return extent.error();
  if (bytes.size() != extent->bytes) {
    return Error{diag::kTensorStorage,
                 fmt::format("{} takes {} bytes, found {}", described(dtype, shape), extent->bytes,
                             bytes.size())};
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % natural_alignment(dtype) != 0) {
    return Error{diag::kTensorStorage,
                 fmt::format("the bytes of {} are not aligned to {}", described(dtype, shape),
                             natural_alignment(dtype))};
  }
  Tensor tensor;
  tensor.bytes_ = bytes.data() != nullptr ? bytes : std::span(&kNoBytes, 0);
  tensor.owner_ = std::move(owner);
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.elements_ = extent->elements;
  return tensor;
}

Result<Tensor> Tensor::reshaped(Shape shape) const {
  const auto count = element_count(shape);
  if (!count) return count.error();
  if (*count != elements_) {
    return Error{diag::kTensorStorage, fmt::format("shape [{}] has {} elements, expected {}",
                                                   fmt::join(shape, ", "), *count, elements_)};
  }
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

}  // namespace mir
