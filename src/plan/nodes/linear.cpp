// Nodes of linear layers with packed weights, plain or gated, with fused norms and activations.
#include <fmt/format.h>

#include <algorithm>

#include "plan/nodes/nodes.hpp"

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
  fast::Epilogue epilogue{.bias = floats_of(part.bias), .activation = part.activation};
  if (part.residual) {
    epilogue.residual = frame[*part.residual].floats();
    epilogue.residual_stride = part.weight->outputs;
  }
  return epilogue;
}

/// x and the operation on its rows, for the time of a call.
struct Rows {
  explicit Rows(const LinearInput& input, const Frame& frame) : matrix(matrix_of(frame[input.x])) {
    if (input.norm) norm = input.norm->parameters();
    rows = {.x = frame[input.x].floats(),
            .x_stride = matrix.width,
            .rows = matrix.rows,
            .norm = input.norm ? &norm : nullptr};
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  Matrix matrix;
  fast::RmsNorm norm;
  fast::LinearRows rows;
};

bool fits(const LinearInput& input, const Matrix& x) {
  return !input.norm || input.norm->weight.elements() == x.width;
}

/// Checks the preconditions of a kernel: depth, outputs and rows agree.
bool fits(const LinearPart& part, const Matrix& x, const Frame& frame) {
  const Matrix out = matrix_of(frame[part.out]);
  const bool adds = !part.residual || frame[*part.residual].elements() == out.rows * out.width;
  return x.width == part.weight->depth && out.width == part.weight->outputs && out.rows == x.rows &&
         adds;
}

std::vector<PlanValueIndex> operands_of(PlanValueIndex x, const std::vector<LinearPart>& parts) {
  std::vector<PlanValueIndex> indices = {x};
  for (const LinearPart& part : parts) {
    if (part.residual) indices.push_back(*part.residual);
  }
  return indices;
}

std::vector<PlanValueIndex> results_of(const std::vector<LinearPart>& parts) {
  std::vector<PlanValueIndex> indices;
  for (const LinearPart& part : parts) indices.push_back(part.out);
  return indices;
}

constexpr char kMisfit[] = "extents of input, weights and result do not fit together";

/// "RMSNorm + silu(Linear)".
std::string name_of(const LinearInput& input, const LinearPart& part) {
  const char* const norm = input.norm ? "RMSNorm + " : "";
  if (!part.activation) return fmt::format("{}Linear", norm);
  return fmt::format("{}{}(Linear)", norm, fast::name_of(*part.activation));
}

class LinearNode final : public PlanNode {
 public:
  LinearNode(std::size_t step, LinearInput input, std::vector<LinearPart> parts)
      : PlanNode(step, operands_of(input.x, parts), results_of(parts)),
        input_(std::move(input)),
        parts_(std::move(parts)) {}

  Result<void> run(Frame& frame) const override {
    const Rows x(input_, frame);
    const bool fit =
        fits(input_, x.matrix) && std::ranges::all_of(parts_, [&](const LinearPart& part) {
          return fits(part, x.matrix, frame);
        });
    if (!fit) return require(false, kMisfit);
    fast::LinearTarget targets[kMost];
    std::size_t count = 0;
    for (const LinearPart& part : parts_) {
      targets[count++] = {.weight = part.weight,
                          .out = frame[part.out].floats(),
                          .out_stride = part.weight->outputs,
                          .epilogue = epilogue_of(part, frame)};
    }
    fast::linear_group(x.rows, std::span(targets, count), frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    for (const LinearPart& part : parts_) {
      work += work_of_product(*part.weight, matrix_of(frame[input_.x]).rows);
    }
    return work;
  }

  std::string name() const override {
    if (parts_.size() > 1) {
      return fmt::format("{}{} x Linear", input_.norm ? "RMSNorm + " : "", parts_.size());
    }
    const LinearPart& part = parts_.front();
    return name_of(input_, part) + (part.residual ? " + residual" : "");
  }

  /// The residual.
  bool may_overwrite(std::size_t operand) const override {
    return operand == 1 && parts_.size() == 1;
  }

  static constexpr std::size_t kMost = 8;

 private:
  LinearInput input_;
  std::vector<LinearPart> parts_;
};

class GatedLinearNode final : public PlanNode {
 public:
  GatedLinearNode(std::size_t step, LinearInput input, LinearPart gate,
                  const fast::PackedMatrix* up)
      : PlanNode(step, {input.x}, {gate.out}),
        input_(std::move(input)),
        gate_(std::move(gate)),
        up_(up) {}

  Result<void> run(Frame& frame) const override {
    const Rows x(input_, frame);
    if (!fits(input_, x.matrix) || !fits(gate_, x.matrix, frame)) return require(false, kMisfit);
    fast::linear_gated(*gate_.weight, *up_,
                       {.rows = x.rows,
                        .out = frame[gate_.out].floats(),
                        .out_stride = gate_.weight->outputs,
                        .epilogue = epilogue_of(gate_, frame)},
                       frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    const std::int64_t rows = matrix_of(frame[input_.x]).rows;
    Work work = PlanNode::work(frame);
    work += work_of_product(*gate_.weight, rows);
    work += work_of_product(*up_, rows);
    return work;
  }

  std::string name() const override { return name_of(input_, gate_) + " * Linear"; }

 private:
  LinearInput input_;
  LinearPart gate_;
  const fast::PackedMatrix* up_;
};

}  // namespace

Work work_of_product(const fast::PackedMatrix& weight, std::int64_t rows) {
  const double elements = static_cast<double>(weight.outputs) * static_cast<double>(weight.depth);
  const bool is_rounded =
      weight.dtype == DType::kFloat32 && weight.activations == Activations::kBFloat16;
  const DTypeInfo& stored = info(is_rounded ? DType::kBFloat16 : weight.dtype);
  const double flop = 2 * static_cast<double>(rows) * elements;
  const DTypeClass kind = info(weight.dtype).type_class;
  const bool has_codes = kind != DTypeClass::kFloat;
  const bool has_bfloats = !has_codes && weight.activations == Activations::kBFloat16;
  return {.flop = flop,
          .code_flop = has_codes ? flop : 0,
          .bfloat_flop = has_bfloats ? flop : 0,
          .bytes = elements * stored.unit_bytes / stored.lanes};
}

bool can_multiply(const Op& op) {
  const auto has_width = [](const Value& value) {
    const TensorType* type = value.held_type();
    return type->rank() >= 1 && type->dims().back().is_constant();
  };
  return op.operand_count() == 1 && has_width(*op.operand(0)) && has_width(*op.result());
}

std::unique_ptr<PlanNode> linear_node(std::size_t step, LinearInput input,
                                      std::vector<LinearPart> parts) {
  if (parts.size() > LinearNode::kMost) return nullptr;
  return std::make_unique<LinearNode>(step, std::move(input), std::move(parts));
}

std::unique_ptr<PlanNode> gated_linear_node(std::size_t step, LinearInput input, LinearPart gate,
                                            const fast::PackedMatrix* up) {
  return std::make_unique<GatedLinearNode>(step, std::move(input), std::move(gate), up);
}

}  // namespace mir
