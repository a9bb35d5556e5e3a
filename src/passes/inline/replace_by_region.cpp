// Replaces an op by the contents of its region.
#include "passes/inline/replace_by_region.hpp"

#include <unordered_set>
#include <vector>

#include "ir/rewrite/carried_scales.hpp"

namespace mir {

void replace_by_region(Rewriter& rewriter, Op& op, Region& region,
                       std::span<Value* const> arguments, std::uint32_t first) {
  const Op& end = *region.entry()->terminator();
  std::unordered_set<const Value*> named;  // a value that is passed twice keeps its first name
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    Value& passed = *end.operand(first + i);
    const Op* definition = passed.defining_op();
    const bool is_inside = definition != nullptr && definition->parent_region() == &region;
    if (is_inside && named.insert(&passed).second) {
      rewriter.set_name(passed, op.result(i)->name());
    }
  }
  const std::vector<Value*> passed = rewriter.inline_region(region, op, arguments);
  for (const Value& result : op.results()) {
    carry_scales(rewriter, result, *passed[first + result.index()]);
  }
  rewriter.replace(op, std::span(passed).subspan(first, op.result_count()));
}

}  // namespace mir
