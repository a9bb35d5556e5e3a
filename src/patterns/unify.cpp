#include "patterns/unify.hpp"

#include <algorithm>

#include "mir/context.hpp"
#include "mir/tensor.hpp"

namespace mir::patterns {

bool Unifier::bind(std::uint32_t variable, const Attr* value) {
  const Attr*& bound = bindings_.variables[variable];
  if (bound != nullptr) return are_equal(*bound, *value, context_);
  bound = value;
  trail_.push_back(variable);
  return true;
}

bool Unifier::unify(const AttributeTemplate& wanted, const Attr* found) {
  switch (wanted.kind) {
    case AttributeTemplate::Kind::kAny:
      return true;
    case AttributeTemplate::Kind::kLiteral:
      return found != nullptr && are_equal(*wanted.literal, *found, context_);
    case AttributeTemplate::Kind::kVariable:
      return found != nullptr && bind(wanted.variable, found);
    case AttributeTemplate::Kind::kExpression:
      if (found == nullptr) return false;
      waiting_.push_back({&wanted.expression, found});
      return true;
    case AttributeTemplate::Kind::kArray:
      return found != nullptr && found->kind() == AttrKind::kArray &&
             unify_list(wanted.elements, found->elements());
    case AttributeTemplate::Kind::kDict:
      return found != nullptr && found->kind() == AttrKind::kDict && unify_dict(wanted, *found);
  }
  return false;
}

bool Unifier::unify_dict(const AttributeTemplate& wanted, const Attr& found) {
  if (wanted.keys.size() != found.entries().size()) return false;
  for (std::size_t i = 0; i < wanted.keys.size(); ++i) {
    const auto entry = std::ranges::find(found.entries(), wanted.keys[i], &NamedAttr::key);
    if (entry == found.entries().end() || !unify(wanted.elements[i], entry->value)) return false;
  }
  return true;
}

bool Unifier::unify_list(std::span<const AttributeTemplate> wanted,
                         std::span<const Attr* const> found) {
  const auto pack = std::ranges::find(wanted, true, &AttributeTemplate::is_pack);
  if (pack == wanted.end()) {
    return wanted.size() == found.size() && unify_all(wanted, found);
  }
  const auto before = static_cast<std::size_t>(pack - wanted.begin());
  const std::size_t after = wanted.size() - before - 1;
  if (found.size() < before + after) return false;
  return unify_all(wanted.first(before), found.first(before)) &&
         bind(pack->variable,
              context_.array(found.subspan(before, found.size() - before - after))) &&
         unify_all(wanted.last(after), found.last(after));
}

bool Unifier::unify_all(std::span<const AttributeTemplate> wanted,
                        std::span<const Attr* const> found) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!unify(wanted[i], found[i])) return false;
  }
  return true;
}

bool Unifier::unify_name(const NameTemplate& wanted, Symbol found, std::string_view canonical) {
  if (!wanted.variable) return wanted.name == found || context_.text(wanted.name) == canonical;
  return bind(*wanted.variable, context_.word(canonical));
}

bool Unifier::unify_type(const TypeTemplate& wanted, const Type* found) {
  if (wanted.is_any) return true;
  if (wanted.exact != nullptr) return wanted.exact == found;
  const auto* tensor = dyn_cast<TensorType>(found);
  if (tensor == nullptr || tensor->encoding() != wanted.encoding) return false;
  const std::string_view device = context_.text(tensor->device());
  const std::string_view dtype =
      tensor->dtype() ? name_of(*tensor->dtype()) : context_.text(tensor->dtype_name());
  if (!unify_name(wanted.dtype, tensor->dtype_name(), dtype) ||
      !unify_name(wanted.device, tensor->device(), device)) {
    return false;
  }
  std::vector<const Attr*> extents;
  for (const Dim dim : tensor->dims()) {
    const Attr* extent = attribute_of(dim, context_);
    if (extent == nullptr) return false;  // unknown extents are equal to nothing
    extents.push_back(extent);
  }
  if (wanted.extents.kind == AttributeTemplate::Kind::kLiteral) {
    return are_equal(*wanted.extents.literal, *context_.array(extents), context_);
  }
  return unify_list(wanted.extents.elements, extents);
}

}  // namespace mir::patterns
