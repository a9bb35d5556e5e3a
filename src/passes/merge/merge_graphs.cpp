// Merges graphs that are equal.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/declaration_graphs.hpp"
#include "mir/equivalence.hpp"
#include "mir/ops.hpp"
#include "passes/cse/operation_hash.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Compares two graphs, ignoring the names of their values.
class GraphComparison {
 public:
  bool are_same(const Op& a, const Op& b) {
    const Region &x = *a.first_region(), &y = *b.first_region();
    if (x.has_several_blocks() || y.has_several_blocks() || x.empty() || y.empty()) return false;
    const Block &one = x.only_block(), &other = y.only_block();
    return std::ranges::equal(a.attributes(), b.attributes()) &&
           std::ranges::equal(a.extra().angles, b.extra().angles) &&
           std::ranges::equal(x.result_types(), y.result_types()) &&
           pair_all(one.arguments(), other.arguments()) &&
           std::ranges::equal(one.ops(), other.ops(),
                              [&](const Op* p, const Op* q) { return are_same_ops(*p, *q); });
  }

 private:
  bool are_same_ops(const Op& a, const Op& b) {
    return a.kind() == b.kind() && are_same_operation(a, b) &&
           std::ranges::equal(a.operand_uses(), b.operand_uses(),
                              [&](const Use& p, const Use& q) {
                                return are_same_values(*p.value(), *q.value());
                              }) &&
           pair_all(a.results(), b.results());
  }

  bool are_same_values(const Value& a, const Value& b) const {
    if (!a.is_free() || !b.is_free()) {
      const auto found = pairs_.find(&a);
      return found != pairs_.end() && found->second == &b;
    }
    return look_alike(a, b);
  }

  static bool look_alike(const Value& a, const Value& b) {
    return a.type() == b.type() && a.symbol() == b.symbol() && a.has_symbol() == b.has_symbol() &&
           std::ranges::equal(a.attributes(), b.attributes());
  }

  template <class Values>
  bool pair_all(const Values& a, const Values& b) {
    return std::ranges::equal(a, b, [&](const Value& p, const Value& q) {
      pairs_[&p] = &q;
      return look_alike(p, q);
    });
  }

  std::unordered_map<const Value*, const Value*> pairs_;
};

/// Equal for equal graphs.
std::size_t hash_of_graph(const Op& graph) {
  std::size_t hash = 0;
  const auto add = [&](std::size_t next) { hash = combined_hash(hash, next); };
  const auto add_type = [&](const Value& value) { add(std::hash<const void*>()(value.type())); };
  const Region& body = *graph.first_region();
  for (const Value& argument : body.entry_arguments()) add_type(argument);
  if (body.empty()) return hash;
  for (const Op* op : body.entry()->ops()) {
    add(hash_of_operation(*op));
    for (const Use& use : op->operand_uses()) {
      add_type(*use.value());
      for (const NamedAttr& each : use.value()->attributes()) {
        add(std::hash<const void*>()(each.value));
      }
    }
    for (const Value& result : op->results()) add_type(result);
  }
  return hash;
}

PassResult merge_graphs(PassRun& run) {
  Rewriter rewriter(run.module());
  std::unordered_multimap<std::size_t, Op*> known;
  // The pass edits while it reads the calls. Callees come first, so that calls of equal graphs are
  // equal before their callers are compared.
  const CallGraph calls = run.analysis<CallGraph>();
  for (Op* graph : calls.bottom_up()) {
    const bool can_merge = isa<SubGraphOp>(graph) && !is_declaration(*graph) &&
                           graph->parent_op() == run.module().top();
    if (!can_merge) continue;
    const std::size_t hash = hash_of_graph(*graph);
    Op* same = nullptr;
    for (auto [each, end] = known.equal_range(hash); each != end && same == nullptr; ++each) {
      if (GraphComparison().are_same(*each->second, *graph)) same = each->second;
    }
    if (same == nullptr) {
      known.emplace(hash, graph);
      continue;
    }
    for (Op* call : calls.calls_of(*graph)) rewriter.set_symbol(*call, same->symbol());
    rewriter.erase(*graph);
    run.count("graphs merged");
  }
  return run.result();
}

}  // namespace

Pass merge_graphs_pass() {
  return {.name = "merge-graphs",
          .summary = "merges graphs that are equal but for the names of their values",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .run = merge_graphs};
}

}  // namespace mir
