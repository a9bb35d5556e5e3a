#include <fmt/format.h>

#include "nodes.hpp"

namespace mir {

namespace {

/// x as rows of neighbours, each as far from the one before.
struct Matrix {
  std::int64_t rows = 1;
  std::int64_t width = 0;
};

Matrix matrix_of(const TensorRef& tensor) {
  Matrix matrix{.width = tensor.extent(1)};
  for (const std::int64_t extent : tensor.shape().first(tensor.rank - 1U)) matrix.rows *= extent;
  return matrix;
}

const float* floats_of(const Tensor& tensor) {
  return tensor.defined() ? tensor.as<float>().data() : nullptr;
}

fast::Epilogue epilogue_of(const LinearPart& part, const Frame& frame) {
  fast::Epilogue epilogue{.bias = floats_of(part.bias)};
  if (part.residual) {
    epilogue.residual = frame[*part.residual].floats();
    epilogue.residual_stride = part.weight->outputs;
  }
  return epilogue;
}

/// What a kernel relies on: depth, outputs and rows agree.
bool fits(const LinearPart& part, const Matrix& x, const Frame& frame) {
  const Matrix out = matrix_of(frame[part.out]);
  const bool adds = !part.residual || frame[*part.residual].elements() == out.rows * out.width;
  return x.width == part.weight->depth && out.width == part.weight->outputs && out.rows == x.rows &&
         adds;
}

std::vector<PlanSlot> operands_of(PlanSlot x, const std::vector<LinearPart>& parts) {
  std::vector<PlanSlot> slots = {x};
  for (const LinearPart& part : parts) {
    if (part.residual) slots.push_back(*part.residual);
  }
  return slots;
}

std::vector<PlanSlot> results_of(const std::vector<LinearPart>& parts) {
  std::vector<PlanSlot> slots;
  for (const LinearPart& part : parts) slots.push_back(part.out);
  return slots;
}

constexpr char kMisfit[] = "extents of input, weights and result do not fit together";

class LinearNode final : public PlanNode {
 public:
  LinearNode(std::size_t step, PlanSlot x, std::vector<LinearPart> parts)
      : PlanNode(step, operands_of(x, parts), results_of(parts)), x_(x), parts_(std::move(parts)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& x = frame[x_];
    const Matrix matrix = matrix_of(x);
    for (const LinearPart& part : parts_) {
      if (!fits(part, matrix, frame)) return require(false, kMisfit);
    }
    fast::LinearTarget targets[kMost];
    std::size_t count = 0;
    for (const LinearPart& part : parts_) {
      targets[count++] = {.weight = part.weight,
                          .out = frame[part.out].floats(),
                          .out_stride = part.weight->outputs,
                          .epilogue = epilogue_of(part, frame)};
    }
    fast::linear_group(x.floats(), matrix.width, matrix.rows, std::span(targets, count),
                       frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    for (const LinearPart& part : parts_) {
      work += work_of_product(*part.weight, matrix_of(frame[x_]).rows);
    }
    return work;
  }

  std::string name() const override {
    const bool adds = parts_.front().residual.has_value();
    return fmt::format("{}Linear{}", parts_.size() > 1 ? fmt::format("{} x ", parts_.size()) : "",
                       adds ? " + residual" : "");
  }

  static constexpr std::size_t kMost = 8;

 private:
  PlanSlot x_;
  std::vector<LinearPart> parts_;
};

class GatedLinearNode final : public PlanNode {
 public:
  GatedLinearNode(std::size_t step, PlanSlot x, LinearPart gate, const fast::PackedMatrix* up)
      : PlanNode(step, {x}, {gate.out}), x_(x), gate_(std::move(gate)), up_(up) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& x = frame[x_];
    const Matrix matrix = matrix_of(x);
    if (!fits(gate_, matrix, frame)) return require(false, kMisfit);
    fast::linear_gated(*gate_.weight, *up_,
                       {.x = x.floats(),
                        .x_stride = matrix.width,
                        .rows = matrix.rows,
                        .out = frame[gate_.out].floats(),
                        .out_stride = gate_.weight->outputs,
                        .epilogue = {.bias = floats_of(gate_.bias)}},
                       frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    const std::int64_t rows = matrix_of(frame[x_]).rows;
    Work work = PlanNode::work(frame);
    work += work_of_product(*gate_.weight, rows);
    work += work_of_product(*up_, rows);
    return work;
  }

  std::string name() const override { return "silu(Linear) * Linear"; }

 private:
  PlanSlot x_;
  LinearPart gate_;
  const fast::PackedMatrix* up_;
};

}  // namespace

Work work_of_product(const fast::PackedMatrix& weight, std::int64_t rows) {
  const double elements = static_cast<double>(weight.outputs) * static_cast<double>(weight.depth);
  const bool is_rounded =
      weight.dtype == DType::kFloat32 && weight.activations == fast::Activations::kBFloat16;
  const DTypeInfo& stored = info(is_rounded ? DType::kBFloat16 : weight.dtype);
  return {.flop = 2 * static_cast<double>(rows) * elements,
          .bytes = elements * stored.unit_bytes / stored.lanes};
}

std::unique_ptr<PlanNode> linear_node(std::size_t step, PlanSlot x, std::vector<LinearPart> parts) {
  if (parts.size() > LinearNode::kMost) return nullptr;
  return std::make_unique<LinearNode>(step, x, std::move(parts));
}

std::unique_ptr<PlanNode> gated_linear_node(std::size_t step, PlanSlot x, LinearPart gate,
                                            const fast::PackedMatrix* up) {
  return std::make_unique<GatedLinearNode>(step, x, std::move(gate), up);
}

}  // namespace mir
