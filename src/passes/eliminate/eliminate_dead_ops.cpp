// Erases ops whose results have no use, and that have no effect.
#include <vector>

#include "mir/analysis.hpp"
#include "mir/op.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/eliminate/eliminations.hpp"

namespace mir {

namespace {

/// Visits ops in text order, which is their order in memory, and then those whose last use is gone.
class Removal {
 public:
  Removal(Module& module, const Effects& effects) : rewriter_(module), effects_(effects) {}

  /// Returns the count of removed ops.
  std::uint64_t run(Region& region) {
    visit(region);
    while (!unused_.empty()) {
      Op* op = unused_.back();
      unused_.pop_back();
      if (!op->is_erased() && !op->has(Trait::kIsolated)) erase_if_dead(*op);
    }
    for (Region* each : with_free_values_) {
      if (!each->parent()->is_erased()) rewriter_.erase_unused_free_values(*each);
    }
    return removed_;
  }

 private:
  void visit(Region& region) {
    if (!region.free_values().empty()) with_free_values_.push_back(&region);
    for (Block* block : region.blocks()) {
      for (Op* op : block->ops()) {
        if (op->has(Trait::kIsolated)) continue;
        for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
          visit(*inner);
        }
        erase_if_dead(*op);
      }
    }
  }

  void erase_if_dead(Op& op) {
    if (!effects_.is_dead(op)) return;
    note_operands(op);
    rewriter_.erase(op);
    ++removed_;
  }

  /// The definitions of what the op and those inside it use, which may be dead once it is gone.
  void note_operands(const Op& op) {
    for (const Use& use : op.operand_uses()) {
      if (Op* definition = use.value()->defining_op()) unused_.push_back(definition);
    }
    for_each_child(op, [&](const Op& inner) { note_operands(inner); });
  }

  Rewriter rewriter_;
  const Effects& effects_;
  std::vector<Op*> unused_;  // ops that lost a use
  std::vector<Region*> with_free_values_;
  std::uint64_t removed_ = 0;
};

}  // namespace

PassResult eliminate_dead_ops(PassRun& run) {
  const DeadCode* known = run.known<DeadCode>();
  // Calls can become dead by edits of other graphs.
  const bool is_done = known != nullptr && !known->exists() && !run.region().may_have_calls();
  run.count("ops removed",
            is_done ? 0 : Removal(run.module(), run.analysis<Effects>()).run(run.region()));
  run.state(DeadCode::none());
  return run.result();
}

}  // namespace mir
