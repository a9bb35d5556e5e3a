// Nodes of kernels over rows: norms, softmax and the causal mask.
#include "kernels/fast/rows.hpp"

#include <algorithm>

#include "kernels/ref/common/indices.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Rows of two values of equal extents in row-major order; `dims` trailing dimensions are one row.
fast::Rows rows_of(const TensorRef& x, const TensorRef& out, std::size_t dims = 1) {
  fast::Rows rows{.x = x.floats(), .out = out.floats(), .rows = 1, .width = 1};
  for (std::size_t i = 0; i < x.rank; ++i) {
    (i + dims < x.rank ? rows.rows : rows.width) *= x.extents[i];
  }
  rows.x_stride = rows.out_stride = rows.width;
  return rows;
}

/// A node over the rows of operand 0.
class RowsNode : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const final {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const bool same = x.rank > 0 && std::ranges::equal(x.shape(), out.shape());
    if (auto ok = require(same, "the result does not have the extents of the operand"); !ok) {
      return ok;
    }
    return run_rows(x, out, frame);
  }
  bool may_overwrite(std::size_t operand) const final { return operand == 0; }

 private:
  virtual Result<void> run_rows(const TensorRef& x, const TensorRef& out, Frame& frame) const = 0;
};

constexpr char kWeightMisfit[] = "a parameter does not have the extents of a row";

class RmsNormNode final : public RowsNode {
 public:
  RmsNormNode(const PlannedStep& step, RmsNormPart norm) : RowsNode(step), norm_(std::move(norm)) {}

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out, Frame& frame) const override {
    const fast::Rows rows = rows_of(x, out);
    if (rows.width != norm_.weight.elements()) return require(false, kWeightMisfit);
    fast::rms_norm(rows, norm_.parameters(), frame.context);
    return {};
  }

  RmsNormPart norm_;
};

class LayerNormNode final : public RowsNode {
 public:
  LayerNormNode(const PlannedStep& step, Tensor weight, Tensor bias)
      : RowsNode(step), weight_(std::move(weight)), bias_(std::move(bias)) {
    const OpAttributes attributes(*step.op);
    epsilon_ = static_cast<float>(attributes.number(key::kEps));
    dims_ = attributes.attribute(key::kNormalizedShape)->elements().size();
  }

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out, Frame& frame) const override {
    if (dims_ > x.rank) return require(false, kWeightMisfit);
    const fast::Rows rows = rows_of(x, out, dims_);
    for (const Tensor* tensor : {&weight_, &bias_}) {
      if (tensor->defined() && tensor->elements() != rows.width) {
        return require(false, kWeightMisfit);
      }
    }
    fast::layer_norm(rows, weight_.defined() ? weight_.as<float>().data() : nullptr,
                     bias_.defined() ? bias_.as<float>().data() : nullptr, epsilon_, frame.context);
    return {};
  }

  Tensor weight_;
  Tensor bias_;
  float epsilon_ = 0;
  std::size_t dims_ = 1;
};

class SoftmaxNode final : public RowsNode {
 public:
  using RowsNode::RowsNode;

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out, Frame& frame) const override {
    fast::softmax(rows_of(x, out), frame.context);
    return {};
  }
};

class CausalMaskNode final : public RowsNode {
 public:
  explicit CausalMaskNode(const PlannedStep& step) : RowsNode(step) {
    const OpAttributes attributes(*step.op);
    if (attributes.boolean(key::kSlidingWindow)) window_ = attributes.integer(key::kWindowSize);
    masks_one_query_ = attributes.boolean(key::kMasksOneQuery);
  }

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out, Frame& frame) const override {
    const bool fits = x.rank >= 2 && x.extent(1) >= x.extent(2);
    if (auto ok = require(fits, "scores have fewer keys than queries"); !ok) return ok;
    const std::int64_t queries = x.extent(2);
    const bool has_window = queries != 1 || masks_one_query_;
    std::vector<std::int64_t> positions;
    if (operands().size() > 1) positions = ref::all_indices(frame[operands()[1]].view());
    if (!positions.empty() && std::ssize(positions) != x.extents[0] * queries)
      return require(false, "the positions are not those of the queries");
    fast::causal_mask(rows_of(x, out), queries, has_window ? window_ : std::nullopt, frame.context,
                      {.positions = positions, .rows = rows_of_sequence(x)});
    return {};
  }

  static std::int64_t rows_of_sequence(const TensorRef& x) {
    std::int64_t rows = 1;
    for (std::size_t i = 1; i + 1 < x.rank; ++i) rows *= x.extents[i];
    return rows;
  }

  std::optional<std::int64_t> window_;
  bool masks_one_query_ = false;
};

}  // namespace

RmsNormPart rms_norm_part(const Op& op, const ParameterTable& parameters) {
  const OpAttributes attributes(op);
  return {.weight = *owned_tensor(op, ".weight", parameters),
          .epsilon = static_cast<float>(attributes.number(key::kEpsilon)),
          .add_unit_offset = attributes.boolean(key::kAddUnitOffset)};
}

bool owns_weight(const Op& op) {
  return owns_parameter(op, ".weight");
}

std::unique_ptr<PlanNode> rms_norm_node(const FastStep& step) {
  return std::make_unique<RmsNormNode>(step, rms_norm_part(*step.op, step.parameters));
}

std::unique_ptr<PlanNode> layer_norm_node(const FastStep& step) {
  const Tensor* weight = owned_tensor(*step.op, ".weight", step.parameters);
  const Tensor* bias = owned_tensor(*step.op, ".bias", step.parameters);
  return std::make_unique<LayerNormNode>(step, weight == nullptr ? Tensor() : *weight,
                                         bias == nullptr ? Tensor() : *bias);
}

std::unique_ptr<PlanNode> softmax_node(const FastStep& step) {
  const std::int64_t axis = OpAttributes(*step.op).integer(key::kAxis);
  const auto rank = static_cast<std::int64_t>(rank_of(*step.op->result()));
  if (axis != -1 && axis != rank - 1) return softmax_along_node(step, axis);
  return std::make_unique<SoftmaxNode>(step);
}

std::unique_ptr<PlanNode> causal_mask_node(const FastStep& step) {
  return std::make_unique<CausalMaskNode>(step);
}

}  // namespace mir
