// The parameters that a module declares.
#pragma once

#include <string_view>
#include <unordered_map>

#include "mir/module.hpp"

namespace mir {

/// The types of parameters by their symbols. Parameters with attributes, such as scales of codes,
/// are left out.
class ParameterTypes {
 public:
  static constexpr std::string_view kAnalysisName = "parameter types";

  explicit ParameterTypes(const Module& module);

  /// Null if no register declares the parameter.
  const TensorType* find(Symbol symbol) const {
    const auto found = types_.find(symbol);
    return found == types_.end() ? nullptr : found->second;
  }

  friend bool operator==(const ParameterTypes&, const ParameterTypes&) = default;

 private:
  std::unordered_map<Symbol, const TensorType*> types_;
};

}  // namespace mir
