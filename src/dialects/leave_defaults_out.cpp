// Removes attributes whose value is the default of their row.
#include "dialects/leave_defaults_out.hpp"

#include "mir/equivalence.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"

namespace mir {

void leave_defaults_out(Module& module) {
  IRContext& context = module.context();
  Rewriter rewriter(module);
  walk<LinalgOp>(module, [&](LinalgOp op) {
    const std::span<const AttrRow> rows =
        op->row() == nullptr ? std::span<const AttrRow>() : op->row()->attributes;
    for (const AttrRow& row : rows) {
      const Symbol key = context.intern(row.name);
      const Attr* stated = op->attribute(key);
      const Attr* otherwise = stated == nullptr ? nullptr : default_value(context, row);
      const bool is_default = otherwise != nullptr && are_same_value(*stated, *otherwise);
      if (is_default) rewriter.remove_attribute(*op.op(), key);
    }
  });
}

}  // namespace mir
