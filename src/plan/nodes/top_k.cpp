// TopK.
#include "kernels/fast/top_k.hpp"

#include <algorithm>
#include <limits>

#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Row-major operand and results.
class TopKNode final : public OpNode {
 public:
  explicit TopKNode(const PlannedStep& step) : OpNode(step) {
    const OpAttributes attributes(*step.op);
    axis_ = attributes.integer(key::kDim);
    largest_ = attributes.boolean(key::kLargest);
    sorted_ = attributes.boolean(key::kSorted);
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &values = frame[results()[0]],
                    &indices = frame[results()[1]];
    const std::int64_t axis = axis_ < 0 ? axis_ + x.rank : axis_;
    if (axis < 0 || axis >= x.rank) return require(false, "x has no such dimension");
    fast::TopKOperands o{.x = x.data,
                         .dtype = x.dtype,
                         .length = x.extents[static_cast<std::size_t>(axis)],
                         .largest = largest_,
                         .sorted = sorted_,
                         .values = values.data,
                         .indices = reinterpret_cast<std::int32_t*>(indices.data)};
    TensorRef expected = x;
    if (values.rank == x.rank) {
      o.k = values.extents[static_cast<std::size_t>(axis)];
      expected.extents[static_cast<std::size_t>(axis)] = o.k;
    }
    const bool fits = std::ranges::equal(values.shape(), expected.shape()) &&
                      std::ranges::equal(indices.shape(), expected.shape()) && o.k <= o.length &&
                      o.length - 1 <= std::numeric_limits<std::int32_t>::max();
    if (!fits)
      return require(false, "the results do not have the extents of x except along the axis");
    for (std::int64_t dim = 0; dim < x.rank; ++dim) {
      if (dim != axis) (dim < axis ? o.outer : o.inner) *= x.extents[static_cast<std::size_t>(dim)];
    }
    fast::top_k(o, frame.context);
    return {};
  }

 private:
  std::int64_t axis_ = -1;
  bool largest_ = true, sorted_ = true;
};

}  // namespace

std::unique_ptr<PlanNode> top_k_node(const FastStep& step) {
  return std::make_unique<TopKNode>(step);
}

}  // namespace mir
