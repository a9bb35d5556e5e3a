// Copy and Fill: values that ops write into one that is there.
#include <algorithm>
#include <cmath>

#include "eval/attributes.hpp"
#include "kernels/ref/movement.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/owned.hpp"

namespace mir {

namespace {

/// (source, whole): whole with a part replaced.
class CopyIntoNode final : public PlanNode {
 public:
  explicit CopyIntoNode(const PlannedStep& step) : PlanNode(step), op_(*step.op) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &source = frame[operands()[0]], &whole = frame[operands()[1]],
                    &out = frame[results()[0]];
    if (!std::ranges::equal(whole.shape(), out.shape())) {
      return require(false, "the result has other extents than what is copied into");
    }
    const auto part = sliced(op_, out, frame.environment.dims);
    if (!part) return part.error();
    if (part->elements() != source.elements()) {
      return require(false, "the part has another number of elements than the source");
    }
    if (whole.data != out.data) copy_elements(whole, out, frame.context);
    copy_elements(row_major_at(*part, source.data), *part, frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    const bool moves_all = frame[operands()[1]].data != frame[results()[0]].data;
    return {.bytes = 2 * (bytes_of(frame[operands()[0]].type()) +
                          (moves_all ? bytes_of(frame[results()[0]].type()) : 0))};
  }
  std::string name() const override { return short_name(op_); }
  OperandOrder operand_order(std::size_t operand) const override {
    return operand == 0 ? OperandOrder::kRowMajor : OperandOrder::kStrided;
  }
  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t operand) const override { return operand == 1; }

 private:
  const Op& op_;
};

/// Every element the same.
class FillNode final : public PlanNode {
 public:
  FillNode(const PlannedStep& step, Tensor element)
      : PlanNode(step), element_(std::move(element)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef& out = frame[results()[0]];
    TensorRef repeated = out;
    repeated.data = const_cast<std::byte*>(element_.bytes().data());  // a copy only reads it
    repeated.strides.fill(0);
    copy_elements(repeated, out, frame.context);
    return {};
  }
  Work work(const Frame& frame) const override {
    return {.bytes = bytes_of(frame[results()[0]].type())};
  }
  std::string name() const override { return "Fill"; }
  OperandOrder operand_order(std::size_t) const override { return OperandOrder::kStrided; }
  bool writes_strided() const override { return true; }
  bool may_overwrite(std::size_t) const override { return true; }

 private:
  Tensor element_;
};

/// The element that a Fill repeats, as its type stores it; none for other kinds.
std::optional<Tensor> repeated_element(const Op& op, DType dtype) {
  const AttributeReader attributes(op);
  const std::string_view type = attributes.string("type");
  if (type != "zeros" && type != "ones" && type != "specific") return std::nullopt;
  return element_of(type == "zeros" ? 0 : type == "ones" ? 1 : attributes.number("value"), dtype);
}

}  // namespace

std::optional<Tensor> element_of(double number, DType dtype) {
  // What codes mean depends on a scale: reference kernels know it, or that there is none.
  if (info(dtype).type_class == DTypeClass::kQuantised) return std::nullopt;
  auto value = Tensor::allocate(DType::kFloat64, {1});
  auto element = Tensor::allocate(dtype, {1});
  if (!value || !element) return std::nullopt;
  // Zero bytes are 0 in every other type, those that have no conversion included.
  if (number == 0 && !std::signbit(number)) return *std::move(element);
  value->as_mutable<double>()[0] = number;
  const std::int64_t extent = 1, stride = 1;
  const ref::View from{DType::kFloat64, value->bytes().data(), {&extent, 1}, {&stride, 1}};
  const ref::MutableView to{dtype, element->mutable_bytes(), {&extent, 1}, {&stride, 1}};
  if (!ref::cast(from, to)) return std::nullopt;
  return *std::move(element);
}

std::unique_ptr<PlanNode> store_node(const PlannedStep& step, const ParameterTable&) {
  const Op& op = *step.op;
  if (op.result_count() != 1) return nullptr;
  const auto dtype = dtype_of_units(*op.result());
  const bool fits = dtype && std::ranges::all_of(op.operand_uses(), [&](const Use& use) {
                      return dtype_of_units(*use.value()) == dtype;
                    });
  if (!fits) return nullptr;
  if (op.is(OpId::kLinalgCopy)) {
    return op.operand_count() == 2 ? std::make_unique<CopyIntoNode>(step) : nullptr;
  }
  auto element = repeated_element(op, *dtype);
  return element ? std::make_unique<FillNode>(step, *std::move(element)) : nullptr;
}

}  // namespace mir
