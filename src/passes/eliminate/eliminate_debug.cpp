// Erases ops of the dbg dialect.
#include "mir/ops.hpp"
#include "passes/eliminate/eliminations.hpp"

namespace mir {

PassResult eliminate_debug(PassRun& run) {
  Rewriter rewriter(run.module());
  walk(run.module(), [&](Op& op) {
    if (op.is_in(DialectId::kDbg) && op.result_count() == 0) {
      rewriter.erase(op);
      run.count("ops removed");
    }
  });
  return run.result();
}

}  // namespace mir
