// Upgrade step: infers options of ops from their types.
#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/computed_op.hpp"
#include "ir/equal_extents.hpp"
#include "ir/op_table.hpp"
#include "upgrade/steps/option_rules.hpp"
#include "upgrade/steps/recovery.hpp"
#include "weights/kleidi.hpp"

// Options of graph-level ops. Upstream prints none of them; most follow from the types.

namespace mir {

const TensorType* parameter_of(Recovery& recovery, const Op& op, std::string_view suffix) {
  if (!op.has_path()) return nullptr;
  const auto found =
      recovery.module.lookup_symbol(fmt::format("{}{}", recovery.text(op.path()), suffix));
  return found.value == nullptr ? nullptr : found.value->tensor_type();
}

bool scales_elements(const Op& op) {
  return op.is(OpId::kLinalgMul, OpId::kLinalgDiv, OpId::kLinalgAdd, OpId::kLinalgSub,
               OpId::kLinalgCastType, OpId::kLinalgClone, OpId::kLinalgContiguous);
}

bool feeds_softmax(const Op& op) {
  std::vector<const Op*> open{&op};
  std::unordered_set<const Op*> seen;
  while (!open.empty()) {
    const Op& next = *open.back();
    open.pop_back();
    if (next.result_count() == 0) continue;
    for (const Use* use = next.result()->first_use(); use != nullptr; use = use->next()) {
      const Op* user = use->user();
      if (user->is(OpId::kLinalgSoftmax, OpId::kLinalgCausalMask)) return true;
      const bool passes = scales_elements(*user) || user->is(OpId::kLinalgWhere);
      if (passes && seen.insert(user).second) open.push_back(user);
    }
  }
  return false;
}

namespace {

using Rule = void (*)(Recovery&, Op&);

const TensorType& in(const Op& op, std::size_t i = 0) {
  return *op.operand(i)->tensor_type();
}
const TensorType& out(const Op& op, std::size_t i = 0) {
  return *op.result(i)->tensor_type();
}

const Attr* extents(Recovery& recovery, const TensorType& type) {
  std::vector<const Attr*> list;
  for (const Dim dim : type.dims()) list.push_back(recovery.context().dim(dim));
  return recovery.context().array(list);
}

/// Upstream registers weights for its KleidiAI kernels as the bytes that those take. What the op
/// multiplies with is the matrix in them and the bias, which always lies in them.
std::optional<KleidiLayout> packed_layout(const TensorType& weight, std::int64_t rows,
                                          std::int64_t columns) {
  const auto bytes = weight.element_count();
  const bool flat = weight.rank() == 1 && bytes &&
                    (weight.dtype() == DType::kUInt8 || weight.dtype() == DType::kByte);
  constexpr std::string_view kTiles[] = {"qsi4c32p8x8", "qsi4c32p4x8", "qai4c32p4x8"};
  for (const std::string_view tile : kTiles) {
    const auto layout = kleidi_layout(tile);
    if (flat && kleidi_bytes(*layout, rows, columns) == static_cast<std::uint64_t>(*bytes)) {
      return layout;
    }
  }
  return std::nullopt;
}

void unpack(Recovery& recovery, Op& op, Dim rows, Dim columns) {
  if (!op.has_path() || !rows.is_constant() || !columns.is_constant()) return;
  const auto found =
      recovery.module.lookup_symbol(fmt::format("{}.weight", recovery.text(op.path())));
  const auto* type = found.value == nullptr ? nullptr : found.value->tensor_type();
  if (type == nullptr) return;
  const auto layout = packed_layout(*type, rows.constant(), columns.constant());
  if (!layout) return;
  const DType granted = recovery.options.packed_weights;
  const bool as_blocks =
      granted != DType::kFloat32 && kleidi_fits_blocks(*layout, columns.constant()) &&
      (granted == DType::kMirQ4A32 || layout->kind == KleidiLayout::Kind::kQsi4c32p);
  const Dim extents[] = {rows, columns};
  IRContext& context = recovery.context();
  if (as_blocks) recovery.notes.lacked.insert(kPackedWeightsFact);
  const auto name = name_of(as_blocks ? granted : DType::kFloat32);
  recovery.rewriter.set_type(*found.value,
                             context.tensor(extents, context.intern(name), type->device()));
  recovery.note(op, as_blocks ? LossEntry::Source::kAssumed : LossEntry::Source::kDerived, "weight",
                fmt::format("{}, which upstream packed into {} bytes",
                            found.value->type()->spelling(), *type->element_count()));
  recovery.derive(op, key::kBias, context.boolean(true));
  recovery.notes.unpacked.insert(op.id());
}

void linear(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  if (in(op).rank() == 0 || out(op).rank() == 0)
    return recovery.refuse(op, key::kInChannels, "rank 0");
  recovery.derive(op, key::kInChannels, context.dim(in(op).dims().back()));
  recovery.derive(op, key::kOutChannels, context.dim(out(op).dims().back()));
  unpack(recovery, op, out(op).dims().back(), in(op).dims().back());
  // Some of upstream's kernels take a bias from the file without registering it.
  if (parameter_of(recovery, op, ".bias") != nullptr) {
    recovery.derive(op, key::kBias, context.boolean(true));
  } else {
    recovery.assume(op, key::kBias, context.boolean(false));
  }
}

/// Some traces were made with ids of no integer type; upstream's kernel reads them as Int64.
void cast_ids(Recovery& recovery, Op& op) {
  const TensorType& ids = in(op);
  if (ids.dtype() == DType::kInt32 || ids.dtype() == DType::kInt64) return;
  cast_operand(recovery, op, 0, DType::kInt64);
}

void embedding(Recovery& recovery, Op& op) {
  const TensorType* table = parameter_of(recovery, op, ".weight");
  const std::int64_t elements =
      table == nullptr ? 0 : table->element_count().value_or(0);  // 0: not known
  const Dim width = out(op).rank() == 0 ? Dim() : out(op).dims().back();
  const bool granted = table == nullptr && Recovery::is_stated(op, key::kVocabSize);
  if (!width.is_constant() || width.constant() <= 0 || (elements == 0 && !granted)) {
    return recovery.refuse_grantable(op, key::kVocabSize, "its table is not registered");
  }
  if (elements % width.constant() != 0) {
    return recovery.refuse_grantable(
        op, key::kVocabSize,
        fmt::format("its table of {} elements has no rows of {}", elements, width.constant()));
  }
  cast_ids(recovery, op);
  if (elements != 0) {
    recovery.derive(op, key::kVocabSize, recovery.context().integer(elements / width.constant()));
  }
  recovery.derive(op, key::kHiddenSize, recovery.context().dim(width));
  if (out(op).dtype() == DType::kFloat32) return;
  recovery.derive(op, key::kDtype, recovery.context().word(recovery.text(out(op).dtype_name())));
}

/// The two dimensions whose exchange does not show: 1 and 2 of four as upstream's models exchange
/// them, else the only two of one extent.
std::optional<std::pair<std::int64_t, std::int64_t>> exchangeable(std::span<const Dim> dims) {
  if (dims.size() == 4 && dims[1] == dims[2]) return std::pair(1, 2);
  std::optional<std::pair<std::int64_t, std::int64_t>> found;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (std::size_t j = i + 1; j < dims.size(); ++j) {
      if (dims[i] != dims[j]) continue;
      if (found) return std::nullopt;
      found = std::pair(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
    }
  }
  return found;
}

void transpose(Recovery& recovery, Op& op) {
  if (recovery.is_stated(op, key::kDim0) && recovery.is_stated(op, key::kDim1)) return;
  const auto from = in(op).dims(), to = out(op).dims();
  if (from.size() != to.size()) {
    return recovery.refuse(op, "dim0, dim1", "the printed types differ in rank");
  }
  std::vector<std::int64_t> differing;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[i]) differing.push_back(static_cast<std::int64_t>(i));
  }
  IRContext& context = recovery.context();
  const auto set = [&](std::int64_t dim0, std::int64_t dim1, bool known) {
    const auto give = known ? &Recovery::derive : &Recovery::assume;
    (recovery.*give)(op, key::kDim0, context.integer(dim0));
    (recovery.*give)(op, key::kDim1, context.integer(dim1));
  };
  if (differing.size() == 2) {
    set(differing[0], differing[1], true);
  } else if (const auto equal = exchangeable(from); differing.empty() && equal) {
    set(equal->first, equal->second, false);
  } else {
    recovery.refuse_grantable(op, "dim0, dim1",
                              "the printed types differ in other than two dimensions");
  }
}

/// Equal extents keep their order where the permutation does not say otherwise.
void permute(Recovery& recovery, Op& op) {
  const auto from = in(op).dims(), to = out(op).dims();
  std::vector<const Attr*> axes;
  std::vector<bool> taken(from.size(), false);
  bool certain = true;
  for (const Dim dim : to) {
    std::size_t found = from.size();
    for (std::size_t i = from.size(); i-- > 0;) {
      if (from[i] != dim) continue;
      certain = certain && std::ranges::count(from, dim) == 1;
      if (!taken[i]) found = i;
    }
    if (found == from.size())
      return recovery.refuse(op, key::kAxis, "the extents are no permutation");
    taken[found] = true;
    axes.push_back(recovery.context().integer(static_cast<std::int64_t>(found)));
  }
  const auto give = certain ? &Recovery::derive : &Recovery::assume;
  (recovery.*give)(op, key::kAxis, recovery.context().array(axes));
}

void view(Recovery& recovery, Op& op) {
  recovery.derive(op, key::kToShape, extents(recovery, out(op)));
}
void reshape(Recovery& recovery, Op& op) {
  recovery.derive(op, key::kShape, extents(recovery, out(op)));
}

void cast_type(Recovery& recovery, Op& op) {
  recovery.derive(op, key::kDtype, recovery.context().word(recovery.text(out(op).dtype_name())));
}

void x2x(Recovery& recovery, Op& op) {
  recovery.derive(op, key::kDevice, recovery.context().word(recovery.text(out(op).device())));
}

/// The one dimension in which two shapes of equal rank differ.
std::optional<std::size_t> differing_dim(const TensorType& a, const TensorType& b) {
  std::optional<std::size_t> found;
  if (a.rank() != b.rank()) return std::nullopt;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (a.dims()[i] == b.dims()[i]) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

void concat(Recovery& recovery, Op& op) {
  const auto dim = differing_dim(in(op), out(op));
  if (!dim)
    return recovery.refuse(op, key::kDim, "operand and result do not differ in one dimension");
  recovery.derive(op, key::kDim, recovery.context().integer(static_cast<std::int64_t>(*dim)));
}

void repeat(Recovery& recovery, Op& op) {
  const auto dim = differing_dim(in(op), out(op));
  if (!dim)
    return recovery.refuse_grantable(op, key::kDim,
                                     "operand and result do not differ in one dimension");
  const Dim before = in(op).dims()[*dim], after = out(op).dims()[*dim];
  const bool exact = before.is_constant() && after.is_constant() && before.constant() > 0 &&
                     after.constant() % before.constant() == 0;
  if (!exact) return recovery.refuse(op, key::kRepeatTimes, "the extents are no multiple");
  recovery.derive(op, key::kDim, recovery.context().integer(static_cast<std::int64_t>(*dim)));
  recovery.derive(op, key::kRepeatTimes,
                  recovery.context().integer(after.constant() / before.constant()));
}

void softmax(Recovery& recovery, Op& op) {
  recovery.assume(op, key::kAxis,
                  recovery.context().integer(-1));  // the only axis upstream computes
}

void causal_mask(Recovery& recovery, Op& op) {
  recovery.assume(op, key::kSlidingWindow, recovery.context().boolean(false));
}

void rms_norm(Recovery& recovery, Op& op) {
  if (op.operand_count() == 2) {  // the functional form
    recovery.derive(op, key::kElementwiseAffine, recovery.context().boolean(false));
  }
  if (!recovery.options.rms_epsilon) {
    return recovery.refuse(op, key::kEpsilon,
                           "grant it with --assume=rms_eps=1e-6 or the model's value",
                           {std::string(kRmsEpsilonFact)});
  }
  recovery.assume_common(op, key::kEpsilon, kRmsEpsilonFact, *recovery.options.rms_epsilon);
  recovery.assume(op, key::kAddUnitOffset, recovery.context().boolean(false));
}

bool registers_parameters(const Recovery& recovery) {
  bool any = false;
  walk<RegisterOp>(recovery.module, [&](RegisterOp) {
    any = true;
    return WalkResult::kInterrupt;
  });
  return any;
}

void layer_norm(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  const TensorType* weight = parameter_of(recovery, op, ".weight");
  if (!recovery.options.layer_norm_epsilon) {
    return recovery.refuse(op, key::kEps,
                           "grant it with --assume=layer_norm_eps=1e-6 or the model's value",
                           {std::string(kLayerNormEpsilonFact)});
  }
  if (weight == nullptr && in(op).rank() == 0)
    return recovery.refuse(op, key::kNormalizedShape, "rank 0");
  const Attr* last = weight == nullptr ? context.dim(in(op).dims().back()) : nullptr;
  if (weight == nullptr) {
    recovery.assume(op, key::kNormalizedShape, context.array(std::span(&last, 1)));
  } else {
    recovery.derive(op, key::kNormalizedShape, extents(recovery, *weight));
  }
  // Upstream registers a bias after a weight only, and nothing of a model without parameters.
  const bool with_bias = parameter_of(recovery, op, ".bias") != nullptr;
  const auto affine =
      weight != nullptr || registers_parameters(recovery) ? &Recovery::derive : &Recovery::assume;
  const auto shifted = weight != nullptr || with_bias ? &Recovery::derive : &Recovery::assume;
  (recovery.*affine)(op, key::kElementwiseAffine, context.boolean(weight != nullptr));
  (recovery.*shifted)(op, key::kBias, context.boolean(with_bias));
  recovery.assume_common(op, key::kEps, kLayerNormEpsilonFact,
                         *recovery.options.layer_norm_epsilon);
}

void layer_norm_2d(Recovery& recovery, Op& op) {
  if (in(op).rank() != 4) return recovery.refuse(op, key::kNumChannels, "x is not of rank 4");
  recovery.derive(op, key::kNumChannels, recovery.context().dim(in(op).dims()[1]));
  if (!recovery.options.layer_norm_epsilon) {
    return recovery.refuse(op, key::kEps,
                           "grant it with --assume=layer_norm_eps=1e-6 or the model's value",
                           {std::string(kLayerNormEpsilonFact)});
  }
  recovery.assume_common(op, key::kEps, kLayerNormEpsilonFact,
                         *recovery.options.layer_norm_epsilon);
}

/// Which of [B, H, S, D] and [B, S, H, D] fit the table, which has a row for each position: both
/// where heads and positions are as many.
struct RotationLayouts {
  bool known = false;  ///< x has four dimensions, the table two or more
  bool heads_first = false;
  bool positions_first = false;
};

/// Returns the possible layouts of a RoPE, or of a launch of one.
RotationLayouts layouts_of_rotation(const Op& op) {
  if (op.operand_count() < 2) return {};
  const TensorType *x = op.operand(0)->tensor_type(), *table = op.operand(1)->tensor_type();
  if (x == nullptr || table == nullptr || x->rank() != 4 || table->rank() < 2) return {};
  const Dim rows = table->dims()[table->rank() - 2];
  return {.known = true,
          .heads_first = equal_extents(rows, x->dims()[2]),
          .positions_first = equal_extents(rows, x->dims()[1])};
}

/// True if positions come before heads. If both layouts fit, the readers of the rotated x decide,
/// or another rotation of the block with the same table. No value if nothing decides.
std::optional<bool> positions_come_first(const Op& op) {
  const RotationLayouts own = layouts_of_rotation(op);
  if (own.heads_first != own.positions_first) return own.positions_first;
  if (!own.known || op.result_count() == 0) return std::nullopt;
  for (const Use* use = op.result(0)->first_use(); use != nullptr; use = use->next()) {
    if (computed_op(*use->user()) == OpId::kLinalgFlashAttention2) return true;
    if (computed_op(*use->user()) == OpId::kLinalgMatMul) return false;
  }
  for (const Op* other = op.block()->front(); other != nullptr; other = other->next()) {
    if (computed_op(*other) != computed_op(op)) continue;
    const RotationLayouts layouts = layouts_of_rotation(*other);
    const bool tells = layouts.heads_first != layouts.positions_first;
    if (tells && other->operand(1) == op.operand(1)) return layouts.positions_first;
  }
  return std::nullopt;
}

/// A table that is narrower than a head has a column for each element that rotates.
void assume_rotated(Recovery& recovery, Op& op) {
  const Dim head = in(op).dims().back(), columns = in(op, 1).dims().back();
  const bool narrower = head.is_constant() && columns.is_constant() &&
                        columns.constant() < head.constant() && columns.constant() % 2 == 0;
  recovery.assume(op, key::kPartialDim,
                  recovery.context().integer(narrower ? columns.constant() : -1));
}

/// Layout of x [B, H, S, D] or [B, S, H, D].
void rope(Recovery& recovery, Op& op) {
  const RotationLayouts layouts = layouts_of_rotation(op);
  if (!layouts.known) return recovery.refuse(op, key::kInputType, "x is not of rank 4");
  if (!layouts.heads_first && !layouts.positions_first)
    return recovery.refuse(op, key::kInputType, "the table fits no layout");
  const auto told = positions_come_first(op);
  const auto give = told ? &Recovery::derive : &Recovery::assume;
  (recovery.*give)(op, key::kInputType,
                   recovery.context().word(told.value_or(false) ? "BSHD" : "BHSD"));
  if (op.is(OpId::kLinalgRoPE)) assume_rotated(recovery, op);
}

void flash_attention(Recovery& recovery, Op& op) {
  recovery.assume(op, key::kCausalMask, recovery.context().boolean(true));
}

/// Query heads of the product that reads the keys.
std::optional<Dim> query_heads(const Op& cache) {
  for (const Use* use = cache.result(0)->first_use(); use != nullptr; use = use->next()) {
    const Op& user = *use->user();
    if (!user.is(OpId::kLinalgMatMul) || use->index() != 1) continue;
    const TensorType* left = user.operand(0)->tensor_type();
    if (left != nullptr && left->rank() == 4) return left->dims()[1];
  }
  return std::nullopt;
}

/// Older versions print no name: `<graph>.kv_cache`, as upstream's models call it, with a number
/// for further ones of a graph.
void name_cache(Recovery& recovery, Op& op) {
  if (op.has_path() || Recovery::is_stated(op, key::kCache)) return;
  int number = 0;
  for (const Op* each = op.block()->front(); each != &op; each = each->next()) {
    if (each->is(OpId::kLinalgKVCache) && !each->has_path()) ++number;
  }
  const SubGraphOp graph = dyn_cast<SubGraphOp>(op.parent_op());
  const std::string stem = graph ? fmt::format("{}.", recovery.text(graph.symbol())) : "";
  const std::string suffix = number == 0 ? "" : fmt::format(".{}", number);
  recovery.assume(op, key::kCache,
                  recovery.context().symbol_ref(fmt::format("{}kv_cache{}", stem, suffix)));
}

/// Upstream prints what a cache holds as [B, heads, S, D] even where it takes and gives
/// [B, S, heads, D]: then its third extent counts heads of the operand, and what the cache held.
void settle_cache_types(Recovery& recovery, Op& op) {
  const TensorType& keys = in(op);
  for (Value& result : op.results()) {
    const TensorType* printed = result.tensor_type();
    if (printed == nullptr || printed->rank() != 4) continue;
    const Dim heads = keys.dims()[2], all = printed->dims()[2], tokens = keys.dims()[1];
    const bool turned = printed->dims()[1] == heads && all.is_constant() && heads.is_constant() &&
                        tokens.is_constant() && all.constant() >= heads.constant();
    if (!turned || (all == heads && tokens == heads)) continue;
    const Dim held(all.constant() - heads.constant() + tokens.constant());
    recovery.rewriter.set_type(
        result,
        recovery.context().tensor(std::vector<Dim>{keys.dims()[0], held, heads, keys.dims()[3]},
                                  printed->dtype_name(), printed->device(), printed->encoding()));
    recovery.note(op, LossEntry::Source::kDerived, fmt::format("type of result {}", result.index()),
                  std::string(result.type()->spelling()));
  }
}

void kv_cache(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  name_cache(recovery, op);
  if (in(op).rank() != 4) return recovery.refuse(op, key::kKvHead, "keys are not of rank 4");
  const auto dims = in(op).dims();
  const auto feeds_attention = [&] {
    for (const Use* use = op.result(0)->first_use(); use != nullptr; use = use->next()) {
      if (use->user()->is(OpId::kLinalgFlashAttention2)) return true;
    }
    return false;
  };
  const bool tokens_first = feeds_attention();  // the fused kernel takes [B, S, H, D]
  const auto heads = tokens_first ? dims[2] : query_heads(op);
  const auto give = heads ? &Recovery::derive : &Recovery::assume;  // what reads the keys tells
  (recovery.*give)(op, key::kUseFa2, context.boolean(tokens_first));
  if (tokens_first) settle_cache_types(recovery, op);
  recovery.derive(op, key::kKvHead, context.dim(dims[tokens_first ? 2 : 1]));
  recovery.derive(op, key::kHeadDim, context.dim(dims[3]));
  (recovery.*give)(op, key::kQHead, context.dim(heads.value_or(dims[1])));
}

/// Before 2026-01-30 (c718c295) upstream's Equal made its truth values as UInt8; the bytes of Bool
/// are the same, so this follows from the op alone.
void equal(Recovery& recovery, Op& op) {
  if (out(op).dtype() != DType::kUInt8) return;
  const TensorType& printed = out(op);
  recovery.rewriter.set_type(
      *op.result(), recovery.context().tensor(printed.dims(), recovery.context().intern("Bool"),
                                              printed.device(), printed.encoding()));
  recovery.note(op, LossEntry::Source::kDerived, "type of result 0",
                std::string(op.result()->type()->spelling()));
}

void settled_before(Recovery&, Op&) {}  // recover_pieces.cpp

/// Nothing tells: what must be stated is asked for.
void ask(Recovery& recovery, Op& op) {
  for (const AttrRow& attribute : op.row()->attributes) {
    if (attribute.required && op.attribute(attribute.name) == nullptr) {
      recovery.refuse_grantable(op, attribute.name, "upstream does not print it");
    }
  }
}

struct RuleRow {
  OpId op;
  Rule rule;
};

constexpr RuleRow kRules[] = {
    {OpId::kLinalgArgsort, argsort},
    {OpId::kLinalgCastType, cast_type},
    {OpId::kLinalgCausalMask, causal_mask},
    {OpId::kLinalgClip, ask},
    {OpId::kLinalgConcat, concat},
    {OpId::kLinalgConv1D, convolution},
    {OpId::kLinalgConv2D, convolution},
    {OpId::kLinalgConv3D, convolution},
    {OpId::kLinalgEinsum, ask},
    {OpId::kLinalgEmbedding, embedding},
    {OpId::kLinalgEqual, equal},
    {OpId::kLinalgFill, ask},
    {OpId::kLinalgFlashAttention2, flash_attention},
    {OpId::kLinalgFlashAttention2SwaSink, ask},
    {OpId::kLinalgGather, gather},
    {OpId::kLinalgISTFT, transform},
    {OpId::kLinalgIndex, index_by_tensor},
    {OpId::kLinalgInterpolate, interpolate},
    {OpId::kLinalgKVCache, kv_cache},
    {OpId::kLinalgLayerNorm2D, layer_norm_2d},
    {OpId::kLinalgLayerNorm, layer_norm},
    {OpId::kLinalgLinear, linear},
    {OpId::kLinalgMatMul, mat_mul},
    {OpId::kLinalgMean, reduction},
    {OpId::kLinalgMultimodalRoPE, rope},
    {OpId::kLinalgPad, ask},
    {OpId::kLinalgParam, ask},
    {OpId::kLinalgPermute, permute},
    {OpId::kLinalgRMSNorm, rms_norm},
    {OpId::kLinalgRadixAttnRelax, ask},
    {OpId::kLinalgRadixAttnSwaSink, ask},
    {OpId::kLinalgReduceMax, reduction},
    {OpId::kLinalgReduceMin, reduction},
    {OpId::kLinalgReduceSum, reduction},
    {OpId::kLinalgRepeat, repeat},
    {OpId::kLinalgReshape, reshape},
    {OpId::kLinalgRoPE, rope},
    {OpId::kLinalgSTFT, transform},
    {OpId::kLinalgScatter, ask},
    {OpId::kLinalgSlice, settled_before},
    {OpId::kLinalgSoftmax, softmax},
    {OpId::kLinalgSplit, settled_before},
    {OpId::kLinalgStack, stack},
    {OpId::kLinalgTopK, top_k},
    {OpId::kLinalgTranspose, transpose},
    {OpId::kLinalgView, view},
    {OpId::kLinalgX2X, x2x},
};

constexpr OpTable kRuleTable(kRules);

bool has_plain_types(const Op& op) {
  const OpRow& row = *op.row();
  if (!row.operands.admits(op.plain_operands().size()) || !row.results.admits(op.result_count()))
    return false;
  for (const Use& use : op.operand_uses()) {
    if (use.value()->tensor_type() == nullptr) return false;
  }
  for (const Value& result : op.results()) {
    if (result.tensor_type() == nullptr) return false;
  }
  return true;
}

void recover(Recovery& recovery, Op& op) {
  const OpRow* row = op.row();
  if (row == nullptr) {  // unless `meaning` is stated
    const std::string fact = fmt::format("{}.meaning", recovery.grant_name(op));
    return recovery.refuse(
        op, "meaning",
        fmt::format("no dialect declares it; --assume={}=plugin leaves it to a plug-in", fact),
        {fact});
  }
  if (!has_plain_types(op))
    return recovery.refuse(op, "signature", "operands or results do not fit the op");
  const RuleRow* rule = kRuleTable.find(op);
  (rule == nullptr ? ask : rule->rule)(recovery, op);
}

}  // namespace

bool has_recovery_rule(OpId op) {
  return kRuleTable.has(op);
}

void recover_options(Recovery& recovery) {
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) { recover(recovery, *op.op()); });
}

}  // namespace mir
