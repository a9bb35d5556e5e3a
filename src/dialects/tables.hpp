// The tables that builtin_dialects() registers, and what each must satisfy at compile time.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "ir/context/row_checks.hpp"
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

/// Whether a row of the toolkit has the texts that its documents are made of.
constexpr bool is_documented(const OpRow& row) {
  return !row.page.empty() && !row.summary.empty() && !row.example.empty() &&
         std::ranges::none_of(row.attributes, &std::string_view::empty, &AttrRow::summary) &&
         std::ranges::none_of(row.weights, &std::string_view::empty, &WeightRow::shape);
}
constexpr bool is_documented(const TypeRow& row) {
  return !row.summary.empty() && !row.example.empty() &&
         std::ranges::none_of(row.parameters, &std::string_view::empty, &AttrRow::summary);
}

/// Whether the row is the op of that number and has the aliases that mir/context.hpp gives it.
consteval bool is_op(std::size_t number, const OpRow& row) {
  const std::string_view op = kOpNames[number];
  if (op.substr(op.find('.') + 1) != row.name) return false;
  std::size_t aliases = 0;
  for (const OpAlias& alias : kOpAliases) {
    if (static_cast<std::size_t>(alias.op) != number) continue;
    if (!row_checks::answers_to(row, alias.name.substr(alias.name.find('.') + 1))) return false;
    ++aliases;
  }
  return aliases == row.aliases.size();
}

/// An attribute as `mir/op_attributes.def` lists it, from which typed accessors are made.
struct ListedAttribute {
  OpId op;
  std::string_view name;
  AttrType type;
  bool is_required;
  std::string_view default_text;
  bool is_element;

  consteval bool is(const AttrRow& row) const {
    return row.name == name && row.type == type && row.required == is_required &&
           row.default_text == default_text && row.is_element == is_element;
  }
};
inline constexpr ListedAttribute kListedAttributes[] = {
#define MIR_ATTRIBUTE(op, name, type, is_required, default_text, is_element) \
  {OpId::k##op, name, AttrType::type, is_required, default_text, is_element},
#include "mir/op_attributes.def"
#undef MIR_ATTRIBUTE
};

/// Whether the attributes of the row are those that are listed for the op, in their order.
consteval bool has_listed_attributes(OpId op, const OpRow& row) {
  std::size_t count = 0;
  for (const ListedAttribute& each : kListedAttributes) {
    if (each.op != op) continue;
    if (count == row.attributes.size() || !each.is(row.attributes[count])) return false;
    ++count;
  }
  return count == row.attributes.size();
}

/// Whether the rows are the ops of the dialect that mir/context.hpp names, in its order.
consteval bool are_numbered(DialectId dialect, std::span<const OpRow> rows) {
  std::size_t row = 0;
  for (std::size_t number = 0; number < kOpCount; ++number) {
    if (dialect_of(kOpNames[number]) != dialect) continue;
    if (row == rows.size() || !is_op(number, rows[row]) ||
        !has_listed_attributes(static_cast<OpId>(number), rows[row])) {
      return false;
    }
    ++row;
  }
  return row == rows.size();
}

consteval bool are_sound(DialectId dialect, std::span<const OpRow> rows) {
  return are_numbered(dialect, rows) && !row_checks::fault_of_ops(rows) &&
         std::ranges::all_of(rows, [](const OpRow& row) { return is_documented(row); });
}
consteval bool are_sound(std::span<const TypeRow> rows) {
  return !row_checks::fault_of_all(rows) &&
         std::ranges::all_of(rows, [](const TypeRow& row) { return is_documented(row); });
}

}  // namespace mir::dialect_tables
