// What makers of nodes ask of ops: the parameters that one owns, as tensors, and which values and
// parameters float kernels take.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"

namespace mir {

/// The symbol of the op's parameter of this suffix; the empty one when it has none.
inline Symbol owned_symbol(const Op& op, std::string_view suffix) {
  for (const OwnedParameter& owned : owned_parameters(op)) {
    if (owned.suffix == suffix) return owned.symbol;
  }
  return {};
}

/// Null when the op owns no parameter of this suffix or the table does not have it.
inline const Tensor* owned_tensor(const Op& op, std::string_view suffix,
                                  const ParameterTable& parameters) {
  if (!owns_parameter(op, suffix)) return nullptr;
  for (const OwnedParameter& owned : owned_parameters(op)) {
    if (owned.suffix != suffix) continue;
    const auto found = parameters.find(owned.symbol);
    return found == parameters.end() ? nullptr : &found->second;
  }
  return nullptr;
}

/// "Softmax" of "SoftmaxOp".
inline std::string short_name(const Op& op) {
  const std::string_view mnemonic = op.info().mnemonic;
  return std::string(mnemonic.substr(0, mnemonic.size() - 2));
}

/// The type of a tensor whose elements are units of storage; none for packed and unknown ones.
inline std::optional<DType> dtype_of_units(const Value& value) {
  const TensorType* type = value.tensor_type();
  const bool known = type != nullptr && type->dtype() && info(*type->dtype()).lanes == 1;
  return known ? type->dtype() : std::nullopt;
}

/// Whether it is a tensor of Float32.
inline bool is_float32(const Value* value) {
  const TensorType* type = value->tensor_type();
  return type != nullptr && type->dtype() == DType::kFloat32;
}
/// Whether it is there, in Float32.
inline bool is_float32(const Tensor* parameter) {
  return parameter != nullptr && parameter->dtype() == DType::kFloat32;
}

}  // namespace mir
