// The ops that read parameters, and which element types of a parameter they take.
#pragma once

#include <unordered_map>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// The parameters of a module with everything whose type depends on theirs.
class ParameterUsers {
 public:
  struct Parameter {
    Value* declared = nullptr;       ///< result of the register; null: none
    std::vector<Value*> mentions{};  ///< free values with the symbol, and results of ParamOps
    std::vector<Op*> owners{};       ///< ops that own the parameter by their path
  };

  explicit ParameterUsers(const Module& module);

  /// In the order of the registers.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// Null if no register declares the parameter.
  const Parameter* find(Symbol symbol) const {
    const auto found = parameters_.find(symbol);
    return found == parameters_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<Symbol> symbols_;
  std::unordered_map<Symbol, Parameter> parameters_;
};

/// True if the row of the owner has an attribute for the element type of the results: these are
/// elements of its parameter, and have its type (Float32 if it has blocks).
bool states_element_type(const Op& owner);

/// The type with another element type.
const TensorType* with_dtype(IRContext& context, const TensorType& type, DType dtype);

}  // namespace mir
