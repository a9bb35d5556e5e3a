// Replaces extents of -1 by unknown ones.
#include <algorithm>
#include <vector>

#include "mir/walk.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

/// Upstream prints an extent that it does not know as -1.
void settle_extents(Recovery& recovery) {
  Module& module = recovery.module;
  const auto settled = [&](const Type* type) -> const Type* {
    const auto* tensor = type == nullptr ? nullptr : dyn_cast<TensorType>(type);
    if (tensor == nullptr) return type;
    std::vector<Dim> extents(tensor->dims().begin(), tensor->dims().end());
    if (std::ranges::none_of(extents, &Dim::is_negative)) return type;
    std::ranges::replace_if(extents, &Dim::is_negative, Dim::unknown());
    return recovery.context().tensor(extents, tensor->dtype_name(), tensor->device(),
                                     tensor->encoding());
  };
  for_each_value(module, [&](Value& value, Op& at) {
    const Type* type = settled(value.type());
    if (type == value.type()) return;
    recovery.note(at, LossEntry::Source::kDerived, "unknown extent", std::string(type->spelling()));
    recovery.rewriter.set_type(value, type);
  });
  for_each_region(module, [&](Region& region) {
    edit_results(recovery.rewriter, region,
                 [&](RegionResult& result) { result.type = settled(result.type); });
  });
}

}  // namespace mir
