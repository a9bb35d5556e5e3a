// Nodes of attention: one of a fused group of ops, one of a single attention op.
#include "kernels/fast/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dialects/work_rules.hpp"
#include "kernels/ref/common/indices.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Strides of the three dimensions before the last.
void copy_strides(const TensorRef& tensor, std::int64_t (&strides)[3]) {
  std::copy_n(tensor.strides.begin(), 3, strides);
}

/// [B, S, H, D] as [B, H, S, D].
TensorRef heads_first(TensorRef tensor) {
  if (tensor.rank != 4) return tensor;
  std::swap(tensor.extents[1], tensor.extents[2]);
  std::swap(tensor.strides[1], tensor.strides[2]);
  return tensor;
}

/// [H, S, D] as [1, H, S, D].
TensorRef with_batch(TensorRef tensor) {
  if (tensor.rank != 3) return tensor;
  std::copy_backward(tensor.extents.begin(), tensor.extents.begin() + 3,
                     tensor.extents.begin() + 4);
  std::copy_backward(tensor.strides.begin(), tensor.strides.begin() + 3,
                     tensor.strides.begin() + 4);
  tensor.extents[0] = 1;
  tensor.strides[0] = tensor.extents[1] * tensor.strides[1];
  tensor.rank = 4;
  return tensor;
}

std::vector<PlanValueIndex> operands_of(const AttentionValues& values) {
  std::vector<PlanValueIndex> operands = {values.q, values.k, values.v};
  if (values.mask) operands.push_back(*values.mask);
  if (values.positions) operands.push_back(*values.positions);
  return operands;
}

class AttentionNode final : public PlanNode {
 public:
  AttentionNode(std::size_t step, const AttentionValues& values,
                const AttentionParameters& parameters)
      : PlanNode(step, operands_of(values), {values.out}),
        values_(values),
        parameters_(parameters) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef q = value(frame, values_.q), k = value(frame, values_.k),
                    v = value(frame, values_.v), out = value(frame, values_.out);
    if (auto ok = check(q, k, v, out); !ok) return ok;
    fast::AttentionOperands operands{.q = q.floats(),
                                     .k = k.floats(),
                                     .v = v.floats(),
                                     .out = out.floats(),
                                     .batches = q.extents[0],
                                     .heads = q.extents[1],
                                     .kv_heads = k.extents[1],
                                     .queries = q.extents[2],
                                     .keys = k.extents[2],
                                     .width = q.extents[3],
                                     .value_width = v.extents[3],
                                     .scale = parameters_.scale,
                                     .causal = parameters_.causal,
                                     .hidden = parameters_.hidden};
    operands.window = window_of(operands.queries);
    copy_strides(q, operands.q_strides);
    copy_strides(k, operands.k_strides);
    copy_strides(v, operands.v_strides);
    copy_strides(out, operands.out_strides);
    if (values_.mask) {
      if (auto ok = add_mask(frame[*values_.mask], operands); !ok) return ok;
    }
    std::vector<std::int64_t> positions;
    if (values_.positions && parameters_.causal) {
      positions = ref::all_indices(frame[*values_.positions].view());
      const bool fits = std::ssize(positions) == operands.batches * operands.queries;
      if (auto ok = require(fits, "the positions are not those of the queries"); !ok) return ok;
      operands.positions = positions.data();
    }
    fast::attention(operands, frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    const TensorRef q = value(frame, values_.q), k = value(frame, values_.k),
                    v = value(frame, values_.v);
    Work work = PlanNode::work(frame);
    const auto pairs = static_cast<double>(
        attention_pairs(q.extents[2], k.extents[2],
                        {.causal = parameters_.causal, .window = window_of(q.extents[2])}));
    work.flop = 2 * static_cast<double>(q.extents[0] * q.extents[1]) * pairs *
                static_cast<double>(q.extents[3] + v.extents[3]);
    return work;
  }

  std::string name() const override { return "attention"; }
  bool writes_strided() const override { return true; }

 private:
  std::optional<std::int64_t> window_of(std::int64_t queries) const {
    return queries > 1 || parameters_.masks_one_query ? parameters_.window : std::nullopt;
  }

  TensorRef value(const Frame& frame, PlanValueIndex index) const {
    return parameters_.tokens_first ? heads_first(frame[index]) : with_batch(frame[index]);
  }

  Result<void> check(const TensorRef& q, const TensorRef& k, const TensorRef& v,
                     const TensorRef& out) const {
    const bool ranks = q.rank == 4 && k.rank == 4 && v.rank == 4 && out.rank == 4;
    if (!ranks) return require(false, "attention over other than four dimensions");
    const bool rows = q.has_rows() && k.has_rows() && v.has_rows() && out.has_rows();
    const bool heads = k.extents[1] > 0 && q.extents[1] % k.extents[1] == 0;
    const bool agree = q.extents[0] == k.extents[0] && k.extents[0] == v.extents[0] &&
                       k.extents[1] == v.extents[1] && k.extents[2] == v.extents[2] &&
                       q.extents[3] == k.extents[3] && out.extents[0] == q.extents[0] &&
                       out.extents[1] == q.extents[1] && out.extents[2] == q.extents[2] &&
                       out.extents[3] == v.extents[3];
    const bool causal = !parameters_.causal || values_.positions || k.extents[2] >= q.extents[2];
    return require(rows && heads && agree && causal,
                   "extents of queries, keys and values do not fit together");
  }

  /// The mask broadcasts to [batches, heads, queries, keys].
  Result<void> add_mask(const TensorRef& mask, fast::AttentionOperands& operands) const {
    const std::int64_t scores[] = {operands.batches, operands.heads, operands.queries,
                                   operands.keys};
    if (parameters_.replaces_by) {
      operands.replaced = {.kept = reinterpret_cast<const std::uint8_t*>(mask.data),
                           .by = *parameters_.replaces_by};
    } else {
      operands.mask = mask.floats();
    }
    for (int from_end = 1; from_end <= 4; ++from_end) {
      const std::int64_t wanted = scores[4 - from_end];
      const std::int64_t extent = from_end <= mask.rank ? mask.extent(from_end) : 1;
      const bool repeats = extent == 1 && from_end > 1;
      if (extent != wanted && !repeats) return require(false, "the mask does not fit the scores");
      if (from_end > 1) {
        operands.mask_strides[4 - from_end] = extent == 1 ? 0 : mask.stride(from_end);
      }
    }
    return {};
  }

  AttentionValues values_;
  AttentionParameters parameters_;
};

/// Attention of one op; the reference kernel where a query comes before every key.
class FlashAttentionNode final : public OpNode {
 public:
  FlashAttentionNode(const PlannedStep& step, const AttentionParameters& parameters)
      : OpNode(step),
        causal_(parameters.causal),
        attention_(step.number,
                   {.q = step.operands[0],
                    .k = step.operands[1],
                    .v = step.operands[2],
                    .out = step.results[0],
                    .positions = positions_of(step)},
                   parameters),
        reference_(reference_node(step)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &q = frame[operands()[0]], &k = frame[operands()[1]];
    const bool sees_none = causal_ && operands().size() < 4 && q.rank == 4 && k.rank == 4 &&
                           k.extents[1] < q.extents[1];
    return sees_none ? reference_->run(frame) : attention_.run(frame);
  }
  std::string name() const override { return attention_.name(); }
  bool writes_strided() const override { return true; }

 private:
  static std::optional<PlanValueIndex> positions_of(const PlannedStep& step) {
    if (step.operands.size() < 4) return std::nullopt;
    return step.operands[3];
  }

  bool causal_;
  AttentionNode attention_;
  std::unique_ptr<PlanNode> reference_;
};

}  // namespace

bool can_attend(const Op& op) {
  return rank_of(*op.operand(0)) == 4 && op.operand(0)->held_type()->dims()[3].is_constant();
}

std::unique_ptr<PlanNode> flash_attention_node(const FastStep& step) {
  const Op& op = *step.op;
  const auto width = static_cast<double>(op.operand(0)->held_type()->dims()[3].constant());
  return std::make_unique<FlashAttentionNode>(
      step, AttentionParameters{.scale = static_cast<float>(1 / std::sqrt(width)),
                                .causal = OpAttributes(op).boolean(key::kCausalMask),
                                .window = {},
                                .tokens_first = true});
}

std::unique_ptr<PlanNode> attention_node(std::size_t step, const AttentionValues& values,
                                         const AttentionParameters& parameters) {
  return std::make_unique<AttentionNode>(step, values, parameters);
}

}  // namespace mir
