// Attributes of ops as C++ types, and making ops with them.
//
// `mir/linalg_ops.hpp` is made from the row tables of src/dialects. It has a class for each linalg
// op: `linalg::Transpose(op).dim0()` reads an attribute,
// `linalg::Clip::build(builder, x, {.min_val = 0, .max_val = 6})` makes an op. OpAttributes reads
// ops of all dialects by key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/op.hpp"

namespace mir {

class Builder;

/// Reads attributes that have passed verification: their kinds are those of the row. A missing one
/// is its row's default, without one 0, false or empty. Borrows everything.
class OpAttributes {
 public:
  /// Reads the attributes of the op itself.
  OpAttributes(const Op& op) : OpAttributes(op, op.attributes()) {}
  /// Reads other attributes in their place, such as those after symbols were replaced.
  OpAttributes(const Op& op, std::span<const NamedAttr> attributes)
      : op_(&op), attributes_(attributes) {}

  const Op& op() const { return *op_; }
  /// Returns the stated value, or null if the attribute is missing.
  const Attr* attribute(KeyRef key) const;
  bool has(KeyRef key) const { return attribute(key) != nullptr; }
  std::int64_t integer(KeyRef key) const;
  /// The entries of a list of integers; a single integer is a list of one.
  std::vector<std::int64_t> integers(KeyRef key) const;
  double number(KeyRef key) const;
  /// The number as text spells it, without rounding.
  std::string_view number_text(KeyRef key) const;
  bool boolean(KeyRef key) const;
  std::string_view string(KeyRef key) const;

 protected:
  std::span<const NamedAttr> attributes() const { return attributes_; }
  void set_attributes(std::span<const NamedAttr> attributes) { attributes_ = attributes; }

 private:
  std::string_view default_text(KeyRef key) const;

  const Op* op_;
  std::span<const NamedAttr> attributes_;
};

/// Where a built op runs, and its name in the model.
struct OpPlace {
  std::string_view device = "CPU";
  std::string_view path{};
};

/// An attribute of an op to build; without a value it is left out.
struct StatedAttribute {
  KeyRef key;
  std::variant<const Attr*, std::optional<std::int64_t>, std::optional<double>, std::optional<bool>,
               std::optional<std::string_view>>
      value;
};

/// Makes an op as Builder::build() does.
Op* build_op(Builder& builder, OpId op, std::span<Value* const> operands,
             std::initializer_list<StatedAttribute> attributes, const OpPlace& place);
/// Returns the first result of build_op(), or null.
Value* build_value(Builder& builder, OpId op, std::span<Value* const> operands,
                   std::initializer_list<StatedAttribute> attributes, const OpPlace& place);

}  // namespace mir
