// Attributes: unique per context and spelling, immutable, compared by address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/dim.hpp"
#include "mir/interner.hpp"

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
  /// Entries of a kDict, slots of a kQuantAnnotation.
  std::span<const NamedAttr> entries() const {
    return has_entries() ? entries_ : std::span<const NamedAttr>();
  }
  const Type* type() const { return kind_ == AttrKind::kType ? type_ : nullptr; }
  /// The uuid of a kQuantSpec; kNoUuid where it states none of 64 bits.
  std::int64_t uuid() const { return kind_ == AttrKind::kQuantSpec ? integer_ : kNoUuid; }
  /// Of a kQuantSpec: equal numbers mean that two specs say the same but for uuid and `solved`. A
  /// model has thousands of specs and a handful of schemes, which are numbered from 0 in their
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
  };
};

/// What a `QuantSpec(...)` says. Scales and zero points are not part of it.
struct QuantSpec {
  std::string_view kind;  ///< "SymPerTensor", "None", ...
  std::vector<std::pair<std::string_view, std::string_view>> fields;  ///< key, value text
  std::optional<std::int64_t> uuid;
  std::optional<bool> solved;

  std::optional<std::int64_t> integer(std::string_view key) const;
};
/// A kind of QuantSpec: what its specs state, and what the codes are.
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
