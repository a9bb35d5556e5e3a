#include "passes/symbols/substitute_extents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/walk.hpp"
#include "passes/control/own_symbols.hpp"

namespace mir {

template <class Place>
void ExtentSubstitution::apply_to_all(Place& place) {
  for_each_op(place, [&](const Op& op) { find_conflict(op); });
  for_each_value(place, [&](Value& value, Op&) { apply(value); });
  for_each_op(place, [&](Op& op) { apply_to_op(op); });
  for_each_region(place, [&](Region& inner) { apply_to_results(inner); });
}

void ExtentSubstitution::apply(Module& module) {
  apply_to_all(module);
}

void ExtentSubstitution::apply(Region& graph) {
  apply_to_all(graph);
}

void ExtentSubstitution::find_conflict(const Op& op) {
  const Region& region = *op.parent_region();
  const bool is_apart = !region.parent()->has(Trait::kIsolated) || op.block() != region.entry();
  if (!is_apart || conflict_.op != nullptr) return;
  for_each_symbol_bound_by(op, [&](Symbol symbol) {
    if (values_.find(symbol)) conflict_ = {&op, symbol};
  });
}

Dim ExtentSubstitution::replaced(Dim extent) {
  if (extent.is_constant() || extent.is_unknown()) return extent;
  for (const Symbol symbol : context_.dims().symbols(extent)) {
    found_.insert(symbol);
    if (values_.find(symbol)) bound_.insert(symbol);
  }
  const Dim result = context_.dims().substitute(extent, values_);
  if (result.is_constant() && result.is_negative() && !negative_) negative_ = extent;
  return result;
}

const Type* ExtentSubstitution::replaced(const Type* type) {
  const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
  if (tensor == nullptr || tensor->has_static_shape()) return type;
  std::vector<Dim> extents;
  for (const Dim extent : tensor->dims()) extents.push_back(replaced(extent));
  if (std::ranges::equal(extents, tensor->dims())) return type;
  return context_.tensor(extents, tensor->dtype_name(), tensor->device(), tensor->encoding());
}

const Attr* ExtentSubstitution::replaced(const Attr* attribute) {
  switch (attribute->kind()) {
    case AttrKind::kDim:
      return context_.dim(replaced(attribute->dim()));
    case AttrKind::kArray: {
      std::vector<const Attr*> elements;
      for (const Attr* each : attribute->elements()) elements.push_back(replaced(each));
      return std::ranges::equal(elements, attribute->elements()) ? attribute
                                                                 : context_.array(elements);
    }
    case AttrKind::kDict: {
      const std::vector<NamedAttr> entries = replaced(attribute->entries());
      return std::ranges::equal(entries, attribute->entries()) ? attribute : context_.dict(entries);
    }
    default:
      return attribute;
  }
}

std::vector<NamedAttr> ExtentSubstitution::replaced(std::span<const NamedAttr> list) {
  std::vector<NamedAttr> made;
  for (const NamedAttr& each : list) made.push_back({each.key, replaced(each.value)});
  return made;
}

void ExtentSubstitution::apply(Value& value) {
  const Type* type = replaced(value.type());
  if (type != value.type()) rewriter_.set_type(value, type);
  const auto attributes = replaced(value.attributes());
  if (!std::ranges::equal(attributes, value.attributes())) {
    rewriter_.set_attributes(value, attributes);
  }
}

void ExtentSubstitution::apply_to_op(Op& op) {
  const auto attributes = replaced(op.attributes());
  if (!std::ranges::equal(attributes, op.attributes())) rewriter_.set_attributes(op, attributes);
}

void ExtentSubstitution::apply_to_results(Region& region) {
  std::vector<const Type*> types;
  for (const Type* each : region.result_types()) types.push_back(replaced(each));
  if (!std::ranges::equal(types, region.result_types())) {
    rewriter_.set_result_types(region, types);
  }
}

bool refuse_conflict(const PassRun& run, const ExtentSubstitution& substitution) {
  const auto& [op, symbol] = substitution.conflict();
  if (op == nullptr) return false;
  run.diagnostics().error(
      DiagCode::kPipeline, op->span(),
      fmt::format("'${}' has values of its own here: give it another name, so that it stays",
                  run.module().context().text(symbol)));
  return true;
}

}  // namespace mir
