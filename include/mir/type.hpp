// Types: unique per context, immutable, compared by address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "mir/dim.hpp"
#include "mir/dtype.hpp"
#include "mir/interner.hpp"

namespace mir {

class Attr;

enum class TypeKind : std::uint8_t { kTensor, kOpaque };

class Type {
 public:
  TypeKind kind() const { return kind_; }
  /// Canonical text.
  std::string_view spelling() const { return spelling_; }

 protected:
  Type(TypeKind kind, std::string_view spelling) : kind_(kind), spelling_(spelling) {}

 private:
  TypeKind kind_;
  std::string_view spelling_;
};

/// `tensor<[dims], dtype, device[, encoding]>`. The element type and the device are names, so text
/// that uses unknown ones is kept; `dtype()` tells the known ones.
class TensorType : public Type {
 public:
  static bool classof(const Type* type) { return type->kind() == TypeKind::kTensor; }

  std::span<const Dim> dims() const { return dims_; }
  std::size_t rank() const { return dims_.size(); }
  Symbol dtype_name() const { return dtype_name_; }
  std::optional<DType> dtype() const { return dtype_; }
  Symbol device() const { return device_; }
  const Attr* encoding() const { return encoding_; }  ///< null: none
  bool has_static_shape() const;
  /// Product of constant extents; none for symbolic, unknown or negative ones and on overflow.
  std::optional<std::int64_t> element_count() const;

 private:
  friend class IRContext;
  TensorType(std::string_view spelling, std::span<const Dim> dims, Symbol dtype_name,
             std::optional<DType> dtype, Symbol device, const Attr* encoding)
      : Type(TypeKind::kTensor, spelling),
        dims_(dims),
        dtype_name_(dtype_name),
        dtype_(dtype),
        device_(device),
        encoding_(encoding) {}

  std::span<const Dim> dims_;
  Symbol dtype_name_;
  std::optional<DType> dtype_;
  Symbol device_;
  const Attr* encoding_;
};

/// `!dialect.name<...>`: a type of another dialect, kept as it is written.
class OpaqueType : public Type {
 public:
  static bool classof(const Type* type) { return type->kind() == TypeKind::kOpaque; }

 private:
  friend class IRContext;
  explicit OpaqueType(std::string_view spelling) : Type(TypeKind::kOpaque, spelling) {}
};

template <class T>
const T* dyn_cast(const Type* type) {
  return type != nullptr && T::classof(type) ? static_cast<const T*>(type) : nullptr;
}

/// Whether two types can describe one value: equal, or tensors that differ only in extents of
/// which one is unknown.
bool compatible(const Type* a, const Type* b);

/// Whether all extents agree that are known in both; a negative one is not known.
bool same_shape(const TensorType& a, const TensorType& b);

}  // namespace mir
