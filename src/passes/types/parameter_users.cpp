// Collects the users whose types depend on a parameter.
#include "passes/types/parameter_users.hpp"

#include <algorithm>

#include "dialects/parameters.hpp"
#include "eval/parameters.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

ParameterUsers::ParameterUsers(const Module& module) {
  for_each_op(module, [&](const Op& op) {
    Value* value = isa<RegisterOp>(&op) && op.result_count() == 1 ? op.result() : nullptr;
    if (value == nullptr || value->tensor_type() == nullptr) return;
    if (parameters_.try_emplace(value->symbol(), Parameter{.declared = value}).second) {
      symbols_.push_back(value->symbol());
    }
  });
  const auto mention = [&](Symbol symbol, Value& value) {
    const auto found = parameters_.find(symbol);
    if (found != parameters_.end()) found->second.mentions.push_back(&value);
  };
  for_each_region(module, [&](const Region& region) {
    for (Value* value : region.free_values()) {
      if (value->has_symbol()) mention(value->symbol(), *value);
    }
  });
  for_each_op(module, [&](Op& op) {
    const auto named = named_parameter(op);
    if (named && op.result_count() == 1) mention(*named, *op.result());
    for (const OwnedParameter& owned : owned_parameters(op)) {
      const auto found = parameters_.find(owned.symbol);
      if (found != parameters_.end()) found->second.owners.push_back(&op);
    }
  });
}

bool states_element_type(const Op& owner) {
  if (owner.row() == nullptr) return false;
  return std::ranges::find(owner.row()->attributes, AttrType::kDType, &AttrRow::type) !=
         owner.row()->attributes.end();
}

const TensorType* with_dtype(IRContext& context, const TensorType& type, DType dtype) {
  return context.tensor(type.dims(), context.intern(name_of(dtype)), type.device(),
                        type.encoding());
}

}  // namespace mir
