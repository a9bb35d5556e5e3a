#include "census.hpp"

#include <algorithm>

#include "report.hpp"

namespace mir::checks {

Census::Census(const Module& module)
    : top_(module.body().entry()),
      graph_(kind_of(module.context(), "graph.SubGraphOp")),
      call_(kind_of(module.context(), "graph.CallGraphOp")),
      free_(kind_of(module.context(), "tensor.free")),
      program_free_(kind_of(module.context(), "prog.free")),
      kernel_(kind_of(module.context(), "prog.kernel_symbol")),
      fragment_(kind_of(module.context(), "prog.fragment")) {}

void Census::enter(const Region& region) {
  has_flow = has_flow || region.entry() != region.last_block();
  if (region.parent()->kind() == graph_) around_.push_back(region.parent());
}

void Census::op(const Op& op) {
  const OpKind kind = op.kind();
  if (kind == graph_) graphs.push_back(&op);
  if (kind == call_) {
    calls.push_back(&op);
    callers.push_back(around_.empty() ? nullptr : around_.back());
  }
  if (kind == fragment_ && op.block() == top_) fragments.push_back(&op);
  has_frees = has_frees || kind == free_ || kind == program_free_;
  has_kernels = has_kernels || kind == kernel_;
  has_flow = has_flow || !op.extra().successors.empty();
  if ((op.row() != nullptr && has(op.row()->traits, Trait::kSymbol)) ||
      std::ranges::any_of(op.results(), &Value::has_symbol)) {
    declarations.push_back(&op);
  }
}

void Census::leave(const Region& region) {
  if (region.parent()->kind() == graph_) around_.pop_back();
}

}  // namespace mir::checks
