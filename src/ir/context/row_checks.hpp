// Conditions on the rows of a dialect: on each row at compile time too, on their names when a
// dialect is registered.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_set>

#include "mir/context.hpp"
#include "support/characters.hpp"

namespace mir {

/// The first fault of a dialect; an empty text: none.
struct RowFault {
  std::string_view row{};   ///< the op, type or attribute kind; empty: the dialect itself
  std::string_view part{};  ///< its attribute, parameter or alias; empty: the row itself
  std::string_view text{};

  constexpr explicit operator bool() const { return !text.empty(); }
};

namespace row_checks {

/// `words` of letters, digits and `_$-` with dots between them.
constexpr bool is_dotted(std::string_view text) {
  char before = '.';
  for (const char c : text) {
    if (!is_name_character(c, "_$-") && (c != '.' || before == '.')) return false;
    before = c;
  }
  return before != '.';
}

constexpr bool is_dialect_name(std::string_view text) {
  return is_identifier(text);
}

constexpr bool has_number(AttrType type) {
  return type == AttrType::kInt || type == AttrType::kFloat || type == AttrType::kInts;
}

constexpr std::string_view fault_of(const AttrRow& row) {
  if (row.required && !row.default_text.empty()) return "is required and has a default";
  if (!row.choices.empty() && row.type != AttrType::kString) return "has choices and is no string";
  if (row.range != AttrRange() && !has_number(row.type)) return "has a range and is no number";
  if (!(row.range.low <= row.range.high)) return "has an empty range";
  return {};
}

/// Returns the fault of attributes of an op, or of parameters of a type.
constexpr RowFault fault_of(std::string_view row, std::span<const AttrRow> attributes) {
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const AttrRow& each = attributes[i];
    if (each.name.empty()) return {row, {}, "has an attribute or parameter without a name"};
    if (const std::string_view fault = fault_of(each); !fault.empty()) {
      return {row, each.name, fault};
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (attributes[j].name == each.name) return {row, each.name, "occurs twice"};
    }
  }
  return {};
}

constexpr RowFault fault_of(const OpRow& row) {
  if (!is_dotted(row.name)) return {row.name, {}, "is not a name of an op"};
  for (const std::string_view alias : row.aliases) {
    if (!is_dotted(alias)) return {row.name, alias, "is not a name of an op"};
  }
  for (const Arity arity : {row.operands, row.results, row.regions, row.successors}) {
    if (arity.min > arity.max)
      return {row.name, {}, "has an arity whose minimum is above its maximum"};
  }
  for (const WeightRow& weight : row.weights) {
    if (!weight.suffix.starts_with('.'))
      return {row.name, weight.suffix, "does not begin with '.'"};
  }
  return fault_of(row.name, row.attributes);
}

constexpr RowFault fault_of(const TypeRow& row) {
  if (!is_dotted(row.name)) return {row.name, {}, "is not a name of a type"};
  bool may_be_left_out = false;
  for (const AttrRow& each : row.parameters) {
    if (each.required && may_be_left_out) {
      return {row.name, each.name, "is required and follows a parameter that is not"};
    }
    may_be_left_out = !each.required;
    if (!each.required && each.default_text.empty()) {
      return {row.name, each.name, "is not required and has no default"};
    }
  }
  return fault_of(row.name, row.parameters);
}

/// Returns the first fault of the rows one by one.
template <class Row>
constexpr RowFault fault_of_each(std::span<const Row> rows) {
  for (const Row& row : rows) {
    if (const RowFault fault = fault_of(row)) return fault;
  }
  return {};
}

constexpr std::span<const std::string_view> aliases_of(const OpRow& row) {
  return row.aliases;
}
constexpr std::span<const std::string_view> aliases_of(const TypeRow&) {
  return {};
}

/// Returns the first fault of the rows one by one, and of names and aliases that occur twice.
template <class Row>
RowFault fault_of_all(std::span<const Row> rows) {
  if (const RowFault fault = fault_of_each(rows)) return fault;
  std::unordered_set<std::string_view> names;
  for (const Row& row : rows) {
    if (!names.insert(row.name).second) return {row.name, {}, "occurs twice"};
    for (const std::string_view alias : aliases_of(row)) {
      if (!names.insert(alias).second) return {row.name, alias, "occurs twice"};
    }
  }
  return {};
}

}  // namespace row_checks

/// The first fault of the dialect's name and rows. Whether the texts of defaults can be read is not
/// looked at.
inline RowFault fault_of(const Dialect& dialect) {
  if (!row_checks::is_dialect_name(dialect.name)) return {{}, {}, "is not a name of a dialect"};
  if (const RowFault fault = row_checks::fault_of_all(dialect.rows)) return fault;
  if (const RowFault fault = row_checks::fault_of_all(dialect.types)) return fault;
  return row_checks::fault_of_all(dialect.attribute_kinds);
}

}  // namespace mir
