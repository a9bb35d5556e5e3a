// Writes the cost of ops and graphs on them.
#include "dialects/work_rules.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/estimate/cost.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr std::string_view kRemove = "remove";
constexpr Symbol kKeys[] = {key::kFlop, key::kBytesRead, key::kBytesWritten, key::kPeakBytes};

class CostMarks {
 public:
  explicit CostMarks(PassRun& run)
      : run_(run), context_(run.module().context()), rewriter_(run.module()) {}

  PassResult write() {
    const CostEstimate estimate(run_.module());
    for (const GraphCost& graph : estimate.graphs()) {
      for (const OpCost& each : graph.ops) mark(*each.op, each.work);
      if (graph.graph == run_.module().top()) continue;
      mark(*graph.graph, graph.work);
      set(*graph.graph, key::kPeakBytes, graph.peak);
    }
    return run_.result();
  }

  PassResult remove() {
    for_each_op(run_.module(), [&](Op& op) {
      for (const Symbol key : kKeys) rewriter_.remove_attribute(op, key);
    });
    return run_.result();
  }

 private:
  void mark(Op& op, const OpWork& work) {
    set(op, key::kFlop, work.flop);
    set(op, key::kBytesRead, work.read);
    set(op, key::kBytesWritten, work.written);
  }

  const Attr* value_of(Dim amount) {
    return amount.is_constant() ? context_.integer(amount.constant()) : context_.dim(amount);
  }
  /// A list where the greatest of several is not known.
  const Attr* value_of(const Maximum& amount) {
    if (const auto single = amount.single()) return value_of(*single);
    std::vector<const Attr*> list;
    for (const Dim each : amount.extents()) list.push_back(value_of(each));
    return context_.array(list);
  }

  template <class Amount>
  void set(Op& op, Symbol key, const Amount& amount) {
    const Attr* value = value_of(amount);
    if (op.attribute(key) != value) rewriter_.set_attribute(op, key, value);
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
};

}  // namespace

Pass estimate_pass() {
  return {.name = "estimate",
          .summary =
              "writes arithmetic and memory traffic on operations and graphs, and the peak "
              "memory on graphs",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .options = {{.name = std::string(kRemove), .summary = "removes these attributes"}},
          .preserves =
              AnalysisSet::of<Dominance, CallGraph, Effects, Liveness, Aliases, SymbolRanges>(),
          .run = [](PassRun& run) {
            CostMarks marks(run);
            return run.options().flag(kRemove) ? marks.remove() : marks.write();
          }};
}

}  // namespace mir
