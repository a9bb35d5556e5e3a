// Checks uses of values after they were freed.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mir/control_flow.hpp"
#include "mir/flow_graph.hpp"
#include "mir/ops.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

/// Follows the graphs of a module in the order in which calls run them, each once. In a dump a
/// storage has one id in all graphs; in a portable module a value is known in its own alone.
///
/// note [blocks]
/// In a region of several blocks a value is freed at a place when it is freed on some path that
/// leads there. What holds at the beginning of each block is found by going over the blocks, with
/// nothing reported, until nothing is added any more: sets only grow. Each block is then followed
/// once more from there. Work is bounded by kMostSteps for each op of the module; a module that
/// needs more, by many blocks times many frees, is left at that.
class Lifetimes {
 public:
  explicit Lifetimes(Reporter& reporter)
      : reporter_(reporter),
        is_dump_(!reporter.module().is_portable()),
        steps_(kMostSteps * std::size_t{reporter.module().op_id_end()}) {}

  void load_parameters(const Census& census) {
    for (const Op* op : census.declarations) {
      if (!op->is(OpId::kTensorRegister, OpId::kProgValueSymbol)) continue;
      for (const Value& result : op->results()) parameters_[key(result)] = op;
    }
  }

  /// Graphs that nothing calls are followed by themselves.
  void other_graphs(const Census& census) {
    for (const Op* graph : census.graphs) {
      if (graph->first_region() == nullptr || !followed_.insert(graph).second) continue;
      freed_.clear();
      region(*graph->first_region());
    }
  }

  void region(const Region& region) {
    constexpr std::size_t kDeepest = 1000;
    if (depth_ == kDeepest || region.empty()) return;
    ++depth_;
    if (region.has_several_blocks()) {
      several(region);
    } else {
      follow(region.only_block());
    }
    --depth_;
  }

 private:
  /// The ops that freed what is not live, by key.
  using Freed = std::unordered_map<std::uint32_t, const Op*>;

  /// The block that is run next or may be, with what is freed when it begins.
  struct Entry {
    const Block* block;
    Freed freed;
    bool is_reached = false;
    bool is_new = false;  ///< not followed since it grew
  };

  static constexpr std::size_t kMostSteps = 256;

  /// Adds what is freed now; the work is counted.
  void join(Entry& into) {
    const std::size_t before = into.freed.size();
    into.freed.insert(freed_.begin(), freed_.end());
    spend(freed_.size());
    into.is_new = into.is_new || !into.is_reached || into.freed.size() != before;
    into.is_reached = true;
  }

  /// See note [blocks].
  void several(const Region& region) {
    const ControlFlowGraph flow(region);
    std::vector<Entry> entries;
    for (const Block* block : flow.blocks()) entries.push_back({block, {}});
    join(entries.front());
    const bool was_silent = std::exchange(is_silent_, true);
    // Graphs are followed again when it is reported what they do.
    const std::unordered_set<const Op*> followed = followed_;
    for (bool again = true; again && steps_ != 0;) {
      again = false;
      for (ControlFlowGraph::Index number = 0; number < flow.size(); ++number) {
        Entry& entry = entries[number];
        if (!std::exchange(entry.is_new, false)) continue;
        again = true;
        begin(entry);
        follow(*entry.block);
        for (const ControlFlowGraph::Index next : flow.successors(number)) join(entries[next]);
        followed_ = followed;
      }
    }
    is_silent_ = was_silent;
    Freed at_end;
    for (ControlFlowGraph::Index number = 0; number < flow.size(); ++number) {
      const Entry& entry = entries[number];
      if (!entry.is_reached) continue;
      begin(entry);
      follow(*entry.block);
      if (flow.successors(number).empty()) at_end.insert(freed_.begin(), freed_.end());
    }
    freed_ = std::move(at_end);
  }

  void begin(const Entry& entry) {
    freed_ = entry.freed;
    spend(freed_.size());
    if (entry.block->previous() == nullptr) return;
    for (const Value& argument : entry.block->arguments()) freed_.erase(key(argument));
  }

  void follow(const Block& block) {
    for (const Op* op : block.ops()) {
      if (steps_ == 0) return;
      spend(1);
      step(*op);
    }
  }

  void spend(std::size_t steps) { steps_ -= std::min(steps, steps_); }

  const Op* freed_by(const Value& value) const {
    const auto found = freed_.find(key(value));
    return found == freed_.end() ? nullptr : found->second;
  }

  template <class Message>
  void report(ConstraintId id, const Op& op, const Message& message, const Op& place,
              const char* what) {
    if (!is_silent_) note(reporter_.report(id, op, message), place, what);
  }

  std::uint32_t key(const Value& value) const { return is_dump_ ? value.name().raw() : value.id(); }

  void step(const Op& op) {
    if (op.is(OpId::kTensorFree, OpId::kProgFree)) return free(op);
    // These read nothing; they name what is handed over.
    const bool hands_over = callee_of(op).has_value() || leaves_region(op);
    for (const Use& use : op.operand_uses()) {
      const Op* freed = freed_by(*use.value());
      if (freed == nullptr) continue;
      report(
          hands_over ? free_c5 : free_c1, op,
          [&] {
            return fmt::format("operand {} of '{}' is used after it was freed", use.index(),
                               op.name());
          },
          *freed, "freed here");
    }
    if (const Op* target = called_graph(op)) {
      const bool is_new = target->first_region() != nullptr && followed_.insert(target).second;
      if (is_new) region(*target->first_region());
    }
    // A graph runs when it is called; what else has regions runs them where it stands.
    if (!op.has(Trait::kIsolated)) {
      for (const Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
        region(*inner);
      }
    }
    if (freed_.empty()) return;
    for (const Value& result : op.results()) freed_.erase(key(result));
  }

  /// Where the parameter is declared, or read as a value, that the value is; null: it is none.
  const Op* parameter_of(const Value& value) const {
    if (const auto known = parameters_.find(key(value)); known != parameters_.end()) {
      return known->second;
    }
    const Value* named = nullptr;
    if (reporter_.module().is_portable() && value.is_free() && value.has_symbol()) {
      named = reporter_.module().lookup_value(value.symbol());
    }
    const Op* definition = named == nullptr ? value.defining_op() : named->defining_op();
    const bool gives_one =
        named != nullptr || (definition != nullptr && definition->is(OpId::kLinalgParam));
    return gives_one ? definition : nullptr;
  }

  void free(const Op& op) {
    if (op.operand_count() == 0) return;
    const Value& value = *op.operand(0);
    const auto shown = [&] { return spelling_of(reporter_.module(), value.name()); };
    if (const Op* freed = freed_by(value)) {
      report(
          free_c2, op, [&] { return fmt::format("{} is freed twice", shown()); }, *freed,
          "first freed here");
    }
    if (const Op* parameter = parameter_of(value)) {
      report(
          free_c4, op, [&] { return fmt::format("{} is a parameter and is freed", shown()); },
          *parameter, "declared here");
    } else if (value.attribute(key::kConstant) != nullptr && !is_silent_) {
      reporter_.report(free_c4, op,
                       [&] { return fmt::format("{} is a constant and is freed", shown()); });
    }
    freed_[key(value)] = &op;
  }

  Reporter& reporter_;
  bool is_dump_;
  Freed freed_;
  std::unordered_map<std::uint32_t, const Op*> parameters_;
  bool is_silent_ = false;
  std::size_t steps_;  // that are left
  std::unordered_set<const Op*> followed_;
  std::size_t depth_ = 0;
};

}  // namespace

void lifetime(const Census& census, Reporter& reporter) {
  if (!census.has_frees || !reporter.wants_any(free_c1, free_c2, free_c4, free_c5)) return;
  Lifetimes lifetimes(reporter);
  lifetimes.load_parameters(census);
  lifetimes.region(reporter.module().body());
  lifetimes.other_graphs(census);
}

}  // namespace mir::checks
