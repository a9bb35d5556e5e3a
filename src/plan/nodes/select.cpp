#include "kernels/fast/select.hpp"

#include <algorithm>

#include "kernels/ref/movement.hpp"
#include "plan/nodes/broadcast.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

namespace {

/// A node that its step's name describes.
class NamedNode : public PlanNode {
 public:
  explicit NamedNode(const PlannedStep& step) : PlanNode(step), name_(short_name(*step.op)) {}
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
  WhereNode(const PlannedStep& step, const Choice& choice) : NamedNode(step), choice_(choice) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &condition = frame[operands()[choice_.condition]],
                    &a = frame[operands()[choice_.a]], &b = frame[operands()[choice_.b]],
                    &out = frame[results()[0]];
    if (!all_broadcast({&condition, &a, &b}, out)) return require(false, kNoBroadcast);
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
    if (!all_broadcast({&a, &b}, out)) return require(false, kNoBroadcast);
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
    return fast::cast(x.dtype, x.data, out.dtype, out.data, x.elements(), frame.context);
  }
};

std::optional<DType> dtype_of(const Value* value) {
  const TensorType* type = value->tensor_type();
  return type == nullptr ? std::nullopt : type->dtype();
}

}  // namespace

std::unique_ptr<PlanNode> select_node(const PlannedStep& step, const ParameterTable&) {
  const Op& op = *step.op;
  if (op.result_count() != 1) return nullptr;
  const auto out = dtype_of(op.result());
  if (op.operand_count() == 3) {
    const Choice& choice = op.is(OpId::kLinalgWhere) ? kWhere : kMaskedScatter;
    const auto condition = dtype_of(op.operand(choice.condition));
    const bool takes =
        (condition == DType::kBool || condition == DType::kUInt8 || condition == DType::kInt8) &&
        out && info(*out).lanes == 1 && dtype_of(op.operand(choice.a)) == out &&
        dtype_of(op.operand(choice.b)) == out;
    return takes ? std::make_unique<WhereNode>(step, choice) : nullptr;
  }
  if (op.is(OpId::kLinalgEqual) && op.operand_count() == 2) {
    const auto a = dtype_of(op.operand(0));
    const bool takes = a && fast::is_comparable(*a) && dtype_of(op.operand(1)) == a &&
                       (out == DType::kBool || out == DType::kUInt8);
    return takes ? std::make_unique<EqualNode>(step) : nullptr;
  }
  if (!op.is(OpId::kLinalgCastType) || op.operand_count() != 1) return nullptr;
  const auto from = dtype_of(op.operand(0));
  const bool casts = from && out && ref::element_cast(*from, *out).ok();
  return casts ? std::make_unique<CastNode>(step) : nullptr;
}

}  // namespace mir
