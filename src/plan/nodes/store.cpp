// Copy, Fill and Iota: values that ops write into one that is there, or make.
#include <algorithm>

#include "eval/attributes.hpp"
#include "kernels/fast/select.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/random.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

/// (source, whole): whole with a part replaced.
class CopyIntoNode final : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &source = frame[operands()[0]], &whole = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!std::ranges::equal(whole.shape(), out.shape())) {
      return require(false, "the result has other extents than what is copied into");
    }
    const auto part = sliced(op(), out, frame.environment.dims);
    if (!part) return part.error();
    if (part->elements() != source.elements()) {
      return require(false, "the part has another number of elements than the source");
    }
    if (whole.data != out.data) copy_elements(whole, out, frame.context);
    copy_elements(row_major_at(*part, source.data), *part, frame.context);
    return {};
  }

  /// In place only the part moves.
  Work work(const Frame& frame) const override {
    const bool in_place = frame[operands()[1]].data == frame[results()[0]].data;
    return in_place ? Work{.bytes = 2 * bytes_of(frame[operands()[0]].type())}
                    : OpNode::work(frame);
  }
  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t operand) const override { return operand == 1; }
};

/// Every element the same.
class FillNode final : public OpNode {
 public:
  FillNode(const PlannedStep& step, Tensor element) : OpNode(step), element_(std::move(element)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    TensorRef repeated = out;
    repeated.data = const_cast<std::byte*>(element_.bytes().data());  // a copy only reads it
    repeated.strides.fill(0);
    copy_elements(repeated, out, frame.context);
    return {};
  }
  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  Tensor element_;
};

class IotaNode final : public OpNode {
 public:
  explicit IotaNode(const PlannedStep& step) : OpNode(step) {
    dim_ = OpAttributes(op()).integer(key::kDim);
    sequence_ = sequence_of(op());
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    const std::int64_t dim = dim_ < 0 ? dim_ + out.rank : dim_;
    if (dim < 0 || dim >= out.rank) return require(false, "the result does not have the dimension");
    fast::IotaResult result{.dtype = out.dtype, .data = out.data};
    for (std::int64_t i = 0; i < out.rank; ++i) {
      const std::int64_t extent = out.extents[static_cast<std::size_t>(i)];
      (i < dim ? result.outer : i == dim ? result.length : result.inner) *= extent;
    }
    return fast::iota(result, sequence_, frame.context);
  }

 private:
  std::int64_t dim_ = 0;
  ref::Sequence sequence_;
};

/// Four words at a time depend on each other by ten rounds, so there is nothing to gain from more
/// than the reference kernel for the few numbers that a sample takes.
class RandomUniformNode final : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const override {
    return ref::random_uniform(frame[operands()[0]].view(), frame[results()[0]].mutable_view(),
                               frame[results()[1]].mutable_view());
  }
};

/// Returns the element that a Fill repeats, as its type stores it; no value for other kinds.
std::optional<Tensor> repeated_element(const Op& op) {
  const OpAttributes attributes(op);
  const std::string_view type = attributes.string(key::kType);
  if (type != "zeros" && type != "ones" && type != "specific") return std::nullopt;
  const DType dtype = *dtype_of(*op.result());
  auto element = element_of(dtype, type == "zeros"  ? "0"
                                   : type == "ones" ? "1"
                                                    : attributes.number_text(key::kValue));
  return element ? std::optional(*std::move(element)) : std::nullopt;
}

}  // namespace

std::unique_ptr<PlanNode> iota_node(const FastStep& step) {
  return std::make_unique<IotaNode>(step);
}

std::unique_ptr<PlanNode> random_uniform_node(const FastStep& step) {
  return std::make_unique<RandomUniformNode>(step);
}

std::unique_ptr<PlanNode> copy_into_node(const FastStep& step) {
  return std::make_unique<CopyIntoNode>(step);
}

bool can_fill(const Op& op) {
  return repeated_element(op).has_value();
}

std::unique_ptr<PlanNode> fill_node(const FastStep& step) {
  return std::make_unique<FillNode>(step, *repeated_element(*step.op));
}

}  // namespace mir
