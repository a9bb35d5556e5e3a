// Attributes of ops, read as the types that rows state.
//
// For each op of the build with attributes there is a class with an accessor for each of them and a
// function that makes the op: `mir/linalg_ops.hpp`, `mir/graph_ops.hpp` and others, made from the
// row tables of src/dialects. `linalg::Transpose(op).dim0()` reads, `linalg::Clip::build(builder,
// x,
// {.min_val = 0, .max_val = 6})` makes an op. Ops that a module declares have OpAttributes, which
// looks up types and defaults in their rows.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/ops.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// A number as text spells it, without rounding.
struct NumberText {
  std::string_view text;

  double value() const;
  /// The element of a type that the number is, without dimensions: see element_of() of
  /// weights/elements.hpp. An error if the type has no such number.
  Result<Tensor> element(DType dtype) const;
};

/// Reads attributes that have passed verification: their kinds are those of the row. A missing one
/// is its row's default, without one 0, false or empty. Borrows everything.
class OpAttributes {
 public:
  /// Those that the op states.
  explicit OpAttributes(const Op& op) : OpAttributes(op, op.attributes()) {}
  /// Others instead, such as those after symbols were replaced.
  OpAttributes(const Op& op, std::span<const NamedAttr> attributes)
      : op_(op), attributes_(attributes) {}
  /// Those of something that has OpAttributes.
  template <class Source>
  requires requires(const Source& source) {
    { source.attributes() } -> std::same_as<OpAttributes>;
  }
  explicit OpAttributes(const Source& source) : OpAttributes(source.attributes()) {}

  const Op& op() const { return op_; }
  /// The stated value; null if the attribute is missing.
  const Attr* attribute(KeyRef key) const;
  bool has(KeyRef key) const { return attribute(key) != nullptr; }
  std::int64_t integer(KeyRef key) const;
  /// The entries of a list of integers; a single integer is a list of one.
  std::vector<std::int64_t> integers(KeyRef key) const;
  double number(KeyRef key) const;
  NumberText number_text(KeyRef key) const;
  bool boolean(KeyRef key) const;
  std::string_view string(KeyRef key) const;

 protected:
  // The same with the default of the row.
  std::int64_t integer(AttrKey key, std::int64_t otherwise) const {
    const Attr* value = attribute(key);
    return value == nullptr ? otherwise : value->integer();
  }
  double number(AttrKey key, double otherwise) const {
    const Attr* value = attribute(key);
    return value == nullptr ? otherwise : value->number();
  }
  NumberText number_text(AttrKey key, std::string_view otherwise) const {
    const Attr* value = attribute(key);
    return {value == nullptr ? otherwise : value->spelling()};
  }
  bool boolean(AttrKey key, bool otherwise) const {
    const Attr* value = attribute(key);
    return value == nullptr ? otherwise : value->boolean();
  }
  std::string_view string(AttrKey key, std::string_view otherwise) const {
    const Attr* value = attribute(key);
    return value == nullptr ? otherwise : value->text();
  }

 private:
  std::string_view default_text(KeyRef key) const;

  const Op& op_;
  std::span<const NamedAttr> attributes_;
};

/// Where a built op runs, and its name in the model.
struct OpPlace {
  std::string_view device = "CPU";
  std::string_view path{};
};

// What the generated functions consist of.

inline const Attr* attribute_of(Builder&, const Attr* value) {
  return value;
}
inline const Attr* attribute_of(Builder& builder, std::optional<std::int64_t> value) {
  return value ? builder.context().integer(*value) : nullptr;
}
inline const Attr* attribute_of(Builder& builder, std::optional<double> value) {
  return value ? builder.context().number(*value) : nullptr;
}
inline const Attr* attribute_of(Builder& builder, std::optional<bool> value) {
  return value ? builder.context().boolean(*value) : nullptr;
}
inline const Attr* attribute_of(Builder& builder, std::optional<std::string_view> value) {
  return value ? builder.context().word(*value) : nullptr;
}
/// Makes an op as Builder::create() does, without the attributes that are null.
Op* build_op(Builder& builder, OpId op, std::span<Value* const> operands,
             std::initializer_list<NamedAttr> attributes, const OpPlace& place);
inline Value* result_of(Op* op) {
  return op == nullptr ? nullptr : op->result();
}

}  // namespace mir
