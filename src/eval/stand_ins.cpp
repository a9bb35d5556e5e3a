// Converts tensors of unsupported types to stand-ins that kernels take, and results back.
#include "eval/stand_ins.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "eval/parameters.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/mxfp4.hpp"
#include "kernels/ref/quantise.hpp"
#include "mir/codes/kernels.hpp"
#include "mir/codes/quantisation.hpp"
#include "mir/module.hpp"
#include "weights/blocks.hpp"

namespace mir::eval {

namespace {

using enum DTypeClass;

bool is_nibble(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kUInt4;
}

bool is_floating(DType dtype) {
  return info(dtype).type_class == kFloat;
}

/// True if no computing kernel takes the type.
bool is_foreign(DType dtype) {
  const DTypeClass found = info(dtype).type_class;
  return found == kQuantised || found == kBlock || is_nibble(dtype);
}

Result<Tensor> converted(EvalCall& call, const Tensor& tensor, DType to) {
  if (tensor.dtype() == to) return tensor;
  auto out = Tensor::allocate(to, tensor.shape());
  if (!out) return out;
  const auto done = ref::cast(call.view(tensor), call.view_to_write(*out));
  return done ? std::move(out) : Result<Tensor>(done.error());
}

/// Returns the bytes as another type of the same size.
Result<Tensor> as_type(const Tensor& tensor, DType dtype) {
  return Tensor::borrow(dtype, tensor.shape(), tensor.bytes(), std::make_shared<Tensor>(tensor));
}

Result<Tensor> decoded(EvalCall& call, const Tensor& blocks) {
  if (blocks.dtype() != DType::kMXFP4) {
    const auto values =
        is_decodable_block(blocks.dtype())
            ? dequantise(blocks)
            : Result<Tensor>(call.error(diag::kKernelDType, fmt::format("no kernel reads '{}'",
                                                                        name_of(blocks.dtype()))));
    return values ? converted(call, *values, DType::kFloat64) : values;
  }
  auto out = Tensor::allocate(DType::kFloat64, blocks.shape());
  if (out) ref::decode_mxfp4(blocks.bytes(), out->as_mutable<double>());
  return out;
}

Result<Tensor> dequantised(EvalCall& call, const Tensor& codes, const ref::Quantisation& by) {
  auto out = Tensor::allocate(DType::kFloat64, codes.shape());
  if (!out) return out;
  const auto done = ref::dequantise(call.view(codes), by, call.view_to_write(*out));
  return done ? std::move(out) : Result<Tensor>(done.error());
}

/// Int8 or UInt8 elements with their low four bits alone, sign-extended for Int4.
Result<Tensor> nibbles(EvalCall& call, const Tensor& stand, DType to) {
  const bool is_signed = to == DType::kInt4;
  const bool rounds = is_floating(stand.dtype());
  // Toward zero and to the nearest end, as for every integer; integers wrap.
  auto whole = converted(call, stand, rounds ? DType::kInt64 : DType::kInt8);
  auto out = Tensor::allocate(to, stand.shape());
  if (!whole || !out) return whole ? out : whole;
  const auto into = out->as_mutable<std::int8_t>();
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::int64_t value =
        rounds ? std::clamp<std::int64_t>(whole->as<std::int64_t>()[i], is_signed ? -8 : 0,
                                          is_signed ? 7 : 15)
               : whole->as<std::int8_t>()[i];
    const auto low = static_cast<std::int8_t>(value & 15);
    into[i] = static_cast<std::int8_t>(is_signed && low >= 8 ? low - 16 : low);
  }
  return out;
}

Result<Tensor> encoded(EvalCall& call, const Tensor& stand) {
  const auto real = converted(call, stand, DType::kFloat64);
  auto out = Tensor::allocate(DType::kMXFP4, stand.shape());
  if (!real || !out) return real ? out : real;
  ref::encode_mxfp4(real->as<double>(), {out->mutable_bytes(), out->bytes().size()});
  return out;
}

Result<Tensor> quantised(EvalCall& call, const Tensor& stand, DType to,
                         const ref::Quantisation& by) {
  const auto real = converted(call, stand, DType::kFloat64);
  auto out = Tensor::allocate(to, stand.shape());
  if (!real || !out) return real ? out : real;
  const auto done = ref::quantise(call.view(*real), by, call.view_to_write(*out));
  return done ? std::move(out) : Result<Tensor>(done.error());
}

/// The element type of the stand-in of a result whose rule gives `dtype`.
DType standing_for(DType dtype, bool is_quantised) {
  if (is_quantised) return DType::kFloat64;
  if (is_nibble(dtype)) return dtype == DType::kInt4 ? DType::kInt8 : DType::kUInt8;
  return is_foreign(dtype) || is_floating(dtype) ? DType::kFloat64 : dtype;
}

/// Returns the declared element type of result i; no value if none is declared.
std::optional<DType> declared_dtype(const EvalCall& call, std::uint32_t i) {
  const TensorType* declared = call.op().result(i)->held_type();
  return declared == nullptr ? std::nullopt : declared->dtype();
}

Result<Tensor> finished(EvalCall& call, const Tensor& stand, std::uint32_t i, DType to) {
  if (const auto* by = call.quantisation(*call.op().result(i))) {
    return quantised(call, stand, to, *by);
  }
  if (info(to).type_class == kQuantised) {
    return call.error(diag::kScaleMissing, fmt::format("result {} has no scale", i));
  }
  // Any kernels refuse such results so.
  if (const auto bytes = tensor_bytes(to, stand.shape()); !bytes) return bytes.error();
  if (to == DType::kMXFP4) return encoded(call, stand);
  if (is_encodable_block(to)) {
    const auto singles = converted(call, stand, DType::kFloat32);
    return singles ? quantise(*singles, to) : singles;
  }
  if (is_nibble(to)) return nibbles(call, stand, to);
  return converted(call, stand, to);
}

bool is_one_for_all(const ref::Quantisation& by) {
  return !by.axis && by.block == 0;
}

}  // namespace

bool needs_stand_ins(const EvalCall& call) {
  const Op& op = call.op();
  bool needed = false, has_blocks = false;
  const auto look = [&](const Value& value, DType dtype) {
    needed = needed || is_foreign(dtype) || call.quantisation(value) != nullptr;
    has_blocks = has_blocks || info(dtype).type_class == kBlock;
  };
  for (std::uint32_t i = 0; i < call.operand_count(); ++i) {
    if (call.operand(i).defined()) look(*op.operand(i), call.operand(i).dtype());
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    if (const auto dtype = declared_dtype(call, i)) look(*op.result(i), *dtype);
    if (const auto dtype = call.result_dtype(i)) look(*op.result(i), *dtype);
  }
  if (call.op().has(Trait::kMoves)) {
    const auto* quantisations = call.environment().quantisations;
    const QuantisationTable none;
    return needed && !has_blocks && !keeps_codes(op, quantisations ? *quantisations : none);
  }
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const auto* parameters = call.environment().parameters;
    const auto found =
        parameters == nullptr ? ParameterTable::const_iterator() : parameters->find(owned.symbol);
    if (parameters == nullptr || found == parameters->end()) continue;
    needed =
        needed || is_foreign(found->second.dtype()) || call.quantisation(owned.symbol) != nullptr;
  }
  return needed;
}

Result<Tensor> stand_in(EvalCall& call, const Tensor& tensor,
                        const ref::Quantisation* quantisation) {
  if (quantisation != nullptr) return dequantised(call, tensor, *quantisation);
  const DTypeClass found = info(tensor.dtype()).type_class;
  if (found == kQuantised) {
    return call.error(diag::kScaleMissing,
                      fmt::format("codes of type '{}' have no scale", name_of(tensor.dtype())));
  }
  if (found == kBlock) return decoded(call, tensor);
  if (is_nibble(tensor.dtype())) return as_type(tensor, standing_for(tensor.dtype(), false));
  return found == kFloat ? converted(call, tensor, DType::kFloat64) : Result<Tensor>(tensor);
}

namespace {

/// Puts stand-ins in place of the operands; the element types of those that hold codes.
Result<std::vector<DType>> replace_operands(EvalCall& call) {
  std::vector<Tensor> operands;
  std::vector<DType> quantised_types;
  for (std::uint32_t i = 0; i < call.operand_count(); ++i) {
    const auto* by = call.quantisation(*call.op().operand(i));
    if (by != nullptr) quantised_types.push_back(call.operand(i).dtype());
    auto stand = stand_in(call, call.operand(i), by);
    if (!stand) return std::move(stand).error();
    operands.push_back(*std::move(stand));
  }
  call.stand_in_for_operands(std::move(operands));
  return quantised_types;
}

/// Gives results the types of their stand-ins; returns those that they have at the end.
std::vector<DType> replace_result_types(EvalCall& call, std::span<const DType> quantised_types) {
  std::vector<DType> types(call.op().result_count());
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const auto inferred = call.result_dtype(i);
    if (!inferred) continue;
    // Integers that the rule takes from a quantised operand are codes as well.
    const bool codes = call.quantisation(*call.op().result(i)) != nullptr ||
                       std::ranges::find(quantised_types, *inferred) != quantised_types.end();
    const bool real = codes || is_foreign(*inferred) || is_floating(*inferred);
    types[i] = real ? declared_dtype(call, i).value_or(*inferred) : *inferred;
    call.set_result_dtype(i, standing_for(*inferred, codes));
  }
  return types;
}

}  // namespace

Result<void> evaluate_on_stand_ins(EvalCall& call, Result<void> (*evaluate)(EvalCall& call)) {
  if (call.op().is(OpId::kLinalgKVCache)) {
    return call.error(diag::kQuantisationConflict,
                      "keys and values are cached as codes, operands and results must be "
                      "quantised alike");
  }
  const auto quantised_types = replace_operands(call);
  if (!quantised_types) return quantised_types.error();
  std::vector<DType> types = replace_result_types(call, *quantised_types);
  if (call.op().is(OpId::kLinalgCastType)) {
    // The conversion is that from the stand-in to the result's own type.
    call.result() = call.operand(0);
    types[0] = declared_dtype(call, 0).value_or(types[0]);
  } else {
    if (auto ok = call.allocate_results(); !ok) return ok;
    if (auto ok = evaluate(call); !ok) return ok;
  }
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    auto result = finished(call, call.result(i), i, types[i]);
    if (!result) return std::move(result).error();
    call.result(i) = *std::move(result);
  }
  return {};
}

}  // namespace mir::eval

namespace mir {

namespace {

const ref::Quantisation* find_value(const QuantisationTable& quantisations, const Value& value) {
  const auto found = quantisations.values.find(&value);
  return found == quantisations.values.end() ? nullptr : &found->second;
}

}  // namespace

bool touches_codes(const Op& op, const QuantisationTable& quantisations) {
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    if (find_value(quantisations, *op.operand(i)) != nullptr) return true;
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    if (find_value(quantisations, *op.result(i)) != nullptr) return true;
  }
  return std::ranges::any_of(owned_parameters(op), [&](const OwnedParameter& owned) {
    return quantisations.parameters.contains(owned.symbol);
  });
}

bool keeps_codes(const Op& op, const QuantisationTable& quantisations) {
  const ref::Quantisation* first = nullptr;
  bool is_first = true, same = true;
  const auto look = [&](const Value& value) {
    const ref::Quantisation* by = find_value(quantisations, value);
    const TensorType* type = value.held_type();
    const auto dtype = type == nullptr ? std::nullopt : type->dtype();
    // Indices and the like are no elements that move.
    if (by == nullptr && dtype && !eval::is_foreign(*dtype) && !eval::is_floating(*dtype)) return;
    if (is_first) first = by;
    is_first = false;
    same = same && (by == nullptr) == (first == nullptr) &&
           (by == nullptr || (*by == *first && eval::is_one_for_all(*by)));
  };
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) look(*op.operand(i));
  for (std::uint32_t i = 0; i < op.result_count(); ++i) look(*op.result(i));
  return same;
}

}  // namespace mir
