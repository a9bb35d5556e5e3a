// Upgrade step: removes symbols of parameters from values that ops and calls define.
#include <unordered_set>

#include "mir/walk.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

namespace {

class SymbolRemoval {
 public:
  explicit SymbolRemoval(Recovery& recovery) : recovery_(recovery) {
    walk<RegisterOp>(recovery.module, [&](RegisterOp op) {
      if (op.value() == nullptr || !op.value()->has_symbol()) return;
      registered_.insert(op.value()->symbol());
    });
  }

  void run() {
    for_each_op(recovery_.module, [&](Op& op) {
      if (op.has(Trait::kSymbol)) return;
      for (Value& result : op.results()) clear(result, op);
    });
    for_each_region(recovery_.module, [&](Region& region) {
      for (Block* block : region.blocks()) {
        for (Value& argument : block->arguments()) clear(argument, *region.parent());
      }
      clear_results(region);
    });
  }

 private:
  void clear(Value& value, const Op& at) {
    if (!value.has_symbol()) return;
    if (!registered_.contains(value.symbol())) {
      recovery_.note(at, LossEntry::Source::kDropped, "name of a result",
                     fmt::format("@{}", recovery_.text(value.symbol())));
    }
    recovery_.rewriter.clear_symbol(value);
  }

  void clear_results(Region& region) {
    std::vector<RegionResult> results = signature_results(region);
    bool has_symbol = false;
    for (RegionResult& result : results) {
      has_symbol = has_symbol || result.has_symbol;
      result.symbol = Symbol();
      result.has_symbol = false;
    }
    if (has_symbol) recovery_.rewriter.state_results(region, results);
  }

  Recovery& recovery_;
  std::unordered_set<Symbol> registered_;
};

}  // namespace

/// Removes the symbols of parameters from results. In a dump, an op that computes in the storage of
/// a parameter has the parameter's symbol, and so has one that passes it to a graph.
void settle_symbols(Recovery& recovery) {
  SymbolRemoval(recovery).run();
}

}  // namespace mir
