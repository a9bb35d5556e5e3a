// The tables that builtin_dialects() registers, and what each must satisfy at compile time.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "mir/context.hpp"

namespace mir::dialect_tables {

extern const Dialect kBuiltin;
extern const Dialect kGraph;
extern const Dialect kCf;
extern const Dialect kTensor;
extern const Dialect kLinalg;
extern const Dialect kProg;
extern const Dialect kDbg;

consteval bool is_sound(const OpRow& row) {
  if (row.name.empty() || row.page.empty() || row.summary.empty() || row.example.empty()) {
    return false;
  }
  for (std::size_t i = 0; i < row.attributes.size(); ++i) {
    const AttrRow& attribute = row.attributes[i];
    if (attribute.name.empty() || attribute.summary.empty()) return false;
    if (attribute.required && !attribute.default_text.empty()) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (row.attributes[j].name == attribute.name) return false;
    }
  }
  return std::ranges::all_of(row.weights, [](const WeightRow& weight) {
    return weight.suffix.starts_with('.') && !weight.shape.empty();
  });
}

/// Whether `name` is the name or an alias of `row`.
constexpr bool answers_to(const OpRow& row, std::string_view name) {
  return row.name == name || std::ranges::find(row.aliases, name) != row.aliases.end();
}

/// Whether the row is the op of that number and has the aliases that mir/context.hpp gives it.
consteval bool is_op(std::size_t number, const OpRow& row) {
  const std::string_view op = kOpNames[number];
  if (op.substr(op.find('.') + 1) != row.name) return false;
  std::size_t aliases = 0;
  for (const OpAlias& alias : kOpAliases) {
    if (static_cast<std::size_t>(alias.op) != number) continue;
    if (!answers_to(row, alias.name.substr(alias.name.find('.') + 1))) return false;
    ++aliases;
  }
  return aliases == row.aliases.size();
}

/// Whether the rows are the ops of the dialect that mir/context.hpp names, in its order.
consteval bool are_numbered(DialectId dialect, std::span<const OpRow> rows) {
  std::size_t row = 0;
  for (std::size_t number = 0; number < kOpCount; ++number) {
    if (dialect_of(kOpNames[number]) != dialect) continue;
    if (row == rows.size() || !is_op(number, rows[row])) return false;
    ++row;
  }
  return row == rows.size();
}

consteval bool are_sound(DialectId dialect, std::span<const OpRow> rows) {
  if (!are_numbered(dialect, rows)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_sound(rows[i])) return false;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (i == j) continue;
      if (answers_to(rows[j], rows[i].name)) return false;
      for (const std::string_view alias : rows[i].aliases) {
        if (answers_to(rows[j], alias)) return false;
      }
    }
  }
  return true;
}

}  // namespace mir::dialect_tables
