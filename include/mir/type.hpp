// Names, extents, types and attributes of values and ops. All are unique in their context.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

// Unique strings as 32-bit handles.

/// Handle of an interned string. Equal handles of one interner mean equal text. Handle 0 is the
/// empty string, so a default Symbol means "none" wherever an empty name has no meaning.
struct Symbol {
  std::uint32_t id = 0;
  auto operator<=>(const Symbol&) const = default;
  explicit operator bool() const { return id != 0; }
};

/// Thread-safe. Text lives as long as the interner; handles are dense and start at 0. Their order
/// is first-come and carries no meaning: nothing may be printed or decided by it.
class StringInterner {
 public:
  StringInterner();
  ~StringInterner();
  StringInterner(const StringInterner&) = delete;
  StringInterner& operator=(const StringInterner&) = delete;

  Symbol intern(std::string_view text);
  /// The handle of `text` if it was interned before; otherwise the empty handle.
  Symbol find(std::string_view text) const;
  std::string_view text(Symbol symbol) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mir

template <>
struct std::hash<mir::Symbol> {
  std::size_t operator()(mir::Symbol symbol) const noexcept { return symbol.id; }
};

namespace mir {

// Dimensions of tensor types: constants, symbolic expressions, or unknown.

class DimExpr;

/// Ends the name of a pack: `$B..` is any number of extents, in the types of patterns.
inline constexpr std::string_view kPackSuffix = "..";

/// One extent. Expressions are interned in normal form, so equal expressions are equal Dims.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr explicit Dim(std::int64_t constant) : constant_(constant) {}
  static Dim unknown();

  bool is_constant() const { return expr_ == nullptr; }
  bool is_unknown() const;
  bool is_symbolic() const { return !is_constant() && !is_unknown(); }
  /// True for a pack, whose arithmetic is unknown.
  bool is_pack() const;
  /// True for a negative number: dumps print one for an extent that they do not know.
  bool is_negative() const { return is_constant() && constant_ < 0; }
  /// Only for a constant.
  std::int64_t constant() const { return constant_; }
  /// Null for a constant.
  const DimExpr* expr() const { return expr_; }

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  friend class DimTable;
  constexpr explicit Dim(const DimExpr& expr) : expr_(&expr) {}

  const DimExpr* expr_ = nullptr;
  std::int64_t constant_ = 0;
};

/// Values of dimension symbols (`$S` without the `$`), few enough for linear search.
class DimBindings {
 public:
  std::optional<std::int64_t> find(Symbol name) const;
  void bind(Symbol name, std::int64_t value);
  void clear() { entries_.clear(); }
  std::span<const std::pair<Symbol, std::int64_t>> entries() const& { return entries_; }
  /// A loop over the entries of a temporary would read freed memory.
  std::span<const std::pair<Symbol, std::int64_t>> entries() && = delete;

 private:
  std::vector<std::pair<Symbol, std::int64_t>> entries_;
};

/// Makes, reads and evaluates symbolic extents: polynomials with 64-bit integer coefficients over
/// symbols and over floor divisions, in one normal form (terms sorted by their text, like terms
/// added, constants folded). A remainder a % b is a - b * (a / b), and text has it where that is
/// shorter, so `4*($S/4)+$S%4` is `$S`. An unknown operand makes the result unknown; arithmetic
/// that overflows 64 bits makes it unknown too, and so does an expression beyond 1024 characters,
/// 64 levels or 1024 products. A divisor that cancels is gone, even where it could be zero.
/// Thread-safe.
class DimTable {
 public:
  explicit DimTable(StringInterner& strings);
  ~DimTable();

  Dim symbol(std::string_view name);
  Dim add(Dim a, Dim b);
  Dim subtract(Dim a, Dim b);
  Dim multiply(Dim a, Dim b);
  /// Rounds toward negative infinity; exact when every coefficient is divisible. Division by a
  /// constant zero is unknown.
  Dim floor_divide(Dim a, Dim b);
  /// a - b * floor(a / b).
  Dim modulo(Dim a, Dim b);

  /// `?`, `-1`, `$S`, `$past+$S`, `4*($S+1)`, `$S/4`, `$S%4`; blanks are allowed between words.
  Result<Dim> parse(std::string_view text);
  /// Normal form; parse(print(d)) == d.
  std::string print(Dim dim) const;

  /// True once an extent with a minimum or a maximum has been made.
  bool has_extrema() const;
  /// The value under the bindings; none when a symbol is unbound, the extent unknown, a divisor
  /// zero, or the arithmetic overflows.
  std::optional<std::int64_t> evaluate(Dim dim, const DimBindings& bindings) const;
  /// Symbols that occur in the extent, each once, in order of their text; valid as long as the
  /// table.
  std::span<const Symbol> symbols(Dim dim) const;
  /// The one value of the one unbound symbol that makes the extent equal `value`, where the extent
  /// is linear in it; none otherwise.
  std::optional<std::pair<Symbol, std::int64_t>> solve(Dim dim, std::int64_t value,
                                                       const DimBindings& bindings) const;
  /// The extent with every occurrence of a bound symbol replaced by its value.
  Dim substitute(Dim dim, const DimBindings& bindings);
  /// The extent with every occurrence of a symbol for which `value` has an extent replaced by that;
  /// unknown if this is.
  Dim substitute(Dim dim, const std::function<std::optional<Dim>(Symbol)>& value);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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

 private:
  friend class IRContext;
  friend bool compatible(const Type* a, const Type* b);
  DialectType(const TypeKindInfo& kind, std::string_view spelling)
      : Type(TypeClass::kDialect, kind, spelling) {}

  Published<ParameterList> list_;
};

template <class T>
const T* dyn_cast(const Type* type) {
  return type != nullptr && T::classof(type) ? static_cast<const T*>(type) : nullptr;
}

/// True if two extents can be equal: they are, or one is unknown. Symbols stand for themselves.
bool compatible(Dim a, Dim b);

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
