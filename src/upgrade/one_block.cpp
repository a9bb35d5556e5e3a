// Refuses regions of several blocks where a form has no control flow.
#include "upgrade/one_block.hpp"

#include "ir/block_count.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

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

}  // namespace mir
