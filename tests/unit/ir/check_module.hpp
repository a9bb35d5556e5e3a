// Whether what the IR keeps twice agrees: lists, parents, uses, order, symbols, dominance.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/dominance_by_graph.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"

namespace mir::test {

/// Counts everything anew by walking over lists alone. Remembers each value's id, so that one
/// checker that looks at a module several times holds identities to be stable.
class ModuleChecker {
 public:
  /// What is wrong; empty when nothing is.
  std::string check(const Module& module) {
    problem_.clear();
    uses_.clear();
    operands_ = 0;
    ops_.clear();
    values_.clear();
    declared_.clear();
    region(module, module.body());
    for (const Op* op : ops_) {
      for (const Use& use : op->operand_uses()) operand(*op, use);
    }
    std::size_t listed = 0;
    for (const Value* value : values_) listed += use_list(*value);
    want(listed == operands_, "use lists hold other uses than the operands");
    symbols(module);
    DominanceByGraph dominance;
    for (const Op* op : ops_) {
      for (const Use& use : op->operand_uses()) {
        const Dominance& around = dominance.around(*op->parent_region());
        want(around.dominates(*use.value(), *op), "a use is not dominated", op);
      }
    }
    return problem_;
  }

  const std::unordered_set<const Op*>& ops() const { return ops_; }

 private:
  void want(bool holds, std::string_view problem, const Op* at = nullptr) {
    if (holds || !problem_.empty()) return;
    problem_ = problem;
    if (at == nullptr) return;
    problem_ += " at op " + std::to_string(at->id()) + " '" + std::string(at->name()) + "'";
  }

  void region(const Module& module, const Region& at) {
    const Block* before = nullptr;
    for (Block* block : at.blocks()) {
      want(block->parent() == &at && block->previous() == before, "a block is linked wrongly");
      before = block;
      std::uint32_t i = 0;
      for (Value& argument : block->arguments()) {
        want(argument.argument_of() == block && argument.index() == i++, "an argument's place");
        value(argument);
      }
      ops(module, *block);
    }
    want(at.last_block() == before, "the last block");
    std::uint32_t i = 0;
    for (Value* each : at.free_values()) {
      want(each->free_in() == &at && each->index() == i++, "a free value's place");
      value(*each);
    }
  }

  void ops(const Module& module, Block& block) {
    const Op* before = nullptr;
    std::vector<const Op*> all;
    for (Op* op = block.front(); op != nullptr; op = op->next()) {
      want(op->block() == &block && op->previous() == before, "an op is linked wrongly", op);
      want(&op->module() == &module && !op->is_erased(), "an op that is gone", op);
      want(before == nullptr || before->is_before_in_block(op), "the order of neighbours", op);
      want(all.empty() || all[op->id() % all.size()]->is_before_in_block(op), "the order", op);
      want(ops_.insert(op).second, "an op is there twice", op);
      all.push_back(op);
      before = op;
      std::uint32_t i = 0;
      for (Value& result : op->results()) {
        want(result.defining_op() == op && result.index() == i++, "a result's place", op);
        value(result);
        if (result.has_symbol()) ++declared_values_[result.symbol()];
      }
      if (const auto symbol = module.declared_symbol(op)) declared_[*symbol].insert(op);
      const Region& around = *block.parent();
      want(!op->has(Trait::kIsolated) || around.may_have_graphs(), "an isolated op", op);
      want(!callee_of(*op) || around.may_have_calls(), "a call", op);
      for (const auto& successor : op->extra().successors) {
        if (successor.block == nullptr) continue;
        want(successor.block->parent() == block.parent(), "a successor of another region", op);
        const auto back = successor.block->predecessors();
        want(op->next() != nullptr || std::ranges::find(back, &block) != back.end(),
             "a predecessor is missing", op);
        want(successor.block->arguments().size() == successor.operand_count,
             "a successor's operands", op);
      }
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        want(inner->parent() == op, "a region's parent", op);
        region(module, *inner);
      }
    }
    want(block.back() == before, "the last op");
  }

  void value(const Value& value) {
    want(values_.insert(&value).second, "a value is there twice");
    const auto [known, is_new] = identity_.try_emplace(value.id(), &value);
    want(known->second == &value, "an id means another value");
  }

  void operand(const Op& op, const Use& use) {
    ++operands_;
    want(use.user() == &op && &op.operand_uses()[use.index()] == &use, "a use's user", &op);
    want(values_.contains(use.value()), "an operand that is nowhere", &op);
    want(uses_.insert(&use).second, "a use is there twice", &op);
  }

  /// How many uses the value lists, all of which are operands.
  std::size_t use_list(const Value& value) {
    std::size_t count = 0;
    for (const Use* use = value.first_use(); use != nullptr && count <= operands_;
         use = use->next()) {
      want(use->value() == &value && uses_.contains(use), "a use list");
      ++count;
    }
    want(count == value.use_count(), "a use count");
    return count;
  }

  void symbols(const Module& module) {
    for (const auto& [symbol, ops] : declared_) {
      want(ops.contains(module.lookup_op(symbol)), "a symbol's op");
    }
    for (const auto& [symbol, count] : declared_values_) {
      const Value* found = module.lookup_value(symbol);
      want(count == 0 || (found != nullptr && values_.contains(found)), "a symbol's value");
    }
    std::size_t values = 0;
    for (auto& [symbol, count] : declared_values_) values += std::exchange(count, 0) != 0;
    want(module.declared_symbol_count() == declared_.size() + values, "symbols of nothing");
  }

  std::string problem_;
  std::unordered_set<const Op*> ops_;
  std::unordered_set<const Value*> values_;
  std::unordered_set<const Use*> uses_;
  std::size_t operands_ = 0;
  std::unordered_map<Symbol, std::unordered_set<const Op*>> declared_;
  std::unordered_map<Symbol, std::size_t> declared_values_;
  std::unordered_map<std::uint32_t, const Value*> identity_;
};

}  // namespace mir::test
