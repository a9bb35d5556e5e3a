// Replaces symbols by values in types and attributes.
#include "passes/symbols/substitute_extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/joined_extents.hpp"
#include "ir/own_symbols.hpp"
#include "ir/symbol_scopes.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/passes.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

void ExtentSubstitution::apply(Region& region, const DimBindings& values) {
  const std::pair<Region*, DimBindings> one(&region, values);
  apply(std::span(&one, 1));
}

void ExtentSubstitution::apply(std::span<const std::pair<Region*, DimBindings>> regions) {
  // What a region owns follows from types, so all of them are looked at before one changes.
  std::vector<std::pair<Region*, DimBindings>> scopes;
  for (const auto& [region, values] : regions) {
    for_each_scope(*region, values, [&](Region& each, const DimBindings& visible) {
      if (!visible.entries().empty()) scopes.emplace_back(&each, visible);
    });
  }
  for (const auto& [each, visible] : scopes) {
    use(visible);
    find_conflict(*each);
  }
  for (const auto& [each, visible] : scopes) {
    use(visible);
    apply_here(*each);
  }
  // The attributes of a graph are stated in its symbols.
  for (const auto& [region, values] : regions) {
    use(values);
    if (isa<SubGraphOp>(region->parent())) apply(*region->parent());
  }
}

const Type* ExtentSubstitution::replaced(const Type* type, const DimBindings& values) {
  use(values);
  return replaced(type);
}

void ExtentSubstitution::rename(Symbol symbol, Symbol name) {
  const Dim renamed = context_.dims().symbol(context_.text(name));
  value_ = [symbol, renamed](Symbol each) {
    return each == symbol ? std::optional(renamed) : std::nullopt;
  };
  for_each_region(rewriter_.module(), [&](Region& region) {
    if (region.parent()->has(Trait::kTemplate)) return;
    apply_here(region);
    if (isa<SubGraphOp>(region.parent())) apply(*region.parent());
  });
}

void ExtentSubstitution::use(const DimBindings& values) {
  value_ = [&values](Symbol symbol) {
    const auto value = values.find(symbol);
    return value ? std::optional(Dim(*value)) : std::nullopt;
  };
}

void ExtentSubstitution::find_conflict(const Region& region) {
  for (const Block* block : region.blocks()) {
    if (block == region.entry() || block->front() == nullptr) continue;
    const auto find_at = [&](const Op& op) {
      return [&](Symbol symbol) {
        if (conflict_.op == nullptr && value_(symbol)) conflict_ = {&op, symbol};
      };
    };
    for_each_symbol_joined_by(*block, find_at(*block->front()));
    for (const Op* op : block->ops()) for_each_symbol_bound_by(*op, find_at(*op));
  }
}

void ExtentSubstitution::apply_here(Region& region) {
  for (Value* value : region.free_values()) apply(*value);
  for (Block* block : region.blocks()) {
    for (Value& argument : block->arguments()) apply(argument);
    for (Op* op : block->ops()) {
      if (!op->has(Trait::kTemplate) && !isa<SubGraphOp>(op)) apply(*op);
    }
  }
  std::vector<const Type*> types;
  for (const Type* each : region.result_types()) types.push_back(replaced(each));
  if (!std::ranges::equal(types, region.result_types())) {
    rewriter_.set_result_types(region, types);
  }
}

Dim ExtentSubstitution::replaced(Dim extent) {
  if (extent.is_constant() || extent.is_unknown()) return extent;
  for (const Symbol symbol : context_.dims().symbols(extent)) {
    if (value_(symbol)) bound_.insert(symbol);
  }
  const Dim result = context_.dims().substitute(extent, value_);
  if (result.is_negative() && !negative_) negative_ = {extent, result.constant()};
  return result;
}

const Type* ExtentSubstitution::replaced(const Type* type) {
  const auto* of_dialect = dyn_cast<DialectType>(type);
  if (of_dialect != nullptr && of_dialect->is_structured()) {
    std::vector<const Attr*> parameters;
    for (const Attr* each : of_dialect->parameters()) parameters.push_back(replaced(each));
    if (std::ranges::equal(parameters, of_dialect->parameters())) return type;
    const auto made = context_.dialect_type(of_dialect->kind().name, parameters);
    return made ? *made : type;
  }
  return with_extents(type, context_, [&](Dim extent) { return replaced(extent); });
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

void ExtentSubstitution::apply(Op& op) {
  std::vector<NamedAttr> attributes;
  for (const NamedAttr& each : op.attributes()) {
    const bool is_own = has_own_symbols(op.row(), context_.text(each.key), *each.value);
    attributes.push_back({each.key, is_own ? each.value : replaced(each.value)});
  }
  if (!std::ranges::equal(attributes, op.attributes())) rewriter_.set_attributes(op, attributes);
  for (Value& result : op.results()) apply(result);
}

bool refuse_conflict(const PassRun& run, const ExtentSubstitution& substitution) {
  const auto& [op, symbol] = substitution.conflict();
  if (op == nullptr) return false;
  run.diagnostics().error(
      diag::kPipeline, op->span(),
      fmt::format("'${}' has values of its own here: give it another name, so that it stays",
                  run.module().context().text(symbol)));
  return true;
}

}  // namespace mir
