// Turns owned weights of ops into operands, and builds the ops that replace the owner.
#include "passes/weights/separation.hpp"

#include <algorithm>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "mir/op_attributes.hpp"
#include "passes/sink/op_motion.hpp"

namespace mir {

namespace {

bool is_single(const TensorType* type) {
  return type != nullptr && type->dtype() == DType::kFloat32 && type->encoding() == nullptr;
}

/// True if the extents of the parameter are those that the op computes with, as far as its types
/// and attributes tell them. Verification compares numbers of elements: dumps flatten parameters.
bool has_its_extents(const Op& op, std::string_view suffix, const TensorType& type) {
  const OpRow& row = *op.row();
  const auto weight = std::ranges::find(row.weights, suffix, &WeightRow::suffix);
  if (weight == row.weights.end()) return true;
  const std::vector<const Type*> operands = operand_types(op);
  const auto expected = parameter_dims({.context = op.module().context(),
                                        .row = row,
                                        .operands = operands,
                                        .attributes = op.attributes(),
                                        .result_count = op.result_count()},
                                       *weight, op.result()->tensor_type());
  return !expected ||
         std::ranges::equal(*expected, type.dims(), [](Dim a, Dim b) { return compatible(a, b); });
}

}  // namespace

std::optional<SeparationPlan> weights_of(const Op& op, const ParameterTypes& parameters,
                                         DType dtype) {
  SeparationPlan plan;
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const TensorType* type = parameters.find(owned.symbol);
    if (type == nullptr || type->dtype() != dtype || type->encoding() != nullptr ||
        !has_its_extents(op, owned.suffix, *type)) {
      return std::nullopt;
    }
    (owned.suffix == ".bias" ? plan.bias : plan.weight) = {type, owned.symbol};
  }
  if (plan.weight.type == nullptr && plan.bias.type == nullptr) return std::nullopt;
  return plan;
}

std::string_view why_not_single(const Op& op) {
  if (const auto why = why_fixed(op); !why.empty()) return why;
  const bool are_single = is_single(op.operand(0)->tensor_type()) && op.operand_count() == 1 &&
                          is_single(op.result()->tensor_type());
  if (!are_single) return "the operand and the result are not Float32";
  const OpAttributes attributes(op);
  const Attr* impl = attributes.attribute(key::kImplType);
  return impl != nullptr && impl->text() != "Default" ? "the weight has its own layout" : "";
}

SeparatedOps::SeparatedOps(Rewriter& rewriter, Op& root)
    : rewriter_(rewriter), root_(root), context_(rewriter.context()) {
  rewriter_.set_insertion_point(root);
}

Value* SeparatedOps::parameter(const OwnedWeight& owned) {
  return rewriter_.constant(*root_.parent_region(),
                            {.type = owned.type, .symbol = owned.symbol, .has_symbol = true});
}

Value* SeparatedOps::make(OpId kind, std::vector<Value*> operands, const Type* type,
                          std::vector<NamedAttr> attributes) {
  const Op* op = rewriter_.create({.name = context_.op_name(kind, root_.op_name().device),
                                   .operands = operands,
                                   .result_types = std::span(&type, 1),
                                   .attributes = attributes});
  return op->result();
}

Value* SeparatedOps::view(Value* x, std::span<const Dim> dims) {
  return make(OpId::kLinalgView, {x}, type_like(*x, dims), {{key::kToShape, list(dims)}});
}

Value* SeparatedOps::permute(Value* x, std::span<const std::int64_t> axes) {
  std::vector<Dim> dims, order;
  for (const std::int64_t axis : axes) {
    dims.push_back(x->tensor_type()->dims()[static_cast<std::size_t>(axis)]);
    order.emplace_back(axis);
  }
  return make(OpId::kLinalgPermute, {x}, type_like(*x, dims), {{key::kAxis, list(order)}});
}

Value* SeparatedOps::product(Value* x, Value* weight, const Type* type) {
  return make(OpId::kLinalgMatMul, {x, weight}, type, {{key::kTransposeB, context_.boolean(true)}});
}

Value* SeparatedOps::biased(Value* x, const OwnedWeight& bias) {
  if (bias.type == nullptr) return x;
  return make(OpId::kLinalgAdd, {x, parameter(bias)}, x->type());
}

const Type* SeparatedOps::type_like(const Value& x, std::span<const Dim> dims) {
  const TensorType& type = *x.tensor_type();
  return context_.tensor(dims, type.dtype_name(), type.device());
}

const Attr* SeparatedOps::list(std::span<const Dim> dims) {
  std::vector<const Attr*> elements;
  for (const Dim dim : dims) {
    elements.push_back(dim.is_constant() ? context_.integer(dim.constant()) : context_.dim(dim));
  }
  return context_.array(elements);
}

}  // namespace mir
