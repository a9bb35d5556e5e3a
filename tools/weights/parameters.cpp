// Collects the parameters that modules register, by name.
#include "parameters.hpp"

#include "interp/stored_views.hpp"
#include "mir/ops.hpp"

namespace mir::tools {

std::map<std::string, RegisteredParameter> parameters_of(Module& module) {
  std::map<std::string, RegisteredParameter> all;
  walk<RegisterOp>(module, [&](RegisterOp op) {
    const Value* value = op.value();
    if (value != nullptr && value->has_symbol())
      all.try_emplace(
          std::string(module.context().text(value->symbol())),
          RegisteredParameter{op.op()->span(), value->tensor_type(), stored_view(*op.op())});
  });
  return all;
}

}  // namespace mir::tools
