#include "mir/kernels/fast/select.hpp"

#include <algorithm>

#include "nodes.hpp"
#include "owned.hpp"

namespace mir {

namespace {

constexpr char kNoBroadcast[] = "operands do not broadcast to the result";

bool broadcasts(const TensorRef& from, const TensorRef& out) {
  if (from.rank > out.rank) return false;
  for (int i = 1; i <= from.rank; ++i) {
    if (from.extent(i) != 1 && from.extent(i) != out.extent(i)) return false;
  }
  return true;
}

/// Row-major elements against those of a result that they broadcast to.
fast::BroadcastOperand broadcast(const TensorRef& from, const TensorRef& out) {
  fast::BroadcastOperand operand{.data = from.data};
  std::int64_t step = 1;
  for (int i = 1; i <= from.rank; ++i) {
    const std::int64_t extent = from.extent(i);
    operand.strides[static_cast<std::size_t>(out.rank - i)] = extent == 1 ? 0 : step;
    step *= extent;
  }
  return operand;
}

fast::BroadcastResult result_of(const TensorRef& out) {
  fast::BroadcastResult result{.data = out.data, .rank = out.rank};
  std::ranges::copy(out.shape(), result.extents.begin());
  return result;
}

/// A node that its step's name describes.
class NamedNode : public PlanNode {
 public:
  explicit NamedNode(const StepSlots& slots)
      : PlanNode(slots.step, slots.operands, slots.results), name_(short_name(*slots.op)) {}
  std::string name() const final { return name_; }

 private:
  std::string name_;
};

/// Which operands of an op are the condition and what it chooses from.
struct Choice {
  std::size_t condition, a, b;
};
constexpr Choice kWhere = {0, 1, 2};
constexpr Choice kMaskedScatter = {1, 2, 0};

class WhereNode final : public NamedNode {
 public:
  WhereNode(const StepSlots& slots, const Choice& choice) : NamedNode(slots), choice_(choice) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &condition = frame[operands()[choice_.condition]],
                    &a = frame[operands()[choice_.a]], &b = frame[operands()[choice_.b]],
                    &out = frame[results()[0]];
    const bool fits = broadcasts(condition, out) && broadcasts(a, out) && broadcasts(b, out);
    if (!fits) return require(false, kNoBroadcast);
    fast::select(info(out.dtype).unit_bytes, broadcast(condition, out), broadcast(a, out),
                 broadcast(b, out), result_of(out), frame.context);
    return {};
  }

 private:
  const Choice& choice_;
};

class EqualNode final : public NamedNode {
 public:
  using NamedNode::NamedNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &a = frame[operands()[0]], &b = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!broadcasts(a, out) || !broadcasts(b, out)) return require(false, kNoBroadcast);
    fast::equal(a.dtype, broadcast(a, out), broadcast(b, out), result_of(out), frame.context);
    return {};
  }
};

class CastNode final : public NamedNode {
 public:
  using NamedNode::NamedNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    if (x.elements() != out.elements()) return require(false, "extents differ");
    fast::cast(x.dtype, x.data, out.dtype, out.data, x.elements(), frame.context);
    return {};
  }
};

std::optional<DType> dtype_of(const Value* value) {
  const TensorType* type = value->tensor_type();
  return type == nullptr ? std::nullopt : type->dtype();
}

bool is_number_or_bool(std::optional<DType> dtype) {
  if (!dtype) return false;
  const DTypeClass of = info(*dtype).type_class;
  return info(*dtype).lanes == 1 && (of == DTypeClass::kFloat || of == DTypeClass::kSignedInt ||
                                     of == DTypeClass::kUnsignedInt || of == DTypeClass::kBool);
}

}  // namespace

std::unique_ptr<PlanNode> select_node(const StepSlots& slots, const ParameterTable&) {
  const Op& op = *slots.op;
  if (op.result_count() != 1) return nullptr;
  const auto out = dtype_of(op.result());
  if (op.operand_count() == 3) {
    const Choice& choice = op.is("linalg.WhereOp") ? kWhere : kMaskedScatter;
    const auto condition = dtype_of(op.operand(choice.condition));
    const bool takes =
        (condition == DType::kBool || condition == DType::kUInt8 || condition == DType::kInt8) &&
        out && info(*out).lanes == 1 && dtype_of(op.operand(choice.a)) == out &&
        dtype_of(op.operand(choice.b)) == out;
    return takes ? std::make_unique<WhereNode>(slots, choice) : nullptr;
  }
  if (op.is("linalg.EqualOp") && op.operand_count() == 2) {
    const auto a = dtype_of(op.operand(0));
    const bool takes = a && fast::is_comparable(*a) && dtype_of(op.operand(1)) == a &&
                       (out == DType::kBool || out == DType::kUInt8);
    return takes ? std::make_unique<EqualNode>(slots) : nullptr;
  }
  const bool casts = op.is("linalg.CastTypeOp") && op.operand_count() == 1 &&
                     is_number_or_bool(dtype_of(op.operand(0))) && is_number_or_bool(out);
  return casts ? std::make_unique<CastNode>(slots) : nullptr;
}

}  // namespace mir
