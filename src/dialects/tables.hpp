// The tables that builtin_dialects() registers, and what each must satisfy at compile time.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "ir/context/row_checks.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

extern const Dialect kBuiltin;
extern const Dialect kGraph;
extern const Dialect kCf;
extern const Dialect kTensor;
extern const Dialect kLinalg;
extern const Dialect kProg;
extern const Dialect kDbg;
extern const Dialect kPattern;
extern const Dialect kDialect;
extern const Dialect kLoop;

/// True if a row of the toolkit has the texts that its documents are made of.
constexpr bool is_documented(const OpRow& row) {
  return !row.page.empty() && !row.summary.empty() && !row.example.empty() &&
         std::ranges::none_of(row.attributes, &std::string_view::empty, &AttrRow::summary) &&
         std::ranges::none_of(row.weights, &std::string_view::empty, &WeightRow::shape);
}
constexpr bool is_documented(const TypeRow& row) {
  return !row.summary.empty() && !row.example.empty() &&
         std::ranges::none_of(row.parameters, &std::string_view::empty, &AttrRow::summary);
}

/// True if mir/attribute_keys.hpp has all keys of the row.
consteval bool has_listed_keys(const OpRow& row) {
  return std::ranges::all_of(row.attributes, [](const AttrRow& each) {
    return std::ranges::binary_search(kAttributeKeys, each.name);
  });
}

/// True if the row is the op of that number and has the aliases that mir/context.hpp gives it.
consteval bool is_op(std::size_t number, const OpRow& row) {
  const std::string_view op = kOpNames[number];
  if (op.substr(op.find('.') + 1) != row.name) return false;
  std::size_t aliases = 0;
  for (const OpAlias& alias : kOpAliases) {
    if (static_cast<std::size_t>(alias.op) != number) continue;
    const std::string_view name = alias.name.substr(alias.name.find('.') + 1);
    if (std::ranges::find(row.aliases, name) == row.aliases.end()) return false;
    ++aliases;
  }
  return aliases == row.aliases.size();
}

/// True if the rows are the ops of the dialect that mir/context.hpp names, in its order.
consteval bool are_numbered(DialectId dialect, std::span<const OpRow> rows) {
  std::size_t row = 0;
  for (std::size_t number = 0; number < kOpCount; ++number) {
    if (dialect_of(kOpNames[number]) != dialect) continue;
    if (row == rows.size() || !is_op(number, rows[row]) || !has_listed_keys(rows[row]))
      return false;
    ++row;
  }
  return row == rows.size();
}

consteval bool are_sound(DialectId dialect, std::span<const OpRow> rows) {
  return are_numbered(dialect, rows) && !row_checks::fault_of_each(rows) &&
         std::ranges::all_of(rows, [](const OpRow& row) { return is_documented(row); });
}
consteval bool are_sound(std::span<const TypeRow> rows) {
  return !row_checks::fault_of_each(rows) &&
         std::ranges::all_of(rows, [](const TypeRow& row) { return is_documented(row); });
}

}  // namespace mir::dialect_tables
