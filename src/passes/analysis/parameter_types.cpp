// Collects the types of parameters by symbol.
#include "passes/analysis/parameter_types.hpp"

#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

ParameterTypes::ParameterTypes(const Module& module) {
  if (!module.declares_values()) return;
  for_each_op(module, [&](const Op& op) {
    const Value* value = isa<RegisterOp>(&op) && op.result_count() == 1 ? op.result() : nullptr;
    if (value == nullptr || value->tensor_type() == nullptr || !value->attributes().empty()) return;
    types_.emplace(value->symbol(), value->tensor_type());
  });
}

}  // namespace mir
