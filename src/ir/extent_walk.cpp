// Visits the extents in the types and attributes of a module, and their symbols.
#include "ir/extent_walk.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "extents/dim_expr.hpp"
#include "ir/inherited_symbols.hpp"
#include "ir/joined_extents.hpp"
#include "ir/own_symbols.hpp"
#include "ir/storage_marks.hpp"
#include "ir/type_extents.hpp"
#include "mir/context.hpp"
#include "mir/op.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

using VisitExtent = std::function<void(Dim, const Op&)>;

void visit_attribute(const Attr& attribute, const Op& op, const VisitExtent& visit) {
  if (attribute.kind() == AttrKind::kDim) visit(attribute.dim(), op);
  for (const Attr* element : attribute.elements()) visit_attribute(*element, op, visit);
  for (const NamedAttr& entry : attribute.entries()) {
    // An entry of an annotation may be empty.
    if (entry.value != nullptr) visit_attribute(*entry.value, op, visit);
  }
}

void visit_attributes(const Op& op, const VisitExtent& visit) {
  const IRContext& context = op.module().context();
  for (const NamedAttr& each : op.attributes()) {
    if (has_own_symbols(op.row(), context.text(each.key), *each.value)) continue;
    visit_attribute(*each.value, op, visit);
  }
}

/// Visits the extents of attributes that the op's row declares. Others, such as the estimates of
/// memory traffic, mean nothing to a run.
void visit_declared_attributes(const Op& op, const VisitExtent& visit) {
  if (op.row() == nullptr) return visit_attributes(op, visit);
  for (const AttrRow& row : op.row()->attributes) {
    if (row.type == AttrType::kMaps || row.type == AttrType::kMap) continue;
    if (const Attr* value = op.attribute(row.name)) visit_attribute(*value, op, visit);
  }
}

}  // namespace

void for_each_extent(const Module& module, const VisitExtent& visit) {
  visit_attributes(*module.top(), visit);
  for_each_op(module, [&](const Op& op) { visit_attributes(op, visit); });
  for_each_value(module, [&](const Value& value, const Op& op) {
    if (value.tensor_type() == nullptr) return;
    for (const Dim extent : value.tensor_type()->dims()) visit(extent, op);
  });
}

void for_each_extent_of_attributes(const Op& op, const std::function<void(Dim)>& visit) {
  visit_attributes(op, [&](Dim extent, const Op&) { visit(extent); });
}

void for_each_extent_of(const Op& op, const std::function<void(Dim)>& visit) {
  for_each_extent_of_attributes(op, visit);
  for (const Value& result : op.results()) {
    if (result.tensor_type() == nullptr) continue;
    std::ranges::for_each(result.tensor_type()->dims(), visit);
  }
}

Symbol symbol_alone(Dim extent) {
  const DimExpr* expr = extent.expr();
  const bool is_symbol = expr != nullptr && expr->kind == DimExpr::Kind::kSymbol;
  return is_symbol && !extent.is_pack() ? expr->name : Symbol();
}

bool has_extremum(Dim extent) {
  return extent.is_symbolic() && has_maximum(polynomial_of(extent.expr()));
}

void for_each_symbol_found_out(const Op& op, const std::function<void(Symbol)>& visit) {
  if (op.first_region() != nullptr) std::ranges::for_each(symbols_joined_by(op), visit);
  const bool is_call = op.is(OpId::kGraphCallGraph);
  if (op.row() == nullptr || (op.row()->infer == nullptr && !is_call)) return;
  for_each_symbol_of_results_alone(op, [&](Symbol symbol) {
    if (!is_call || !takes_from_around(op, symbol)) visit(symbol);
  });
}

void for_each_symbol_of_results_alone(const Op& op, const std::function<void(Symbol)>& visit) {
  if (only_shows_memory(op)) return;
  DimTable& dims = op.module().context().dims();
  const auto add_symbolic = [](std::vector<Dim>& extents, const Value& value) {
    if (value.tensor_type() == nullptr) return;
    for (const Dim extent : value.tensor_type()->dims()) {
      if (extent.is_symbolic() && !extent.is_pack()) extents.push_back(extent);
    }
  };
  std::vector<Dim> of_results, of_operands;
  for (const Value& result : op.results()) add_symbolic(of_results, result);
  if (of_results.empty()) return;
  for (const Use& use : op.operand_uses()) add_symbolic(of_operands, *use.value());
  std::ranges::sort(of_operands, {}, &Dim::expr);
  std::vector<Symbol> found;
  for (const Dim extent : of_results) {
    if (std::ranges::binary_search(of_operands, extent.expr(), {}, &Dim::expr)) continue;
    const auto symbols = dims.symbols(extent);
    found.insert(found.end(), symbols.begin(), symbols.end());
  }
  if (found.empty()) return;
  std::unordered_set<Symbol> known;
  const auto add_known = [&](Dim extent) {
    const auto symbols = dims.symbols(extent);
    known.insert(symbols.begin(), symbols.end());
  };
  std::ranges::for_each(of_operands, add_known);
  visit_declared_attributes(op, [&](Dim extent, const Op&) {
    if (extent.is_symbolic()) add_known(extent);
  });
  for (const Symbol symbol : found) {
    if (!known.contains(symbol)) visit(symbol);
  }
}

bool finds_out_symbols(const Op& op) {
  bool finds = false;
  for_each_symbol_found_out(op, [&](Symbol) { finds = true; });
  return finds;
}

std::set<std::string_view> symbols_of_extents(const Module& module) {
  const IRContext& context = module.context();
  std::set<std::string_view> names;
  for_each_extent(module, [&](Dim extent, const Op&) {
    for (const Symbol symbol : module.context().dims().symbols(extent)) {
      names.insert(context.text(symbol));
    }
  });
  return names;
}

}  // namespace mir
