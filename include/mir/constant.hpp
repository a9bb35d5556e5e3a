// What values hold before anything runs.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "mir/value.hpp"

namespace mir {

/// A constant's numbers or the parameter that a symbol names, with the type and all that mentions
/// repeat. Types, attributes and symbols are unique, so comparing is cheap and two values that hold
/// the same for the same reason compare equal, in one region or in several.
struct Constant {
  const Type* type = nullptr;
  std::span<const NamedAttr> attributes{};
  Symbol symbol{};
  bool has_symbol = false;  ///< a parameter

  friend bool operator==(const Constant& a, const Constant& b) {
    return a.type == b.type && a.symbol == b.symbol && a.has_symbol == b.has_symbol &&
           std::ranges::equal(a.attributes, b.attributes);
  }
};

/// Of a free value that states numbers or a symbol, and of a register's result; none for others.
std::optional<Constant> constant_of(const Value& value);

}  // namespace mir
