// The functions of expressions, one row each.
#include <algorithm>
#include <bit>
#include <cmath>

#include "mir/tensor.hpp"
#include "patterns/expression.hpp"

namespace mir::patterns {

namespace {

using Arguments = std::span<const Attr* const>;
using Elements = std::vector<const Attr*>;

// -- of values ------------------------------------------------------------------------------------

const Attr* type_of(Value& value, IRContext& context) {
  return value.type() == nullptr ? nullptr : context.type(value.type());
}

const Attr* shape_of(Value& value, IRContext& context) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr) return nullptr;
  Elements extents;
  for (const Dim dim : type->dims()) {
    extents.push_back(attribute_of(dim, context));
    if (extents.back() == nullptr) return nullptr;
  }
  return context.array(extents);
}

const Attr* rank_of(Value& value, IRContext& context) {
  const TensorType* type = value.tensor_type();
  return type == nullptr ? nullptr : context.integer(static_cast<std::int64_t>(type->rank()));
}

const Attr* size_of(Value& value, IRContext& context) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr) return nullptr;
  Dim size(1);
  for (const Dim dim : type->dims()) size = context.dims().multiply(size, dim);
  return attribute_of(size, context);
}

const Attr* dtype_of(Value& value, IRContext& context) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr) return nullptr;
  return context.word(type->dtype() ? name_of(*type->dtype()) : context.text(type->dtype_name()));
}

const Attr* device_of(Value& value, IRContext& context) {
  const TensorType* type = value.tensor_type();
  return type == nullptr ? nullptr : context.word(context.text(type->device()));
}

const Attr* users_of(Value& value, IRContext& context) {
  constexpr std::int64_t kMost = 100;
  std::int64_t count = 0;
  for (const Use* use = value.first_use(); use != nullptr && count < kMost; use = use->next()) {
    ++count;
  }
  return context.integer(count);
}

const Attr* is_constant_value(Value& value, IRContext& context) {
  return context.boolean(value.is_free() && !value.has_symbol());
}

const Attr* is_parameter(Value& value, IRContext& context) {
  const Op* definition = value.defining_op();
  const bool is_param = definition != nullptr && definition->is(OpId::kLinalgParam);
  return context.boolean(is_param || (value.is_free() && value.has_symbol()));
}

// -- of element types -----------------------------------------------------------------------------

std::optional<DType> dtype_named(const Attr& name) {
  return dtype_from_name(name.text());
}

const Attr* is_float(Arguments of, IRContext& context) {
  const auto dtype = dtype_named(*of[0]);
  return dtype ? context.boolean(info(*dtype).type_class == DTypeClass::kFloat) : nullptr;
}

const Attr* is_integer(Arguments of, IRContext& context) {
  const auto dtype = dtype_named(*of[0]);
  if (!dtype) return nullptr;
  const DTypeClass kind = info(*dtype).type_class;
  return context.boolean(kind == DTypeClass::kSignedInt || kind == DTypeClass::kUnsignedInt);
}

// -- of integers ----------------------------------------------------------------------------------

std::optional<std::int64_t> integer(const Attr& value) {
  if (value.kind() != AttrKind::kInt) return std::nullopt;
  return value.integer();
}

const Attr* pick(Arguments of, IRContext& context, bool least) {
  const auto a = extent_of(*of[0]), b = extent_of(*of[1]);
  if (!a || !b) {
    const auto is_number = [](const Attr* each) {
      return each->kind() == AttrKind::kInt || each->kind() == AttrKind::kFloat;
    };
    if (!std::ranges::all_of(of, is_number)) return nullptr;
    const double x = of[0]->number(), y = of[1]->number();
    if (std::isnan(x) || std::isnan(y)) return nullptr;
    return (x < y) == least ? of[0] : of[1];
  }
  const Dim difference = context.dims().subtract(*a, *b);
  if (!difference.is_constant()) return nullptr;
  return (difference.constant() <= 0) == least ? of[0] : of[1];
}

const Attr* least_of(Arguments of, IRContext& context) {
  return pick(of, context, true);
}

const Attr* greatest_of(Arguments of, IRContext& context) {
  return pick(of, context, false);
}

const Attr* is_power_of_two(Arguments of, IRContext& context) {
  if (of[0]->kind() == AttrKind::kInt) {
    const std::int64_t value = of[0]->integer();
    return context.boolean(value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value)));
  }
  if (of[0]->kind() != AttrKind::kFloat) return nullptr;
  const double value = of[0]->number();
  int exponent = 0;
  return context.boolean(std::isfinite(value) && std::frexp(value, &exponent) == 0.5);
}

std::optional<double> real(const Attr& value) {
  const bool is_number = value.kind() == AttrKind::kInt || value.kind() == AttrKind::kFloat;
  return is_number ? std::optional(value.number()) : std::nullopt;
}

const Attr* real_result(double value, IRContext& context) {
  return std::isfinite(value) ? context.number(value) : nullptr;
}

const Attr* square_root(Arguments of, IRContext& context) {
  const auto x = real(*of[0]);
  return x ? real_result(std::sqrt(*x), context) : nullptr;
}

const Attr* natural_log(Arguments of, IRContext& context) {
  const auto x = real(*of[0]);
  return x ? real_result(std::log(*x), context) : nullptr;
}

const Attr* whole(double value, IRContext& context) {
  constexpr double kMost = 9007199254740992;  // doubles beyond are not next to each other
  if (!(std::abs(value) <= kMost)) return nullptr;
  return context.integer(static_cast<std::int64_t>(value));
}

const Attr* round_down(Arguments of, IRContext& context) {
  const auto x = real(*of[0]);
  return x ? whole(std::floor(*x), context) : nullptr;
}

const Attr* round_up(Arguments of, IRContext& context) {
  const auto x = real(*of[0]);
  return x ? whole(std::ceil(*x), context) : nullptr;
}

// -- of lists -------------------------------------------------------------------------------------

bool is_list(const Attr& value) {
  return value.kind() == AttrKind::kArray;
}

const Attr* is_list_of_any(Arguments of, IRContext& context) {
  return context.boolean(is_list(*of[0]));
}

const Attr* length(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  return context.integer(static_cast<std::int64_t>(of[0]->elements().size()));
}

const Attr* fold_list(Arguments of, IRContext& context, Dim first,
                      Dim (DimTable::*step)(Dim, Dim)) {
  if (!is_list(*of[0])) return nullptr;
  for (const Attr* element : of[0]->elements()) {
    const auto extent = extent_of(*element);
    if (!extent) return nullptr;
    first = (context.dims().*step)(first, *extent);
  }
  return attribute_of(first, context);
}

const Attr* product(Arguments of, IRContext& context) {
  return fold_list(of, context, Dim(1), &DimTable::multiply);
}

const Attr* sum(Arguments of, IRContext& context) {
  return fold_list(of, context, Dim(0), &DimTable::add);
}

const Attr* reverse(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  const auto elements = of[0]->elements();
  return context.array(Elements(elements.rbegin(), elements.rend()));
}

/// The axes of a permutation, counted from the front; none if it is no permutation.
std::optional<std::vector<std::size_t>> permutation(const Attr& value) {
  if (!is_list(value)) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(value.elements().size());
  std::vector<std::size_t> axes;
  std::vector<bool> is_taken(value.elements().size());
  for (const Attr* element : value.elements()) {
    const auto axis = integer(*element);
    if (!axis || *axis < -rank || *axis >= rank) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(*axis < 0 ? *axis + rank : *axis));
    if (is_taken[axes.back()]) return std::nullopt;
    is_taken[axes.back()] = true;
  }
  return axes;
}

const Attr* axes_attribute(std::span<const std::size_t> axes, IRContext& context) {
  Elements elements;
  for (const std::size_t axis : axes) {
    elements.push_back(context.integer(static_cast<std::int64_t>(axis)));
  }
  return context.array(elements);
}

const Attr* compose(Arguments of, IRContext& context) {
  const auto p = permutation(*of[0]), q = permutation(*of[1]);
  if (!p || !q || p->size() != q->size()) return nullptr;
  std::vector<std::size_t> axes;
  for (const std::size_t axis : *q) axes.push_back((*p)[axis]);
  return axes_attribute(axes, context);
}

const Attr* inverse(Arguments of, IRContext& context) {
  const auto p = permutation(*of[0]);
  if (!p) return nullptr;
  std::vector<std::size_t> axes(p->size());
  for (std::size_t i = 0; i < p->size(); ++i) axes[(*p)[i]] = i;
  return axes_attribute(axes, context);
}

/// Lists that functions make of a number are no longer.
constexpr std::int64_t kMostElements = 64;

const Attr* iota(Arguments of, IRContext& context) {
  const auto count = integer(*of[0]);
  if (!count || *count < 0 || *count > kMostElements) return nullptr;
  std::vector<std::size_t> axes(static_cast<std::size_t>(*count));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  return axes_attribute(axes, context);
}

/// The position that an axis selects in a list of so many; none if it is outside.
std::optional<std::size_t> position(const Attr& axis, std::size_t count) {
  const auto value = integer(axis);
  const auto size = static_cast<std::int64_t>(count);
  if (!value || *value < -size || *value >= size) return std::nullopt;
  return static_cast<std::size_t>(*value < 0 ? *value + size : *value);
}

const Attr* axis(Arguments of, IRContext& context) {
  const auto rank = integer(*of[1]);
  if (!rank || *rank < 0) return nullptr;
  const auto at = position(*of[0], static_cast<std::size_t>(*rank));
  return at ? context.integer(static_cast<std::int64_t>(*at)) : nullptr;
}

const Attr* axes(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  Elements elements;
  for (const Attr* each : of[0]->elements()) {
    elements.push_back(axis(Elements{each, of[1]}, context));
    if (elements.back() == nullptr) return nullptr;
  }
  return context.array(elements);
}

const Attr* concat(Arguments of, IRContext& context) {
  if (!is_list(*of[0]) || !is_list(*of[1])) return nullptr;
  Elements elements(of[0]->elements().begin(), of[0]->elements().end());
  elements.insert(elements.end(), of[1]->elements().begin(), of[1]->elements().end());
  return context.array(elements);
}

const Attr* part(Arguments of, IRContext& context, bool is_first) {
  const auto count = integer(*of[1]);
  if (!is_list(*of[0]) || !count || *count < 0) return nullptr;
  const auto elements = of[0]->elements();
  if (static_cast<std::size_t>(*count) > elements.size()) return nullptr;
  const auto some = is_first ? elements.first(static_cast<std::size_t>(*count))
                             : elements.subspan(static_cast<std::size_t>(*count));
  return context.array(some);
}

const Attr* take(Arguments of, IRContext& context) {
  return part(of, context, true);
}

const Attr* drop(Arguments of, IRContext& context) {
  return part(of, context, false);
}

const Attr* insert(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  Elements elements(of[0]->elements().begin(), of[0]->elements().end());
  const auto at = position(*of[1], elements.size() + 1);
  if (!at) return nullptr;
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(*at), of[2]);
  return context.array(elements);
}

const Attr* remove(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  Elements elements(of[0]->elements().begin(), of[0]->elements().end());
  const auto at = position(*of[1], elements.size());
  if (!at) return nullptr;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(*at));
  return context.array(elements);
}

const Attr* set(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  Elements elements(of[0]->elements().begin(), of[0]->elements().end());
  const auto at = position(*of[1], elements.size());
  if (!at) return nullptr;
  elements[*at] = of[2];
  return context.array(elements);
}

const Attr* gather(Arguments of, IRContext& context) {
  if (!is_list(*of[0]) || !is_list(*of[1])) return nullptr;
  Elements elements;
  for (const Attr* each : of[1]->elements()) {
    const auto at = position(*each, of[0]->elements().size());
    if (!at) return nullptr;
    elements.push_back(of[0]->elements()[*at]);
  }
  return context.array(elements);
}

const Attr* find(Arguments of, IRContext& context) {
  if (!is_list(*of[0])) return nullptr;
  const auto elements = of[0]->elements();
  const auto found = std::ranges::find_if(
      elements, [&](const Attr* each) { return are_equal(*each, *of[1], context); });
  return found == elements.end() ? nullptr : context.integer(found - elements.begin());
}

const Attr* repeat(Arguments of, IRContext& context) {
  const auto count = integer(*of[1]);
  if (!count || *count < 0 || *count > kMostElements) return nullptr;
  return context.array(Elements(static_cast<std::size_t>(*count), of[0]));
}

// -- of words -------------------------------------------------------------------------------------

const Attr* starts_with(Arguments of, IRContext& context) {
  if (of[0]->kind() != AttrKind::kString || of[1]->kind() != AttrKind::kString) return nullptr;
  return context.boolean(of[0]->text().starts_with(of[1]->text()));
}

const Attr* broadcast(Arguments of, IRContext& context) {
  if (!is_list(*of[0]) || !is_list(*of[1])) return nullptr;
  const auto a = of[0]->elements(), b = of[1]->elements();
  Elements elements(std::max(a.size(), b.size()));
  const Attr* one = context.integer(1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Attr* x = i < a.size() ? a[a.size() - 1 - i] : one;
    const Attr* y = i < b.size() ? b[b.size() - 1 - i] : one;
    if (x != y && x != one && y != one) return nullptr;
    elements[elements.size() - 1 - i] = x == one ? y : x;
  }
  return context.array(elements);
}

constexpr std::string_view kValue = "a value", kList = "a list", kLists = "two lists",
                           kPermutations = "two permutations";

constexpr Function kFunctions[] = {
    {"axes", "a list of axes, a rank", "the axes counted from the front", 2, false, nullptr, axes},
    {"axis", "an axis, a rank", "the axis counted from the front", 2, false, nullptr, axis},
    {"broadcast", "two shapes", "the shape to which both broadcast", 2, false, nullptr, broadcast},
    {"ceil", "a number", "the least integer that is not less", 1, false, nullptr, round_up},
    {"compose", kPermutations, "the permutation that permutes by the first, then by the second", 2,
     false, nullptr, compose},
    {"concat", kLists, "the elements of both", 2, false, nullptr, concat},
    {"device", kValue, "its device", 1, true, device_of},
    {"drop", "a list, a count", "the list without so many first elements", 2, false, nullptr, drop},
    {"dtype", kValue, "its element type", 1, true, dtype_of},
    {"find", "a list, an element", "the position of the first such element", 2, false, nullptr,
     find},
    {"floor", "a number", "the greatest integer that is not greater", 1, false, nullptr,
     round_down},
    {"gather", "a list, a list of positions", "the elements at these positions", 2, false, nullptr,
     gather},
    {"insert", "a list, a position, an element", "the list with the element before that position",
     3, false, nullptr, insert},
    {"inverse", "a permutation", "the permutation that undoes it", 1, false, nullptr, inverse},
    {"iota", "a count", "the list [0, 1, ...]", 1, false, nullptr, iota},
    {"is_constant", kValue, "whether it is a constant", 1, true, is_constant_value},
    {"is_float", "an element type", "whether it is a floating-point type", 1, false, nullptr,
     is_float},
    {"is_integer", "an element type", "whether it is an integer type", 1, false, nullptr,
     is_integer},
    {.name = "is_list",
     .arguments = "anything",
     .summary = "whether it is a list; false for an attribute that is not stated",
     .of = is_list_of_any,
     .asks_kind = true},
    {"is_parameter", kValue, "whether it is a parameter", 1, true, is_parameter},
    {"is_power_of_two", "a number", "whether it is 2 to the power of an integer", 1, false, nullptr,
     is_power_of_two},
    {"length", kList, "the number of its elements", 1, false, nullptr, length},
    {"log", "a number", "its natural logarithm in double precision", 1, false, nullptr,
     natural_log},
    {"max", "two numbers", "the greater one", 2, false, nullptr, greatest_of},
    {"min", "two numbers", "the smaller one", 2, false, nullptr, least_of},
    {"product", kList, "the product of its elements", 1, false, nullptr, product},
    {"rank", kValue, "the number of its dimensions", 1, true, rank_of},
    {"remove", "a list, a position", "the list without the element there", 2, false, nullptr,
     remove},
    {"repeat", "a value, a count", "a list of the value so many times", 2, false, nullptr, repeat},
    {"reverse", kList, "its elements from the last to the first", 1, false, nullptr, reverse},
    {.name = "select",
     .arguments = "a condition, two values",
     .summary = "the first value if the condition is true, else the second; the other one need not "
                "exist",
     .arity = 3,
     .selects = true},
    {"set", "a list, a position, an element", "the list with the element in place of the one there",
     3, false, nullptr, set},
    {"shape", kValue, "its extents", 1, true, shape_of},
    {"size", kValue, "the number of its elements", 1, true, size_of},
    {"sqrt", "a number", "its square root in double precision", 1, false, nullptr, square_root},
    {"starts_with", "two words", "whether the first one begins with the second", 2, false, nullptr,
     starts_with},
    {"sum", kList, "the sum of its elements", 1, false, nullptr, sum},
    {"take", "a list, a count", "so many first elements", 2, false, nullptr, take},
    {"type", kValue, "its type", 1, true, type_of},
    {"users", kValue, "how many operands it is; 100 if more", 1, true, users_of},
};

}  // namespace

std::span<const Function> functions() {
  return kFunctions;
}

}  // namespace mir::patterns
