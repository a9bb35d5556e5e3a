#include "mir/ops.hpp"
#include "passes/eliminations.hpp"

namespace mir {

bool eliminate_debug(Module& module, Diagnostics&) {
  IRWriter(module).walk<OpView>([](IRWriter& writer, OpView op) {
    if (op->is_in(DialectId::kDbg) && op->result_count() == 0) writer.removeOp(op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  return true;
}

}  // namespace mir
