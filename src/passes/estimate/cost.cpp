// Estimates the cost of a module: the work of each op and the peak memory of each graph.
#include "passes/estimate/cost.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "dialects/loop_body.hpp"
#include "eval/parameters.hpp"
#include "ir/call_types.hpp"
#include "ir/declaration_graphs.hpp"
#include "ir/own_graph.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "passes/analysis/block_cycles.hpp"
#include "passes/estimate/storage_life.hpp"

namespace mir {

namespace {

constexpr Dim kOnce(1);

OpWork unknown_work() {
  return {Dim::unknown(), Dim::unknown(), Dim::unknown()};
}

/// True if an op computes nothing because it declares something or ends a block.
bool is_free_of_work(const Op& op) {
  return op.has(Trait::kSymbol) || op.has(Trait::kTerminator) || op.has(Trait::kNoMeaning) ||
         only_shows_memory(op);
}

/// Sizes as expressions of symbols. See PeakWalk.
class SymbolicSizes {
 public:
  using Amount = Dim;
  using Peak = Maximum;
  using PeakOfCall = std::function<Maximum(const Op& call)>;

  SymbolicSizes(DimTable& table, PeakOfCall peak_of_call)
      : table_(table), peak_of_call_(std::move(peak_of_call)) {}

  Dim bytes_of(const Value& value) {
    if (const auto buffer = buffer_shape(value.type())) {
      return work_tensor(table_, buffer->dtype, buffer->extents).bytes;
    }
    return work_tensor(table_, value.type()).bytes;
  }
  void add(Dim& sum, Dim more) { sum = table_.add(sum, more); }
  void subtract(Dim& sum, Dim less) { sum = table_.subtract(sum, less); }
  void raise(Maximum& peak, Dim alive) { peak.add(table_, alive); }
  void raise(Maximum& peak, const Maximum& inside, Dim alive) {
    peak.add(table_, inside.plus(table_, alive));
  }
  std::optional<Maximum> peak_of_call(const Op& op) const {
    return callee_of(op) ? std::optional(peak_of_call_(op)) : std::nullopt;
  }
  template <class Walk>
  Maximum peak_in(const Region& region, const Walk& walk) {
    const auto owned = symbols_owned_by(region);
    const Maximum inside = walk();
    Maximum peak;
    for (const Dim each : inside.extents()) peak.add(table_, outside(each, owned, table_));
    return peak;
  }

 private:
  DimTable& table_;
  PeakOfCall peak_of_call_;
};

}  // namespace

OpWork scaled(DimTable& table, const OpWork& work, Dim times) {
  return {table.multiply(work.flop, times), table.multiply(work.read, times),
          table.multiply(work.written, times)};
}

OpWork sum_of(DimTable& table, const OpWork& a, const OpWork& b) {
  return {table.add(a.flop, b.flop), table.add(a.read, b.read), table.add(a.written, b.written)};
}

class CostEstimate::Maker {
 public:
  explicit Maker(const Module& module)
      : module_(module), table_(module.context().dims()), calls_(module) {}

  std::vector<GraphCost> make() {
    for (Op* graph : calls_.bottom_up()) {
      if (is_declaration(*graph) || graph->first_region() == nullptr) continue;
      costs_[graph] = cost_of(*graph);
    }
    count_runs();
    std::vector<GraphCost> all;
    for (Op* graph : calls_.graphs()) {
      const auto found = costs_.find(graph);
      if (found != costs_.end()) all.push_back(std::move(found->second));
    }
    return all;
  }

 private:
  GraphCost cost_of(Op& graph) {
    GraphCost cost{.graph = &graph};
    const Region& body = *graph.first_region();
    cost.work = add_ops(body, kOnce, cost.ops);
    const StorageLife life(body);
    SymbolicSizes sizes(table_, [this](const Op& call) { return peak_of_call(call); });
    cost.peak_without_inputs = PeakWalk(life, sizes).peak_of(body);
    Dim inputs;
    for (const Value& each : body.entry_arguments()) sizes.add(inputs, sizes.bytes_of(each));
    cost.peak = cost.peak_without_inputs.plus(table_, inputs);
    return cost;
  }

  Maximum peak_of_call(const Op& call) {
    const Op* target = called_graph(call);
    const auto found = target == nullptr ? costs_.end() : costs_.find(target);
    // A graph of a cycle is not known before its callers.
    if (found == costs_.end()) return Maximum(Dim::unknown());
    const Maximum& peak = found->second.peak_without_inputs;
    const ExtentsAtCall extents(call, *target);
    Maximum at_call;
    for (const Dim each : peak.extents()) at_call.add(table_, extents.at_call(each));
    return at_call;
  }

  /// Returns the work of all ops, in symbols of the scope of the region.
  OpWork add_ops(const Region& region, Dim runs, std::vector<OpCost>& ops) {
    if (region.has_several_blocks() && may_repeat_blocks(region)) runs = Dim::unknown();
    OpWork work;
    for (const Block* block : region.blocks()) {
      for (Op* op : block->ops()) work = sum_of(table_, work, add_op(*op, runs, ops));
    }
    return work;
  }

  OpWork add_op(Op& op, Dim runs, std::vector<OpCost>& ops) {
    OpWork work;
    if (is_free_of_work(op) || has_own_graph(op)) return work;
    const bool is_one = op.first_region() == nullptr || op.has(Trait::kIsolated);
    if (callee_of(op) || is_one) {
      ops.push_back({&op, callee_of(op) ? work_of_call(op) : own_work(op), runs});
      work = scaled(table_, ops.back().work, runs);
    }
    if (is_one) return work;
    for (const Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      const Dim inner_runs = runs_of(*inner).at_most_once ? runs : Dim::unknown();
      work = sum_of(table_, work, outside_of(*inner, add_ops(*inner, inner_runs, ops)));
    }
    return work;
  }

  OpWork outside_of(const Region& region, const OpWork& work) {
    const auto owned = symbols_owned_by(region);
    return {outside(work.flop, owned, table_), outside(work.read, owned, table_),
            outside(work.written, owned, table_)};
  }

  OpWork work_of_call(const Op& op) const {
    const Op* target = called_graph(op);
    const auto found = target == nullptr ? costs_.end() : costs_.find(target);
    // A graph of a cycle is not known before its callers.
    if (found == costs_.end()) return unknown_work();
    const ExtentsAtCall extents(op, *target);
    const OpWork& work = found->second.work;
    return {extents.at_call(work.flop), extents.at_call(work.read), extents.at_call(work.written)};
  }

  /// How often graphs run is stated in their symbols.
  static bool has_other_symbols(const Op& call, const Op& graph) {
    return CallTypes::of(call, *graph.first_region()).has_own_symbols();
  }

  OpWork own_work(const Op& op) {
    std::vector<WorkTensor> operands, results;
    std::vector<WorkParameter> parameters;
    for (const Use& use : op.operand_uses()) {
      operands.push_back(work_tensor(table_, use.value()->type()));
    }
    for (const Value& result : op.results()) results.push_back(work_tensor(table_, result.type()));
    for (const OwnedParameter& owned : owned_parameters(op)) {
      const Value* declared = module_.lookup_value(owned.symbol);
      if (declared == nullptr) continue;
      parameters.push_back({owned.suffix, work_tensor(table_, declared->type())});
    }
    return work_of({op, operands, results, parameters});
  }

  // -- runs ---------------------------------------------------------------------------------------

  void count_runs() {
    const std::vector<Op*> order = calls_.bottom_up();
    for (auto graph = order.rbegin(); graph != order.rend(); ++graph) {
      const auto found = costs_.find(*graph);
      if (found == costs_.end()) continue;
      if (*graph == module_.top()) found->second.runs = kOnce;
      for (const OpCost& each : found->second.ops) {
        const Op* target = called_graph(*each.op);
        const auto callee = target == nullptr ? costs_.end() : costs_.find(target);
        if (callee == costs_.end()) continue;
        const Dim more = has_other_symbols(*each.op, *target)
                             ? Dim::unknown()
                             : table_.multiply(each.runs, found->second.runs);
        callee->second.runs = table_.add(callee->second.runs, more);
      }
    }
  }

  const Module& module_;
  DimTable& table_;
  CallGraph calls_;
  std::unordered_map<const Op*, GraphCost> costs_;
};

CostEstimate::CostEstimate(const Module& module) : graphs_(Maker(module).make()) {}

}  // namespace mir
