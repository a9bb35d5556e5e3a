// Types and attributes of values and ops. All are unique in their context.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/dim.hpp"
#include "mir/interner.hpp"
#include "mir/tensor.hpp"

namespace mir {

// Types: unique per context, immutable, compared by address.

class Attr;
struct Dialect;
struct TypeRow;

/// A pointer to a constant object, null until it is published. Thread-safe: a reader that sees the
/// pointer sees the whole object.
template <class T>
class Published {
 public:
  Published(const T* initial = nullptr) : pointer_(initial) {}
  Published(const Published& other) : pointer_(other.get()) {}
  Published& operator=(const Published&) = delete;

  const T* get() const { return pointer_.load(std::memory_order_acquire); }
  operator const T*() const { return get(); }
  const T* operator->() const { return get(); }
  void publish(const T* object) { pointer_.store(object, std::memory_order_release); }

 private:
  std::atomic<const T*> pointer_;
};

/// A kind of types or of attributes, like `my.buffer` of `!my.buffer<4>`, whether a dialect
/// declares it or not. A context has one object for each name, so kinds are compared by address.
struct TypeKindInfo {
  std::string_view name;       ///< "my.buffer"
  Published<Dialect> dialect;  ///< null: not registered
  Published<TypeRow> row;      ///< null: no registered dialect declares it
};

/// Parameters of a dialect's type or attribute: a value for each one of the row, in its order,
/// defaults included.
struct ParameterList {
  const TypeRow* row = nullptr;
  std::span<const Attr* const> values;

  /// The value of the parameter with this name; null if the row has none.
  const Attr* find(std::string_view name) const;
};

/// The C++ class of a type; its kind tells what it means.
enum class TypeClass : std::uint8_t { kTensor, kDialect };

class Type {
 public:
  TypeClass type_class() const { return class_; }
  const TypeKindInfo& kind() const { return *kind_; }
  /// Canonical text.
  std::string_view spelling() const { return spelling_; }

 protected:
  Type(TypeClass type_class, const TypeKindInfo& kind, std::string_view spelling)
      : kind_(&kind), spelling_(spelling), class_(type_class) {}

 private:
  const TypeKindInfo* kind_;
  std::string_view spelling_;
  TypeClass class_;
};

/// `tensor<[dims], dtype, device[, encoding]>`. The element type and the device are names, so text
/// that uses unknown ones is kept; `dtype()` tells the known ones.
class TensorType : public Type {
 public:
  static bool classof(const Type* type) { return type->type_class() == TypeClass::kTensor; }

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
  TensorType(const TypeKindInfo& kind, std::string_view spelling, std::span<const Dim> dims,
             Symbol dtype_name, std::optional<DType> dtype, Symbol device, const Attr* encoding)
      : Type(TypeClass::kTensor, kind, spelling),
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

/// `!dialect.name<...>`. If a registered dialect declares the kind, the type is structured: it has
/// a value for each parameter of the row. Any other type is kept as it is written. Types that exist
/// when their dialect is registered become structured if the dialect declares them so. Two of these
/// can have equal parameters and different texts; compatible() treats them as equal.
class DialectType : public Type {
 public:
  static bool classof(const Type* type) { return type->type_class() == TypeClass::kDialect; }

  bool is_structured() const { return list_.get() != nullptr; }
  /// The values of the parameters in the order of the row; none unless the type is structured.
  std::span<const Attr* const> parameters() const {
    const ParameterList* list = list_;
    return list == nullptr ? std::span<const Attr* const>() : list->values;
  }
  /// The value of a parameter by its index, which must be below the count, or by its name; null if
  /// the type has no parameter of this name.
  const Attr* parameter(std::size_t index) const { return parameters()[index]; }
  const Attr* parameter(std::string_view name) const {
    const ParameterList* list = list_;
    return list == nullptr ? nullptr : list->find(name);
  }
  /// The tensor that holds a value of the type in a run; null if nothing holds it.
  const TensorType* held_as() const { return held_as_; }

 private:
  friend class IRContext;
  friend bool compatible(const Type* a, const Type* b);
  DialectType(const TypeKindInfo& kind, std::string_view spelling)
      : Type(TypeClass::kDialect, kind, spelling) {}

  Published<ParameterList> list_;
  Published<TensorType> held_as_;
};

/// The tensor that holds a value of the type in a run: a tensor type itself. Null if nothing does.
const TensorType* held_type(const Type* type);

template <class T>
const T* dyn_cast(const Type* type) {
  return type != nullptr && T::classof(type) ? static_cast<const T*>(type) : nullptr;
}

/// True if the tensors can have the same shape: equal ranks and compatible extents. A negative
/// extent is unknown here.
bool compatible_shapes(const TensorType& a, const TensorType& b);

/// True if both types can describe one value: they are equal, tensors of compatible shapes that
/// differ in nothing else, or structured types of one kind with equal parameters. Where a value may
/// be stored or computed elsewhere, as by a graph that computes an op, devices and encodings differ
/// and only element types and shapes are compared.
bool compatible(const Type* a, const Type* b);

// Attributes: unique per context and spelling, immutable, compared by address.

enum class AttrKind : std::uint8_t {
  kInt,
  kFloat,
  kBool,
  kNull,
  kString,  ///< quoted, or an unquoted word
  kSymbolRef,
  kDim,
  kArray,
  kDict,
  kType,
  kQuantSpec,
  kQuantAnnotation,
  kDialect,  ///< `#dialect.name<...>`, or `#name` that nothing defines
  kInvalid,  ///< `<InvalidAttribute NYI>`: upstream lost the value
};

/// One entry of a dictionary or of a QuantAnnotation; an empty one has no value.
struct NamedAttr {
  Symbol key;
  const Attr* value = nullptr;
  friend bool operator==(const NamedAttr&, const NamedAttr&) = default;
};

/// Returns the value of a key in a list, or null.
inline const Attr* find_attribute(std::span<const NamedAttr> attributes, Symbol key) {
  for (const NamedAttr& each : attributes) {
    if (each.key == key) return each.value;
  }
  return nullptr;
}

/// What an accessor gives for another kind than its own is empty or 0. Two attributes are the same
/// object exactly when kind and canonical text agree, so `1` and `1.0`, `a` and `"a"` are different
/// attributes.
class Attr {
 public:
  static constexpr std::int64_t kNoUuid = -1;

  AttrKind kind() const { return kind_; }
  /// Canonical text.
  std::string_view spelling() const { return spelling_; }

  std::int64_t integer() const { return has_integer() ? integer_ : 0; }
  /// Value of a kInt or kFloat attribute.
  double number() const {
    return kind_ == AttrKind::kFloat ? number_ : static_cast<double>(integer());
  }
  bool boolean() const { return integer() != 0; }
  /// Text of a kString attribute without quotes and escapes, of a kSymbolRef without `@`.
  std::string_view text() const { return has_text() ? text_ : std::string_view(); }
  bool is_quoted() const { return quoted_; }
  Dim dim() const { return kind_ == AttrKind::kDim ? dim_ : Dim(); }
  std::span<const Attr* const> elements() const {
    return kind_ == AttrKind::kArray ? elements_ : std::span<const Attr* const>();
  }
  /// Entries of a kDict or a kQuantAnnotation.
  std::span<const NamedAttr> entries() const {
    return has_entries() ? entries_ : std::span<const NamedAttr>();
  }
  const Type* type() const { return kind_ == AttrKind::kType ? type_ : nullptr; }
  /// Row and parameters of a kDialect that a registered dialect declares, as those of a
  /// DialectType. Any other one is kept as it is written: null, and no parameters.
  const TypeRow* row() const { return list() == nullptr ? nullptr : list()->row; }
  std::span<const Attr* const> parameters() const {
    return list() == nullptr ? std::span<const Attr* const>() : list()->values;
  }
  const Attr* parameter(std::size_t index) const { return parameters()[index]; }
  const Attr* parameter(std::string_view name) const {
    return list() == nullptr ? nullptr : list()->find(name);
  }
  /// The uuid of a kQuantSpec; kNoUuid where it states none of 64 bits.
  std::int64_t uuid() const { return kind_ == AttrKind::kQuantSpec ? integer_ : kNoUuid; }
  /// Of a kQuantSpec: equal numbers mean that two specs say the same except for uuid and `solved`.
  /// A model has thousands of specs and a handful of schemes, which are numbered from 0 in their
  /// context; the numbers depend on the order in which specs came.
  std::uint32_t scheme() const { return scheme_; }

 private:
  friend class IRContext;
  Attr(AttrKind kind, std::string_view spelling) : kind_(kind), spelling_(spelling) {}

  bool has_integer() const { return kind_ == AttrKind::kInt || kind_ == AttrKind::kBool; }
  bool has_text() const { return kind_ == AttrKind::kString || kind_ == AttrKind::kSymbolRef; }
  bool has_entries() const {
    return kind_ == AttrKind::kDict || kind_ == AttrKind::kQuantAnnotation;
  }
  const ParameterList* list() const { return kind_ == AttrKind::kDialect ? list_.get() : nullptr; }

  AttrKind kind_;
  bool quoted_ = false;
  std::uint32_t scheme_ = 0;
  std::string_view spelling_;
  union {
    std::int64_t integer_ = 0;
    double number_;  // kFloat
  };
  union {  // what the kind needs
    std::string_view text_ = {};
    Dim dim_;
    std::span<const Attr* const> elements_;
    std::span<const NamedAttr> entries_;
    const Type* type_;
    Published<ParameterList> list_;  // kDialect
  };
};

/// The parts of a `QuantSpec(...)`. Scales and zero points are not part of it.
struct QuantSpec {
  std::string_view kind;  ///< "SymPerTensor", "None", ...
  std::vector<std::pair<std::string_view, std::string_view>> fields;  ///< key, value text
  std::optional<std::int64_t> uuid;
  std::optional<bool> solved;

  std::optional<std::int64_t> integer(std::string_view key) const;
};
/// A kind of QuantSpec: the fields of its specs and the meaning of the codes.
struct QuantKind {
  std::string_view name;
  bool is_raw = false;          ///< elements are what they are
  bool is_asymmetric = false;   ///< zero points are stated
  bool has_axis = false;        ///< a scale for each entry of dimension `ch_axis`
  bool has_block = false;       ///< a scale for `block_size` elements
  bool has_two_levels = false;  ///< the scale of a block is times that of its channel
};
/// Null: no such kind.
const QuantKind* find_quant_kind(std::string_view name);
inline bool has_two_levels(const QuantSpec& spec) {
  const QuantKind* kind = find_quant_kind(spec.kind);
  return kind != nullptr && kind->has_two_levels;
}

/// Reads the canonical text of a kQuantSpec attribute.
QuantSpec read_quant_spec(const Attr& attribute);

}  // namespace mir
