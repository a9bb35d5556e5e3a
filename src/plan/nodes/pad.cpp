// Pad: the elements, then margins as copies of elements next to them.
#include "kernels/ref/pad.hpp"

#include <algorithm>

#include "mir/op_attributes.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

/// The part of `tensor` that begins so many indices later; `indices` may lie outside of it.
TensorRef moved(TensorRef tensor, std::size_t dim, std::int64_t indices, std::int64_t extent) {
  tensor.data +=
      indices * tensor.strides[dim] * static_cast<std::int64_t>(info(tensor.dtype).unit_bytes);
  tensor.extents[dim] = extent;
  return tensor;
}

ref::PadMode mode_of(std::string_view name) {
  return name == "reflect"     ? ref::PadMode::kReflect
         : name == "replicate" ? ref::PadMode::kReplicate
         : name == "circular"  ? ref::PadMode::kCircular
                               : ref::PadMode::kConstant;
}

/// Operand and result of any strides.
class PadNode final : public OpNode {
 public:
  PadNode(const PlannedStep& step, Tensor element) : OpNode(step), element_(std::move(element)) {
    const OpAttributes attributes(*step.op);
    mode_ = mode_of(attributes.string(key::kMode));
    const auto margins = attributes.integers(key::kPad);
    for (std::size_t i = 0; i < margins.size(); i += 2) before_.push_back(margins[i]);
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (auto ok = check(x, out); !ok) return ok;
    if (out.elements() == 0) return {};
    TensorRef filled = out;
    for (std::size_t dim = 0; dim < x.rank; ++dim) {
      filled = moved(filled, dim, before(x, dim), x.extents[dim]);
    }
    copy_elements(x, filled, frame.context);
    // The filled part grows from the last dimension on, so that copies are of neighbours.
    for (std::size_t dim = x.rank; dim-- > 0;) {
      const std::int64_t first = -before(x, dim), end = out.extents[dim] + first;
      fill_margin(filled, dim, first, 0, frame.context);
      fill_margin(filled, dim, x.extents[dim], end, frame.context);
      filled = moved(filled, dim, first, out.extents[dim]);
    }
    return {};
  }

  bool writes_strided() const override { return true; }

 private:
  /// The attribute begins with the last dimension.
  std::int64_t before(const TensorRef& x, std::size_t dim) const {
    const std::size_t from_end = x.rank - 1 - dim;
    return from_end < before_.size() ? before_[from_end] : 0;
  }

  Result<void> check(const TensorRef& x, const TensorRef& out) const {
    bool fits = x.rank == out.rank && before_.size() <= x.rank;
    for (std::size_t dim = 0; fits && dim < x.rank; ++dim) {
      fits = before(x, dim) >= 0 && out.extents[dim] - x.extents[dim] >= before(x, dim);
    }
    if (!fits) return require(false, "the margins do not fit the result");
    return require(mode_ == ref::PadMode::kConstant || x.elements() != 0 || out.elements() == 0,
                   "no elements to make a margin of");
  }

  /// Indices [first, end) of one dimension, outside of the filled part: as few copies as there are
  /// runs of indices whose sources are equally far from each other.
  void fill_margin(const TensorRef& filled, std::size_t dim, std::int64_t first, std::int64_t end,
                   fast::Context& context) const {
    const auto source = [&](std::int64_t i) {
      return ref::margin_index(mode_, i, filled.extents[dim]);
    };
    while (first < end) {
      const std::int64_t from = source(first);
      const std::int64_t step = first + 1 < end ? source(first + 1) - from : 0;
      std::int64_t count = 1;
      while (first + count < end && source(first + count) == from + count * step) ++count;
      const TensorRef margin = moved(filled, dim, first, count);
      if (mode_ == ref::PadMode::kConstant) {
        TensorRef repeated = margin;
        repeated.data = const_cast<std::byte*>(element_.bytes().data());  // a copy only reads it
        repeated.strides.fill(0);
        copy_elements(repeated, margin, context);
      } else {
        TensorRef sources = moved(filled, dim, from, count);
        sources.strides[dim] *= step;
        copy_elements(sources, margin, context);
      }
      first += count;
    }
  }

  Tensor element_;
  ref::PadMode mode_ = ref::PadMode::kConstant;
  std::vector<std::int64_t> before_;
};

/// Returns the element of constant margins; an error if the element type has no such number.
Result<Tensor> margin_element(const Op& op) {
  return element_of(*dtype_of(*op.result()), OpAttributes(op).number_text(key::kValue));
}

}  // namespace

bool can_pad(const Op& op) {
  return margin_element(op).ok();
}

std::unique_ptr<PlanNode> pad_node(const FastStep& step) {
  return std::make_unique<PadNode>(step, *margin_element(*step.op));
}

}  // namespace mir
