// Refuses modules that dumps and programs cannot express.
#include "upgrade/form_limits.hpp"

#include <fmt/format.h>

#include "ir/block_count.hpp"
#include "ir/version_needs.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/type.hpp"
#include "mir/walk.hpp"
#include "support/counted.hpp"

namespace mir {

bool require_one_block(const Region& region, std::string_view form, LossReport& report,
                       Diagnostics& diagnostics) {
  if (!region.empty() && !region.has_several_blocks()) return true;
  report.refuse(
      *region.parent(), form,
      describe_block_count(region) +
          (region.empty() ? "" : "; dumps and programs have no control flow between blocks"),
      diagnostics);
  return false;
}

bool refuse_several_blocks(const Module& module, std::string_view form, LossReport& report,
                           Diagnostics& diagnostics) {
  bool good = true;
  for_each_region(module, [&](const Region& region) {
    if (region.has_several_blocks()) {
      good = require_one_block(region, form, report, diagnostics) && good;
    }
  });
  return good;
}

void refuse_stored_views(Module& module, std::string_view form, LossReport& report,
                         Diagnostics& diagnostics) {
  walk<RegisterOp>(module, [&](RegisterOp op) {
    for (const AttrKey key : {key::kStored, key::kStoredRows, key::kStoredHeads}) {
      if (op.op()->attribute(key) == nullptr) continue;
      report.refuse(*op.op(), form, "its weights are whole tensors with the names of parameters",
                    diagnostics);
      return;
    }
  });
}

void refuse_added_operands(Module& module, std::string_view form, LossReport& report,
                           Diagnostics& diagnostics) {
  walk(module, [&](Op& op) {
    if (!has_added_operand(op)) return;
    report.refuse(op, form,
                  fmt::format("upstream has no operand {} of '{}'", op.row()->added_operands.first,
                              op.name()),
                  diagnostics);
  });
}

void SymbolicTypes::note(const Op& at, const TensorType& type) {
  if (type.element_count() || count_++ != 0) return;
  first_op_ = &at;
  first_type_ = &type;
}

void SymbolicTypes::refuse(std::string_view form, std::string_view texts, LossReport& report,
                           Diagnostics& diagnostics) const {
  if (count_ == 0) return;
  const bool is_of_inputs = first_op_ == first_op_->module().top();
  report.refuse(
      *first_op_, form,
      fmt::format(
          "{} print the extents of one trace, not {}{}{}", texts, first_type_->spelling(),
          count_ == 1 ? "" : fmt::format(" and those of {}", counted(count_ - 1, "other values")),
          is_of_inputs ? "; bind-symbols sets symbols" : ""),
      diagnostics);
}

}  // namespace mir
