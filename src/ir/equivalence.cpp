#include "mir/equivalence.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "mir/module.hpp"
#include "support/number_text.hpp"

namespace mir {

// -- attributes -----------------------------------------------------------------------------------

namespace {

bool is_in_row(std::span<const RowAttribute> row, Symbol key) {
  return std::ranges::find(row, key, &RowAttribute::key) != row.end();
}

/// Whether each attribute of `a` that its row does not have is an attribute of `b`.
bool has_other_attributes_of(const Op& b, const Op& a, std::span<const RowAttribute> row) {
  return std::ranges::all_of(a.attributes(), [&](const NamedAttr& each) {
    return is_in_row(row, each.key) || b.attribute(each.key) == each.value;
  });
}

}  // namespace

namespace {

/// True for the same number in any spelling, without rounding. Zeros of different signs differ.
bool are_same_number(const Attr& a, const Attr& b) {
  const auto x = Decimal::read(a.spelling()), y = Decimal::read(b.spelling());
  return x && y ? *x == *y : a.spelling() == b.spelling();
}

}  // namespace

bool are_same_value(const Attr& a, const Attr& b) {
  if (&a == &b) return true;
  if (a.kind() != b.kind()) return false;
  return (a.kind() == AttrKind::kString && a.text() == b.text()) ||
         (a.kind() == AttrKind::kFloat && are_same_number(a, b));
}

const Attr* effective_attribute(const Op& op, const AttrRow& row) {
  const Attr* stated = op.attribute(row.name);
  return stated != nullptr ? stated : default_value(op.module().context(), row);
}

bool states_only_row_attributes(const Op& op) {
  const auto row = op.module().context().row_attributes(op.op_name());
  return std::ranges::all_of(op.attributes(),
                             [&](const NamedAttr& each) { return is_in_row(row, each.key); });
}

bool have_equal_attributes(const Op& a, const Op& b) {
  assert(a.kind() == b.kind());
  if (std::ranges::equal(a.attributes(), b.attributes())) return true;
  const auto row = a.module().context().row_attributes(a.op_name());
  if (!has_other_attributes_of(a, b, row) || !has_other_attributes_of(b, a, row)) return false;
  const auto value_in = [](const Op& op, const RowAttribute& of) {
    const Attr* stated = op.attribute(of.key);
    return stated != nullptr ? stated : of.by_default;
  };
  return std::ranges::all_of(row, [&](const RowAttribute& each) {
    const Attr *left = value_in(a, each), *right = value_in(b, each);
    return left == right || (left != nullptr && right != nullptr && are_same_value(*left, *right));
  });
}

// -- ops ------------------------------------------------------------------------------------------

namespace {

/// Whether the name of the op in its model decides what it computes.
bool is_named_by_path(const Op& op) {
  return op.row() == nullptr || !op.row()->weights.empty() || op.row()->effects != Effect::kNone ||
         op.has(Trait::kTypedByName);
}

bool have_equal_results(const Op& a, const Op& b) {
  return std::ranges::equal(a.results(), b.results(), [](const Value& x, const Value& y) {
    return x.type() == y.type() && x.has_symbol() == y.has_symbol() && x.symbol() == y.symbol() &&
           std::ranges::equal(x.attributes(), y.attributes());
  });
}

}  // namespace

bool are_same_operation(const Op& a, const Op& b) {
  if (a.op_name().spelling != b.op_name().spelling) return false;
  if (a.first_region() != nullptr || b.first_region() != nullptr) return false;
  if (!a.extra().successors.empty() || !b.extra().successors.empty()) return false;
  const bool is_symbol_equal = a.has_symbol() == b.has_symbol() && a.symbol() == b.symbol();
  const bool is_path_equal = a.has_path() == b.has_path() && a.path() == b.path();
  return is_symbol_equal && (is_path_equal || !is_named_by_path(a)) && have_equal_attributes(a, b);
}

bool are_equivalent(const Op& a, const Op& b) {
  const auto value_of = [](const Use& use) { return use.value(); };
  return are_same_operation(a, b) &&
         std::ranges::equal(a.operand_uses(), b.operand_uses(), {}, value_of, value_of) &&
         have_equal_results(a, b);
}

}  // namespace mir
