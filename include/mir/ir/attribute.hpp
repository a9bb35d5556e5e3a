// Attributes: unique per context and spelling, immutable, compared by address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/ir/dim.hpp"
#include "mir/support/interner.hpp"

namespace mir {

class Attr;
class Type;

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
  kOpaque,   ///< `#dialect.name<...>` or an alias `#name`, kept as written
  kInvalid,  ///< `<InvalidAttribute NYI>`: upstream lost the value
};

/// One entry of a dictionary or one slot of a QuantAnnotation; an empty slot has no value.
struct NamedAttr {
  Symbol key;
  const Attr* value = nullptr;
  friend bool operator==(const NamedAttr&, const NamedAttr&) = default;
};

/// The accessors of a kind may be called only on it. Two attributes are the same object exactly
/// when kind and canonical text agree, so `1` and `1.0`, `a` and `"a"` are different attributes.
class Attr {
 public:
  AttrKind kind() const { return kind_; }
  /// Canonical text.
  std::string_view spelling() const { return spelling_; }

  std::int64_t integer() const { return integer_; }
  /// Value of a kInt or kFloat attribute.
  double number() const {
    return kind_ == AttrKind::kInt ? static_cast<double>(integer_) : number_;
  }
  bool boolean() const { return integer_ != 0; }
  /// Text of a kString attribute without quotes and escapes, of a kSymbolRef without `@`.
  std::string_view text() const { return text_; }
  bool is_quoted() const { return quoted_; }
  Dim dim() const { return dim_; }
  std::span<const Attr* const> elements() const { return elements_; }
  /// Entries of a kDict, slots of a kQuantAnnotation.
  std::span<const NamedAttr> entries() const { return entries_; }
  const Type* type() const { return type_; }

 private:
  friend class IRContext;
  Attr(AttrKind kind, std::string_view spelling) : kind_(kind), spelling_(spelling) {}

  AttrKind kind_;
  bool quoted_ = false;
  std::string_view spelling_;
  std::int64_t integer_ = 0;
  double number_ = 0;
  Dim dim_;
  std::string_view text_;
  std::span<const Attr* const> elements_;
  std::span<const NamedAttr> entries_;
  const Type* type_ = nullptr;
};

/// What a `QuantSpec(...)` says. Scales and zero points are not part of it.
struct QuantSpec {
  std::string_view kind;  ///< "SymPerTensor", "None", ...
  std::vector<std::pair<std::string_view, std::string_view>> fields;  ///< key, value text
  std::optional<std::int64_t> uuid;
  std::optional<bool> solved;

  std::optional<std::int64_t> integer(std::string_view key) const;
};
/// Reads the canonical text of a kQuantSpec attribute.
QuantSpec read_quant_spec(const Attr& attribute);

}  // namespace mir
