#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "mir/rewrite_patterns.hpp"
#include "passes/rewrite/lineage.hpp"

namespace mir {

namespace {

/// The patterns of a set by the kind of their roots, the best first.
class PatternTable {
 public:
  explicit PatternTable(const PatternSet& set) : patterns_(set.patterns()) {}

  const RewritePattern& pattern(std::uint32_t number) const { return patterns_[number]; }
  std::span<const std::uint32_t> of(const Op& op) {
    const std::size_t kind = op.kind().id;
    if (kind >= by_kind_.size()) by_kind_.resize(kind + 1);
    if (!by_kind_[kind]) by_kind_[kind] = find(op.info());
    return *by_kind_[kind];
  }

 private:
  std::vector<std::uint32_t> find(const OpKindInfo& kind) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
      if (patterns_[i].fits(kind)) found.push_back(i);
    }
    std::ranges::stable_sort(found, std::greater<>(),
                             [&](std::uint32_t i) { return patterns_[i].benefit; });
    return found;
  }

  std::span<const RewritePattern> patterns_;
  std::vector<std::optional<std::vector<std::uint32_t>>> by_kind_;
};

/// Ops to visit, each once at a time, in the order in which they came.
class Worklist {
 public:
  void push(Op& op) {
    if (op.id() >= waits_.size()) waits_.resize(op.module().op_id_end());
    if (waits_[op.id()]) return;
    waits_[op.id()] = true;
    ops_.push_back(&op);
  }
  /// Null: there is none.
  Op* pop() {
    while (!ops_.empty()) {
      Op* op = ops_.front();
      ops_.pop_front();
      waits_[op->id()] = false;
      if (!op->is_erased() && op->block() != nullptr) return op;
    }
    return nullptr;
  }

 private:
  std::deque<Op*> ops_;
  std::vector<bool> waits_;  // by id
};

class GreedyRewrite : RewriteListener {
 public:
  GreedyRewrite(PassRun& run, const PatternSet& patterns)
      : run_(run), table_(patterns), rewriter_(run.module()) {}

  PassResult apply() {
    const ListenerScope listening(run_.module(), *this);
    walk(run_.module(), run_.region(), WalkOrder::kPreOrder, [&](Op& op) {
      ++visited_;
      const bool goes_inside = !op.has(Trait::kIsolated);
      if (!visit(op)) return WalkResult::WALK_INTERRUPT;
      return goes_inside ? WalkResult::WALK_CONTINUE : WalkResult::WALK_SKIP;
    });
    while (Op* op = has_failed_ ? nullptr : worklist_.pop()) visit(*op);
    if (has_failed_) return PassResult::kFailed;
    erase_unused_free_values(run_.region());
    count();
    return run_.result();
  }

 private:
  // -- what an edit makes worth a visit ---------------------------------------------------------

  void did_insert(Op& op) override {
    worklist_.push(op);
    made_.push_back(&op);
  }
  void did_move(Op& op, Block&) override { worklist_.push(op); }
  void did_change(Op& op, OpChange) override { worklist_.push(op); }
  void will_erase(Op& op) override {
    for (const Use& use : op.operand_uses()) {
      if (Op* definition = use.value()->defining_op()) worklist_.push(*definition);
    }
  }
  void will_replace_uses(Value& from, Value&) override {
    for (const Use* use = from.first_use(); use != nullptr; use = use->next()) {
      worklist_.push(*use->user());
    }
    if (Op* definition = from.defining_op()) worklist_.push(*definition);
  }

  // -- visits -----------------------------------------------------------------------------------

  /// False when no more is to be done.
  bool visit(Op& op) {
    if (is_dead(op)) {
      rewriter_.erase(op);
      ++removed_;
      return true;
    }
    for (const std::uint32_t number : table_.of(op)) {
      RewriteWatch* watch = run_.rewrites();
      if (watch != nullptr && watch->is_over()) return true;
      if (rewrite(op, number, watch)) break;
    }
    return !has_failed_;
  }

  bool rewrite(Op& root, std::uint32_t number, RewriteWatch* watch) {
    const RewritePattern& pattern = table_.pattern(number);
    const bool is_traced = watch != nullptr && watch->trace;
    const std::string before = is_traced ? describe(root) : "";
    const Span place = root.span();
    made_.clear();
    if (!pattern.rewrite(rewriter_, root)) return false;
    const std::uint32_t rewrite = lineage_.add(root, number);
    for (const Op* op : made_) lineage_.set(*op, rewrite);
    if (!root.is_erased()) {
      lineage_.set(root, rewrite);
      worklist_.push(root);
    }
    if (applied_.size() <= number) applied_.resize(number + 1);
    ++applied_[number];
    ++rewrites_;
    if (watch != nullptr) ++watch->made;
    if (is_traced) watch->trace(watch->made, pattern.name, before);
    check_end(rewrite, place);
    return true;
  }

  std::string describe(const Op& op) const {
    const IRContext& context = run_.module().context();
    std::string text(context.text(op.op_name().spelling));
    if (op.has_path()) text += fmt::format(" '{}'", context.text(op.path()));
    const Span span = op.span();
    const SourceFile* file = context.sources().file_of(span.begin);
    if (file == nullptr) return text;
    const LineColumn at = file->line_column(span.begin);
    return fmt::format("{} at {}:{}:{}", text, file->name(), at.line, at.column);
  }

  /// Whether the rewrites may still come to an end: what moves through a graph can pass each op
  /// once, so a longer history of one op goes in circles.
  void check_end(std::uint32_t rewrite, Span place) {
    constexpr std::uint64_t kSlack = 64, kMostRewrites = 10'000, kMostForAnOp = 8;
    const bool goes_round = lineage_.depth(rewrite) > visited_ + kSlack;
    if (!goes_round && rewrites_ <= kMostForAnOp * visited_ + kMostRewrites) return;
    has_failed_ = true;
    std::vector<std::string> names;
    for (const std::uint32_t number : lineage_.cycle(rewrite)) {
      names.push_back(fmt::format("'{}'", table_.pattern(number).name));
    }
    const bool undo = names.size() > 1;
    run_.diagnostics().error(DiagCode::kNotConverging, place,
                             fmt::format("{} rewrites did not come to an end: {}{} {}", rewrites_,
                                         undo ? "patterns " : "pattern ", fmt::join(names, " and "),
                                         undo ? "undo each other" : "fits what it makes"));
  }

  // -- the end ----------------------------------------------------------------------------------

  void erase_unused_free_values(Region& region) {
    for (Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (Op* op : block->ops()) {
        if (op->has(Trait::kIsolated)) continue;
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) {
          erase_unused_free_values(*in);
        }
      }
    }
    rewriter_.erase_unused_free_values(region);
  }

  void count() const {
    run_.count("ops visited", visited_);
    run_.count("ops removed", removed_);
    for (std::uint32_t number = 0; number < applied_.size(); ++number) {
      if (applied_[number] != 0)
        run_.count(fmt::format("'{}' applied", table_.pattern(number).name), applied_[number]);
    }
  }

  PassRun& run_;
  PatternTable table_;
  Rewriter rewriter_;
  Worklist worklist_;
  Lineage lineage_;
  std::vector<const Op*> made_;         // by the rewrite at hand
  std::vector<std::uint64_t> applied_;  // by pattern
  std::uint64_t visited_ = 0, removed_ = 0, rewrites_ = 0;
  bool has_failed_ = false;
};

}  // namespace

PassResult rewrite_greedily(PassRun& run, const PatternSet& patterns) {
  return GreedyRewrite(run, patterns).apply();
}

}  // namespace mir
