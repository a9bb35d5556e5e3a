// Reads the attributes of ops from the maps, sums and regions of their generic bodies.
#include "passes/generic/op_candidates.hpp"

#include <algorithm>

#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir::op_candidates {

namespace {

IRContext& context_of(const GenericRoot& root) {
  return root.op.module().context();
}

std::span<const Dim> dims_of(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type == nullptr ? std::span<const Dim>() : type->dims();
}

/// True if the region of a generic op is one op of this kind.
bool computes(const GenericRoot& root, OpId op) {
  return root.only != nullptr && root.only->op_id() == op;
}

/// True if the region passes on the one number that it takes.
bool passes_on(const GenericRoot& root) {
  const Block& block = root.op.first_region()->only_block();
  return root.op.operand_count() == 1 && block.front() == block.back() &&
         block.back()->operand(0) == &block.arguments()[0];
}

std::vector<Value*> operands_of(const Op& op) {
  std::vector<Value*> values;
  for (const Use& use : op.operand_uses()) values.push_back(use.value());
  return values;
}

void add(OpId op, const GenericRoot& root, std::vector<NamedAttr> attributes, OpCandidates& all) {
  all.push_back({.op = op, .operands = operands_of(root.op), .attributes = std::move(attributes)});
}

/// The generic op that defines the operand of a generic op; null if another one does.
Op* generic_before(const Op& op, std::uint32_t operand) {
  Op* const before = operand < op.operand_count() ? op.operand(operand)->defining_op() : nullptr;
  const bool is_generic =
      before != nullptr && before->is(OpId::kLinalgGeneric) && before->operand_count() > 0;
  return is_generic ? before : nullptr;
}

/// The attribute of each dimension of a value, and of all together.
template <class Add>
void for_each_axis(const GenericRoot& root, const Value& x, const Add& add_axis) {
  IRContext& context = context_of(root);
  for (std::size_t i = 0; i < dims_of(x).size(); ++i) {
    add_axis(context.integer(static_cast<std::int64_t>(i)));
  }
  add_axis(context.word("all"));
}

/// An index where the loop has a value and the other loops are 0; no value if it is no number then.
std::optional<std::int64_t> index_at(const GenericRoot& root, Dim index, std::size_t loop,
                                     std::int64_t value) {
  const auto& loops = root.form.loops;
  const Dim at = context_of(root).dims().substitute(index, [&](Symbol name) -> std::optional<Dim> {
    const auto found = std::ranges::find(loops, name, &GenericForm::Range::name);
    if (found == loops.end()) return std::nullopt;
    return Dim(static_cast<std::size_t>(found - loops.begin()) == loop ? value : 0);
  });
  return at.is_constant() ? std::optional(at.constant()) : std::nullopt;
}

const Attr* integers(IRContext& context, std::span<const std::int64_t> numbers) {
  std::vector<const Attr*> list;
  for (const std::int64_t each : numbers) list.push_back(context.integer(each));
  return context.array(list);
}

const Attr* extent(IRContext& context, Dim dim) {
  return dim.is_constant() ? context.integer(dim.constant()) : context.dim(dim);
}

/// The number of a constant with one element; no value for other values.
const Attr* constant_number(const Value& value) {
  const Attr* const stated = value.attribute(key::kConstant);
  const bool is_one = stated != nullptr && stated->kind() == AttrKind::kArray &&
                      stated->elements().size() == 1 && dims_of(value).empty();
  return is_one ? stated->elements().front() : nullptr;
}

/// The path of an op that owns the parameter with this suffix; empty if the value is another one.
Symbol owner_of(IRContext& context, const Value& value, std::string_view suffix) {
  if (!value.is_free() || !value.has_symbol()) return {};
  const std::string_view name = context.text(value.symbol());
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return {};
  return context.intern(name.substr(0, name.size() - suffix.size()));
}

}  // namespace

// -- elementwise ----------------------------------------------------------------------------------

void add_elementwise(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!computes(root, op)) return;
  std::vector<NamedAttr> attributes(root.only->attributes().begin(), root.only->attributes().end());
  for (NamedAttr& each : attributes) {
    if (op != OpId::kLinalgCastType || each.key != key::kDtype.symbol) continue;
    each.value = context_of(root).word(name_of(*root.result.dtype()));
  }
  add(op, root, std::move(attributes), all);
}

// -- moves ----------------------------------------------------------------------------------------

namespace {

/// True if the root copies elements, with an index for each loop.
bool moves(const GenericRoot& root) {
  return passes_on(root) && root.form.sums.front().empty() &&
         root.form.loops.size() == root.result.rank();
}

/// For each dimension of the operand the loop that is its index; no value if another index occurs.
std::optional<std::vector<std::size_t>> loops_in(const GenericRoot& root,
                                                 std::span<const Dim> map) {
  DimTable& dims = context_of(root).dims();
  std::vector<std::size_t> places;
  for (const Dim index : map) {
    const auto found = std::ranges::find_if(root.form.loops, [&](const GenericForm::Range& each) {
      return dims.symbol(context_of(root).text(each.name)) == index;
    });
    if (found == root.form.loops.end()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(found - root.form.loops.begin()));
  }
  return places;
}

}  // namespace

void add_clone(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (moves(root)) add(op, root, {}, all);
}

void add_transpose(OpId op, const GenericRoot& root, OpCandidates& all) {
  const auto places = moves(root) ? loops_in(root, root.form.maps.front()) : std::nullopt;
  if (!places) return;
  IRContext& context = context_of(root);
  for (std::size_t i = 0; i < places->size(); ++i) {
    if ((*places)[i] <= i) continue;
    add(op, root,
        {{key::kDim0, context.integer(static_cast<std::int64_t>(i))},
         {key::kDim1, context.integer(static_cast<std::int64_t>((*places)[i]))}},
        all);
    return;
  }
}

void add_permute(OpId op, const GenericRoot& root, OpCandidates& all) {
  const auto places = moves(root) ? loops_in(root, root.form.maps.front()) : std::nullopt;
  if (!places) return;
  std::vector<std::int64_t> axes(places->size());
  for (std::size_t i = 0; i < places->size(); ++i) {
    if ((*places)[i] < axes.size()) axes[(*places)[i]] = static_cast<std::int64_t>(i);
  }
  add(op, root, {{key::kAxis, integers(context_of(root), axes)}}, all);
}

void add_repeat(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!moves(root) || root.form.maps.front().size() != root.result.rank()) return;
  IRContext& context = context_of(root);
  for (std::size_t i = 0; i < root.result.rank(); ++i) {
    // An index is the loop divided by the number of repetitions. A large loop tells the divisor.
    constexpr std::int64_t kLarge = std::int64_t{1} << 62;
    const auto quotient = index_at(root, root.form.maps.front()[i], i, kLarge);
    if (!quotient || *quotient <= 0 || *quotient >= kLarge) continue;
    add(op, root,
        {{key::kDim, context.integer(static_cast<std::int64_t>(i))},
         {key::kRepeatTimes, context.integer(kLarge / *quotient)}},
        all);
    return;
  }
}

void add_view(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!moves(root)) return;
  std::vector<std::int64_t> extents;
  for (const Dim each : root.result.dims()) {
    if (!each.is_constant()) return;
    extents.push_back(each.constant());
  }
  add(op, root, {{key::kToShape, integers(context_of(root), extents)}}, all);
}

void add_slice(OpId op, const GenericRoot& root, OpCandidates& all) {
  IRContext& context = context_of(root);
  DimTable& dims = context.dims();
  const auto from = dims_of(*root.op.operand(0)), to = root.result.dims();
  if (!moves(root) || from.size() != to.size()) return;
  std::vector<const Attr*> entries;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Dim index = root.form.maps.front()[i];
    const auto first = index_at(root, index, i, 0), next = index_at(root, index, i, 1);
    if (!first || !next) return;
    const std::int64_t step = *next - *first;
    if (*first == 0 && step == 1 && from[i] == to[i]) {
      entries.push_back(context.dict({}));
      continue;
    }
    const Dim covered = dims.multiply(dims.subtract(to[i], Dim(1)), Dim(step));
    const Dim end = to[i] == Dim(0) ? Dim(*first) : dims.add(Dim(*first + 1), covered);
    const NamedAttr bounds[] = {{key::kStart, context.integer(*first)},
                                {key::kEnd, extent(context, end)},
                                {key::kStep, context.integer(step)}};
    entries.push_back(context.dict(bounds));
  }
  add(op, root, {{key::kIndices, context.array(entries)}}, all);
}

// -- sums -----------------------------------------------------------------------------------------

void add_reduction(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!passes_on(root) || root.form.sums.front().empty()) return;
  for_each_axis(root, *root.op.operand(0), [&](const Attr* axis) {
    for (const bool keeps : {false, true}) {
      add(op, root, {{key::kDim, axis}, {key::kKeepDim, context_of(root).boolean(keeps)}}, all);
    }
  });
}

void add_cum_sum(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!passes_on(root) || root.form.sums.front().size() != 1 || root.form.filters.size() != 1) {
    return;
  }
  IRContext& context = context_of(root);
  for (std::size_t i = 0; i < root.result.rank(); ++i) {
    for (const int flags : {0, 1, 2, 3}) {
      add(op, root,
          {{key::kDim, context.integer(static_cast<std::int64_t>(i))},
           {key::kExclusive, context.boolean((flags & 1) != 0)},
           {key::kReverse, context.boolean((flags & 2) != 0)}},
          all);
    }
  }
}

void add_product(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!computes(root, OpId::kLinalgMul) || root.op.operand_count() != 2) return;
  IRContext& context = context_of(root);
  for (const int flags : {0, 1, 2, 3}) {
    add(op, root,
        {{key::kTransposeA, context.boolean((flags & 1) != 0)},
         {key::kTransposeB, context.boolean((flags & 2) != 0)}},
        all);
  }
}

void add_einsum(OpId op, const GenericRoot& root, OpCandidates& all) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (root.form.sums.front().empty() || root.form.loops.size() > kLetters.size()) return;
  std::string equation;
  for (const auto& map : root.form.maps) {
    const auto places = loops_in(root, map);
    if (!places) return;
    if (&map == &root.form.maps.back()) {
      equation += "->";
    } else if (&map != &root.form.maps.front()) {
      equation += ',';
    }
    for (const std::size_t each : *places) equation += kLetters[each];
  }
  add(op, root, {{key::kEquation, context_of(root).string(equation)}}, all);
}

// -- bodies of several ops ------------------------------------------------------------------------

void add_mean(OpId op, const GenericRoot& root, OpCandidates& all) {
  Op* const sum = generic_before(root.op, 0);
  if (!computes(root, OpId::kLinalgDiv) || sum == nullptr) return;
  for_each_axis(root, *sum->operand(0), [&](const Attr* axis) {
    for (const bool keeps : {false, true}) {
      all.push_back(
          {.op = op,
           .operands = {sum->operand(0)},
           .attributes = {{key::kDim, axis}, {key::kKeepDim, context_of(root).boolean(keeps)}}});
    }
  });
}

void add_softmax(OpId op, const GenericRoot& root, OpCandidates& all) {
  Op* const powers = generic_before(root.op, 0);
  if (!computes(root, OpId::kLinalgDiv) || powers == nullptr) return;
  for (std::size_t i = 0; i < root.result.rank(); ++i) {
    const Attr* const axis = context_of(root).integer(static_cast<std::int64_t>(i));
    all.push_back({.op = op, .operands = {powers->operand(0)}, .attributes = {{key::kAxis, axis}}});
  }
}

namespace {

/// A sum of products with a weight, and the bias that is added to it.
struct WeightedSum {
  Op* product = nullptr;
  Symbol path{};
  bool has_bias = false;
};

/// No value if the root is no such sum, or its parameters do not belong to one op.
std::optional<WeightedSum> weighted_sum(const GenericRoot& root) {
  IRContext& context = context_of(root);
  WeightedSum sum{.product = &root.op};
  if (computes(root, OpId::kLinalgAdd) && root.op.operand_count() == 2) {
    sum.product = generic_before(root.op, 0);
    sum.has_bias = true;
  }
  if (sum.product == nullptr || sum.product->operand_count() != 2) return std::nullopt;
  sum.path = owner_of(context, *sum.product->operand(1), ".weight");
  if (!sum.path) return std::nullopt;
  if (sum.has_bias && owner_of(context, *root.op.operand(1), ".bias") != sum.path) {
    return std::nullopt;
  }
  return sum;
}

}  // namespace

void add_linear(OpId op, const GenericRoot& root, OpCandidates& all) {
  const auto sum = weighted_sum(root);
  if (!sum || root.result.rank() == 0) return;
  IRContext& context = context_of(root);
  const auto weight = dims_of(*sum->product->operand(1));
  if (weight.size() != 2) return;
  all.push_back({.op = op,
                 .operands = {sum->product->operand(0)},
                 .attributes = {{key::kInChannels, extent(context, weight[1])},
                                {key::kOutChannels, extent(context, weight[0])},
                                {key::kBias, context.boolean(sum->has_bias)}},
                 .path = sum->path});
}

void add_convolution(OpId op, const GenericRoot& root, OpCandidates& all) {
  const auto sum = weighted_sum(root);
  if (!sum) return;
  IRContext& context = context_of(root);
  const Value& x = *sum->product->operand(0);
  const auto kernel = dims_of(*sum->product->operand(1)), from = dims_of(x);
  const std::size_t rank = op == OpId::kLinalgConv1D ? 1 : op == OpId::kLinalgConv2D ? 2 : 3;
  if (kernel.size() != rank + 2 || from.size() != rank + 2) return;
  const GenericRoot product{.op = *sum->product,
                            .form = read_loops(*sum->product),
                            .result = *sum->product->result()->tensor_type()};
  // The loops are those of the result, the channel, and the taps.
  if (product.form.loops.size() != 2 * rank + 3) return;
  std::vector<std::int64_t> taps, strides, paddings, dilations;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim index = product.form.maps.front()[i + 2];
    const auto first = index_at(product, index, 0, 0), next = index_at(product, index, i + 2, 1),
               tap = index_at(product, index, rank + 3 + i, 1);
    if (!first || !next || !tap || !kernel[i + 2].is_constant()) return;
    taps.push_back(kernel[i + 2].constant());
    strides.push_back(*next - *first);
    paddings.push_back(-*first);
    dilations.push_back(*tap - *first);
  }
  const auto list = [&](std::span<const std::int64_t> numbers) {
    return op == OpId::kLinalgConv1D ? context.integer(numbers.front())
                                     : integers(context, numbers);
  };
  OpCandidate made{.op = op,
                   .operands = {sum->product->operand(0)},
                   .attributes = {{key::kInChannels, extent(context, from[1])},
                                  {key::kOutChannels, extent(context, kernel[0])},
                                  {key::kKernelSize, list(taps)},
                                  {key::kStride, list(strides)}},
                   .path = sum->path};
  if (op != OpId::kLinalgConv3D) {
    made.attributes.push_back({key::kPadding, list(paddings)});
    made.attributes.push_back({key::kDilation, list(dilations)});
  }
  const bool has_groups = op == OpId::kLinalgConv1D && from[1].is_constant() &&
                          kernel[1].is_constant() && kernel[1].constant() > 0;
  if (has_groups) {
    made.attributes.push_back(
        {key::kGroups, context.integer(from[1].constant() / kernel[1].constant())});
  }
  made.attributes.push_back({key::kBias, context.boolean(sum->has_bias)});
  all.push_back(std::move(made));
}

void add_norm(OpId op, const GenericRoot& root, OpCandidates& all) {
  IRContext& context = context_of(root);
  const Op* const factor = generic_before(root.op, 1);
  const bool is_rms = op == OpId::kLinalgRMSNorm;
  const Op* const difference = is_rms ? nullptr : generic_before(root.op, 0);
  const Op* const squares = factor == nullptr ? nullptr : generic_before(*factor, 0);
  if (squares == nullptr || factor->operand_count() != 3 || (!is_rms && difference == nullptr)) {
    return;
  }
  const Attr* const epsilon = constant_number(*factor->operand(2));
  if (epsilon == nullptr) return;
  Value* const x = is_rms ? root.op.operand(0) : difference->operand(0);
  const std::uint32_t values = root.op.operand_count();
  const bool has_weight = values == (is_rms ? 3 : 4);
  if (!has_weight && values != (is_rms ? 2U : 3U)) return;
  OpCandidate made{.op = op, .operands = {x}};
  if (has_weight) {
    const Op* const offset = is_rms ? generic_before(root.op, 2) : nullptr;
    const Value& weight = offset != nullptr ? *offset->operand(0) : *root.op.operand(2);
    made.path = owner_of(context, weight, ".weight");
    if (!made.path) return;
    if (offset != nullptr) made.attributes.push_back({key::kAddUnitOffset, context.boolean(true)});
  }
  made.attributes.push_back({key::kElementwiseAffine, context.boolean(has_weight)});
  if (is_rms) {
    made.attributes.push_back({key::kEpsilon, epsilon});
  } else {
    const Value& bias = *root.op.operand(values - 1);
    const Symbol path = owner_of(context, bias, ".bias");
    if (path && has_weight && path != made.path) return;
    if (path) made.path = path;
    const auto rank = read_loops(*squares).sums.front().size();
    std::vector<const Attr*> extents;
    if (rank > dims_of(*x).size()) return;
    for (const Dim each : dims_of(*x).last(rank)) extents.push_back(extent(context, each));
    made.attributes.push_back({key::kNormalizedShape, context.array(extents)});
    made.attributes.push_back({key::kEps, epsilon});
    made.attributes.push_back({key::kBias, context.boolean(static_cast<bool>(path))});
  }
  all.push_back(std::move(made));
}

void add_embedding(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (root.op.operand_count() != 2 || root.form.indices.size() != 1) return;
  IRContext& context = context_of(root);
  const Value& table = *root.op.operand(1);
  const Symbol path = owner_of(context, table, ".weight");
  if (!path || dims_of(table).size() != 2) return;
  all.push_back({.op = op,
                 .operands = {root.op.operand(0)},
                 .attributes = {{key::kVocabSize, extent(context, dims_of(table)[0])},
                                {key::kHiddenSize, extent(context, dims_of(table)[1])},
                                {key::kDtype, context.word(name_of(*root.result.dtype()))}},
                 .path = path});
}

// -- attention ------------------------------------------------------------------------------------

namespace {

/// The most keys that a query sees by the conditions of the root; no value if there is no such
/// number.
std::optional<std::int64_t> window_in(const GenericRoot& root) {
  if (root.form.filters.size() != 2) return std::nullopt;
  // The second one is: last key - window + 1 <= key.
  const auto value = [&](Symbol name) -> std::optional<Dim> {
    for (const GenericForm::Range& each : root.form.sizes) {
      if (each.name == name) return each.extent;
    }
    return Dim(0);
  };
  DimTable& dims = context_of(root).dims();
  const Dim margin = dims.substitute(root.form.filters.back().margin, value);
  const auto extents = root.result.dims().last(2);
  const Dim window = dims.add(dims.add(margin, dims.subtract(extents[1], extents[0])), Dim(1));
  return window.is_constant() ? std::optional(window.constant()) : std::nullopt;
}

}  // namespace

void add_mask(OpId op, const GenericRoot& root, OpCandidates& all) {
  if (!moves(root) || root.form.filters.empty() || root.result.rank() < 2) return;
  IRContext& context = context_of(root);
  const auto window = window_in(root);
  if (!window && root.form.filters.size() != 1) return;
  for (const bool masks_one : {false, true}) {
    std::vector<NamedAttr> attributes;
    if (window) {
      attributes = {{key::kSlidingWindow, context.boolean(true)},
                    {key::kWindowSize, context.integer(*window)}};
    }
    attributes.push_back({key::kMasksOneQuery, context.boolean(masks_one)});
    add(op, root, std::move(attributes), all);
  }
}

void add_rotation(OpId op, const GenericRoot& root, OpCandidates& all) {
  // The operands are x, x, cosines, sines and signs, the last loop is half of what rotates.
  if (root.op.operand_count() != 5 || root.form.loops.empty() || root.result.rank() != 4) return;
  const Dim half = root.form.loops.back().extent, width = root.result.dims()[3];
  if (!half.is_constant() || !width.is_constant()) return;
  IRContext& context = context_of(root);
  const bool is_partial = 2 * half.constant() != width.constant();
  if (is_partial && op != OpId::kLinalgRoPE) return;
  for (const std::string_view order : {"BHSD", "BSHD"}) {
    OpCandidate made{.op = op,
                     .operands = {root.op.operand(0), root.op.operand(3), root.op.operand(2)}};
    if (op != OpId::kLinalgVisionRoPE) {
      made.attributes.push_back({key::kInputType, context.word(order)});
    } else if (order != "BSHD") {
      continue;
    }
    if (is_partial) {
      made.attributes.push_back({key::kPartialDim, context.integer(2 * half.constant())});
    }
    all.push_back(std::move(made));
  }
}

}  // namespace mir::op_candidates
