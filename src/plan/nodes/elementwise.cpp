// Nodes of unary and binary arithmetic, clipping and embedding lookups.
#include "kernels/fast/elementwise.hpp"

#include <algorithm>
#include <cstring>

#include "eval/parameters.hpp"
#include "kernels/ref/common/indices.hpp"
#include "kernels/ref/gather.hpp"
#include "kernels/ref/movement.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

class UnaryNode final : public OpNode {
 public:
  UnaryNode(const PlannedStep& step, fast::Unary function) : OpNode(step), function_(function) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    fast::unary(function_, x.floats(), out.floats(), x.elements(), frame.context);
    return {};
  }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  fast::Unary function_;
};

class ClipNode final : public OpNode {
 public:
  explicit ClipNode(const PlannedStep& step) : OpNode(step), bounds_(clip_bounds(op())) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    fast::clip(x.floats(), bounds_.low, bounds_.high, out.floats(), x.elements(), frame.context);
    return {};
  }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  fast::Clip bounds_;
};

class BinaryNode final : public OpNode {
 public:
  BinaryNode(const PlannedStep& step, fast::Binary function) : OpNode(step), function_(function) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands()[0]], &b = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!all_broadcast({&a, &b}, out)) return require(false, kNoBroadcast);
    fast::binary(function_, broadcast(a, out), broadcast(b, out), result_of(out), frame.context);
    return {};
  }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  fast::Binary function_;
};

class EmbeddingNode final : public OpNode {
 public:
  EmbeddingNode(const PlannedStep& step, Tensor table) : OpNode(step), table_(std::move(table)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &ids = frame[operands()[0]], &out = frame[results()[0]];
    const std::int64_t width = out.rank == 0 ? 0 : out.extent(1);
    if (width <= 0) return require(width == 0, "the result has no dimension");
    if (table_.dtype() != out.dtype) return take_converted(ids, out, width);
    if (ids.dtype == DType::kInt64 && take<std::int64_t>(ids, out, width)) return {};
    if (ids.dtype == DType::kInt32 && take<std::int32_t>(ids, out, width)) return {};
    const std::int64_t extents[] = {table_.elements() / width, width};
    const std::int64_t strides[] = {width, 1};
    return ref::embedding(ids.view(), {table_.dtype(), table_.bytes().data(), extents, strides},
                          out.mutable_view());
  }

 private:
  /// Rows of whole units by ids that are all rows of the table; false, and nothing or a part is
  /// written, for others.
  template <class Id>
  bool take(const TensorRef& ids, const TensorRef& out, std::int64_t width) const {
    const std::int64_t rows = table_.elements() / width, count = ids.elements();
    if (info(out.dtype).lanes != 1 || out.elements() != count * width) return false;
    const auto bytes = static_cast<std::size_t>(width) * info(out.dtype).unit_bytes;
    const Id* const id = reinterpret_cast<const Id*>(ids.data);
    for (std::int64_t i = 0; i < count; ++i) {
      if (id[i] < 0 || id[i] >= rows) return false;
      std::memcpy(out.data + static_cast<std::size_t>(i) * bytes,
                  table_.bytes().data() + static_cast<std::size_t>(id[i]) * bytes, bytes);
    }
    return true;
  }

  /// Converts each row when it is read.
  Result<void> take_converted(const TensorRef& ids, const TensorRef& out,
                              std::int64_t width) const {
    const auto table = table_.reshaped({table_.elements() / width, width});
    if (!table) return table.error();
    const bool is_known = ids.dtype == DType::kInt64 || ids.dtype == DType::kInt32;
    if (!is_known || out.elements() != ids.elements() * width)
      return require(false, "its operand or its result has another type");
    if (auto ok = ref::check_index_range("embedding", ids.view(), 0, table->shape()[0]); !ok)
      return ok;
    const std::size_t stored = static_cast<std::size_t>(width) * info(table->dtype()).unit_bytes;
    std::byte* to = out.data;
    for (const std::int64_t id : ref::all_indices(ids.view())) {
      const auto bytes = table->bytes().subspan(static_cast<std::size_t>(id) * stored, stored);
      const auto row = Tensor::borrow(table->dtype(), {width}, bytes, nullptr);
      const auto converted = row ? convert_floats(*row, out.dtype) : row;
      if (!converted) return converted.error();
      std::memcpy(to, converted->bytes().data(), converted->bytes().size());
      to += converted->bytes().size();
    }
    return {};
  }

  Tensor table_;
};

}  // namespace

fast::Clip clip_bounds(const Op& op) {
  const auto bound = [attributes = OpAttributes(op)](AttrKey key) {
    return only_float(*element_of(DType::kFloat32, attributes.number_text(key))).value();
  };
  return {.low = bound(key::kMinVal), .high = bound(key::kMaxVal)};
}

std::unique_ptr<PlanNode> unary_node(const FastStep& step) {
  return std::make_unique<UnaryNode>(step, std::get<fast::Unary>(step.row.function));
}

std::unique_ptr<PlanNode> binary_node(const FastStep& step) {
  return std::make_unique<BinaryNode>(step, std::get<fast::Binary>(step.row.function));
}

std::unique_ptr<PlanNode> clip_node(const FastStep& step) {
  return std::make_unique<ClipNode>(step);
}

std::unique_ptr<PlanNode> embedding_node(const PlannedStep& step, Tensor table) {
  return std::make_unique<EmbeddingNode>(step, std::move(table));
}

}  // namespace mir
