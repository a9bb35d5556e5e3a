// Gives all values numbers, in the order of the text.
#include "ir/ports.hpp"
#include "mir/rewriter.hpp"
#include "passes/names/rename_ports.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

class Numbering {
 public:
  explicit Numbering(Module& module) : rewriter_(module) {}

  /// Ports that are words stay.
  void number(Module& module) {
    number(module.body());
    for_each_signature(module.body(), [&](Region& each) { rename_ports(rewriter_, each); });
  }

 private:
  void number(Region& region) {
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) set(argument);
      for (Op* op : block->ops()) {
        // Constants and parameters stand at their first use.
        for (const Use& use : op->operand_uses()) {
          if (use.value()->is_free() && use.value()->first_use() != nullptr) set_once(*use.value());
        }
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) number(*in);
        for (Value& result : op->results()) set(result);
      }
    }
    for (Value* value : region.free_values()) set_once(*value);
  }

  void set(Value& value) {
    const ValueName name = ValueName::number(next_++);
    if (value.name() != name) rewriter_.set_name(value, name);
  }
  void set_once(Value& value) {
    if (done_.size() <= value.id()) done_.resize(value.id() + std::size_t{1});
    if (done_[value.id()]) return;
    done_[value.id()] = true;
    set(value);
  }

  Rewriter rewriter_;
  std::uint32_t next_ = 0;
  std::vector<bool> done_;  // by id
};

PassResult number_values(PassRun& run) {
  Numbering(run.module()).number(run.module());
  return run.result();
}

}  // namespace

Pass number_values_pass() {
  return {
      .name = "number-values",
      .summary = "gives all values numbers, in the order of the text; ports that are words stay",
      .takes = PassForm::kPortable,
      .is_idempotent = true,
      .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
      .run = number_values};
}

}  // namespace mir
