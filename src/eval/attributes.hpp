// Attributes of an op with the defaults of its row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/ref/movement.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Reads attributes that have passed verification: kinds are those of the row. An absent one is its
/// row's default, without one 0, false or empty. Everything is borrowed.
class AttributeReader {
 public:
  /// What the op itself has.
  explicit AttributeReader(const Op& op) : AttributeReader(op, op.attributes()) {}
  /// What the op has after symbols were replaced, say.
  AttributeReader(const Op& op, std::span<const NamedAttr> attributes)
      : op_(op), attributes_(attributes) {}

  /// Null when it is absent.
  const Attr* find(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  /// The entries of a list of integers; a single integer is a list of one.
  std::vector<std::int64_t> integers(std::string_view key) const;
  double number(std::string_view key) const;
  /// The element of a type that a number is (weights/elements.hpp), without dimensions.
  Result<Tensor> element(std::string_view key, DType dtype) const;
  /// The numbers that `start` and `step` describe.
  ref::Sequence sequence() const;
  bool boolean(std::string_view key) const;
  std::string_view string(std::string_view key) const;

 private:
  std::string_view number_text(std::string_view key) const;
  std::string_view default_text(std::string_view key) const;

  const Op& op_;
  std::span<const NamedAttr> attributes_;
};

}  // namespace mir
