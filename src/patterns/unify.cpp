// Unifies templates with attributes and types, and solves linear expressions.
#include "patterns/unify.hpp"

#include <algorithm>

#include "mir/context.hpp"
#include "mir/tensor.hpp"
#include "patterns/attribute_parts.hpp"
#include "patterns/plan_graph.hpp"

namespace mir::patterns {

namespace {

bool is_unknown(const Attr& value) {
  return value.kind() == AttrKind::kDim && value.dim().is_unknown();
}

/// Returns the value that both can be: an extent `?` takes the other one. Null if they differ.
const Attr* merged(const Attr& a, const Attr& b, IRContext& context) {
  if (is_unknown(a) || are_equal(a, b, context)) return &b;
  if (is_unknown(b)) return &a;
  if (a.kind() != AttrKind::kArray || b.kind() != AttrKind::kArray ||
      a.elements().size() != b.elements().size()) {
    return nullptr;
  }
  std::vector<const Attr*> elements;
  for (std::size_t i = 0; i < a.elements().size(); ++i) {
    elements.push_back(merged(*a.elements()[i], *b.elements()[i], context));
    if (elements.back() == nullptr) return nullptr;
  }
  return context.array(elements);
}

}  // namespace

bool Unifier::bind(std::uint32_t variable, const Attr* value) {
  const Attr*& bound = bindings_.variables[variable];
  if (bound != nullptr && bindings_.takes_unknown) {
    const Attr* both = merged(*bound, *value, context_);
    if (both != nullptr) bound = both;
    return both != nullptr;
  }
  if (bound != nullptr) return are_equal(*bound, *value, context_);
  bound = value;
  trail_.push_back(variable);
  return true;
}

bool Unifier::unify(const AttributeTemplate& wanted, const Attr* found) {
  if (bindings_.takes_unknown && found != nullptr && is_unknown(*found)) return true;
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
    case AttributeTemplate::Kind::kDialect: {
      const auto parts = found == nullptr ? std::nullopt : parts_of(*found, context_);
      return parts && parts->name == wanted.name && unify_list(wanted.elements, parts->parameters);
    }
  }
  return false;
}

std::optional<std::uint32_t> Unifier::only_open_variable(const Expression& expression) const {
  std::optional<std::uint32_t> open;
  bool is_single = true;
  for_each_variable(expression, [&](std::uint32_t number) {
    if (bindings_.variables[number] != nullptr) return;
    is_single = is_single && (!open || *open == number);
    open = number;
  });
  return is_single ? open : std::nullopt;
}

/// Binds the one unbound variable of an expression to the least value from 0 with which it is what
/// was found: a number, a symbol, or what solves it where it is linear.
bool Unifier::solve(const Waiting& waiting) {
  const auto open = only_open_variable(*waiting.expression);
  const auto found = extent_of(*waiting.found);
  if (!open || !found) return false;
  const Attr*& variable = bindings_.variables[*open];
  const auto value_at = [&](const Attr* at) -> std::optional<Dim> {
    variable = at;
    const Attr* value = evaluate(*waiting.expression, bindings_, context_);
    variable = nullptr;
    return value == nullptr ? std::nullopt : extent_of(*value);
  };
  const Attr* solved = solve_linear(*found, value_at);
  if (solved == nullptr && found->is_constant()) solved = solve_increasing(*found, value_at);
  if (solved == nullptr) {
    for (const Symbol symbol : context_.dims().symbols(*found)) {
      const Attr* at = context_.dim(context_.dims().symbol(context_.text(symbol)));
      if (solved == nullptr && value_at(at) == found) solved = at;
    }
  }
  if (solved == nullptr) return false;
  variable = solved;
  trail_.push_back(*open);
  return true;
}

/// a*x+c
const Attr* Unifier::solve_linear(Dim found, const ValueAt& value_at) {
  const auto constant = value_at(context_.integer(0)), next = value_at(context_.integer(1));
  if (!constant || !next) return nullptr;
  DimTable& dims = context_.dims();
  const Dim factor = dims.subtract(*next, *constant);
  const Dim solution = dims.floor_divide(dims.subtract(found, *constant), factor);
  const Attr* solved = attribute_of(solution, context_);
  return solved != nullptr && value_at(solved) == found ? solved : nullptr;
}

/// An expression such as x*x or x/2, which does not decrease: by bisection.
const Attr* Unifier::solve_increasing(Dim found, const ValueAt& value_at) {
  const auto reaches = [&](std::int64_t at) {
    const auto value = value_at(context_.integer(at));
    // Beyond 64 bits there is no value.
    return !value || !value->is_constant() || value->constant() >= found.constant();
  };
  constexpr std::int64_t kLargest = std::int64_t{1} << 62;
  std::int64_t least = 0, most = 1;
  while (most < kLargest && !reaches(most)) {
    least = most;
    most *= 2;
  }
  while (least < most) {
    const std::int64_t middle = least + (most - least) / 2;
    if (reaches(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  const Attr* solved = context_.integer(least);
  return value_at(solved) == found ? solved : nullptr;
}

const Unifier::Waiting* Unifier::settle() {
  bool has_progress = true;
  while (has_progress) {
    has_progress = false;
    for (const Waiting& each : waiting_) {
      if (evaluate(*each.expression, bindings_, context_) == nullptr) has_progress |= solve(each);
    }
  }
  for (const Waiting& each : waiting_) {
    const Attr* value = evaluate(*each.expression, bindings_, context_);
    // No value was found that solves it.
    if (value == nullptr && only_open_variable(*each.expression)) return &each;
    if (value != nullptr && !are_equal(*value, *each.found, context_)) return &each;
  }
  return nullptr;
}

bool Unifier::unify_dict(const AttributeTemplate& wanted, const Attr& found) {
  if (wanted.keys.size() != found.entries().size()) return false;
  for (std::size_t i = 0; i < wanted.keys.size(); ++i) {
    const Attr* entry = find_attribute(found.entries(), wanted.keys[i]);
    if (entry == nullptr || !unify(wanted.elements[i], entry)) return false;
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

bool Unifier::unify_encoding(const TypeTemplate& wanted, const TensorType& found) {
  const Attr* encoding = found.encoding();
  if (!wanted.encoding) return encoding == nullptr || bindings_.takes_unknown;
  return unify(*wanted.encoding, encoding == nullptr ? context_.null() : encoding);
}

bool Unifier::unify_type(const TypeTemplate& wanted, const Type* found) {
  if (wanted.is_any) return true;
  if (wanted.exact != nullptr) {
    return wanted.exact == found || (found != nullptr && compatible(wanted.exact, found));
  }
  if (!wanted.kind.empty()) {
    const auto* type = dyn_cast<DialectType>(found);
    const auto& parts = wanted.extents.elements;
    if (type == nullptr || type->kind().name != wanted.kind ||
        type->parameters().size() < parts.size()) {
      return false;
    }
    // Parameters that are left out have their defaults.
    if (!unify_list(parts, type->parameters().first(parts.size()))) return false;
    if (parts.size() == type->parameters().size()) return true;
    const Type* whole = instantiate(wanted, bindings_, context_);
    return whole == nullptr || compatible(whole, found);
  }
  const auto* tensor = dyn_cast<TensorType>(found);
  if (tensor == nullptr) return false;
  if (!unify_encoding(wanted, *tensor)) return false;
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
    if (extent == nullptr && bindings_.takes_unknown) extent = context_.dim(Dim::unknown());
    if (extent == nullptr) return false;  // unknown extents are equal to nothing
    extents.push_back(extent);
  }
  if (wanted.extents.kind == AttributeTemplate::Kind::kLiteral) {
    const Attr& whole = *context_.array(extents);
    return bindings_.takes_unknown ? merged(*wanted.extents.literal, whole, context_) != nullptr
                                   : are_equal(*wanted.extents.literal, whole, context_);
  }
  return unify_list(wanted.extents.elements, extents);
}

}  // namespace mir::patterns
