// Collects the parts of a module in one walk, for checks that need only some of them.
#include "verify/census.hpp"

#include "verify/report.hpp"

namespace mir::checks {

Census::Census(const Module& module)
    : has_frees(module.has_made(OpId::kTensorFree) || module.has_made(OpId::kProgFree)),
      top_(module.body().entry()) {}

void Census::enter(const Region& region) {
  has_flow = has_flow || region.has_several_blocks();
  if (is_graph(*region.parent())) around_.push_back(region.parent());
}

void Census::leave(const Region& region) {
  if (is_graph(*region.parent())) around_.pop_back();
}

}  // namespace mir::checks
