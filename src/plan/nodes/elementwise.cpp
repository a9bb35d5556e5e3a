#include "kernels/fast/elementwise.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "eval/attributes.hpp"
#include "ir/op_table.hpp"
#include "kernels/ref/gather.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/numeric.hpp"
#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

namespace {

struct BinaryRow {
  OpId op;
  fast::Binary function;
};
constexpr BinaryRow kBinaries[] = {
    {OpId::kLinalgAdd, fast::Binary::kAdd},
    {OpId::kLinalgDiv, fast::Binary::kDiv},
    {OpId::kLinalgMul, fast::Binary::kMul},
    {OpId::kLinalgSub, fast::Binary::kSub},
};

constexpr OpTable kBinaryTable(kBinaries);

struct UnaryRow {
  OpId op;
  fast::Unary function;
};
constexpr UnaryRow kUnaries[] = {
    {OpId::kLinalgAbs, fast::Unary::kAbs},
    {OpId::kLinalgCos, fast::Unary::kCos},
    {OpId::kLinalgExp, fast::Unary::kExp},
    {OpId::kLinalgGELU, fast::Unary::kGelu},
    {OpId::kLinalgLog, fast::Unary::kLog},
    {OpId::kLinalgNeg, fast::Unary::kNeg},
    {OpId::kLinalgQuickGELU, fast::Unary::kQuickGelu},
    {OpId::kLinalgReLU, fast::Unary::kRelu},
    {OpId::kLinalgSiLU, fast::Unary::kSilu},
    {OpId::kLinalgSigmoid, fast::Unary::kSigmoid},
    {OpId::kLinalgSin, fast::Unary::kSin},
};
constexpr OpTable kUnaryTable(kUnaries);

class UnaryNode final : public PlanNode {
 public:
  UnaryNode(const PlannedStep& step, fast::Unary function)
      : PlanNode(step), op_(*step.op), function_(function) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    fast::unary(function_, x.floats(), out.floats(), x.elements(), frame.context);
    return {};
  }
  std::string name() const override { return short_name(op_); }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  const Op& op_;
  fast::Unary function_;
};

class ClipNode final : public PlanNode {
 public:
  explicit ClipNode(const PlannedStep& step) : PlanNode(step) {
    const AttributeReader attributes(*step.op);
    low_ = ref::narrow_to_float(attributes.number("min_val"));
    high_ = ref::narrow_to_float(attributes.number("max_val"));
  }

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    fast::clip(x.floats(), low_, high_, out.floats(), x.elements(), frame.context);
    return {};
  }
  std::string name() const override { return "Clip"; }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  float low_ = 0, high_ = 0;
};

class BinaryNode final : public PlanNode {
 public:
  BinaryNode(const PlannedStep& step, fast::Binary function)
      : PlanNode(step), op_(*step.op), function_(function) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands()[0]], &b = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!all_broadcast({&a, &b}, out)) return require(false, kNoBroadcast);
    fast::binary(function_, broadcast(a, out), broadcast(b, out), result_of(out), frame.context);
    return {};
  }
  std::string name() const override { return short_name(op_); }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  const Op& op_;
  fast::Binary function_;
};

class EmbeddingNode final : public PlanNode {
 public:
  EmbeddingNode(const PlannedStep& step, Tensor table) : PlanNode(step), table_(std::move(table)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &ids = frame[operands()[0]], &out = frame[results()[0]];
    const std::int64_t width = out.rank == 0 ? 0 : out.extent(1);
    if (width <= 0) return require(width == 0, "the result has no dimension");
    if (ids.dtype == DType::kInt64 && take<std::int64_t>(ids, out, width)) return {};
    if (ids.dtype == DType::kInt32 && take<std::int32_t>(ids, out, width)) return {};
    const std::int64_t extents[] = {table_.elements() / width, width};
    const std::int64_t strides[] = {width, 1};
    return ref::embedding(ids.view(), {table_.dtype(), table_.bytes().data(), extents, strides},
                          out.mutable_view());
  }
  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    work.bytes += bytes_of(frame[results()[0]].type());  // the rows of the table
    return work;
  }
  std::string name() const override { return "Embedding"; }

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

  Tensor table_;
};

bool all_floats(const Op& op) {
  const auto is_float = [](const Value& value) {
    const TensorType* type = value.tensor_type();
    return type != nullptr && type->dtype() == DType::kFloat32;
  };
  return std::ranges::all_of(op.operand_uses(),
                             [&](const Use& use) { return is_float(*use.value()); }) &&
         std::ranges::all_of(op.results(), is_float);
}

}  // namespace

std::optional<fast::Unary> unary_of(const Op& op) {
  const UnaryRow* row = kUnaryTable.find(op);
  return row == nullptr ? std::nullopt : std::optional(row->function);
}

bool is_elementwise(OpId op) {
  return kUnaryTable.has(op) || kBinaryTable.has(op) || op == OpId::kLinalgClip;
}

std::unique_ptr<PlanNode> elementwise_node(const PlannedStep& step) {
  const Op& op = *step.op;
  if (!all_floats(op) || op.result_count() != 1) return nullptr;
  const BinaryRow* binary = kBinaryTable.find(op);
  if (binary != nullptr && op.operand_count() == 2) {
    return std::make_unique<BinaryNode>(step, binary->function);
  }
  if (op.is(OpId::kLinalgClip)) return std::make_unique<ClipNode>(step);
  const auto function = unary_of(op);
  if (!function || op.operand_count() != 1) return nullptr;
  return std::make_unique<UnaryNode>(step, *function);
}

std::unique_ptr<PlanNode> embedding_node(const PlannedStep& step,
                                         const ParameterTable& parameters) {
  const Op& op = *step.op;
  const Tensor* table = owned_tensor(op, ".weight", parameters);
  const TensorType* type = op.result()->tensor_type();
  const bool moves = table != nullptr && type != nullptr && type->dtype() == table->dtype();
  return moves ? std::make_unique<EmbeddingNode>(step, *table) : nullptr;
}

}  // namespace mir
