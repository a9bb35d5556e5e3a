#include "passes/estimate/cost.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "eval/parameters.hpp"
#include "ir/declaration_graphs.hpp"
#include "mir/control_flow.hpp"
#include "passes/analysis/block_cycles.hpp"

namespace mir {

namespace {

constexpr Dim kOnce(1);

OpWork unknown_work() {
  return {Dim::unknown(), Dim::unknown(), Dim::unknown()};
}

/// Whether an op computes nothing: it declares, or it ends a block.
bool is_free_of_work(const Op& op) {
  return op.has(Trait::kSymbol) || op.has(Trait::kTerminator) || op.has(Trait::kNoMeaning);
}

/// The value whose bytes this one shares.
const Value& storage_of(const Value& value) {
  const Value* at = &value;
  while (at->is_result() && at->defining_op()->has(Trait::kSameBytes)) {
    at = at->defining_op()->operand(0);
  }
  return *at;
}

Dim bytes_of_value(DimTable& table, const Value& value) {
  return work_tensor(table, value.type()).bytes;
}

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
    add_ops(*graph.first_region(), kOnce, cost.ops);
    for (const OpCost& each : cost.ops) {
      cost.work = sum_of(table_, cost.work, scaled(table_, each.work, each.runs));
    }
    cost.peak = peak_of(*graph.first_region());
    return cost;
  }

  void add_ops(const Region& region, Dim runs, std::vector<OpCost>& ops) {
    if (region.has_several_blocks() && may_repeat_blocks(region)) runs = Dim::unknown();
    for (const Block* block : region.blocks()) {
      for (Op* op : block->ops()) add_op(*op, runs, ops);
    }
  }

  void add_op(Op& op, Dim runs, std::vector<OpCost>& ops) {
    if (is_free_of_work(op) || op.has(Trait::kIsolated)) return;
    if (callee_of(op)) {
      ops.push_back({&op, work_of_call(op), runs});
    } else if (op.first_region() == nullptr) {
      ops.push_back({&op, own_work(op), runs});
    }
    for (const Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      add_ops(*inner, runs_of(*inner).at_most_once ? runs : Dim::unknown(), ops);
    }
  }

  OpWork work_of_call(const Op& op) const {
    const Op* target = called_graph(op);
    const auto found = target == nullptr ? costs_.end() : costs_.find(target);
    // A graph of a cycle is not known before its callers.
    return found == costs_.end() ? unknown_work() : found->second.work;
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
        const Dim more = table_.multiply(each.runs, found->second.runs);
        callee->second.runs = table_.add(callee->second.runs, more);
      }
    }
  }

  // -- peak ---------------------------------------------------------------------------------------

  /// The bytes of values that hold none of the bytes of others.
  template <class Values>
  Dim bytes_of_new(const Values& values) {
    Dim sum;
    for (const Value& each : values) {
      if (&storage_of(each) == &each) sum = table_.add(sum, bytes_of_value(table_, each));
    }
    return sum;
  }

  std::unordered_map<const Value*, const Op*> last_uses(const Block& block) const {
    std::unordered_map<const Value*, const Op*> last;
    for (const Op* op : block.ops()) {
      for (const Use& use : op->operand_uses()) last[&storage_of(*use.value())] = op;
    }
    return last;
  }

  Dim peak_of(const Region& region) {
    if (region.empty() || region.has_several_blocks()) return Dim::unknown();
    const Block& block = *region.entry();
    const auto last = last_uses(block);
    Dim alive = bytes_of_new(block.arguments());
    std::int64_t peak = alive.is_constant() ? alive.constant() : 0;
    for (const Value& each : block.arguments()) {
      if (!last.contains(&each)) alive = table_.subtract(alive, bytes_of_value(table_, each));
    }
    for (const Op* op : block.ops()) {
      if (op->has(Trait::kSymbol)) continue;
      if (op->first_region() != nullptr) return Dim::unknown();
      const Dim inside = table_.add(alive, inside_call(*op));
      alive = table_.add(alive, bytes_of_new(op->results()));
      if (!alive.is_constant() || !inside.is_constant()) return Dim::unknown();
      peak = std::max({peak, alive.constant(), inside.constant()});
      alive = table_.subtract(alive, bytes_that_end(*op, last));
    }
    return Dim(peak);
  }

  /// Bytes that a call needs besides its operands; none for other ops.
  Dim inside_call(const Op& op) {
    if (!callee_of(op)) return Dim();
    const Op* target = called_graph(op);
    const auto found = target == nullptr ? costs_.end() : costs_.find(target);
    if (found == costs_.end()) return Dim::unknown();
    const auto inputs = target->first_region()->entry_arguments();
    return table_.subtract(found->second.peak, bytes_of_new(inputs));
  }

  /// The bytes of values whose last use the op is, and of results without uses.
  Dim bytes_that_end(const Op& op, const std::unordered_map<const Value*, const Op*>& last) {
    std::unordered_set<const Value*> ended;
    for (const Use& use : op.operand_uses()) {
      const Value& storage = storage_of(*use.value());
      if (!storage.is_free() && last.at(&storage) == &op) ended.insert(&storage);
    }
    for (const Value& result : op.results()) {
      if (&storage_of(result) == &result && !last.contains(&result)) ended.insert(&result);
    }
    Dim sum;
    for (const Value* each : ended) sum = table_.add(sum, bytes_of_value(table_, *each));
    return sum;
  }

  const Module& module_;
  DimTable& table_;
  CallGraph calls_;
  std::unordered_map<const Op*, GraphCost> costs_;
};

CostEstimate::CostEstimate(const Module& module) : graphs_(Maker(module).make()) {}

}  // namespace mir
