// Facts about ops that makers of nodes need: parameters as tensors, names, element types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"

namespace mir {

/// Returns the symbol of the op's parameter of this suffix, or the empty symbol.
inline Symbol owned_symbol(const Op& op, std::string_view suffix) {
  for (const OwnedParameter& owned : owned_parameters(op)) {
    if (owned.suffix == suffix) return owned.symbol;
  }
  return {};
}

/// Returns null if the op owns no parameter of this suffix or the table does not have it.
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

/// The element type of a tensor; no value where it is not known.
inline std::optional<DType> dtype_of(const Value& value) {
  const TensorType* type = value.held_type();
  return type == nullptr ? std::nullopt : type->dtype();
}

/// The number of dimensions of a tensor; 0 for other values.
inline std::size_t rank_of(const Value& value) {
  const TensorType* type = value.held_type();
  return type == nullptr ? 0 : type->rank();
}

}  // namespace mir
