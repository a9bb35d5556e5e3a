// Prepares the operands, attributes and results of one evaluated op.
#include "eval/call.hpp"

#include <fmt/format.h>

#include "eval/parameters.hpp"
#include "eval/stand_ins.hpp"
#include "eval/substitute.hpp"
#include "ir/own_symbols.hpp"
#include "ir/told_attributes.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"

namespace mir::eval {

namespace {

const DimBindings kNoBindings;

}  // namespace

IRContext& EvalCall::context() const {
  return op().module().context();
}

Error EvalCall::error(DiagCode code, std::string_view message) const {
  return {code, fmt::format("'{}': {}", op().info().mnemonic, message)};
}

Result<void> EvalCall::prepare() {
  const OpRow* row = op().row();
  if (row == nullptr) return error(diag::kNotExecutable, "no dialect declares it");
  if (operands_.size() != op().operand_count() || !row->operands.admits(operands_.size()) ||
      !row->results.admits(op().result_count())) {
    return error(diag::kWrongArity, fmt::format("{} operands and {} results do not fit it",
                                                operands_.size(), op().result_count()));
  }
  const auto& bindings = environment_.dims != nullptr ? *environment_.dims : kNoBindings;
  for (const NamedAttr& each : op().attributes()) {
    if (has_own_symbols(row, context().text(each.key), *each.value)) {
      bound_attributes_.push_back(each);
      continue;
    }
    const auto value = substitute(context(), each.value, bindings);
    if (!value) return error(value.error().code, value.error().message);
    bound_attributes_.push_back({each.key, *value});
  }
  set_attributes(bound_attributes_);
  return check_attributes();
}

Result<void> EvalCall::infer() {
  const OpRow* row = op().row();
  const auto types = operand_types();
  if (!types) return types.error();
  Diagnostics problems;
  const ToldAttributes told(op().module(), *row, op().path(), attributes());
  auto inferred = mir::infer({.context = context(),
                              .row = *row,
                              .operands = *types,
                              .attributes = told.all(),
                              .result_count = op().result_count(),
                              .device = op().op_name().device},
                             problems);
  if (!inferred) {
    const auto found = problems.sorted();
    if (found.empty()) return error(diag::kShapeMismatch, "operands do not fit it");
    return Error{found.front().code, found.front().message};
  }
  inferred->resize(op().result_count(), nullptr);
  for (std::uint32_t i = 0; i < op().result_count(); ++i) {
    result_types_.push_back(merged((*inferred)[i], op().result(i)->type()));
  }
  results_.resize(op().result_count());
  return {};
}

Result<void> EvalCall::check_attributes() {
  for (const AttrRow& row : op().row()->attributes) {
    const Attr* value = attribute(row.name);
    if (value == nullptr && row.required) {
      return error(diag::kMissingAttribute, fmt::format("attribute '{}' is missing", row.name));
    }
    if (value != nullptr && !admits(row.type, *value)) {
      return error(diag::kAttributeKind,
                   fmt::format("attribute '{}' is {}", row.name, value->spelling()));
    }
  }
  return {};
}

/// Types as concrete as the tensors; what a tensor does not have (device, encoding) is declared.
Result<std::vector<const Type*>> EvalCall::operand_types() const {
  std::vector<const Type*> types;
  std::vector<Dim> dims;
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    const Tensor& tensor = operands_[i];
    const TensorType* declared = op().operand(i)->held_type();
    if (!tensor.defined() || declared == nullptr) {
      return error(diag::kNotATensor, fmt::format("operand {} is no tensor", i));
    }
    dims.clear();
    for (const std::int64_t extent : tensor.shape()) dims.emplace_back(extent);
    types.push_back(context().tensor(dims, context().intern(name_of(tensor.dtype())),
                                     declared->device(), declared->encoding()));
  }
  return types;
}

/// The inferred type with what it leaves open taken from the declared one; null when neither is a
/// tensor.
const TensorType* EvalCall::merged(const Type* inferred, const Type* declared) const {
  const TensorType *type = held_type(inferred), *stated = held_type(declared);
  const auto& bindings = environment_.dims != nullptr ? *environment_.dims : kNoBindings;
  const bool fills = stated != nullptr && (type == nullptr || type->rank() == stated->rank());
  if (type == nullptr) type = stated;
  if (type == nullptr) return nullptr;
  std::vector<Dim> dims(type->dims().begin(), type->dims().end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_constant() || !fills) continue;
    const auto value = context().dims().evaluate(stated->dims()[i], bindings);
    if (value) dims[i] = Dim(*value);
  }
  return context().tensor(dims, type->dtype_name(), type->device(), type->encoding());
}

Result<Shape> EvalCall::result_shape(std::size_t i) const {
  const TensorType* type = result_types_[i];
  Shape shape;
  bool known = type != nullptr && type->dtype().has_value();
  if (known) {
    for (const Dim dim : type->dims()) {
      known = known && dim.is_constant() && dim.constant() >= 0;
      shape.push_back(dim.constant());
    }
  }
  if (known) return shape;
  return error(diag::kResultUnknown, fmt::format("the type of result {} is not known: {}", i,
                                                 type == nullptr ? "no tensor" : type->spelling()));
}

Result<void> EvalCall::allocate_results() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto shape = result_shape(i);
    if (!shape) return std::move(shape).error();
    auto tensor = Tensor::allocate(*result_types_[i]->dtype(), *std::move(shape));
    if (!tensor) return std::move(tensor).error();
    results_[i] = *std::move(tensor);
  }
  return {};
}

ref::View EvalCall::view(const Tensor& tensor) {
  return {tensor.dtype(), tensor.bytes().data(), tensor.shape(),
          keep(ref::row_major_strides(tensor.shape()))};
}

ref::View EvalCall::condition(std::size_t i) {
  ref::View view = in(i);
  if (view.dtype == DType::kInt8) view.dtype = DType::kUInt8;
  return view;
}

ref::MutableView EvalCall::view_to_write(Tensor& tensor) {
  return {tensor.dtype(), tensor.mutable_bytes(), tensor.shape(),
          keep(ref::row_major_strides(tensor.shape()))};
}

bool EvalCall::owns(std::string_view suffix) const {
  return owns_parameter(op(), suffix);
}

const ref::Quantisation* EvalCall::quantisation(const Value& value) const {
  if (environment_.quantisations == nullptr) return nullptr;
  const auto found = environment_.quantisations->values.find(&value);
  return found == environment_.quantisations->values.end() ? nullptr : &found->second;
}

const ref::Quantisation* EvalCall::quantisation(Symbol parameter) const {
  if (environment_.quantisations == nullptr) return nullptr;
  const auto found = environment_.quantisations->parameters.find(parameter);
  return found == environment_.quantisations->parameters.end() ? nullptr : &found->second;
}

void EvalCall::stand_in_for_operands(std::vector<Tensor> operands) {
  has_stand_ins_ = true;
  stand_ins_ = std::move(operands);
  operands_ = stand_ins_;
}

std::optional<DType> EvalCall::result_dtype(std::size_t i) const {
  return result_types_[i] == nullptr ? std::nullopt : result_types_[i]->dtype();
}

void EvalCall::set_result_dtype(std::size_t i, DType dtype) {
  const TensorType& type = *result_types_[i];
  result_types_[i] = context().tensor(type.dims(), context().intern(name_of(dtype)), type.device(),
                                      type.encoding());
}

std::optional<DType> EvalCall::stored_dtype(std::string_view suffix) const {
  if (environment_.parameters == nullptr || !op().has_path()) return std::nullopt;
  const Symbol symbol = context().intern(fmt::format("{}{}", context().text(op().path()), suffix));
  const auto found = environment_.parameters->find(symbol);
  if (found == environment_.parameters->end()) return std::nullopt;
  return found->second.dtype();
}

Result<Tensor> EvalCall::parameter(std::string_view suffix) {
  if (!op().has_path()) {
    return error(diag::kMissingPath, "it owns parameters and has no name to find them by");
  }
  const std::string name = fmt::format("{}{}", context().text(op().path()), suffix);
  if (environment_.parameters != nullptr) {
    const Symbol symbol = context().intern(name);
    const auto found = environment_.parameters->find(symbol);
    if (found != environment_.parameters->end()) {
      return has_stand_ins_ ? stand_in(*this, found->second, quantisation(symbol)) : found->second;
    }
  }
  return error(diag::kParameterMissing, fmt::format("parameter '@{}' has no value", name));
}

Result<Tensor> EvalCall::parameter(std::string_view suffix, Shape shape) {
  auto found = parameter(suffix);
  if (!found) return found;
  auto shaped = found->reshaped(std::move(shape));
  if (shaped) return shaped;
  return error(diag::kParameterSize,
               fmt::format("parameter '@{}{}': {}", context().text(op().path()), suffix,
                           shaped.error().message));
}

}  // namespace mir::eval
