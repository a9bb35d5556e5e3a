// Draws attributes of ops in random modules: axes, lists, slices and choices.
#include <algorithm>
#include <cmath>

#include "patterns/match.hpp"
#include "validate/instance.hpp"

namespace mir::validate {

using patterns::AttributeTemplate;
using patterns::OpTemplate;
using patterns::TypeTemplate;

const Attr* list_of(std::span<const std::int64_t> values, IRContext& context) {
  std::vector<const Attr*> elements;
  for (const std::int64_t value : values) elements.push_back(context.integer(value));
  return context.array(elements);
}

bool InstanceDrawer::draw_attributes(const OpTemplate& op) {
  attributes_.clear();
  const TensorType* operand = op.operands.empty() ? nullptr : types_[op.operands[0]];
  for (const OpTemplate::Attribute& each : op.attributes) {
    const Attr* value = patterns::instantiate(each.value, unifier_.bindings(), context_);
    // `_` means none, too: so it does where nothing can be drawn.
    const bool may_lack = each.value.kind == AttributeTemplate::Kind::kAny && !each.row->required;
    if (value == nullptr) {
      if (may_lack && draw_.one_in(2)) continue;
      if (each.row->type == AttrType::kSlices) value = draw_bounds(each.value, operand);
      if (each.row->type == AttrType::kDims && draw_.one_in(2)) {
        value = stated_extents(op, each.value);
      }
      if (value == nullptr) value = draw_attribute(*each.row, operand, op.results.size());
      if (may_lack && (value == nullptr || !admits(*each.row, *value))) continue;
      if (value == nullptr || !unifier_.unify(each.value, value)) return false;
    }
    if (!admits(*each.row, *value)) return false;
    attributes_.push_back({each.key, value});
  }
  return !op.others || draw_others(op, operand);
}

/// Draws the attributes that the pattern takes as they are.
bool InstanceDrawer::draw_others(const OpTemplate& op, const TensorType* operand) {
  const Attr* known = patterns::instantiate(*op.others, unifier_.bindings(), context_);
  std::vector<NamedAttr> others;
  if (known != nullptr) others.assign(known->entries().begin(), known->entries().end());
  for (const AttrRow& row : op.info->row->attributes) {
    const Symbol key = context_.intern(row.name);
    const bool is_mentioned =
        std::ranges::find(attributes_, key, &NamedAttr::key) != attributes_.end();
    if (known != nullptr || is_mentioned || (!row.required && draw_.one_in(2))) continue;
    const Attr* value = draw_attribute(row, operand, op.results.size());
    const bool is_good = value != nullptr && admits(row, *value);
    if (!is_good && row.required) return false;
    if (is_good) others.push_back({key, value});
  }
  if (known == nullptr && !unifier_.unify(*op.others, context_.dict(others))) return false;
  attributes_.insert(attributes_.end(), others.begin(), others.end());
  return true;
}

const Attr* InstanceDrawer::draw_attribute(const AttrRow& row, const TensorType* operand,
                                           std::size_t results) {
  const auto rank = operand == nullptr ? 1 : static_cast<std::int64_t>(operand->rank());
  switch (row.type) {
    case AttrType::kInt:
    case AttrType::kDim:
      return context_.integer(draw_integer(row, rank));
    case AttrType::kFloat:
      return draw_number();
    case AttrType::kBool:
      return context_.boolean(draw_.one_in(2));
    case AttrType::kString:
      return row.choices.empty() ? nullptr : context_.word(draw_.one_of(row.choices));
    case AttrType::kDType:
      return context_.word(name_of(draw_dtype()));
    case AttrType::kDevice:
      return context_.word("CPU");
    case AttrType::kInts:
    case AttrType::kDims:
      return draw_list(row, operand, results);
    case AttrType::kSlices:
      return operand == nullptr ? nullptr : draw_slices(operand);
    default:
      return context_.integer(draw_.between(0, 4));
  }
}

/// An axis, an extent or a small number; one of the range if the row does not admit that.
std::int64_t InstanceDrawer::draw_integer(const AttrRow& row, std::int64_t rank) {
  const std::int64_t drawn = draw_.one_in(2)
                                 ? draw_.between(-rank, std::max<std::int64_t>(rank - 1, 0))
                             : draw_.one_in(2) ? draw_extent()
                                               : draw_.between(0, 4);
  constexpr double kMost = 64;  // larger ones are seldom meant
  const AttrRange& range = row.range;
  if (range.admits(static_cast<double>(drawn)) || !std::isfinite(range.low)) return drawn;
  return draw_.between(static_cast<std::int64_t>(range.low),
                       static_cast<std::int64_t>(std::min(range.high, range.low + kMost)));
}

/// A permutation, a shape of as many elements, pieces of an extent, or some integers.
const Attr* InstanceDrawer::draw_list(const AttrRow& row, const TensorType* operand,
                                      std::size_t results) {
  const std::size_t rank = operand == nullptr ? 1 : operand->rank();
  std::vector<std::int64_t> list;
  const std::uint64_t way = row.type == AttrType::kDims ? draw_.between(1, 2) : draw_.below(5);
  if (way == 0) {
    for (std::size_t i = 0; i < rank; ++i) list.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = rank; i > 1; --i) std::swap(list[i - 1], list[draw_.below(i)]);
  } else if (way == 1 && operand != nullptr) {
    std::int64_t left = operand->element_count().value_or(1);
    const std::size_t count = draw_.below(4);
    for (std::size_t i = 0; i < count && left != 0; ++i) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= left; ++d) {
        if (left % d == 0) divisors.push_back(d);
      }
      list.push_back(draw_.one_of(divisors));
      left /= list.back();
    }
    list.push_back(left);
    if (draw_.one_in(4)) list[draw_.below(list.size())] = -1;
  } else if (way == 2 && operand != nullptr && rank != 0) {
    std::int64_t left = operand->dims()[draw_.below(rank)].constant();
    for (std::size_t i = 1; i < std::max<std::size_t>(results, 1); ++i) {
      list.push_back(draw_.between(0, left));
      left -= list.back();
    }
    list.push_back(left);
  } else {
    const std::size_t count = way == 3 ? rank : draw_.below(2 * rank + 1);
    for (std::size_t i = 0; i < count; ++i) list.push_back(draw_.between(0, 3));
  }
  return list_of(list, context_);
}

/// Returns the extents that the pattern states for the result, for an attribute that it leaves
/// open; null if it states none.
const Attr* InstanceDrawer::stated_extents(const OpTemplate& op, const AttributeTemplate& wanted) {
  const TypeTemplate& result = graph_.values[op.results.front()].type;
  if (wanted.kind != AttributeTemplate::Kind::kAny || result.is_any) return nullptr;
  return patterns::instantiate(result.extents, unifier_.bindings(), context_);
}

/// Returns numbers for the bounds that the pattern leaves open in slices that it writes out; null
/// for others.
const Attr* InstanceDrawer::draw_bounds(const AttributeTemplate& wanted,
                                        const TensorType* operand) {
  if (wanted.kind != AttributeTemplate::Kind::kArray) return nullptr;
  // Slices with all three bounds are drawn to fit.
  const auto is_whole = [](const AttributeTemplate& slice) { return slice.keys.size() == 3; };
  if (std::ranges::all_of(wanted.elements, is_whole)) return nullptr;
  std::vector<const Attr*> slices;
  for (std::size_t i = 0; i < wanted.elements.size(); ++i) {
    const AttributeTemplate& slice = wanted.elements[i];
    const std::int64_t extent =
        operand != nullptr && i < operand->rank() ? operand->dims()[i].constant() : draw_extent();
    std::vector<NamedAttr> bounds;
    for (std::size_t k = 0; k < slice.elements.size(); ++k) {
      // `_` means none, too.
      const bool is_any = slice.elements[k].kind == AttributeTemplate::Kind::kAny;
      if (is_any && draw_.one_in(3)) continue;
      const Attr* bound = draw_bound(slice.elements[k], extent);
      if (bound == nullptr) return nullptr;
      bounds.push_back({slice.keys[k], bound});
    }
    slices.push_back(slice.kind == AttributeTemplate::Kind::kDict
                         ? context_.dict(bounds)
                         : patterns::instantiate(slice, unifier_.bindings(), context_));
    if (slices.back() == nullptr) slices.back() = context_.word("all");
  }
  return context_.array(slices);
}

/// A bound of a slice, mostly one that fits the extent.
const Attr* InstanceDrawer::draw_bound(const AttributeTemplate& bound, std::int64_t extent) {
  const Attr* known = patterns::instantiate(bound, unifier_.bindings(), context_);
  if (known != nullptr) return known;
  const Attr* drawn =
      context_.integer(draw_.one_in(2) ? draw_extent() : draw_.between(-extent, extent));
  return unifier_.unify(bound, drawn) ? drawn : nullptr;
}

const Attr* InstanceDrawer::draw_slices(const TensorType* operand) {
  std::vector<const Attr*> parts;
  for (const Dim dim : operand->dims()) {
    if (draw_.one_in(3)) {
      parts.push_back(context_.word("all"));
      continue;
    }
    const std::int64_t extent = dim.constant();
    std::int64_t begin = draw_.between(0, extent), end = draw_.between(begin, extent);
    // Some bounds are counted from the end; 0 cannot be.
    if (end < extent && draw_.one_in(4)) end -= extent;
    if (begin < extent && draw_.one_in(4)) begin -= extent;
    const NamedAttr entries[] = {{key::kStart, context_.integer(begin)},
                                 {key::kEnd, context_.integer(end)},
                                 {key::kStep, context_.integer(draw_.between(1, 2))}};
    parts.push_back(context_.dict(entries));
  }
  return context_.array(parts);
}

}  // namespace mir::validate
