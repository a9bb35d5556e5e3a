// The parameters that modules register.
#pragma once

#include <map>
#include <string>

#include "mir/module.hpp"
#include "mir/weights.hpp"

namespace mir::tools {

struct RegisteredParameter {
  Span place;
  const TensorType* type = nullptr;  ///< null: not a tensor
  StoredView stored = {};            ///< borrows texts of the module's context
};

/// Returns the parameters by name. If several registers have one symbol, the first counts.
std::map<std::string, RegisteredParameter> parameters_of(Module& module);

}  // namespace mir::tools
