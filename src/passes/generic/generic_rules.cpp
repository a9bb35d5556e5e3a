// Bodies of generic ops: maps, regions and sums with the order and the types of reference kernels.
#include "passes/generic/generic_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/all_of_dimension.hpp"
#include "dialects/einsum.hpp"
#include "dialects/generic_form.hpp"
#include "mir/op_attributes.hpp"
#include "passes/generic/generic_draft.hpp"
#include "weights/elements.hpp"

namespace mir::generic_rules {

namespace {

using Dims = std::vector<Dim>;
using Numbers = GenericDraft::Numbers;

constexpr std::int64_t kAllDimensions = 2147483647;

// -- operands and results -------------------------------------------------------------------------

const TensorType& tensor_of(const Value& value) {
  return *value.tensor_type();
}
DType dtype_in(const Value& value) {
  return *tensor_of(value).dtype();
}
DType number_in(const Value& value) {
  return *accumulation_type(dtype_in(value));
}
bool is_floating(DType dtype) {
  return info(dtype).type_class == DTypeClass::kFloat;
}

/// Returns why generic ops do not support a value; empty if they do.
std::string_view why_not_value(const Value& value) {
  const TensorType* type = value.tensor_type();
  if (type == nullptr || !type->dtype()) return "a value has no element type";
  if (!accumulation_type(*type->dtype())) return "an element type is not supported by generic ops";
  if (type->encoding() != nullptr) return "a value has an encoding";
  const auto is_known = [](Dim each) {
    return !each.is_unknown() && !each.is_negative() && !(each.is_symbolic() && each.is_pack());
  };
  if (!std::ranges::all_of(type->dims(), is_known)) return "an extent is unknown";
  return "";
}

}  // namespace

std::string_view why_not_values(const Op& op) {
  if (op.result_count() == 0) return "it has no result";
  for (const Use& use : op.operand_uses()) {
    if (const auto why = why_not_value(*use.value()); !why.empty()) return why;
  }
  for (const Value& each : op.results()) {
    if (const auto why = why_not_value(each); !why.empty()) return why;
  }
  return "";
}

std::string_view always(const Op&) {
  return "";
}

namespace {

/// The dimension that an attribute means; no value for all of them.
std::optional<std::size_t> axis(const Op& op, AttrKey key) {
  const Attr* stated = op.attribute(key);
  const std::int64_t value = OpAttributes(op).integer(key);
  if ((stated != nullptr && stated->kind() != AttrKind::kInt) || value == kAllDimensions) {
    return std::nullopt;
  }
  const auto rank = static_cast<std::int64_t>(tensor_of(*op.operand(0)).rank());
  return static_cast<std::size_t>(value < 0 ? value + rank : value);
}

/// The dimensions that an op reduces: the one that an attribute means, otherwise all.
std::span<const Dim> reduced_dims(const Op& op, AttrKey key) {
  const std::span<const Dim> dims = tensor_of(*op.operand(0)).dims();
  const auto along = axis(op, key);
  return along && *along < dims.size() ? dims.subspan(*along, 1) : dims;
}

bool are_constant(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](Dim each) { return each.is_constant(); });
}
bool are_not_empty(std::span<const Dim> dims) {
  return std::ranges::all_of(dims,
                             [](Dim each) { return each.is_constant() && each.constant() > 0; });
}

Value* first_number(Numbers numbers) {
  return numbers.front();
}

// -- elementwise ----------------------------------------------------------------------------------

/// Why operands are not broadcast in a known way; empty if they are.
std::string_view why_not_broadcast(const Op& op) {
  const auto result = tensor_of(*op.result()).dims();
  for (const Use& use : op.operand_uses()) {
    const auto dims = tensor_of(*use.value()).dims();
    if (dims.size() > result.size()) return "an operand has more dimensions than the result";
    const auto wanted = result.last(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != wanted[i] && dims[i] != Dim(1)) return "the broadcast is not known";
    }
  }
  return "";
}

std::string_view why_not_cast(const Op& op) {
  const auto is_wide = [](DType dtype) {
    return dtype == DType::kInt64 || dtype == DType::kUInt64;
  };
  const bool rounds_twice = is_wide(dtype_in(*op.operand(0))) &&
                            is_floating(dtype_in(*op.result())) &&
                            dtype_in(*op.result()) != DType::kFloat64;
  return rounds_twice ? "an integer of 64 bits would be rounded twice" : "";
}

}  // namespace

std::string_view why_not_elementwise(const Op& op) {
  if (const auto why = why_not_broadcast(op); !why.empty()) return why;
  return op.is(OpId::kLinalgCastType) ? why_not_cast(op) : "";
}

/// Where selects elements with all their bits, also those of a NaN.
std::string_view why_not_where(const Op& op) {
  if (is_floating(dtype_in(*op.result()))) return "a NaN would lose its bits";
  return why_not_broadcast(op);
}

namespace {

/// The element nearest to a bound, which numbers of a wider type would not round.
const Attr* bound_on_numbers(IRContext& context, const Attr& bound, DType dtype) {
  const auto element = element_of(dtype, bound.spelling());
  return element ? context.number(element_as_double(*element, 0)) : &bound;
}

/// The attributes of an op on elements as those of the op on numbers.
std::vector<NamedAttr> attributes_on_numbers(IRContext& context, const Op& op) {
  const DType dtype = dtype_in(*op.result()), number = number_in(*op.result());
  std::vector<NamedAttr> list(op.attributes().begin(), op.attributes().end());
  for (NamedAttr& each : list) {
    if (op.is(OpId::kLinalgCastType) && each.key == key::kDtype.symbol) {
      each.value = context.word(name_of(number));
    } else if (op.is(OpId::kLinalgClip) && dtype != number &&
               (each.key == key::kMinVal || each.key == key::kMaxVal)) {
      each.value = bound_on_numbers(context, *each.value, dtype);
    }
  }
  return list;
}

}  // namespace

Value* elementwise_body(Rewriter& rewriter, const Op& op) {
  GenericDraft draft(rewriter, op);
  const TensorType& result = tensor_of(*op.result());
  const Dims loops = draft.add_loops(result.dims());
  for (const Use& use : op.operand_uses()) {
    const auto dims = tensor_of(*use.value()).dims();
    Dims map(loops.end() - static_cast<std::ptrdiff_t>(dims.size()), loops.end());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == Dim(1)) map[i] = Dim(0);
    }
    draft.add_operand(*use.value(), std::move(map));
  }
  return draft.create(result, loops, [&](Numbers numbers) {
    const DType number = number_in(*op.result());
    return draft.number_op(op.op_id(), numbers, number,
                           attributes_on_numbers(rewriter.context(), op));
  });
}

namespace {

// -- moves ----------------------------------------------------------------------------------------

/// A generic op that moves elements: `map` makes the index of the operand from the loops.
template <class Map>
Value* moved(Rewriter& rewriter, const Op& op, Map map) {
  GenericDraft draft(rewriter, op);
  const TensorType& result = tensor_of(*op.result());
  const Dims loops = draft.add_loops(result.dims());
  draft.add_operand(*op.operand(0), map(draft, loops));
  return draft.create(result, loops, first_number);
}

}  // namespace

Value* copy_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [](GenericDraft&, const Dims& loops) { return loops; });
}

Value* transpose_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [&](GenericDraft&, Dims loops) {
    std::swap(loops[*axis(op, key::kDim0)], loops[*axis(op, key::kDim1)]);
    return loops;
  });
}

Value* permute_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [&](GenericDraft&, const Dims& loops) {
    const auto order = OpAttributes(op).integers(key::kAxis);
    const auto rank = static_cast<std::int64_t>(loops.size());
    Dims map = loops;
    for (std::size_t i = 0; i < order.size(); ++i) {
      map[static_cast<std::size_t>(order[i] < 0 ? order[i] + rank : order[i])] = loops[i];
    }
    return map;
  });
}

Value* repeat_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [&](GenericDraft&, Dims loops) {
    Dim& index = loops[*axis(op, key::kDim)];
    const std::int64_t times = OpAttributes(op).integer(key::kRepeatTimes);
    index = rewriter.context().dims().floor_divide(index, Dim(times));
    return loops;
  });
}

std::string_view why_not_repeat(const Op& op) {
  return OpAttributes(op).integer(key::kRepeatTimes) >= 1 ? "" : "nothing is repeated";
}

std::string_view why_not_view(const Op& op) {
  for (const Value* each : {op.operand(0), op.result()}) {
    const auto dims = tensor_of(*each).dims();
    if (!are_constant(dims)) return "an extent is symbolic";
    // The strides skip extents of 0, so they may overflow where the number of elements does not.
    std::optional<std::int64_t> stride = 1;
    for (const Dim dim : dims) {
      if (stride) stride = checked_multiply(*stride, std::max<std::int64_t>(1, dim.constant()));
    }
    if (!stride) return "the extents are too large";
  }
  return "";
}

/// The linear offset in row-major order, divided into the indices of the operand.
Value* view_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [&](GenericDraft&, const Dims& loops) {
    DimTable& dims = rewriter.context().dims();
    const auto to = tensor_of(*op.result()).dims(), from = tensor_of(*op.operand(0)).dims();
    Dim offset(0);
    for (std::size_t i = 0; i < to.size(); ++i) {
      offset = dims.add(dims.multiply(offset, to[i]), loops[i]);
    }
    Dims map(from.size());
    std::int64_t stride = 1;
    for (std::size_t i = from.size(); i-- > 0;) {
      const Dim quotient = dims.floor_divide(offset, Dim(stride));
      const std::int64_t extent = std::max<std::int64_t>(1, from[i].constant());
      map[i] = i == 0 ? quotient : dims.modulo(quotient, Dim(extent));
      if (from[i] == Dim(1)) map[i] = Dim(0);
      stride *= extent;
    }
    return map;
  });
}

namespace {

/// Start and step of a slice in one dimension; no value if the start is not known.
std::optional<std::pair<Dim, std::int64_t>> slice_bounds(const Op& op, const Attr& entry,
                                                         Dim extent) {
  IRContext& context = op.module().context();
  std::pair<Dim, std::int64_t> bounds{Dim(0), 1};
  if (is_all_of_dimension(entry)) return bounds;
  for (const NamedAttr& each : entry.entries()) {
    if (each.key == key::kStep.symbol) bounds.second = each.value->integer();
    if (each.key != key::kStart.symbol || is_all_of_dimension(*each.value)) continue;
    if (each.value->kind() != AttrKind::kInt) return std::nullopt;
    bounds.first = Dim(each.value->integer());
    if (bounds.first.is_negative()) bounds.first = context.dims().add(bounds.first, extent);
  }
  // A start before the first element or beyond the last one is cut off.
  const bool is_inside = bounds.first.is_constant() && bounds.first.constant() >= 0 &&
                         (bounds.first == Dim(0) ||
                          (extent.is_constant() && bounds.first.constant() <= extent.constant()));
  return is_inside ? std::optional(bounds) : std::nullopt;
}

}  // namespace

std::string_view why_not_slice(const Op& op) {
  const Attr* indices = op.attribute(key::kIndices);
  const auto dims = tensor_of(*op.operand(0)).dims();
  if (indices == nullptr || indices->kind() != AttrKind::kArray ||
      indices->elements().size() != dims.size() || dims.size() != tensor_of(*op.result()).rank()) {
    return "the bounds are not those of each dimension";
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!slice_bounds(op, *indices->elements()[i], dims[i])) return "a bound is not a number";
  }
  return "";
}

Value* slice_body(Rewriter& rewriter, const Op& op) {
  return moved(rewriter, op, [&](GenericDraft&, Dims loops) {
    DimTable& dims = rewriter.context().dims();
    const auto extents = tensor_of(*op.operand(0)).dims();
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto bounds = slice_bounds(op, *op.attribute(key::kIndices)->elements()[i], extents[i]);
      loops[i] = dims.add(bounds->first, dims.multiply(Dim(bounds->second), loops[i]));
    }
    return loops;
  });
}

namespace {

// -- sums -----------------------------------------------------------------------------------------

/// An element with the sum over a dimension, or over all.
Value* reduced(Rewriter& rewriter, const Op& op, std::string_view sum, const TensorType& result,
               const std::optional<std::size_t>& along) {
  GenericDraft draft(rewriter, op);
  const auto dims = tensor_of(*op.operand(0)).dims();
  Dims map(dims.size()), to;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (along && i != *along) map[i] = draft.add_loop(dims[i]);
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!along || i == *along) map[i] = draft.add_sum(dims[i], sum);
  }
  const bool keeps = result.rank() == dims.size() && !(along && dims.size() == 1 && !result.rank());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (along && i != *along) {
      to.push_back(map[i]);
    } else if (keeps) {
      to.push_back(Dim(0));
    }
  }
  to.resize(result.rank(), Dim(0));
  draft.add_operand(*op.operand(0), map);
  return draft.create(result, to, first_number);
}

}  // namespace

Value* sum_body(Rewriter& rewriter, const Op& op) {
  const std::string_view sum = op.is(OpId::kLinalgReduceMax)   ? "max"
                               : op.is(OpId::kLinalgReduceMin) ? "min"
                                                               : "add";
  return reduced(rewriter, op, sum, tensor_of(*op.result()), axis(op, key::kDim));
}

std::string_view why_not_reduction(const Op& op) {
  if (dtype_in(*op.operand(0)) != dtype_in(*op.result())) return "the element types differ";
  return dtype_in(*op.operand(0)) == DType::kBool ? "sums of Bool are logic" : "";
}

std::string_view why_not_extreme(const Op& op) {
  if (!are_not_empty(reduced_dims(op, key::kDim))) return "the reduced dimension may be empty";
  return why_not_reduction(op);
}

std::string_view why_not_mean(const Op& op) {
  if (!is_floating(dtype_in(*op.result()))) return "a mean of integers divides as integers do";
  if (!are_constant(reduced_dims(op, key::kDim))) return "the number of elements is symbolic";
  return why_not_reduction(op);
}

Value* mean_body(Rewriter& rewriter, const Op& op) {
  const TensorType& result = tensor_of(*op.result());
  const auto along = axis(op, key::kDim);
  double count = 1;
  const auto dims = tensor_of(*op.operand(0)).dims();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!along || i == *along) count *= static_cast<double>(dims[i].constant());
  }
  Value* const sum =
      reduced(rewriter, op, "add",
              *with_extents(rewriter.context(), result, result.dims(), DType::kFloat64), along);
  Value* const values[] = {sum, generic_number(rewriter, op, count)};
  return generic_elements(rewriter, op, result, values, [](GenericDraft& draft, Numbers numbers) {
    return draft.number_op(OpId::kLinalgDiv, numbers, DType::kFloat64);
  });
}

/// The body takes the square of the length in iterations, the reference kernel its length.
std::string_view why_not_cum_sum(const Op& op) {
  constexpr std::int64_t kMost = 4096;
  const auto along = axis(op, key::kDim);
  const auto dims = tensor_of(*op.result()).dims();
  if (!along || *along >= dims.size()) return "the dimension is not stated";
  const Dim length = dims[*along];
  if (!length.is_constant()) return "the dimension is symbolic";
  if (length.constant() > kMost) return "the dimension is longer than 4096";
  return why_not_reduction(op);
}

/// Sums of the elements up to each one.
Value* cum_sum_body(Rewriter& rewriter, const Op& op) {
  const OpAttributes attributes(op);
  DimTable& dims = rewriter.context().dims();
  GenericDraft draft(rewriter, op);
  const TensorType& result = tensor_of(*op.result());
  const std::size_t along = *axis(op, key::kDim);
  Dims to = draft.add_loops(result.dims());
  Dims from = to;
  Dim term = draft.add_sum(result.dims()[along], "add");
  const Dim last = dims.subtract(draft.size(result.dims()[along]), Dim(1));
  const bool is_reverse = attributes.boolean(key::kReverse);
  if (is_reverse) term = dims.subtract(last, term);
  from[along] = term;
  Dim near = is_reverse ? to[along] : term, far = is_reverse ? term : to[along];
  if (attributes.boolean(key::kExclusive)) near = dims.add(near, Dim(1));
  draft.require_at_most(near, far);
  draft.add_operand(*op.operand(0), from);
  return draft.create(result, to, first_number);
}

std::string_view why_not_softmax(const Op& op) {
  if (!is_floating(dtype_in(*op.result()))) return "the element type is not floating";
  if (tensor_of(*op.operand(0)).rank() == 0) return "the operand is a scalar";
  return are_not_empty(reduced_dims(op, key::kAxis)) ? "" : "the reduced dimension may be empty";
}

/// The largest element, exponentials, their sum, quotients; all but the last in Float64.
Value* softmax_body(Rewriter& rewriter, const Op& op) {
  IRContext& context = rewriter.context();
  const TensorType& result = tensor_of(*op.result());
  const std::size_t along = *axis(op, key::kAxis);
  Dims row(result.dims().begin(), result.dims().end());
  row[along] = Dim(1);
  const TensorType& rows = *with_extents(context, result, row, DType::kFloat64);
  Value* const largest = reduced(rewriter, op, "max", rows, along);
  Value* const elements[] = {op.operand(0), largest};
  Value* const powers = generic_elements(
      rewriter, op, *with_extents(context, result, result.dims(), DType::kFloat64), elements,
      [](GenericDraft& draft, Numbers numbers) {
        Value* difference = draft.number_op(OpId::kLinalgSub, numbers, DType::kFloat64);
        return draft.number_op(OpId::kLinalgExp, {&difference, 1}, DType::kFloat64);
      });
  GenericDraft draft(rewriter, op);
  Dims from = draft.add_loops(row), to = from;
  from[along] = draft.add_sum(result.dims()[along], "add");
  draft.add_operand(*powers, from);
  Value* const sum = draft.create(rows, to, first_number);
  Value* const parts[] = {powers, sum};
  return generic_elements(rewriter, op, result, parts, [](GenericDraft& quotient, Numbers numbers) {
    return quotient.number_op(OpId::kLinalgDiv, numbers, DType::kFloat64);
  });
}

namespace {

// -- products -------------------------------------------------------------------------------------

}  // namespace

std::string_view why_not_product(const Op& op) {
  const auto a = tensor_of(*op.operand(0)).dims(), b = tensor_of(*op.operand(1)).dims(),
             result = tensor_of(*op.result()).dims();
  if (a.size() < 2 || b.size() < 2 || result.size() < 2) return "an operand is a vector";
  for (const auto dims : {a, b}) {
    const auto batch = dims.first(dims.size() - 2);
    if (batch.size() > result.size() - 2) return "the batches differ";
    const auto wanted = result.first(result.size() - 2).last(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool fits = batch[i] == wanted[i] || batch[i] == Dim(1);
      const bool is_shared = batch[i].is_constant() && wanted[i].is_constant() &&
                             batch[i].constant() > 0 && wanted[i].constant() > 0 &&
                             wanted[i].constant() % batch[i].constant() == 0;
      if (!fits && !is_shared) return "the batches differ";
    }
  }
  return is_floating(dtype_in(*op.result())) &&
                 dtype_in(*op.operand(0)) == dtype_in(*op.result()) &&
                 dtype_in(*op.operand(1)) == dtype_in(*op.result())
             ? ""
             : "the element types are not one floating type";
}

namespace {

/// The index of a batch of `dims`, several of which may share one.
void add_batch(DimTable& table, std::span<const Dim> dims, std::span<const Dim> result,
               std::span<const Dim> loops, Dims& map) {
  const std::size_t count = dims.size() - 2, skipped = result.size() - 2 - count;
  for (std::size_t i = 0; i < count; ++i) {
    const Dim wanted = result[skipped + i], loop = loops[skipped + i];
    if (dims[i] == Dim(1)) {
      map.push_back(Dim(0));
    } else if (dims[i] == wanted) {
      map.push_back(loop);
    } else {
      map.push_back(table.floor_divide(loop, Dim(wanted.constant() / dims[i].constant())));
    }
  }
}

}  // namespace

Value* product_body(Rewriter& rewriter, const Op& op) {
  const OpAttributes attributes(op);
  DimTable& table = rewriter.context().dims();
  const bool turns_a = attributes.boolean(key::kTransposeA),
             turns_b = attributes.boolean(key::kTransposeB);
  const auto a = tensor_of(*op.operand(0)).dims(), b = tensor_of(*op.operand(1)).dims(),
             result = tensor_of(*op.result()).dims();
  GenericDraft draft(rewriter, op);
  const Dims loops = draft.add_loops(result);
  const Dim term = draft.add_sum(a[a.size() - (turns_a ? 2 : 1)], "add");
  const Dim row = loops[loops.size() - 2], column = loops.back();
  Dims from_a, from_b;
  add_batch(table, a, result, loops, from_a);
  add_batch(table, b, result, loops, from_b);
  from_a.push_back(turns_a ? term : row);
  from_a.push_back(turns_a ? row : term);
  from_b.push_back(turns_b ? column : term);
  from_b.push_back(turns_b ? term : column);
  draft.add_operand(*op.operand(0), from_a);
  draft.add_operand(*op.operand(1), from_b);
  return draft.create(tensor_of(*op.result()), loops, [&](Numbers numbers) {
    return draft.number_op(OpId::kLinalgMul, numbers, DType::kFloat64);
  });
}

namespace {

/// The equation with the extent of each index; no value if extents of an index differ.
std::optional<std::pair<EinsumEquation, Dims>> equation_of(const Op& op) {
  std::vector<std::size_t> ranks;
  for (const Use& use : op.operand_uses()) ranks.push_back(tensor_of(*use.value()).rank());
  auto equation = read_einsum(OpAttributes(op).string(key::kEquation), ranks);
  if (!equation) return std::nullopt;
  Dims extents(equation->index_count, Dim::unknown());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto dims = tensor_of(*op.operand(i)).dims();
    for (std::size_t k = 0; k < ranks[i]; ++k) {
      Dim& extent = extents[equation->operands[i][k]];
      if (!extent.is_unknown() && extent != dims[k]) return std::nullopt;
      extent = dims[k];
    }
  }
  return std::pair(*std::move(equation), std::move(extents));
}

}  // namespace

std::string_view why_not_einsum(const Op& op) {
  for (const Use& use : op.operand_uses()) {
    if (dtype_in(*use.value()) != dtype_in(*op.result())) return "the element types differ";
  }
  if (dtype_in(*op.result()) == DType::kBool) return "sums of Bool are logic";
  return equation_of(op) ? "" : "an index has several extents";
}

Value* einsum_body(Rewriter& rewriter, const Op& op) {
  const auto [equation, extents] = *equation_of(op);
  GenericDraft draft(rewriter, op);
  Dims loops(equation.index_count, Dim::unknown()), to;
  for (const std::size_t index : equation.result) {
    to.push_back(loops[index] = draft.add_loop(extents[index]));
  }
  for (std::size_t index = 0; index < loops.size(); ++index) {
    if (loops[index].is_unknown()) loops[index] = draft.add_sum(extents[index], "add");
  }
  // A sum of one product begins with 0, too, so that -0 becomes 0.
  if (equation.result.size() == loops.size()) draft.add_sum(Dim(1), "add");
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    Dims map;
    for (const std::size_t index : equation.operands[i]) map.push_back(loops[index]);
    draft.add_operand(*op.operand(i), map);
  }
  return draft.create(tensor_of(*op.result()), to, [&](Numbers numbers) {
    Value* product = numbers.front();
    for (Value* each : numbers.subspan(1)) {
      Value* const factors[] = {product, each};
      product = draft.number_op(OpId::kLinalgMul, factors, number_in(*op.result()));
    }
    return product;
  });
}

namespace {

// -- attention ------------------------------------------------------------------------------------

/// The keys before a query that it sees; no value if it sees all.
std::optional<std::int64_t> window_of(const Op& op) {
  const OpAttributes attributes(op);
  return attributes.boolean(key::kSlidingWindow)
             ? std::optional(attributes.integer(key::kWindowSize))
             : std::nullopt;
}

Dim queries_of(const Op& op) {
  const auto dims = tensor_of(*op.result()).dims();
  return dims[dims.size() - 2];
}

}  // namespace

std::string_view why_not_mask(const Op& op) {
  if (op.operand_count() != 1) return "positions decide what is masked";
  const bool may_be_single = !queries_of(op).is_constant();
  return window_of(op) && may_be_single && !OpAttributes(op).boolean(key::kMasksOneQuery)
             ? "a single query has no window, and the number of queries is not a number"
             : "";
}

/// A copy of the keys that a query sees.
Value* mask_body(Rewriter& rewriter, const Op& op) {
  const TensorType& result = tensor_of(*op.result());
  if (queries_of(op) == Dim(1) && !OpAttributes(op).boolean(key::kMasksOneQuery)) {
    return copy_body(rewriter, op);
  }
  DimTable& table = rewriter.context().dims();
  GenericDraft draft(rewriter, op);
  const Dims loops = draft.add_loops(result.dims());
  const Dim key = loops.back(), query = loops[loops.size() - 2];
  const Dim queries = draft.size(queries_of(op)), keys = draft.size(result.dims().back());
  const Dim last = table.add(query, table.subtract(keys, queries));
  draft.require_at_most(key, last);
  if (const auto window = window_of(op)) {
    draft.require_at_most(table.add(table.subtract(last, Dim(*window)), Dim(1)), key);
  }
  const DType dtype = dtype_in(*op.result());
  draft.set_start(dtype == DType::kFloat16      ? -65500.0
                  : dtype == DType::kFloat8E5M2 ? -57344.0
                                                : -1e10);
  draft.add_operand(*op.operand(0), loops);
  return draft.create(result, loops, first_number);
}

namespace {

/// Parts of a head that stay as they are have a number each in the text.
constexpr std::int64_t kMostParts = 4096;

/// The dimension of x that counts positions.
std::size_t position_dim(const Op& op) {
  const bool heads_are_first =
      !op.is(OpId::kLinalgVisionRoPE) && OpAttributes(op).string(key::kInputType) == "BHSD";
  return heads_are_first ? 2 : 1;
}

Dim at_least_zero(DimTable& table, Dim extent) {
  const auto made = table.parse(fmt::format("({}) max 0", table.print(extent)));
  return made ? *made : Dim::unknown();
}

/// How many elements of a head rotate, if the extent of a head is a number.
std::int64_t rotated_of(const Op& op) {
  const std::int64_t width = tensor_of(*op.operand(0)).dims()[3].constant();
  const std::int64_t stated =
      op.is(OpId::kLinalgRoPE) ? OpAttributes(op).integer(key::kPartialDim) : -1;
  return stated == -1 ? width : stated;
}

}  // namespace

std::string_view why_not_rotation(const Op& op) {
  const auto x = tensor_of(*op.operand(0)).dims();
  if (dtype_in(*op.operand(0)) != dtype_in(*op.result())) return "the element types differ";
  if (!x[3].is_constant()) return "the extent of a head is not a number";
  const std::int64_t half = rotated_of(op) / 2;
  if (half <= 0 || x[3].constant() / half >= kMostParts) {
    return "no part of a head rotates, or a tiny one";
  }
  for (const std::uint32_t operand : {1u, 2u}) {
    const auto table = tensor_of(*op.operand(operand)).dims();
    const auto last = table.last(2);
    const bool is_of_batch = table.size() == 2 || table[0] == Dim(1) || table[0] == x[0];
    if (!is_of_batch || last[0] != x[position_dim(op)] || !last[1].is_constant()) {
      return "the broadcast is not known";
    }
  }
  return "";
}

/// Parts of a head, as long as half of what rotates, are a loop. The first one and the second one
/// add products with a cosine and products of each other with a sine, others stay as they are.
Value* rotation_body(Rewriter& rewriter, const Op& op) {
  DimTable& table = rewriter.context().dims();
  const TensorType& result = tensor_of(*op.result());
  const std::int64_t width = result.dims()[3].constant(), half = rotated_of(op) / 2,
                     parts = (width + half - 1) / half;
  GenericDraft draft(rewriter, op);
  const Dims outer = draft.add_loops(result.dims().first(3));
  const Dim part = draft.add_loop(Dim(parts)), column = draft.add_loop(Dim(half));
  const auto element = [&](Dim at) {
    Dims map = outer;
    map.push_back(table.add(table.multiply(Dim(half), at), column));
    return map;
  };
  const Dims to = element(part);
  if (parts * half != width) draft.set_bound(to.back(), Dim(width));
  draft.add_operand(*op.operand(0), to);
  const Dim other = table.subtract(Dim(1), part);
  draft.add_operand(*op.operand(0), element(parts == 2 ? other : at_least_zero(table, other)));
  for (const std::uint32_t operand : {2u, 1u}) {
    const auto dims = tensor_of(*op.operand(operand)).dims();
    Dims row = {outer[position_dim(op)], column};
    if (dims.size() == 3) row.insert(row.begin(), dims[0] == Dim(1) ? Dim(0) : outer[0]);
    draft.add_operand(*op.operand(operand), row);
  }
  std::vector<double> signs(static_cast<std::size_t>(parts), 0);
  signs[0] = -1;
  signs[1] = 1;
  draft.add_operand(*generic_numbers(rewriter, op, signs), {part});
  return draft.create(result, to, [&](Numbers numbers) {
    const auto joined = [&](OpId kind, Value* a, Value* b) {
      Value* const values[] = {a, b};
      return draft.number_op(kind, values, DType::kFloat64);
    };
    Value* const own = joined(OpId::kLinalgMul, numbers[0], numbers[2]);
    Value* const turned = joined(OpId::kLinalgMul, numbers[1], numbers[3]);
    Value* const sum = joined(OpId::kLinalgAdd, own, joined(OpId::kLinalgMul, turned, numbers[4]));
    if (parts == 2) return sum;
    const NamedAttr to_bool{key::kDtype.symbol, rewriter.context().word("Bool")};
    Value* const rotates =
        draft.number_op(OpId::kLinalgCastType, numbers.subspan(4, 1), DType::kBool, {&to_bool, 1});
    Value* const choice[] = {rotates, sum, numbers[0]};
    return draft.number_op(OpId::kLinalgWhere, choice, DType::kFloat64);
  });
}

}  // namespace mir::generic_rules
