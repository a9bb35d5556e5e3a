// Element types and tensors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

// Element types: one row each, with the spelling that text uses.

/// Known element types. Portable text spells each one differently; a name that is not known stays
/// a name (see TensorType) and is never guessed.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
  kInt4,
  kUInt4,
  kFloat8E4M3,
  kFloat8E5M2,
  kMXFP4,
  kComplexFP32,
  kComplexFP64,
  kByte,  ///< opaque packed bytes; dumps print it as UInt8
  kInt8PerTensor,
  kInt8PerChannel,
  kUInt8PerTensor,
  kUInt8PerChannel,
  kInt16PerTensor,
  kInt16PerChannel,
  kUInt16PerTensor,      ///< symmetric
  kUInt16PerTensorAsym,  ///< dumps print it as UInt16PerTensor too
  kUInt16PerChannel,
  kGgufQ4_0,
  kGgufQ4_1,
  kGgufQ5_0,
  kGgufQ5_1,
  kGgufQ8_0,
  kGgufQ8PerTensor,
  kGgufQ2K,
  kGgufQ3K,
  kGgufQ4K,
  kGgufQ5K,
  kGgufQ6K,
  kGgufQ8K,
  kGgufIQ2XXS,
  kGgufQ4_0x4,
  kGgufQ4_0x8,
  kGgufQ8_0x4,
  kMirQ4A32,  ///< no type of upstream's: dumps and programs cannot state it
};

enum class DTypeClass : std::uint8_t {
  kFloat,
  kSignedInt,
  kUnsignedInt,
  kBool,
  kComplex,
  kBytes,
  kQuantised,
  kBlock
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< portable spelling
  DTypeClass type_class;
  std::uint16_t lanes;       ///< elements of one storage unit along the last axis
  std::uint16_t unit_bytes;  ///< bytes of one storage unit, little-endian
};

/// Every row, in enumerator order.
std::span<const DTypeInfo> dtype_table();
const DTypeInfo& info(DType dtype);
inline std::string_view name_of(DType dtype) {
  return info(dtype).name;
}

/// The type a portable spelling, a dump spelling or a `k...` enumerator alias (`kFp32`, `kInt64`)
/// names; none for any other text.
std::optional<DType> dtype_from_name(std::string_view name);

/// The plain type whose bytes an opaque or per-tensor/per-channel quantised type uses (`UInt8` for
/// packed bytes, `Int16` for Int16PerChannel); any other type is its own storage type. File formats
/// without quantised types store this one.
DType storage_type(DType dtype);

/// False for types that are this toolkit's own: no dump, program or parameter file of upstream's
/// has them.
bool is_upstream_type(DType dtype);

/// Storage of `elements` consecutive elements; none when they do not fill whole units or the
/// product overflows.
std::optional<std::uint64_t> storage_bytes(DType dtype, std::uint64_t elements);

// Dense tensors in memory: shape, element type and borrowed or owned bytes.

using Shape = std::vector<std::int64_t>;

/// Product of the extents; an error for a negative extent or a product over 2^63 - 1.
Result<std::int64_t> element_count(std::span<const std::int64_t> shape);

/// The bytes of a tensor. An error for elements that do not fill whole units, such as blocks, and
/// for more bytes than a tensor can have.
Result<std::uint64_t> tensor_bytes(DType dtype, const Shape& shape);

/// Row-major dense tensor. The bytes are shared: copies are cheap and alias. A borrowed buffer
/// (a mapped file, a caller's array) is kept alive by the owner handed in with it.
class Tensor {
 public:
  Tensor() = default;

  /// Largest storage of one tensor: 512 GiB, or 1 GiB where addresses have 32 bits. More is refused
  /// without asking the system.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1}
                                             << (sizeof(std::size_t) < 8 ? 30 : 39);

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
