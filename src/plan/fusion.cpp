#include "plan/fusion.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "eval/attributes.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "plan/nodes/nodes.hpp"

namespace mir {

StepGraph::StepGraph(const Schedule& schedule)
    : schedule_(schedule),
      producers_(schedule.values().size(), kNone),
      last_(schedule.values().size(), kNone),
      readers_(schedule.values().size(), 0) {
  for (std::size_t i = 0; i < schedule.steps().size(); ++i) {
    const Step& step = schedule.steps()[i];
    for (const ValueIndex index : schedule.operands(step)) {
      last_[index] = i;
      ++readers_[index];
    }
    for (std::uint32_t r = 0; r < step.op->result_count(); ++r) {
      producers_[step.first_result + r] = i;
    }
  }
  for (const ValueIndex index : schedule.outputs()) readers_[index] += 2;
}

namespace {

constexpr std::size_t kNone = StepGraph::kNone;

bool same_extents(const Value& a, const Value& b) {
  const TensorType *x = a.tensor_type(), *y = b.tensor_type();
  return x != nullptr && y != nullptr && x->dtype() == y->dtype() &&
         std::ranges::equal(x->dims(), y->dims());
}

class Matcher {
 public:
  Matcher(const StepGraph& graph, std::span<const Tensor> constants, std::vector<bool> taken)
      : graph_(graph), constants_(constants), taken_(std::move(taken)) {}

  std::vector<FusedGroup> run(Fusion fusion) {
    if (fusion == Fusion::kOff) return {};
    for (std::size_t step = 0; step < taken_.size(); ++step) {
      if (fusion == Fusion::kAll) match_attention(step);
      match_gated(step);
    }
    // A residual goes first: an activation below it is part of its product.
    for (std::size_t step = 0; step < taken_.size(); ++step) match_residual(step);
    for (std::size_t step = 0; step < taken_.size(); ++step) match_activation(step);
    match_linears();
    match_norms();
    std::ranges::sort(groups_, {}, &FusedGroup::anchor);
    return std::move(groups_);
  }

 private:
  void take(FusedGroup group) {
    for (const std::size_t step : group.steps) taken_[step] = true;
    groups_.push_back(std::move(group));
  }
  bool is_free(std::size_t step, OpId op) const { return graph_.is(step, op) && !taken_[step]; }
  /// The free step of this op that makes operand `i` of `step`, which is its only reader.
  std::size_t maker(std::size_t step, std::size_t i, OpId op) const {
    const ValueIndex index = graph_.operand(step, i);
    const std::size_t made = graph_.producer(index);
    return is_free(made, op) && graph_.only_reader(index) == step ? made : kNone;
  }
  bool is_plain_linear(std::size_t step) const {
    return step != kNone && graph_.at(step).operand_count == 1;
  }

  /// A product and the activation that alone reads it.
  struct Activated {
    std::size_t linear, step;
    fast::Unary function;
  };
  std::optional<Activated> activated(std::size_t step) const {
    if (step == kNone || taken_[step] || graph_.at(step).operand_count != 1) return std::nullopt;
    const auto function = unary_of(*graph_.at(step).op);
    if (!function || !fast::is_activation(*function)) return std::nullopt;
    const std::size_t linear = maker(step, 0, OpId::kLinalgLinear);
    const bool fits = is_plain_linear(linear) &&
                      same_extents(*graph_.at(linear).op->result(), *graph_.at(step).op->result());
    return fits ? std::optional(Activated{linear, step, *function}) : std::nullopt;
  }
  /// The same for operand `i` of `step`, its only reader.
  std::optional<Activated> activated_operand(std::size_t step, std::size_t i) const {
    const ValueIndex index = graph_.operand(step, i);
    return graph_.only_reader(index) == step ? activated(graph_.producer(index)) : std::nullopt;
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
                   .activation = gate->function});
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
        group.activation = made->function;
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
            .activation = made->function});
    }
  }

  /// Products of what an RMSNorm makes, all of those that read it.
  void match_norms() {
    for (FusedGroup& group : groups_) {
      if (group.kind == FusedGroup::Kind::kAttention) continue;
      const ValueIndex x = graph_.operand(group.steps.front(), 0);
      const std::size_t linears = group.kind == FusedGroup::Kind::kLinears ? group.steps.size()
                                  : group.kind == FusedGroup::Kind::kGated ? 2
                                                                           : 1;
      if (is_free(graph_.producer(x), OpId::kLinalgRMSNorm) && graph_.readers(x) == linears) {
        group.norm = graph_.producer(x);
        taken_[*group.norm] = true;
      }
    }
    for (std::size_t step = 0; step < taken_.size(); ++step) {
      if (!is_free(step, OpId::kLinalgLinear) || !is_plain_linear(step)) continue;
      const std::size_t norm = maker(step, 0, OpId::kLinalgRMSNorm);
      if (norm == kNone) continue;
      taken_[norm] = true;
      take({.kind = FusedGroup::Kind::kLinears, .steps = {step}, .anchor = step, .norm = norm});
    }
  }

  /// Products of one x run where the first of them is.
  void match_linears() {
    constexpr std::size_t kMost = 8;
    std::unordered_map<ValueIndex, FusedGroup> by_input;
    std::vector<ValueIndex> order;
    for (std::size_t step = 0; step < taken_.size(); ++step) {
      if (!is_free(step, OpId::kLinalgLinear) || !is_plain_linear(step)) continue;
      const ValueIndex x = graph_.operand(step, 0);
      const auto [group, is_new] = by_input.try_emplace(x);
      if (is_new) {
        group->second = {.kind = FusedGroup::Kind::kLinears, .anchor = step};
        order.push_back(x);
      }
      if (group->second.steps.size() < kMost) group->second.steps.push_back(step);
    }
    for (const ValueIndex x : order) {
      if (by_input[x].steps.size() > 1) take(std::move(by_input[x]));
    }
  }

  /// The value of a constant with one element.
  std::optional<float> scalar(ValueIndex index) const {
    const Tensor& tensor = constants_[index];
    const bool is_scalar =
        tensor.defined() && tensor.elements() == 1 && tensor.dtype() == DType::kFloat32;
    if (!is_scalar) return std::nullopt;
    return tensor.as<float>()[0];
  }

  /// softmax(mask(scale q k^T)) v, backwards from the product with the values.
  void match_attention(std::size_t weighted) {
    if (!is_free(weighted, OpId::kLinalgMatMul) || is_transposed(weighted, "transpose_a") ||
        is_transposed(weighted, "transpose_b") || !is_rank_4(weighted)) {
      return;
    }
    const std::size_t softmax = maker(weighted, 0, OpId::kLinalgSoftmax);
    if (softmax == kNone) return;
    const std::int64_t axis = AttributeReader(*graph_.at(softmax).op).integer("axis");
    if (axis != -1 && axis != 3) return;
    FusedGroup group{
        .kind = FusedGroup::Kind::kAttention, .steps = {weighted, softmax}, .anchor = weighted};
    std::size_t below = match_mask(softmax, group);
    below = match_scale(below, group);
    const std::size_t scores = maker(below, 0, OpId::kLinalgMatMul);
    if (scores == kNone || is_transposed(scores, "transpose_a") ||
        !is_transposed(scores, "transpose_b") || !is_rank_4(scores)) {
      return;
    }
    group.steps.push_back(scores);
    std::ranges::reverse(group.steps);
    if (heads_agree(scores, weighted)) take(std::move(group));
  }

  /// Batches, keys and widths are the same extents; only query heads may be more than key heads.
  bool heads_agree(std::size_t scores, std::size_t weighted) const {
    const auto q = dims(scores, 0), k = dims(scores, 1), v = dims(weighted, 1);
    return q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3];
  }
  std::span<const Dim> dims(std::size_t step, std::size_t i) const {
    return graph_.at(step).op->operand(i)->tensor_type()->dims();
  }

  /// The step whose operand 0 is masked scores: the mask's own, or `softmax` without one.
  std::size_t match_mask(std::size_t softmax, FusedGroup& group) const {
    if (const std::size_t mask = maker(softmax, 0, OpId::kLinalgCausalMask); mask != kNone) {
      const AttributeReader attributes(*graph_.at(mask).op);
      group.causal = true;
      if (attributes.boolean("sliding_window")) group.window = attributes.integer("window_size");
      group.steps.push_back(mask);
      return mask;
    }
    const std::size_t add = maker(softmax, 0, OpId::kLinalgAdd);
    if (add == kNone || graph_.at(add).operand_count != 2) return softmax;
    const TensorType* mask = graph_.at(add).op->operand(1)->tensor_type();
    const bool fits = mask != nullptr && mask->dtype() == DType::kFloat32 &&
                      same_extents(*graph_.at(add).op->operand(0), *graph_.at(add).op->result());
    if (!fits || !repeats_over(mask->dims(), dims(add, 0))) return softmax;
    group.mask = graph_.operand(add, 1);
    group.steps.push_back(add);
    return add;
  }

  /// Right-aligned, each extent is that of the scores or 1, and keys have one entry each.
  static bool repeats_over(std::span<const Dim> mask, std::span<const Dim> scores) {
    if (mask.empty() || mask.size() > scores.size() || mask.back() != scores.back()) return false;
    const auto aligned = scores.last(mask.size());
    return std::ranges::equal(mask, aligned, [](Dim a, Dim b) { return a == b || a == Dim(1); });
  }

  std::size_t match_scale(std::size_t above, FusedGroup& group) const {
    for (const OpId op : {OpId::kLinalgMul, OpId::kLinalgDiv}) {
      const std::size_t scale = maker(above, 0, op);
      if (scale == kNone || graph_.at(scale).operand_count != 2) continue;
      const auto factor = scalar(graph_.operand(scale, 1));
      if (!factor) continue;
      group.scale = op == OpId::kLinalgMul ? *factor : 1 / *factor;
      group.steps.push_back(scale);
      return scale;
    }
    return above;
  }

  bool is_transposed(std::size_t step, std::string_view key) const {
    return AttributeReader(*graph_.at(step).op).boolean(key);
  }
  bool is_rank_4(std::size_t step) const {
    const auto has = [](const Value& value) {
      const TensorType* type = value.tensor_type();
      return type != nullptr && type->rank() == 4 && type->dtype() == DType::kFloat32;
    };
    const Op& op = *graph_.at(step).op;
    return op.operand_count() == 2 && has(*op.operand(0)) && has(*op.operand(1)) &&
           has(*op.result());
  }

  const StepGraph& graph_;
  std::span<const Tensor> constants_;
  std::vector<bool> taken_;
  std::vector<FusedGroup> groups_;
};

}  // namespace

std::vector<FusedGroup> find_groups(const StepGraph& graph, Fusion fusion,
                                    std::span<const Tensor> constants, std::vector<bool> taken) {
  return Matcher(graph, constants, std::move(taken)).run(fusion);
}

}  // namespace mir
