// Replaces dimension symbols in attributes by their numbers.
#include "eval/substitute.hpp"

#include <fmt/format.h>

#include <vector>

#include "mir/codes/shapes.hpp"

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

Error negative_extent(const Attr& extent, std::int64_t value) {
  return {diag::kAttributeOutOfRange,
          fmt::format("{} is {}, an extent is at least 0", extent.spelling(), value)};
}

Result<const Attr*> substitute(IRContext& context, const Attr* value, const DimBindings& bindings) {
  if (!mentions_extent(*value)) return value;
  if (value->kind() == AttrKind::kDim) {
    const auto known = context.dims().evaluate(value->dim(), bindings);
    if (known && *known < 0) return negative_extent(*value, *known);
    return context.dim(known ? Dim(*known) : Dim::unknown());
  }
  if (value->kind() == AttrKind::kArray) {
    std::vector<const Attr*> elements;
    for (const Attr* element : value->elements()) {
      const auto done = substitute(context, element, bindings);
      if (!done) return done;
      elements.push_back(*done);
    }
    return context.array(elements);
  }
  std::vector<NamedAttr> entries;
  for (const NamedAttr& entry : value->entries()) {
    const auto done = substitute(context, entry.value, bindings);
    if (!done) return done;
    entries.push_back({entry.key, *done});
  }
  return context.dict(entries);
}

}  // namespace mir::eval
