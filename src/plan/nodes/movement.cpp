// Nodes that move elements unchanged: slices, splits, concatenation, repetition and copies.
#include "kernels/fast/movement.hpp"

#include <algorithm>

#include "eval/slices.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// A copy between two values of one element type and equal extents.
struct Part {
  TensorRef from;
  TensorRef to;
};

/// Lets the value begin so many indices later.
void skip(TensorRef& tensor, std::size_t dim, std::int64_t indices) {
  if (tensor.data == nullptr) return;  // empty tensor
  tensor.data += indices * tensor.strides[dim] * info(tensor.dtype).unit_bytes;
}

bool same_shape(const TensorRef& a, const TensorRef& b) {
  return a.dtype == b.dtype && std::ranges::equal(a.shape(), b.shape());
}

constexpr char kPartsMisfit[] = "the parts do not fill the result";

/// Ops that put elements elsewhere, as they are. Operands and results of any strides.
class MovementNode : public OpNode {
 public:
  using OpNode::OpNode;

  bool writes_strided() const final { return true; }

 protected:
  /// The dimension that an attribute means of a value of this rank; none outside of it.
  std::optional<std::size_t> axis(AttrKey key, std::size_t rank) const {
    std::int64_t value = OpAttributes(op()).integer(key);
    if (value < 0) value += static_cast<std::int64_t>(rank);
    if (value < 0 || value >= static_cast<std::int64_t>(rank)) return std::nullopt;
    return static_cast<std::size_t>(value);
  }
};

class SliceNode final : public MovementNode {
 public:
  using MovementNode::MovementNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    const auto part = sliced(op(), frame[operands()[0]], frame.environment.dims);
    if (!part) return part.error();
    if (!same_shape(*part, out)) return require(false, kPartsMisfit);
    copy_elements(*part, out, frame.context);
    return {};
  }
};

class SplitNode final : public MovementNode {
 public:
  using MovementNode::MovementNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef& x = frame[operands()[0]];
    const auto dim = axis(key::kDim, x.rank);
    std::int64_t start = 0;
    for (const PlanValueIndex index : results()) {
      Part part{x, frame[index]};
      if (!dim || part.to.rank != x.rank || part.to.extents[*dim] > x.extents[*dim] - start) {
        return require(false, kPartsMisfit);
      }
      skip(part.from, *dim, start);
      part.from.extents[*dim] = part.to.extents[*dim];
      if (!same_shape(part.from, part.to)) return require(false, kPartsMisfit);
      copy_elements(part.from, part.to, frame.context);
      start += part.to.extents[*dim];
    }
    return {};
  }
};

/// Concat, and Stack, whose operands have an extent of 1 where the result has a new dimension.
class ConcatNode final : public MovementNode {
 public:
  ConcatNode(const PlannedStep& step, bool stacks) : MovementNode(step), stacks_(stacks) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    const auto dim = axis(key::kDim, out.rank);
    if (!dim) return require(false, kPartsMisfit);
    std::int64_t start = 0;
    for (const PlanValueIndex index : operands()) {
      Part part{stacks_ ? with_dimension(frame[index], *dim) : frame[index], out};
      if (part.from.rank != out.rank || part.from.extents[*dim] > out.extents[*dim] - start) {
        return require(false, kPartsMisfit);
      }
      skip(part.to, *dim, start);
      part.to.extents[*dim] = part.from.extents[*dim];
      if (!same_shape(part.from, part.to)) return require(false, kPartsMisfit);
      copy_elements(part.from, part.to, frame.context);
      start += part.from.extents[*dim];
    }
    return require(start == out.extents[*dim], kPartsMisfit);
  }

 private:
  static TensorRef with_dimension(TensorRef tensor, std::size_t dim) {
    if (tensor.rank == TensorRef::kMaxRank || dim > tensor.rank) return tensor;
    for (std::size_t i = tensor.rank; i > dim; --i) {
      tensor.extents[i] = tensor.extents[i - 1];
      tensor.strides[i] = tensor.strides[i - 1];
    }
    tensor.extents[dim] = 1;
    tensor.strides[dim] = 0;
    ++tensor.rank;
    return tensor;
  }

  bool stacks_;
};

/// Each slice several times in a row: the dimension as one of slices and one of copies.
class RepeatNode final : public MovementNode {
 public:
  using MovementNode::MovementNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const auto dim = axis(key::kDim, x.rank);
    const std::int64_t times = OpAttributes(op()).integer(key::kRepeatTimes);
    TensorRef repeated = x;
    if (!dim || times < 0) return require(false, kPartsMisfit);
    repeated.extents[*dim] *= times;
    if (!same_shape(repeated, out)) return require(false, kPartsMisfit);
    fast::CopyOperands operands{.from = x.data,
                                .to = out.data,
                                .element_bytes = info(out.dtype).unit_bytes,
                                .rank = x.rank + 1U};
    for (std::size_t i = 0, to = 0; i < x.rank; ++i, ++to) {
      const bool splits = i == *dim;
      operands.extents[to] = x.extents[i];
      operands.from_strides[to] = x.strides[i];
      operands.to_strides[to] = out.strides[i] * (splits ? times : 1);
      if (!splits) continue;
      operands.extents[++to] = times;
      operands.to_strides[to] = out.strides[i];
    }
    fast::copy(operands, frame.context);
    return {};
  }
};

class CopyNode final : public PlanNode {
 public:
  CopyNode(std::size_t step, PlanValueIndex from, PlanValueIndex to)
      : PlanNode(step, {from}, {to}) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& from = frame[operands()[0]];
    const TensorRef& to = frame[results()[0]];
    if (info(from.dtype).lanes != 1) return require(false, "blocks are not taken apart");
    if (from.elements() != to.elements()) {
      return require(false, "a view has another number of elements");
    }
    // The target may have other extents: only its order of elements counts.
    copy_elements(from, row_major_at(from, to.data), frame.context);
    return {};
  }

  std::string name() const override { return "copy"; }
};

}  // namespace

Result<TensorRef> sliced(const Op& op, TensorRef value, const DimBindings* dims) {
  if (op.attribute(key::kIndices) == nullptr) return value;
  for (std::size_t dim = 0; dim < value.rank; ++dim) {
    const auto selected = slice_bounds(op, value.rank, dim, value.extents[dim], dims);
    if (!selected) return selected.error();
    if (selected->length > 0) skip(value, dim, selected->start);
    value.extents[dim] = selected->length;
    value.strides[dim] *= selected->length > 1 ? selected->step : 1;
  }
  return value;
}

std::unique_ptr<PlanNode> copy_node(std::size_t step, PlanValueIndex from, PlanValueIndex to) {
  return std::make_unique<CopyNode>(step, from, to);
}

bool can_slice(const Op& op) {
  return op.attribute(key::kIndices) != nullptr;
}

std::unique_ptr<PlanNode> slice_node(const FastStep& step) {
  return std::make_unique<SliceNode>(step);
}

std::unique_ptr<PlanNode> split_node(const FastStep& step) {
  return std::make_unique<SplitNode>(step);
}

std::unique_ptr<PlanNode> concat_node(const FastStep& step) {
  return std::make_unique<ConcatNode>(step, false);
}

std::unique_ptr<PlanNode> stack_node(const FastStep& step) {
  return std::make_unique<ConcatNode>(step, true);
}

std::unique_ptr<PlanNode> repeat_node(const FastStep& step) {
  return std::make_unique<RepeatNode>(step);
}

}  // namespace mir
