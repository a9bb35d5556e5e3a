// Applies patterns to a region until none matches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mir/codes/passes.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/walk.hpp"
#include "passes/rewrite/lineage.hpp"
#include "passes/rewrite/match_location.hpp"
#include "passes/rewrite/patterns_by_kind.hpp"
#include "passes/rewrite/worklist.hpp"

namespace mir {

namespace {

/// The kind of the op that defines an operand.
OpKind definition_kind(const Op& op, std::uint32_t operand) {
  if (operand >= op.operand_count()) return OperandDefinitions::kConstant;
  const Value& value = *op.operand(operand);
  if (const Op* definition = value.defining_op()) return definition->kind();
  return value.is_free() && !value.has_symbol() ? OperandDefinitions::kConstant
                                                : OperandDefinitions::kNoOp;
}

class GreedyRewrite : RewriteListener {
 public:
  GreedyRewrite(Module& module, Region& region, const PatternsByKind& patterns,
                const GreedyOptions& options, Diagnostics& diagnostics)
      : module_(module),
        region_(region),
        options_(options),
        diagnostics_(diagnostics),
        patterns_(patterns),
        rewriter_(module) {}

  GreedyReport apply() {
    const ListenerScope listening(region_, *this);
    while (sweep()) {
    }
    if (!report_.has_failed) erase_unused_free_values();
    report_.has_changed = edits_ != 0;
    return std::move(report_);
  }

 private:
  // -- events: what an edit makes worth a visit -------------------------------------------------

  void did_insert(Op& op) override {
    did_make(op);
    for (Region* in = op.first_region(); in != nullptr && !op.has(Trait::kIsolated);
         in = in->next()) {
      for_each_op(*in, [&](Op& nested) { did_make(nested); });
    }
    push_around(op);
  }
  void did_make(Op& op) {
    push(op);
    made_.push_back(&op);
  }
  void will_erase(Op& op) override { push_around(op); }
  void did_move(Op& op, Block& from) override {
    push(op);
    push(*from.parent()->parent());
    push_around(op);
  }
  void did_change(Op& op, OpChange) override {
    push(op);
    push_users(op);
  }
  void did_drop_use(Value& value, Op&) override { push_definition(value); }
  void did_change_value(Value& value, const ValueFacts&) override {
    push_definition(value);
    push_users(value);
  }
  void did_insert_free_value(Value&) override { ++edits_; }
  void will_erase_free_value(Value&) override { ++edits_; }
  void did_insert_block(Block& block) override { push(*block.parent()->parent()); }
  void will_erase_block(Block& block) override { push(*block.parent()->parent()); }
  void did_move_block(Block& block, Region& from) override {
    push(*from.parent());
    push(*block.parent()->parent());
    for (Op* op : block.ops()) push(*op);
  }
  void did_change_arguments(Block& block) override {
    push(*block.parent()->parent());
    for (Block* from : block.predecessors()) push(*from->back());
  }

  void push(Op& op) {
    ++edits_;
    if (&op != region_.parent()) worklist_.push(op);
  }
  void push_around(const Op& op) {
    if (Op* around = op.parent_op()) push(*around);
  }
  void push_definition(const Value& value) {
    ++edits_;
    if (Op* definition = value.defining_op()) push(*definition);
  }
  void push_users(const Value& value) {
    for (const Use* use = value.first_use(); use != nullptr; use = use->next()) push(*use->user());
  }
  void push_users(const Op& op) {
    for (const Value& result : op.results()) push_users(result);
  }

  // -- visits -----------------------------------------------------------------------------------

  /// Visits all ops, then those that edits made worth a visit. True if another sweep may change
  /// something.
  bool sweep() {
    const std::uint64_t edits = edits_;
    const bool is_first = report_.sweeps++ == 0;
    has_nested_ = false;
    walk(region_, [&](Op& op) {
      if (is_first) ++report_.visited;
      has_nested_ |= op.first_region() != nullptr && !op.has(Trait::kIsolated);
      return visit(op) ? WalkResult::kContinue : WalkResult::kInterrupt;
    });
    while (Op* op = report_.has_failed ? nullptr : worklist_.pop()) {
      if (is_in_scope(*op)) visit(*op);
    }
    return !report_.has_failed && edits_ != edits;
  }

  /// True if the op is in the region, but not in a graph inside it.
  bool is_in_scope(const Op& op) const {
    const Region* region = op.parent_region();
    while (region != nullptr && region != &region_) {
      if (region->parent()->has(Trait::kIsolated)) return false;
      region = region->parent()->parent_region();
    }
    return region != nullptr;
  }

  /// False if the run has failed.
  bool visit(Op& op) {
    if (is_dead(op)) {
      rewriter_.erase(op);
      ++report_.removed;
      return true;
    }
    const auto candidates = patterns_.of(op);
    if (candidates.empty()) return true;
    const OpKind first = definition_kind(op, 0), second = definition_kind(op, 1);
    for (const PatternsByKind::Candidate& each : candidates) {
      if (!each.definitions.admit(first, second)) continue;
      if (options_.watch != nullptr && options_.watch->is_over()) return true;
      if (rewrite(op, each.number)) break;
    }
    return !report_.has_failed;
  }

  /// True if the pattern matched.
  bool rewrite(Op& root, std::uint32_t number) {
    const RewritePattern& pattern = patterns_.pattern(number);
    const std::uint64_t edits_before = edits_;
    const PatternMatch match = pattern.match(root);
    if (edits_ != edits_before && options_.checks_claims) {
      refuse(pattern, root.span(), "edits while it matches");
      return true;
    }
    if (!match) return false;
    RewriteWatch* watch = options_.watch;
    const bool is_traced = watch != nullptr && watch->trace;
    const std::string before = is_traced ? describe(root) : "";
    const Span place = root.span();
    if (watch != nullptr && watch->before) watch->before(pattern, match);
    made_.clear();
    rewriter_.set_default_location(location_of(match));
    rewriter_.set_insertion_point(root);
    pattern.rewrite(rewriter_, match);
    if (edits_ == edits_before) {
      fail(place, fmt::format("pattern '{}' matches and changes nothing", pattern.name));
      return true;
    }
    if (options_.checks_claims) check_made(pattern, place);
    note_rewrite(root, number, place);
    if (watch != nullptr) ++watch->made;
    if (watch != nullptr && watch->after) watch->after(pattern);
    if (is_traced) watch->trace(watch->made, pattern.name, before);
    return true;
  }

  void note_rewrite(Op& root, std::uint32_t number, Span place) {
    const std::uint32_t rewrite = lineage_.add(root, number);
    for (const Op* op : made_) lineage_.set(*op, rewrite);
    if (!root.is_erased()) {
      lineage_.set(root, rewrite);
      worklist_.push(root);
    }
    report_.applied.resize(patterns_.patterns().size());
    ++report_.applied[number];
    ++rewrites_;
    check_end(rewrite, place);
  }

  std::string describe(const Op& op) const {
    const IRContext& context = module_.context();
    std::string text(context.text(op.op_name().spelling));
    if (op.has_path()) text += fmt::format(" '{}'", context.text(op.path()));
    const Span span = op.span();
    const SourceFile* file = context.sources().file_of(span.begin);
    if (file == nullptr) return text;
    const LineColumn at = file->line_column(span.begin);
    return fmt::format("{} at {}:{}:{}", text, file->name(), at.line, at.column);
  }

  // -- what patterns declare, and the end -------------------------------------------------------

  void check_made(const RewritePattern& pattern, Span place) {
    for (const Op* op : made_) {
      if (pattern.declares(op->name())) continue;
      refuse(pattern, place, fmt::format("creates '{}', which it does not declare", op->name()));
      return;
    }
  }

  void refuse(const RewritePattern& pattern, Span place, std::string_view what) {
    report_.has_failed = true;
    diagnostics_.error(diag::kPassClaim, place, fmt::format("pattern '{}' {}", pattern.name, what));
  }

  void fail(Span place, std::string message) {
    report_.has_failed = true;
    diagnostics_.error(diag::kNotConverging, place, std::move(message));
  }

  /// Fails if the rewrites go round in circles: what moves through a graph can pass each op once,
  /// so a longer history of one op repeats itself.
  void check_end(std::uint32_t rewrite, Span place) {
    constexpr std::uint64_t kSlack = 64, kMostRewrites = 10'000, kMostForAnOp = 8;
    const bool goes_round = lineage_.depth(rewrite) > report_.visited + kSlack;
    if (!goes_round && rewrites_ <= kMostForAnOp * report_.visited + kMostRewrites) return;
    std::vector<std::string> names;
    for (const std::uint32_t number : lineage_.cycle(rewrite)) {
      names.push_back(fmt::format("'{}'", patterns_.pattern(number).name));
    }
    const bool undo = names.size() > 1;
    fail(place, fmt::format("no fixed point after {} rewrites: {}{} {}", rewrites_,
                            undo ? "patterns " : "pattern ", fmt::join(names, " and "),
                            undo ? "undo each other" : "matches its own result"));
  }

  void erase_unused_free_values() {
    rewriter_.erase_unused_free_values(region_);
    if (!has_nested_) return;
    for_each_op(region_, [&](Op& op) {
      for (Region* in = op.first_region(); in != nullptr && !op.has(Trait::kIsolated);
           in = in->next()) {
        rewriter_.erase_unused_free_values(*in);
      }
    });
  }

  Module& module_;
  Region& region_;
  const GreedyOptions& options_;
  Diagnostics& diagnostics_;
  const PatternsByKind& patterns_;
  Rewriter rewriter_;
  GreedyReport report_;
  Worklist worklist_;
  Lineage lineage_;
  std::vector<const Op*> made_;  // by the rewrite at hand
  std::uint64_t edits_ = 0;      // events
  std::uint64_t rewrites_ = 0;
  bool has_nested_ = false;  // the last sweep saw regions
};

}  // namespace

const PatternsByKind::Candidates& PatternsByKind::add(const OpKindInfo& kind,
                                                      std::size_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto [found, is_new] = by_kind_.try_emplace(number);
  if (is_new) {
    for (const std::uint32_t each : patterns_.with_root(kind)) {
      found->second.push_back({each, pattern(each).definitions});
    }
  }
  if (number < kSlots) slots_[number].store(&found->second, std::memory_order_release);
  return found->second;
}

GreedyReport rewrite_greedily(Module& module, Region& region, const PatternsByKind& patterns,
                              const GreedyOptions& options, Diagnostics& diagnostics) {
  return GreedyRewrite(module, region, patterns, options, diagnostics).apply();
}

GreedyReport rewrite_greedily(Module& module, Region& region, const FrozenPatterns& patterns,
                              const GreedyOptions& options, Diagnostics& diagnostics) {
  return rewrite_greedily(module, region, PatternsByKind(patterns), options, diagnostics);
}

}  // namespace mir
