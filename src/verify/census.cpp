#include "verify/census.hpp"

#include "verify/report.hpp"

namespace mir::checks {

Census::Census(const Module& module)
    : top_(module.body().entry()),
      graph_(kind_of(module.context(), "graph.SubGraphOp")),
      call_(kind_of(module.context(), "graph.CallGraphOp")),
      fragment_(kind_of(module.context(), "prog.fragment")) {
  const auto has_made = [&](std::string_view name) {
    return module.has_made(kind_of(module.context(), name));
  };
  has_frees = has_made("tensor.free") || has_made("prog.free");
  has_kernels = has_made("prog.kernel_symbol");
}

void Census::enter(const Region& region) {
  has_flow = has_flow || region.entry() != region.last_block();
  if (region.parent()->kind() == graph_) around_.push_back(region.parent());
}

void Census::leave(const Region& region) {
  if (region.parent()->kind() == graph_) around_.pop_back();
}

}  // namespace mir::checks
