// Removes operands and results that conditions and loops pass unnecessarily.
#include "passes/control/passed_values.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/erasable.hpp"
#include "ir/extent_walk.hpp"
#include "ir/rewrite/carried_scales.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"
#include "passes/control/constant_loop.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kBounds = 3;  // operands of a ForOp before the carried ones

/// Returns the op that passes on the values of a region of one block.
Op& end_of(Region& region) {
  return *region.entry()->terminator();
}

/// True if something else than its users depends on a value.
bool is_marked(const Value& value) {
  return value.has_symbol() || !value.attributes().empty();
}

/// Which of the values that an op passes on stay.
using Kept = std::vector<bool>;

/// Leaves the operands from `first` on that are kept.
void keep_operands(Rewriter& rewriter, Op& op, const Kept& kept, std::size_t first = 0) {
  std::vector<Value*> rest;
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    if (i < first || kept[i - first]) rest.push_back(op.operand(i));
  }
  rewriter.set_operands(op, rest);
}

void keep_passed(Rewriter& rewriter, Region& region, const Kept& kept) {
  keep_operands(rewriter, end_of(region), kept);
  if (region.result_types().size() != kept.size()) return;
  std::vector<const Type*> types;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) types.push_back(region.result_types()[i]);
  }
  rewriter.set_result_types(region, types);
}

/// Leaves the results that are kept; returns how many others there were.
std::size_t keep_results(Rewriter& rewriter, Op& op, const Kept& kept) {
  std::size_t removed = 0;
  for (std::uint32_t i = op.result_count(); i-- > 0;) {
    if (kept[i]) continue;
    rewriter.erase_result(op, i);
    ++removed;
  }
  return removed;
}

/// Uses `value` in place of a result, if it has the same type.
bool forward(Rewriter& rewriter, Value& result, Value& value) {
  if (!result.has_uses() || is_marked(result) || result.type() != value.type()) return false;
  rewriter.replace_all_uses(result, value);
  return true;
}

PassedValues simplify_condition(Rewriter& rewriter, Op& op) {
  PassedValues done;
  Region &taken = *op.first_region(), &other = *taken.next();
  Kept kept;
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    Value &result = *op.result(i), &value = *end_of(taken).operand(i);
    const bool is_one = &value == end_of(other).operand(i);
    if (is_one && forward(rewriter, result, value)) ++done.forwarded;
    kept.push_back(result.has_uses() || is_marked(result));
  }
  if (std::ranges::find(kept, false) == kept.end()) return done;
  for (Region* region : {&taken, &other}) keep_passed(rewriter, *region, kept);
  done.removed = keep_results(rewriter, op, kept);
  return done;
}

/// Finds out what the region of a loop computes for others than the values that compute themselves.
class NeededInLoop {
 public:
  explicit NeededInLoop(const Op& loop) : block_(*loop.first_region()->entry()) {
    for (std::uint32_t i = 0; i < loop.result_count(); ++i) {
      const Value& result = *loop.result(i);
      if (result.has_uses() || is_marked(result)) need_carried(i);
    }
    for (Op* op : block_.ops()) {
      if (!op->has(Trait::kTerminator) && !is_erasable(*op)) need(*op);
    }
    while (!open_.empty()) {
      const Value& value = *open_.back();
      open_.pop_back();
      visit(value);
    }
  }

  bool has(const Op& op) const { return ops_.contains(&op); }
  bool has_carried(std::uint32_t i) const { return carried_.contains(i); }

 private:
  /// Marks the value that an iteration passes to the next one as needed.
  void need_carried(std::uint32_t i) {
    if (carried_.insert(i).second) open_.push_back(block_.terminator()->operand(i));
  }
  void need(const Op& op) {
    if (!ops_.insert(&op).second) return;
    need_operands(op);
    for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
      for_each_op(*region, [&](const Op& inner) { need_operands(inner); });
    }
  }
  void need_operands(const Op& op) {
    for (const Use& use : op.operand_uses()) open_.push_back(use.value());
  }
  void visit(const Value& value) {
    if (value.argument_of() == &block_) {
      if (value.index() > 0) need_carried(value.index() - 1);
    } else if (const Op* op = value.defining_op(); op != nullptr && op->block() == &block_) {
      need(*op);
    }
  }

  const Block& block_;
  std::unordered_set<const Op*> ops_;
  std::unordered_set<std::uint32_t> carried_;
  std::vector<const Value*> open_;
};

/// Forwards the carried values that stay as they are.
std::size_t forward_unchanged(Rewriter& rewriter, Op& loop) {
  std::size_t forwarded = 0;
  Region& region = *loop.first_region();
  for (std::uint32_t i = 0; i < loop.result_count(); ++i) {
    Value &argument = region.entry()->arguments()[i + 1], &value = *loop.operand(kBounds + i);
    if (end_of(region).operand(i) != &argument || argument.type() != value.type()) continue;
    carry_scales(rewriter, argument, value);
    rewriter.replace_all_uses(argument, value);
    forward(rewriter, *loop.result(i), value);
    ++forwarded;
  }
  return forwarded;
}

PassedValues simplify_loop(Rewriter& rewriter, Op& loop) {
  PassedValues done;
  done.forwarded = forward_unchanged(rewriter, loop);
  Region& region = *loop.first_region();
  Block& block = *region.entry();
  const NeededInLoop needed(loop);
  std::vector<Op*> not_needed;
  for (Op* op : block.ops()) {
    if (!op->has(Trait::kTerminator) && !needed.has(*op)) not_needed.push_back(op);
  }
  Kept kept;
  for (std::uint32_t i = 0; i < loop.result_count(); ++i) kept.push_back(needed.has_carried(i));
  if (std::ranges::find(kept, false) == kept.end()) return done;  // other passes remove dead ops
  keep_passed(rewriter, region, kept);
  for (auto op = not_needed.rbegin(); op != not_needed.rend(); ++op) rewriter.erase(**op);
  for (std::uint32_t i = loop.result_count(); i-- > 0;) {
    if (!kept[i]) rewriter.erase_argument(block, i + 1);
  }
  keep_operands(rewriter, loop, kept, kBounds);
  done.removed = keep_results(rewriter, loop, kept);
  return done;
}

}  // namespace

PassedValues simplify_passed_values(Rewriter& rewriter, Op& op) {
  const bool is_condition = op.is(OpId::kCfIf), is_loop = op.is(OpId::kCfFor);
  if ((!is_condition && !is_loop) || !may_leave_regions(op) || finds_out_symbols(op)) return {};
  const std::size_t regions = is_condition ? 2 : 1;
  const std::size_t passed = op.result_count();
  if (op.region_count() != regions || (is_loop && op.operand_count() != kBounds + passed))
    return {};
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    if (end_of(*region).operand_count() != passed) return {};
    if (is_loop && region->entry()->arguments().size() != passed + 1) return {};
  }
  return is_condition ? simplify_condition(rewriter, op) : simplify_loop(rewriter, op);
}

}  // namespace mir
