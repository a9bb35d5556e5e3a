// Dense tensors in memory: shape, element type and borrowed or owned bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mir/dtype.hpp"
#include "mir/result.hpp"

namespace mir {

using Shape = std::vector<std::int64_t>;

/// Product of the extents; an error for a negative extent or a product over 2^63 - 1.
Result<std::int64_t> element_count(std::span<const std::int64_t> shape);

/// Row-major dense tensor. The bytes are shared: copies are cheap and alias. A borrowed buffer
/// (a mapped file, a caller's array) is kept alive by the owner handed in with it.
class Tensor {
 public:
  Tensor() = default;

  /// Largest storage of one tensor: 512 GiB. More is refused without asking the system.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 39;

  /// Zero-filled, 64-byte aligned storage. Fails when the elements do not fill whole storage units
  /// of the type, the size overflows or memory is short.
  static Result<Tensor> allocate(DType dtype, Shape shape);
  /// Wraps `bytes`, which must be exactly the storage of `shape` and aligned for the element (a
  /// caller with bytes at an odd address copies them); `owner` keeps them alive.
  static Result<Tensor> borrow(DType dtype, Shape shape, std::span<const std::byte> bytes,
                               std::shared_ptr<const void> owner);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t elements() const { return elements_; }
  bool defined() const { return owner_ != nullptr || bytes_.data() != nullptr; }

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Null for a borrowed, read-only buffer.
  std::byte* mutable_bytes() { return writable_; }
  /// Whether no other tensor has these bytes and they may be written: what other threads read
  /// through copies that are gone now was read before.
  bool is_sole_owner() const {
    if (writable_ == nullptr || owner_.use_count() != 1) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }

  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(writable_), bytes_.size() / sizeof(T)};
  }

  /// The same bytes under another shape of equal element count.
  Result<Tensor> reshaped(Shape shape) const;

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::int64_t elements_ = 0;
  std::span<const std::byte> bytes_;
  std::byte* writable_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace mir
