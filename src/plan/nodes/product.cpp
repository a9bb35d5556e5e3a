// Nodes of matrix products and convolutions.
#include "kernels/fast/matrix/product.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/fast/matrix/linear.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

constexpr char kProductMisfit[] = "extents of operands and result do not fit together";

class MatMulNode final : public OpNode {
 public:
  explicit MatMulNode(const PlannedStep& step) : OpNode(step) {
    const OpAttributes attributes(*step.op);
    transpose_a_ = attributes.boolean(key::kTransposeA);
    transpose_b_ = attributes.boolean(key::kTransposeB);
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands()[0]], &b = frame[operands()[1]],
                    &out = frame[results()[0]];
    fast::MatMulOperands product{.a = a.floats(), .b = b.floats(), .out = out.floats()};
    set_matrices(a, b, out, product);
    const bool fits = a.rank >= 2 && out.rank == a.rank && (b.rank == a.rank || b.rank == 2) &&
                      out.has_rows() && depth_of_b(b) == product.depth &&
                      out.extent(1) == product.columns && out.extent(2) == product.rows;
    if (!fits || !set_batches(a, b, out, product)) return require(false, kProductMisfit);
    fast::matmul(product, frame.context);
    return {};
  }

  bool writes_strided() const override { return true; }

 private:
  std::int64_t depth_of_b(const TensorRef& b) const { return b.extent(transpose_b_ ? 1 : 2); }

  void set_matrices(const TensorRef& a, const TensorRef& b, const TensorRef& out,
                    fast::MatMulOperands& product) const {
    if (a.rank < 2 || b.rank < 2 || out.rank < 2) return;
    const int a_row = transpose_a_ ? 1 : 2, b_step = transpose_b_ ? 1 : 2;
    product.rows = a.extent(a_row);
    product.depth = a.extent(3 - a_row);
    product.columns = b.extent(3 - b_step);
    product.a_row = a.stride(a_row);
    product.a_step = a.stride(3 - a_row);
    product.b_step = b.stride(b_step);
    product.b_column = b.stride(3 - b_step);
    product.out_row = out.stride(2);
  }

  /// Batch extents of b divide those of a; a b of rank 2 is shared.
  static bool set_batches(const TensorRef& a, const TensorRef& b, const TensorRef& out,
                          fast::MatMulOperands& product) {
    product.batch_rank = a.rank - 2U;
    for (std::size_t i = 0; i < product.batch_rank; ++i) {
      const std::int64_t extent = a.extents[i];
      product.batches[i] = extent;
      product.a_strides[i] = a.strides[i];
      product.out_strides[i] = out.strides[i];
      if (out.extents[i] != extent) return false;
      if (b.rank == 2) continue;
      const std::int64_t shared = b.extents[i];
      if (shared <= 0 || extent % shared != 0) return extent == 0;
      product.b_strides[i] = b.strides[i];
      product.b_repeats[i] = std::max<std::int64_t>(extent / shared, 1);
    }
    return true;
  }

  bool transpose_a_ = false;
  bool transpose_b_ = false;
};

/// The second factor is the same in all runs.
class PackedMatMulNode final : public PlanNode {
 public:
  PackedMatMulNode(std::size_t step, PlanValueIndex x, PlanValueIndex out,
                   const fast::PackedMatrix* weight)
      : PlanNode(step, {x}, {out}), weight_(weight) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const std::int64_t rows = rows_of(x);
    const bool fits = x.rank >= 2 && x.extent(1) == weight_->depth &&
                      out.extent(1) == weight_->outputs &&
                      out.elements() == rows * weight_->outputs;
    if (!fits) return require(false, kProductMisfit);
    fast::linear(*weight_,
                 {.rows = {.x = x.floats(), .x_stride = weight_->depth, .rows = rows},
                  .out = out.floats(),
                  .out_stride = weight_->outputs},
                 frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    work += work_of_product(*weight_, rows_of(frame[operands()[0]]));
    return work;
  }

  std::string name() const override { return "packed MatMul"; }

 private:
  std::int64_t rows_of(const TensorRef& x) const { return x.elements() / weight_->depth; }

  const fast::PackedMatrix* weight_;
};

using Spatial = fast::ConvOperands::Spatial;

/// Returns the last entries of a list, preceded by as many of `otherwise` as are missing; all of
/// these if the attribute is absent. No value if the list is too long.
std::optional<Spatial> spatial(const OpAttributes& attributes, AttrKey key, std::size_t count,
                               std::int64_t otherwise) {
  Spatial values;
  values.fill(otherwise);
  if (!attributes.has(key)) return values;
  std::vector<std::int64_t> entries = attributes.integers(key);
  if (entries.size() == 1) entries.resize(count, entries.front());
  if (entries.size() != count) return std::nullopt;
  std::ranges::copy(entries, values.end() - static_cast<std::ptrdiff_t>(count));
  return values;
}

std::int64_t product_of(const Spatial& values) {
  return values[0] * values[1] * values[2];
}

class ConvNode final : public OpNode {
 public:
  ConvNode(const PlannedStep& step, const fast::ConvOperands& form, Tensor weight, Tensor bias)
      : OpNode(step), form_(form), weight_(std::move(weight)), bias_(std::move(bias)) {
    const auto is_finite = [](float value) { return std::isfinite(value); };
    form_.weight_is_finite = std::ranges::all_of(weight_.as<float>(), is_finite);
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    fast::ConvOperands conv = form_;
    conv.x = x.floats();
    conv.out = out.floats();
    conv.weight = weight_.as<float>().data();
    conv.bias = bias_.defined() ? bias_.as<float>().data() : nullptr;
    if (x.rank < 3 || x.rank > 5 || out.rank != x.rank) return require(false, kProductMisfit);
    conv.batches = x.extents[0];
    conv.inputs = x.extents[1] / conv.groups;
    conv.outputs = out.extents[1] / conv.groups;
    std::copy(x.extents.begin() + 2, x.extents.begin() + x.rank,
              conv.x_extents.end() - (x.rank - 2));
    std::copy(out.extents.begin() + 2, out.extents.begin() + out.rank,
              conv.out_extents.end() - (out.rank - 2));
    if (!fits(conv, x, out)) return require(false, kProductMisfit);
    fast::conv(conv, frame.context);
    return {};
  }

  std::string name() const override { return "Conv"; }

 private:
  bool fits(const fast::ConvOperands& conv, const TensorRef& x, const TensorRef& out) const {
    const std::int64_t outputs = conv.groups * conv.outputs;
    if (x.extents[1] != conv.groups * conv.inputs || out.extents[1] != outputs ||
        out.extents[0] != conv.batches ||
        weight_.elements() != outputs * conv.inputs * product_of(conv.kernel) ||
        (bias_.defined() && bias_.elements() != outputs)) {
      return false;
    }
    for (std::size_t i = 0; i < fast::ConvOperands::kSpatial; ++i) {
      const std::int64_t reach = conv.dilation[i] * (conv.kernel[i] - 1) + 1;
      const std::int64_t room = conv.x_extents[i] + 2 * conv.padding[i] - reach;
      if (room < 0 || conv.out_extents[i] != room / conv.stride[i] + 1) return false;
    }
    return true;
  }

  fast::ConvOperands form_;  // what does not depend on extents
  Tensor weight_;
  Tensor bias_;
};

/// Patches that the kernel covers whole: a product with the packed weight.
class PatchNode final : public PlanNode {
 public:
  PatchNode(const PlannedStep& step, const fast::PackedMatrix* weight, Tensor bias)
      : PlanNode(step), weight_(weight), bias_(std::move(bias)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const std::int64_t rows = x.extents[0];
    const bool fits = x.elements() == rows * weight_->depth &&
                      out.elements() == rows * weight_->outputs && out.extents[0] == rows;
    if (!fits) return require(false, kProductMisfit);
    fast::linear(*weight_,
                 {.rows = {.x = x.floats(), .x_stride = weight_->depth, .rows = rows},
                  .out = out.floats(),
                  .out_stride = weight_->outputs,
                  .epilogue = {.bias = bias_.defined() ? bias_.as<float>().data() : nullptr}},
                 frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    work += work_of_product(*weight_, frame[operands()[0]].extents[0]);
    return work;
  }

  std::string name() const override { return "Conv of patches"; }

 private:
  const fast::PackedMatrix* weight_;
  Tensor bias_;
};

/// True if each image is one patch of the kernel's extents, by its type.
bool is_patch(const Op& op, const fast::ConvOperands& form, std::size_t spatial) {
  const auto dims = op.operand(0)->held_type()->dims();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t at = fast::ConvOperands::kSpatial - spatial + i;
    const bool covers = dims[2 + i].is_constant() && dims[2 + i].constant() == form.kernel[at];
    if (!covers || form.padding[at] != 0) return false;
  }
  return form.groups == 1;
}

}  // namespace

std::unique_ptr<PlanNode> matmul_node(const PlannedStep& step) {
  static_assert(fast::MatMulOperands::kMaxBatchRank + 2 >= TensorRef::kMaxRank);
  return std::make_unique<MatMulNode>(step);
}

std::unique_ptr<PlanNode> packed_matmul_node(std::size_t step, PlanValueIndex x, PlanValueIndex out,
                                             const fast::PackedMatrix* weight) {
  return std::make_unique<PackedMatMulNode>(step, x, out, weight);
}

bool can_convolve(const Op& op) {
  const OpAttributes attributes(op);
  return attributes.has(key::kKernelSize) &&
         !attributes.string(key::kImplType).starts_with("QNN_LPBQ_");
}

std::optional<ConvPart> conv_part(const Op& op, SpatialRank rank,
                                  const ParameterTable& parameters) {
  const OpAttributes attributes(op);
  const std::size_t count = rank.value;
  const auto kernel = spatial(attributes, key::kKernelSize, count, 1);
  const auto stride = spatial(attributes, key::kStride, count, 1);
  const auto padding = spatial(attributes, key::kPadding, count, 0);
  const auto dilation = spatial(attributes, key::kDilation, count, 1);
  const std::int64_t groups =
      attributes.attribute(key::kGroups) ? attributes.integer(key::kGroups) : 1;
  const bool usable = rank_of(*op.operand(0)) == count + 2 && kernel && stride && padding &&
                      dilation && groups >= 1;
  if (!usable) return std::nullopt;
  const Tensor* bias = owned_tensor(op, ".bias", parameters);
  ConvPart conv{.form = {.groups = groups,
                         .kernel = *kernel,
                         .stride = *stride,
                         .padding = *padding,
                         .dilation = *dilation},
                .weight = *owned_tensor(op, ".weight", parameters),
                .bias = bias == nullptr ? Tensor() : *bias};
  conv.is_patch = is_patch(op, conv.form, count);
  return conv;
}

std::unique_ptr<PlanNode> conv_node(const PlannedStep& step, const ConvPart& conv,
                                    const fast::PackedMatrix* patch_weight) {
  if (patch_weight != nullptr) return std::make_unique<PatchNode>(step, patch_weight, conv.bias);
  return std::make_unique<ConvNode>(step, conv.form, conv.weight, conv.bias);
}

}  // namespace mir
