#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"

namespace mir {

PassResult eliminate_debug(PassRun& run) {
  IRWriter(run.module()).walk<OpView>([&](IRWriter& writer, OpView op) {
    if (op->is_in(DialectId::kDbg) && op->result_count() == 0) {
      writer.removeOp(op.op());
      run.count("ops removed");
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  return run.result();
}

}  // namespace mir
