#include "eval/substitute.hpp"

#include <vector>

namespace mir::eval {

namespace {

bool mentions_extent(const Attr& value) {
  if (value.kind() == AttrKind::kDim) return true;
  if (value.kind() == AttrKind::kArray) {
    for (const Attr* element : value.elements()) {
      if (mentions_extent(*element)) return true;
    }
  } else if (value.kind() == AttrKind::kDict) {
    for (const NamedAttr& entry : value.entries()) {
      if (mentions_extent(*entry.value)) return true;
    }
  }
  return false;
}

}  // namespace

const Attr* substitute(IRContext& context, const Attr* value, const DimBindings& bindings) {
  if (!mentions_extent(*value)) return value;
  if (value->kind() == AttrKind::kDim) {
    const auto known = context.dims().evaluate(value->dim(), bindings);
    return context.dim(known ? Dim(*known) : Dim::unknown());
  }
  if (value->kind() == AttrKind::kArray) {
    std::vector<const Attr*> elements;
    for (const Attr* element : value->elements()) {
      elements.push_back(substitute(context, element, bindings));
    }
    return context.array(elements);
  }
  std::vector<NamedAttr> entries;
  for (const NamedAttr& entry : value->entries()) {
    entries.push_back({entry.key, substitute(context, entry.value, bindings)});
  }
  return context.dict(entries);
}

}  // namespace mir::eval
