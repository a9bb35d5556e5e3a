// Finds groups of steps that one fused kernel computes.
#include "passes/fuse/fused_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "eval/slices.hpp"
#include "ir/equal_extents.hpp"
#include "kernels/fast/chain.hpp"
#include "mir/op_attributes.hpp"
#include "mir/type.hpp"

namespace mir {

bool is_epilogue_function(OpId op) {
  constexpr OpId kFunctions[] = {OpId::kLinalgReLU, OpId::kLinalgSigmoid, OpId::kLinalgSiLU,
                                 OpId::kLinalgGELU, OpId::kLinalgQuickGELU};
  return std::ranges::find(kFunctions, op) != std::end(kFunctions);
}

bool is_chain_function(OpId op) {
  constexpr OpId kFunctions[] = {
      OpId::kLinalgAbs,     OpId::kLinalgAdd,  OpId::kLinalgCeil,  OpId::kLinalgClip,
      OpId::kLinalgCos,     OpId::kLinalgDiv,  OpId::kLinalgErf,   OpId::kLinalgExp,
      OpId::kLinalgFloor,   OpId::kLinalgGELU, OpId::kLinalgLog,   OpId::kLinalgMaximum,
      OpId::kLinalgMinimum, OpId::kLinalgMul,  OpId::kLinalgNeg,   OpId::kLinalgQuickGELU,
      OpId::kLinalgReLU,    OpId::kLinalgRem,  OpId::kLinalgRound, OpId::kLinalgRsqrt,
      OpId::kLinalgSigmoid, OpId::kLinalgSign, OpId::kLinalgSiLU,  OpId::kLinalgSin,
      OpId::kLinalgSqrt,    OpId::kLinalgSub,  OpId::kLinalgTanh,  OpId::kLinalgTrunc};
  return std::ranges::find(kFunctions, op) != std::end(kFunctions);
}

namespace {

constexpr std::size_t kNone = StepGraph::kNone;

bool same_extents(const Value& a, const Value& b) {
  const TensorType *x = a.tensor_type(), *y = b.tensor_type();
  return x != nullptr && y != nullptr && x->dtype() == y->dtype() && equal_extents(*x, *y);
}

class Matcher {
 public:
  Matcher(const StepGraph& graph, FusionRequest request)
      : graph_(graph), request_(std::move(request)), taken_(std::move(request_.excluded)) {
    taken_.resize(graph.size());
  }

  std::vector<FusedGroup> run() {
    for_each(FusionStage::kAttention, [&](std::size_t step) { match_attention(step); });
    for_each(FusionStage::kGates, [&](std::size_t step) { match_gated(step); });
    // A residual goes first: an activation below it is part of its product.
    for_each(FusionStage::kEpilogues, [&](std::size_t step) { match_residual(step); });
    for_each(FusionStage::kEpilogues, [&](std::size_t step) { match_activation(step); });
    if (is_sought(FusionStage::kProducts)) match_linears();
    if (is_sought(FusionStage::kNorms)) match_norms();
    for_each(FusionStage::kRotations, [&](std::size_t step) { match_rotation(step); });
    if (is_sought(FusionStage::kChains)) match_chains();
    std::ranges::sort(groups_, {}, &FusedGroup::anchor);
    return std::move(groups_);
  }

 private:
  /// True if groups of the stage are looked for at some steps.
  bool is_sought(FusionStage stage) const { return request_.stage == stage || graph_.has_parts(); }
  /// True if groups of the stage are looked for at a step.
  bool is_wanted(std::size_t step, FusionStage stage) const {
    return graph_.at(step).part != 0 || request_.stage == stage;
  }
  template <class Match>
  void for_each(FusionStage stage, const Match& match) const {
    if (!is_sought(stage)) return;
    for (std::size_t step = 0; step < taken_.size(); ++step) {
      if (is_wanted(step, stage)) match(step);
    }
  }
  bool are_in_one_part(std::size_t a, std::size_t b) const {
    return graph_.at(a).part == graph_.at(b).part;
  }

  void take(FusedGroup group) {
    for (const std::size_t step : group.steps) taken_[step] = true;
    groups_.push_back(std::move(group));
  }
  bool is_free(std::size_t step, OpId op) const { return graph_.is(step, op) && !taken_[step]; }
  /// The free step of this op that makes operand `i` of `step`, which is its only reader.
  std::size_t maker(std::size_t step, std::size_t i, OpId op) const {
    const StepGraph::Index index = graph_.operand(step, i);
    const std::size_t made = graph_.producer(index);
    const bool is_made = is_free(made, op) && graph_.only_reader(index) == step;
    return is_made && are_in_one_part(made, step) ? made : kNone;
  }
  bool is_plain_linear(std::size_t step) const {
    return step != kNone && graph_.at(step).operand_count == 1;
  }

  /// A product and the activation that alone reads it.
  struct Activated {
    std::size_t linear, step;
  };
  std::optional<Activated> activated(std::size_t step) const {
    if (step == kNone || taken_[step] || graph_.at(step).operand_count != 1) return std::nullopt;
    if (!is_epilogue_function(graph_.at(step).op->op_id())) return std::nullopt;
    const std::size_t linear = maker(step, 0, OpId::kLinalgLinear);
    const bool fits = is_plain_linear(linear) &&
                      same_extents(*graph_.at(linear).op->result(), *graph_.at(step).op->result());
    return fits ? std::optional(Activated{linear, step}) : std::nullopt;
  }
  /// Like activated(), for operand `i` of `step`, its only reader.
  std::optional<Activated> activated_operand(std::size_t step, std::size_t i) const {
    const StepGraph::Index index = graph_.operand(step, i);
    const std::size_t made = graph_.producer(index);
    const bool is_made =
        made != kNone && graph_.only_reader(index) == step && are_in_one_part(made, step);
    return is_made ? activated(made) : std::nullopt;
  }

  /// f(Linear x) * Linear x.
  void match_gated(std::size_t mul) {
    if (!is_free(mul, OpId::kLinalgMul) || graph_.at(mul).operand_count != 2) return;
    for (const std::size_t side : {0U, 1U}) {
      const auto gate = activated_operand(mul, side);
      const std::size_t up = maker(mul, 1 - side, OpId::kLinalgLinear);
      if (!gate || !is_plain_linear(up)) continue;
      if (graph_.operand(gate->linear, 0) != graph_.operand(up, 0)) continue;
      if (!same_extents(*graph_.at(gate->linear).op->result(), *graph_.at(up).op->result()))
        continue;
      return take({.kind = FusedGroup::Kind::kGated,
                   .steps = {gate->linear, gate->step, up, mul},
                   .anchor = mul,
                   .activation = gate->step});
    }
  }

  /// Linear x + r, f(Linear x) + r.
  void match_residual(std::size_t add) {
    if (!is_free(add, OpId::kLinalgAdd) || graph_.at(add).operand_count != 2) return;
    const Value& sum = *graph_.at(add).op->result();
    for (const std::size_t side : {0U, 1U}) {
      FusedGroup group{.kind = FusedGroup::Kind::kTailed,
                       .anchor = add,
                       .residual = graph_.operand(add, 1 - side)};
      std::size_t linear = maker(add, side, OpId::kLinalgLinear);
      if (const auto made = activated_operand(add, side)) {
        linear = made->linear;
        group.steps = {made->linear, made->step, add};
        group.activation = made->step;
      } else {
        group.steps = {linear, add};
      }
      if (!is_plain_linear(linear)) continue;
      const Value& other = *graph_.at(add).op->operand(1 - side);
      if (!same_extents(other, sum) || !same_extents(*graph_.at(linear).op->result(), sum))
        continue;
      return take(std::move(group));
    }
  }

  /// f(Linear x).
  void match_activation(std::size_t step) {
    if (const auto made = activated(step)) {
      take({.kind = FusedGroup::Kind::kTailed,
            .steps = {made->linear, made->step},
            .anchor = step,
            .activation = made->step});
    }
  }

  /// Products of what an RMSNorm makes, all of those that read it.
  void match_norms() {
    for (FusedGroup& group : groups_) {
      if (group.kind == FusedGroup::Kind::kAttention) continue;
      const StepGraph::Index x = graph_.operand(group.steps.front(), 0);
      const std::size_t norm = graph_.producer(x);
      const std::size_t linears = group.kind == FusedGroup::Kind::kLinears ? group.steps.size()
                                  : group.kind == FusedGroup::Kind::kGated ? 2
                                                                           : 1;
      if (!is_free(norm, OpId::kLinalgRMSNorm) || graph_.readers(x) != linears) continue;
      const bool is_outside = graph_.at(norm).part == 0;
      if (!is_wanted(norm, FusionStage::kNorms) ||
          (!is_outside && !are_in_one_part(norm, group.anchor))) {
        continue;
      }
      group.norm = norm;
      taken_[norm] = true;
    }
    for_each(FusionStage::kNorms, [&](std::size_t step) {
      if (!is_free(step, OpId::kLinalgLinear) || !is_plain_linear(step)) return;
      const std::size_t norm = maker(step, 0, OpId::kLinalgRMSNorm);
      if (norm == kNone) return;
      taken_[norm] = true;
      take({.kind = FusedGroup::Kind::kLinears, .steps = {step}, .anchor = step, .norm = norm});
    });
  }

  /// Products of one x run where the first of them is.
  void match_linears() {
    constexpr std::size_t kMost = 8;
    std::map<std::pair<StepGraph::Index, std::uint32_t>, FusedGroup> by_input;  // and by part
    for_each(FusionStage::kProducts, [&](std::size_t step) {
      if (!is_free(step, OpId::kLinalgLinear) || !is_plain_linear(step)) return;
      const auto [group, is_new] =
          by_input.try_emplace({graph_.operand(step, 0), graph_.at(step).part});
      const bool is_full = group->second.steps.size() == kMost;
      if (is_full) take(std::move(group->second));
      if (is_new || is_full) {
        group->second = {.kind = FusedGroup::Kind::kLinears, .anchor = step};
      }
      group->second.steps.push_back(step);
    });
    for (auto& [input, group] : by_input) {
      if (group.steps.size() > 1) take(std::move(group));
    }
  }

  /// x cos + [-x2, x1] sin, backwards from the sum.
  void match_rotation(std::size_t sum) {
    if (!is_free(sum, OpId::kLinalgAdd) || graph_.at(sum).operand_count != 2) return;
    for (const std::size_t side : {0U, 1U}) {
      const std::size_t plain = maker(sum, side, OpId::kLinalgMul);
      const std::size_t rotated = maker(sum, 1 - side, OpId::kLinalgMul);
      if (plain == kNone || rotated == kNone) continue;
      if (graph_.at(plain).operand_count != 2 || graph_.at(rotated).operand_count != 2) continue;
      for (const std::size_t half : {0U, 1U}) {
        auto found = rotated_half(rotated, half);
        if (!found) continue;
        const StepGraph::Index x = found->rotation->x;
        const std::size_t cos = graph_.operand(plain, 0) == x ? 1 : 0;
        if (graph_.operand(plain, 1 - cos) != x) continue;
        const Op &scaled = *graph_.at(plain).op, &turned = *graph_.at(rotated).op;
        if (!is_table(*scaled.operand(cos), *scaled.operand(1 - cos)) ||
            !is_table(*turned.operand(1 - half), *turned.operand(half))) {
          continue;
        }
        found->rotation->cos = graph_.operand(plain, cos);
        found->rotation->sin = graph_.operand(rotated, 1 - half);
        found->steps.insert(found->steps.end(), {plain, rotated, sum});
        std::ranges::sort(found->steps);
        found->anchor = sum;
        return take(*std::move(found));
      }
    }
  }

  /// [-x2, x1] as operand `i` of a step, with x and the steps that make it.
  std::optional<FusedGroup> rotated_half(std::size_t step, std::size_t i) const {
    const std::size_t concat = maker(step, i, OpId::kLinalgConcat);
    if (concat == kNone || graph_.at(concat).operand_count != 2) return std::nullopt;
    const std::size_t neg = maker(concat, 0, OpId::kLinalgNeg);
    if (neg == kNone) return std::nullopt;
    FusedGroup found{.kind = FusedGroup::Kind::kRotation, .steps = {neg, concat}};
    StepGraph::Index x = 0;
    if (const std::size_t split = maker(concat, 1, OpId::kLinalgSplit); split != kNone) {
      const bool are_halves = maker(neg, 0, OpId::kLinalgSplit) == split &&
                              graph_.at(split).op->result_count() == 2 &&
                              graph_.first_result(split) == graph_.operand(concat, 1);
      if (!are_halves) return std::nullopt;
      x = graph_.operand(split, 0);
      found.steps.push_back(split);
    } else {
      const std::size_t first = maker(concat, 1, OpId::kLinalgSlice);
      const std::size_t second = maker(neg, 0, OpId::kLinalgSlice);
      if (first == kNone || second == kNone || !begins_at(first, false) ||
          !begins_at(second, true) || graph_.operand(first, 0) != graph_.operand(second, 0)) {
        return std::nullopt;
      }
      x = graph_.operand(first, 0);
      found.steps.insert(found.steps.end(), {first, second});
    }
    // Rows are cut in the middle and joined again: then the other part is a half, too.
    const Op& parts = *graph_.at(concat).op;
    const Value& whole = *graph_.at(found.steps.back()).op->operand(0);
    if (!is_half(*parts.operand(0), whole) || !same_extents(whole, *parts.result())) {
      return std::nullopt;
    }
    found.rotation = {.x = x};
    return found;
  }

  /// True if a slice takes a run of elements of each row from the first or the middle one on.
  bool begins_at(std::size_t slice, bool middle) const {
    const Op& op = *graph_.at(slice).op;
    const TensorType* type = op.operand(0)->tensor_type();
    if (graph_.at(slice).operand_count != 1 || type == nullptr || type->rank() == 0 ||
        !type->dims().back().is_constant()) {
      return false;
    }
    const std::int64_t width = type->dims().back().constant();
    const auto bounds = slice_bounds(op, type->rank(), type->rank() - 1, width, nullptr);
    return bounds && bounds->step == 1 && bounds->start == (middle ? width / 2 : 0);
  }

  /// True for Float32 values of which one has rows half as wide as the other.
  static bool is_half(const Value& half, const Value& whole) {
    if (!is_single(half) || !is_single(whole)) return false;
    const auto part = half.tensor_type()->dims(), all = whole.tensor_type()->dims();
    if (part.empty() || part.size() != all.size() || !part.back().is_constant() ||
        !all.back().is_constant()) {
      return false;
    }
    const std::int64_t width = all.back().constant();
    return width > 0 && part.back().constant() * 2 == width &&
           std::ranges::equal(part.first(part.size() - 1), all.first(all.size() - 1),
                              [](Dim a, Dim b) { return equal_extents(a, b); });
  }

  /// True if the product with a value has that value's extents, and rows have an entry for each
  /// element.
  static bool is_table(const Value& table, const Value& of) {
    return is_single(table) && repeats_over(table.tensor_type()->dims(), of.tensor_type()->dims());
  }

  /// A chain while its steps are collected, the last one first.
  struct OpenChain {
    FusedGroup group;
    const Value* result = nullptr;
  };
  /// The chain that reads a value, and how often.
  struct ChainReader {
    std::size_t chain = kNone;
    std::uint32_t reads = 0;
  };

  /// Backwards: a function joins the chain that alone reads its result.
  void match_chains() {
    const std::vector<bool> fixed = fixed_steps();
    std::vector<OpenChain> chains;
    std::vector<ChainReader> readers(graph_.value_count());
    for (std::size_t step = graph_.size(); step-- > 0;) {
      if (!is_wanted(step, FusionStage::kChains) || fixed[step] || !is_chain_step(step)) continue;
      std::size_t chain = reading_chain(step, chains, readers);
      if (chain == kNone) {
        chain = chains.size();
        chains.push_back({.group = {.kind = FusedGroup::Kind::kChain, .anchor = step},
                          .result = graph_.at(step).op->result()});
      }
      chains[chain].group.steps.push_back(step);
      for (std::size_t i = 0; i < graph_.at(step).operand_count; ++i) {
        ChainReader& reader = readers[graph_.operand(step, i)];
        reader.reads = reader.chain == chain ? reader.reads + 1 : 1;
        reader.chain = chain;
      }
    }
    for (OpenChain& chain : chains) {
      std::ranges::reverse(chain.group.steps);
      if (chain.group.steps.size() > 1) take(std::move(chain.group));
    }
  }

  /// A function whose kernel takes Float32 only, of which the result has the extents.
  bool is_chain_step(std::size_t step) const {
    const Op& op = *graph_.at(step).op;
    if (taken_[step] || !is_chain_function(op.op_id()) || op.result_count() != 1) return false;
    const std::size_t operands = graph_.at(step).operand_count;
    if (operands == 1) return is_single(*op.result()) && same_extents(*op.operand(0), *op.result());
    return operands == 2 && is_single(*op.result()) && is_single(*op.operand(0)) &&
           is_single(*op.operand(1));
  }
  static bool is_single(const Value& value) {
    const TensorType* type = value.tensor_type();
    return type != nullptr && type->dtype() == DType::kFloat32;
  }

  /// The chain that contains all readers of the step's result and has room for it.
  std::size_t reading_chain(std::size_t step, const std::vector<OpenChain>& chains,
                            const std::vector<ChainReader>& readers) const {
    const StepGraph::Index result = graph_.first_result(step);
    const ChainReader& reader = readers[result];
    if (reader.chain == kNone || reader.reads != graph_.readers(result)) return kNone;
    const OpenChain& chain = chains[reader.chain];
    const bool fits = chain.group.steps.size() < fast::Chain::kMaxSteps &&
                      are_in_one_part(step, chain.group.anchor) &&
                      same_extents(*graph_.at(step).op->result(), *chain.result);
    return fits ? reader.chain : kNone;
  }

  /// Steps that compute the same in all runs.
  std::vector<bool> fixed_steps() const {
    std::vector<bool> fixed(graph_.size());
    if (!request_.is_fixed) return fixed;
    for (std::size_t step = 0; step < fixed.size(); ++step) {
      fixed[step] = graph_.at(step).op->has(Trait::kPure);
      for (std::size_t i = 0; i < graph_.at(step).operand_count && fixed[step]; ++i) {
        const StepGraph::Index index = graph_.operand(step, i);
        const std::size_t made = graph_.producer(index);
        fixed[step] = made == kNone ? request_.is_fixed(index) : fixed[made];
      }
    }
    return fixed;
  }

  /// softmax(mask(scale q k^T)) v, backwards from the product with the values.
  void match_attention(std::size_t weighted) {
    if (!is_free(weighted, OpId::kLinalgMatMul) || !is_of_heads(weighted)) return;
    const bool values_exchanged = is_transposed(weighted, key::kTransposeB);
    if (values_exchanged && !may_exchange(weighted)) return;
    const std::size_t softmax = maker(weighted, 0, OpId::kLinalgSoftmax);
    if (softmax == kNone) return;
    const std::int64_t axis = OpAttributes(*graph_.at(softmax).op).integer(key::kAxis);
    if (axis != -1 && axis + 1 != static_cast<std::int64_t>(dims(weighted, 0).size())) return;
    const FusedGroup group{
        .kind = FusedGroup::Kind::kAttention, .steps = {weighted, softmax}, .anchor = weighted};
    for (Partial& each : with_mask(softmax, group)) {
      match_scale(each);
      const std::size_t scores = maker(each.reader, each.operand, OpId::kLinalgMatMul);
      if (scores == kNone || !is_of_heads(scores)) continue;
      const bool keys_exchanged = !is_transposed(scores, key::kTransposeB);
      if (keys_exchanged && !may_exchange(scores)) continue;
      if (keys_exchanged) each.group.exchanged.push_back(scores);
      if (values_exchanged) each.group.exchanged.push_back(weighted);
      each.group.steps.push_back(scores);
      std::ranges::reverse(each.group.steps);
      if (heads_agree(scores, weighted)) return take(std::move(each.group));
    }
  }

  /// True if a pass can give a product its second operand in the other order. What a fused op
  /// states stays as it is.
  bool may_exchange(std::size_t step) const { return graph_.at(step).part == 0; }

  /// Batches, keys and widths are the same extents; only query heads may be more than key heads.
  bool heads_agree(std::size_t scores, std::size_t weighted) const {
    const auto q = dims(scores, 0), k = dims(scores, 1), v = dims(weighted, 1);
    if (q.size() != v.size()) return false;
    const std::size_t heads = q.size() - 2, last = q.size() - 1;
    const bool are_keys_rows = is_transposed(scores, key::kTransposeB);
    const bool are_values_rows = !is_transposed(weighted, key::kTransposeB);
    const Dim width = k[are_keys_rows ? last : heads], keys = k[are_keys_rows ? heads : last];
    return q.back() == width && keys == v[are_values_rows ? heads : last] &&
           std::ranges::equal(k.first(heads), v.first(heads)) && (heads == 1 || q[0] == k[0]);
  }
  std::span<const Dim> dims(std::size_t step, std::size_t i) const {
    return graph_.at(step).op->operand(i)->tensor_type()->dims();
  }

  /// Attention down to the operand of a step that is the scores, or what is made of them.
  struct Partial {
    FusedGroup group;
    std::size_t reader, operand;
  };

  /// The ways in which the operand of `softmax` may be masked scores.
  std::vector<Partial> with_mask(std::size_t softmax, const FusedGroup& group) const {
    if (const std::size_t mask = maker(softmax, 0, OpId::kLinalgCausalMask); mask != kNone) {
      const OpAttributes attributes(*graph_.at(mask).op);
      Partial masked{group, mask, 0};
      masked.group.causal = true;
      if (attributes.boolean(key::kSlidingWindow))
        masked.group.window = attributes.integer(key::kWindowSize);
      masked.group.masks_one_query = attributes.boolean(key::kMasksOneQuery);
      if (graph_.at(mask).operand_count > 1) masked.group.positions = graph_.operand(mask, 1);
      masked.group.steps.push_back(mask);
      return {std::move(masked)};
    }
    if (const std::size_t where = maker(softmax, 0, OpId::kLinalgWhere); where != kNone) {
      return with_replaced(where, group);
    }
    const std::size_t add = maker(softmax, 0, OpId::kLinalgAdd);
    if (add == kNone || graph_.at(add).operand_count != 2) return {{group, softmax, 0}};
    std::vector<Partial> ways;
    const Op& op = *graph_.at(add).op;
    for (const std::size_t side : {0U, 1U}) {
      const TensorType* mask = op.operand(1 - side)->tensor_type();
      const bool fits = mask != nullptr && mask->dtype() == DType::kFloat32 &&
                        same_extents(*op.operand(side), *op.result());
      if (!fits || !repeats_over(mask->dims(), dims(add, side))) continue;
      Partial& masked = ways.emplace_back(Partial{group, add, side});
      masked.group.mask = {.value = graph_.operand(add, 1 - side)};
      masked.group.steps.push_back(add);
    }
    return ways;
  }

  /// Where(mask, scores, number).
  std::vector<Partial> with_replaced(std::size_t where, const FusedGroup& group) const {
    const Op& op = *graph_.at(where).op;
    const TensorType* mask = op.operand(0)->tensor_type();
    const auto number = request_.scalar(graph_.operand(where, 2));
    const bool fits = mask != nullptr && mask->dtype() == DType::kBool && number &&
                      repeats_over(mask->dims(), dims(where, 1));
    if (!fits) return {};
    Partial masked{group, where, 1};
    masked.group.mask = {.value = graph_.operand(where, 0), .replaces_by = number};
    masked.group.steps.push_back(where);
    return {std::move(masked)};
  }

  /// Right-aligned, each extent is that of the scores or 1, and keys have one entry each.
  static bool repeats_over(std::span<const Dim> mask, std::span<const Dim> scores) {
    if (mask.empty() || mask.size() > scores.size() || !equal_extents(mask.back(), scores.back())) {
      return false;
    }
    const auto aligned = scores.last(mask.size());
    return std::ranges::equal(mask, aligned,
                              [](Dim a, Dim b) { return equal_extents(a, b) || a == Dim(1); });
  }

  /// Goes on below a product with a constant, or a division by one.
  void match_scale(Partial& partial) const {
    for (const OpId op : {OpId::kLinalgMul, OpId::kLinalgDiv}) {
      const std::size_t scale = maker(partial.reader, partial.operand, op);
      if (scale == kNone || graph_.at(scale).operand_count != 2) continue;
      for (const std::size_t side : {0U, 1U}) {
        const auto factor = request_.scalar(graph_.operand(scale, 1 - side));
        if (!factor || (side == 1 && op == OpId::kLinalgDiv)) continue;
        partial.group.scale = op == OpId::kLinalgMul ? *factor : 1 / *factor;
        partial.group.steps.push_back(scale);
        partial.reader = scale;
        partial.operand = side;
        return;
      }
    }
  }

  bool is_transposed(std::size_t step, AttrKey key) const {
    return OpAttributes(*graph_.at(step).op).boolean(key);
  }
  /// A product of [batches, heads, rows, columns], or without batches.
  bool is_of_heads(std::size_t step) const {
    const Op& op = *graph_.at(step).op;
    if (is_transposed(step, key::kTransposeA)) return false;
    const TensorType* const made = op.result()->tensor_type();
    if (op.operand_count() != 2 || made == nullptr || (made->rank() != 3 && made->rank() != 4)) {
      return false;
    }
    const auto fits = [&](const Value& value) {
      const TensorType* type = value.tensor_type();
      return type != nullptr && type->rank() == made->rank() && type->dtype() == DType::kFloat32;
    };
    return fits(*op.operand(0)) && fits(*op.operand(1)) && fits(*op.result());
  }

  const StepGraph& graph_;
  FusionRequest request_;
  std::vector<bool> taken_;
  std::vector<FusedGroup> groups_;
};

}  // namespace

std::vector<FusedGroup> find_groups(const StepGraph& graph, FusionRequest request) {
  return Matcher(graph, std::move(request)).run();
}

}  // namespace mir
