#include "ir/extent_walk.hpp"

#include "mir/context.hpp"
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
  for (const NamedAttr& each : op.attributes()) visit_attribute(*each.value, op, visit);
}

}  // namespace

void for_each_extent(const Module& module, const VisitExtent& visit) {
  visit_attributes(*module.top(), visit);
  for_each_op(module.body(), [&](const Op& op) { visit_attributes(op, visit); });
  for_each_value(module.body(), [&](const Value& value, const Op& op) {
    if (value.tensor_type() == nullptr) return;
    for (const Dim extent : value.tensor_type()->dims()) visit(extent, op);
  });
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
