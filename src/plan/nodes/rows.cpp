#include "kernels/fast/rows.hpp"

#include <algorithm>

#include "eval/attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

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
class RowsNode : public PlanNode {
 public:
  explicit RowsNode(const PlannedStep& step) : PlanNode(step), op_(*step.op) {}

  Result<void> run(Frame& frame) const final {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const bool same = x.rank > 0 && std::ranges::equal(x.shape(), out.shape());
    if (auto ok = require(same, "the result does not have the extents of the operand"); !ok) {
      return ok;
    }
    return run_rows(x, out, frame.context);
  }
  std::string name() const final { return short_name(op_); }
  bool may_overwrite(std::size_t) const final { return true; }

 private:
  virtual Result<void> run_rows(const TensorRef& x, const TensorRef& out,
                                fast::Context& context) const = 0;

  const Op& op_;
};

constexpr char kWeightMisfit[] = "a parameter does not have the extents of a row";

class RmsNormNode final : public RowsNode {
 public:
  RmsNormNode(const PlannedStep& step, RmsNormPart norm) : RowsNode(step), norm_(std::move(norm)) {}

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out,
                        fast::Context& context) const override {
    const fast::Rows rows = rows_of(x, out);
    if (rows.width != norm_.weight.elements()) return require(false, kWeightMisfit);
    fast::rms_norm(rows, norm_.parameters(), context);
    return {};
  }

  RmsNormPart norm_;
};

class LayerNormNode final : public RowsNode {
 public:
  LayerNormNode(const PlannedStep& step, Tensor weight, Tensor bias)
      : RowsNode(step), weight_(std::move(weight)), bias_(std::move(bias)) {
    const AttributeReader attributes(*step.op);
    epsilon_ = static_cast<float>(attributes.number("eps"));
    dims_ = attributes.find("normalized_shape")->elements().size();
  }

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out,
                        fast::Context& context) const override {
    if (dims_ > x.rank) return require(false, kWeightMisfit);
    const fast::Rows rows = rows_of(x, out, dims_);
    for (const Tensor* tensor : {&weight_, &bias_}) {
      if (tensor->defined() && tensor->elements() != rows.width) {
        return require(false, kWeightMisfit);
      }
    }
    fast::layer_norm(rows, weight_.defined() ? weight_.as<float>().data() : nullptr,
                     bias_.defined() ? bias_.as<float>().data() : nullptr, epsilon_, context);
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
  Result<void> run_rows(const TensorRef& x, const TensorRef& out,
                        fast::Context& context) const override {
    fast::softmax(rows_of(x, out), context);
    return {};
  }
};

class CausalMaskNode final : public RowsNode {
 public:
  explicit CausalMaskNode(const PlannedStep& step) : RowsNode(step) {
    const AttributeReader attributes(*step.op);
    if (attributes.boolean("sliding_window")) window_ = attributes.integer("window_size");
  }

 private:
  Result<void> run_rows(const TensorRef& x, const TensorRef& out,
                        fast::Context& context) const override {
    const bool fits = x.rank >= 2 && x.extent(1) >= x.extent(2);
    if (auto ok = require(fits, "scores have fewer keys than queries"); !ok) return ok;
    fast::causal_mask(rows_of(x, out), x.extent(2), window_, context);
    return {};
  }

  std::optional<std::int64_t> window_;
};

}  // namespace

std::optional<RmsNormPart> rms_norm_part(const Op& op, const ParameterTable& parameters) {
  const Tensor* weight = owned_tensor(op, ".weight", parameters);
  if (!is_float32(op.operand(0)) || !is_float32(op.result()) || !is_float32(weight)) {
    return std::nullopt;
  }
  const AttributeReader attributes(op);
  return RmsNormPart{.weight = *weight,
                     .epsilon = static_cast<float>(attributes.number("epsilon")),
                     .add_unit_offset = attributes.boolean("add_unit_offset")};
}

std::unique_ptr<PlanNode> norm_node(const PlannedStep& step, const ParameterTable& parameters) {
  const Op& op = *step.op;
  if (op.is(OpId::kLinalgRMSNorm)) {
    auto norm = rms_norm_part(op, parameters);
    return norm ? std::make_unique<RmsNormNode>(step, *std::move(norm)) : nullptr;
  }
  if (!is_float32(op.operand(0)) || !is_float32(op.result())) return nullptr;
  const Tensor* weight = owned_tensor(op, ".weight", parameters);
  const Tensor* bias = owned_tensor(op, ".bias", parameters);
  for (const Tensor* parameter : {weight, bias}) {
    if (parameter != nullptr && !is_float32(parameter)) return nullptr;
  }
  return std::make_unique<LayerNormNode>(step, weight == nullptr ? Tensor() : *weight,
                                         bias == nullptr ? Tensor() : *bias);
}

std::unique_ptr<PlanNode> softmax_node(const PlannedStep& step, const ParameterTable&) {
  const Op& op = *step.op;
  if (!is_float32(op.operand(0)) || !is_float32(op.result())) return nullptr;
  if (op.is(OpId::kLinalgCausalMask)) return std::make_unique<CausalMaskNode>(step);
  const std::int64_t axis = AttributeReader(op).integer("axis");
  const auto rank = static_cast<std::int64_t>(op.result()->tensor_type()->rank());
  if (axis != -1 && axis != rank - 1) return softmax_along_node(step, axis);
  return std::make_unique<SoftmaxNode>(step);
}

}  // namespace mir
