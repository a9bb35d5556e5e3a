// Steps on one cache, in the order in which a run takes them.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dialects/parameters.hpp"
#include "ir/call_types.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// Index of the dimension of tokens in operands and results of a step.
std::size_t token_dim(const Op& step) {
  const Attr* fa2 = step.attribute(key::kUseFa2);
  const bool is_fa2 = fa2 != nullptr && fa2->kind() == AttrKind::kBool && fa2->boolean();
  return is_fa2 ? 1 : 2;
}

Dim tokens_of(const Op& step, const Value* value) {
  const auto* type = value == nullptr ? nullptr : value->tensor_type();
  return type != nullptr && type->rank() == 4 ? type->dims()[token_dim(step)] : Dim::unknown();
}

Dim past_of(const Op& step) {
  const Attr* past = step.attribute(key::kPast);
  if (past == nullptr) return Dim::unknown();
  if (past->kind() == AttrKind::kInt) return Dim(past->integer());
  return past->kind() == AttrKind::kDim ? past->dim() : Dim::unknown();
}

/// note [order of steps]
/// A run is followed from the body of the module, and from every graph that nothing calls, into
/// graphs as often as they are called, but twice at most with like states of the caches that they
/// append to: the second time shows that a step does not fit what the first one left. How many
/// tokens blocks and regions append that may not run, or run several times, is not known. But
/// `past` of a step after them cannot be a symbol, which is the length of the cache when the graph
/// or the region of the step begins.
class CacheSteps {
 public:
  explicit CacheSteps(Reporter& reporter)
      : reporter_(reporter), dims_(reporter.module().context().dims()) {}

  void run(const Census& census) {
    State start;
    visit(reporter_.module().body(), start);
    for (const Op* graph : census.graphs) {
      if (!entered_.contains(graph)) enter(*graph, State());
    }
  }

 private:
  /// The last step on a cache, and the tokens in the cache after it.
  struct Last {
    const Op* step = nullptr;
    Dim end = Dim::unknown();
    std::size_t number = 0;  // counts all steps
    bool is_inside = false;  // in a region that may not run, or several times
  };
  using State = std::unordered_map<Symbol, Last>;

  /// How often a graph was followed.
  struct Entries {
    int count = 0;
    std::vector<Symbol> caches{};
    std::unordered_map<std::string, int> by_state{};
  };

  void visit(const Region& region, State& state) {
    if (!region.has_several_blocks()) {
      for (const Block* block : region.blocks()) visit(*block, state);
      return;
    }
    const State before = state;
    for (const Block* block : region.blocks()) {
      State own;
      visit(*block, own);
      leave(own, before, state);
    }
  }

  void visit(const Block& block, State& state) {
    for (const Op* op : block.ops()) {
      if (op->is(OpId::kLinalgKVCache)) step(*op, state);
      if (const Op* graph = called_graph(*op)) call(*op, *graph, state);
      if (is_graph(*op) || !has_steps(*op)) continue;
      const State before = state;
      for (const Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        State own = state_inside(*op, before);
        visit(*inner, own);
        leave(own, before, state);
      }
    }
  }

  /// True if a region of the op has a step or a call.
  static bool has_steps(const Op& op) {
    bool found = false;
    for_each_child(op, [&](const Op& inner) {
      found = found || inner.is(OpId::kLinalgKVCache) || called_graph(inner) != nullptr ||
              has_steps(inner);
    });
    return found;
  }

  /// Adds what a region or block appended that began with the state `before` or a part of it.
  void leave(const State& inside, const State& before, State& after) {
    for (const auto& [cache, last] : inside) {
      const auto found = before.find(cache);
      if (found != before.end() && found->second.number == last.number) continue;
      after[cache] = {.step = last.step, .number = last.number, .is_inside = true};
      has_inside_ = true;
    }
  }

  /// A call with symbols of its own binds them to the lengths that caches have when it begins.
  void call(const Op& op, const Op& graph, State& state) {
    if (!has_inside_) {  // no copy of what a decoder has in each layer
      state = enter(graph, std::move(state));
      return;
    }
    State inside = state;
    if (CallTypes::are_own(op, graph)) {
      std::erase_if(inside, [](const auto& each) { return each.second.is_inside; });
    }
    inside = enter(graph, std::move(inside));
    for (const auto& each : state) {
      if (each.second.is_inside) inside.insert(each);
    }
    state = std::move(inside);
  }

  /// Symbols may have other values in a region, and a loop may have run its region before. An op
  /// with a body may be a loop.
  static State state_inside(const Op& op, const State& around) {
    if (op.is(OpId::kCfFor, OpId::kCfWhile) || !region_edges(op)) return {};
    State inside = around;
    if (op.is(OpId::kCfIf)) {
      std::erase_if(inside, [](const auto& each) { return !each.second.end.is_constant(); });
    }
    return inside;
  }

  State enter(const Op& graph, State state) {
    constexpr std::size_t kDeepest = 1000;
    const Region* body = graph.first_region();
    if (body == nullptr || open_.size() >= kDeepest || open_.contains(&graph) ||
        !note_entry(graph, state)) {
      return {};
    }
    open_.insert(&graph);
    visit(*body, state);
    open_.erase(&graph);
    return state;
  }

  /// False if the graph was followed often enough from states like this one.
  bool note_entry(const Op& graph, const State& state) {
    constexpr int kMostTimes = 2, kMostTimesInAll = 16;
    Entries& entries = entered_[&graph];
    if (entries.count == 0) add_caches(graph, entries);
    std::string known;  // about each cache
    for (const Symbol cache : entries.caches) {
      const auto last = state.find(cache);
      known += last == state.end() ? '0' : last->second.is_inside ? '?' : '1';
    }
    if (entries.count >= kMostTimesInAll || entries.by_state[known] >= kMostTimes) return false;
    ++entries.by_state[known];
    ++entries.count;
    return true;
  }

  /// Adds the caches that a graph appends to, and those of the graphs that it calls.
  void add_caches(const Op& graph, Entries& entries) const {
    std::vector<const Op*> graphs = {&graph};
    std::unordered_set<const Op*> known(graphs.begin(), graphs.end());
    std::unordered_set<Symbol> caches;
    while (!graphs.empty()) {
      const Op* const next = graphs.back();
      graphs.pop_back();
      const Region* const body = next->first_region();
      if (body == nullptr) continue;
      for_each_op(*body, [&](const Op& op) {
        const Symbol cache = cache_of(op);
        if (cache && caches.insert(cache).second) entries.caches.push_back(cache);
        const Op* const called = called_graph(op);
        if (called != nullptr && known.insert(called).second) graphs.push_back(called);
      });
    }
  }

  void step(const Op& op, State& state) {
    const Symbol cache = cache_of(op);
    if (!cache || op.operand_count() == 0 || op.result_count() == 0) return;
    const Dim added = tokens_of(op, op.operand(0)), held = tokens_of(op, op.result(0));
    Last& last = state[cache];
    const Dim expected = last.end.is_unknown() ? Dim::unknown() : dims_.add(last.end, added);
    if (last.step != nullptr) check(op, cache, last, expected, held);
    last = {&op, held.is_unknown() ? expected : held, ++steps_};
  }

  void check(const Op& op, Symbol cache, const Last& last, Dim expected, Dim held) {
    const Dim begin = past_of(op);
    const auto differ = [](Dim a, Dim b) { return !compatible(a, b); };
    Diagnostic* kept = nullptr;
    if (last.is_inside && begin.is_symbolic()) {
      if (!reported_.insert(&op).second) return;
      kept = reporter_.report(ConstraintId::cache_c1, op, [&] {
        return fmt::format(
            "'past' says {}, the length of cache '@{}' before the run, but a "
            "condition, loop or branch above may append to it",
            dims_.print(begin), text(op, cache));
      });
    } else if (differ(last.end, begin)) {
      if (!reported_.insert(&op).second) return;
      kept = reporter_.report(ConstraintId::cache_c1, op, [&] {
        return fmt::format("cache '@{}' holds {} tokens when this step begins, 'past' says {}",
                           text(op, cache), dims_.print(last.end), dims_.print(begin));
      });
    } else if (begin.is_unknown() && differ(expected, held)) {
      if (!reported_.insert(&op).second) return;
      kept = reporter_.report(ConstraintId::cache_c1, op, [&] {
        return fmt::format("cache '@{}' holds {} tokens after this step, its result has {}",
                           text(op, cache), dims_.print(expected), dims_.print(held));
      });
    }
    note(kept, *last.step,
         last.step == &op ? "the step before, in an earlier call" : "the step before");
  }

  Reporter& reporter_;
  DimTable& dims_;
  std::size_t steps_ = 0;
  bool has_inside_ = false;                         // a state may have a step with is_inside
  std::unordered_map<const Op*, Entries> entered_;  // graphs
  std::unordered_set<const Op*> open_;              // graphs that are followed
  std::unordered_set<const Op*> reported_;
};

}  // namespace

void caches(const Census& census, Reporter& reporter) {
  if (!reporter.wants(ConstraintId::cache_c1) ||
      !reporter.module().has_made(OpId::kLinalgKVCache)) {
    return;
  }
  CacheSteps(reporter).run(census);
}

}  // namespace mir::checks
