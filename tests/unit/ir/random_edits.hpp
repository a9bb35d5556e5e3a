// Random edits through the door that leave a right module right.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "mir/dominance.hpp"
#include "mir/rewriter.hpp"

namespace mir::test {

/// Each edit takes a place at random and changes something there, so that every use stays dominated
/// by its definition, every block ends as it did and text can say the result.
class RandomEdits {
 public:
  RandomEdits(Module& module, std::uint64_t seed) : module_(module), engine_(seed) {}

  /// How many answers step() has besides the empty one.
  static constexpr std::size_t kKinds = 22;

  /// What was done; empty where the place allowed nothing.
  std::string step() {
    using Edit = std::string (RandomEdits::*)();
    constexpr Edit kEdits[] = {
        &RandomEdits::create,         &RandomEdits::erase,          &RandomEdits::replace_uses,
        &RandomEdits::replace,        &RandomEdits::move,           &RandomEdits::clone,
        &RandomEdits::change_results, &RandomEdits::wrap,           &RandomEdits::unwrap,
        &RandomEdits::split,          &RandomEdits::merge,          &RandomEdits::add_argument,
        &RandomEdits::erase_argument, &RandomEdits::move_block,     &RandomEdits::erase_block,
        &RandomEdits::rename,         &RandomEdits::set_attributes, &RandomEdits::add_constant,
        &RandomEdits::take_body,      &RandomEdits::add_block,
    };
    collect();
    return (this->*kEdits[below(std::size(kEdits))])();
  }

 private:
  using Values = std::vector<Value*>;

  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  IRContext& context() { return module_.context(); }

  /// The ops and blocks that there are now.
  void collect() {
    ops_.clear();
    blocks_.clear();
    collect(module_.body());
  }
  void collect(Region& region) {
    for (Block* block : region.blocks()) {
      blocks_.push_back(block);
      for (Op* op : block->ops()) {
        ops_.push_back(op);
        for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
          collect(*inner);
        }
      }
    }
  }
  Op* any_op() { return ops_.empty() ? nullptr : ops_[below(ops_.size())]; }
  Block* any_block() { return blocks_[below(blocks_.size())]; }

  static bool has_uses(const Op& op) {
    for (const Value& result : op.results()) {
      if (result.has_uses()) return true;
    }
    return false;
  }
  /// Whether its place matters beyond its operands: ends of blocks, declarations, graphs.
  static bool is_fixed(const Op& op) {
    return op.next() == nullptr || op.first_region() != nullptr || op.has_symbol() ||
           !op.extra().successors.empty() || !op.has_signature() ||
           (op.row() != nullptr && has(op.row()->traits, Trait::kTerminator));
  }
  /// Values that an op at this place may use: results and arguments of the op's own region.
  Values visible(const Op& at) {
    Values list;
    for (Op* op = at.previous(); op != nullptr; op = op->previous()) {
      for (Value& result : op->results()) {
        if (result.type() != nullptr) list.push_back(&result);
      }
    }
    for (Value& argument : at.block()->arguments()) list.push_back(&argument);
    return list;
  }

  std::string create() {
    Op* at = any_op();
    if (at == nullptr || at->block()->parent() == nullptr) return {};
    const Values values = visible(*at);
    Values operands;
    for (std::size_t n = values.empty() ? 0 : below(3); n != 0; --n) {
      operands.push_back(values[below(values.size())]);
    }
    std::vector<const Type*> types(below(3), type());
    Rewriter rewriter(module_);
    rewriter.set_insertion_point(*at);
    rewriter.create({.name = context().op_name("my.Made"),
                     .operands = operands,
                     .result_types = types,
                     .regions = static_cast<std::uint32_t>(one_in(4))});
    return "create";
  }

  std::string erase() {
    Op* op = any_op();
    if (op == nullptr || has_uses(*op) || op->next() == nullptr || declares(*op)) return {};
    Rewriter(module_).erase(*op);
    return "erase";
  }
  /// Calls need their graphs.
  static bool declares(const Op& op) {
    return op.row() != nullptr && has(op.row()->traits, Trait::kSymbol);
  }

  std::string replace_uses() {
    Op* op = any_op();
    if (op == nullptr || op->result_count() == 0) return {};
    Value& from = *op->result(below(op->result_count()));
    const Values values = visible(*op);
    for (Value* to : values) {
      if (to->type() != from.type() || to->attributes().size() + from.attributes().size() != 0) {
        continue;
      }
      Rewriter rewriter(module_);
      if (one_in(2)) {
        rewriter.replace_all_uses(from, *to);
      } else {
        rewriter.replace_uses_if(from, *to, [&](const Use&) { return one_in(2); });
      }
      return "replace uses";
    }
    return {};
  }

  std::string replace() {
    Op* op = any_op();
    if (op == nullptr || is_fixed(*op)) return {};
    Values operands;
    for (const Use& use : op->operand_uses()) operands.push_back(use.value());
    std::vector<const Type*> types;
    for (const Value& result : op->results()) types.push_back(result.type());
    Rewriter rewriter(module_);
    Op* with = rewriter.create_detached({.name = context().op_name("my.Other"),
                                         .operands = operands,
                                         .result_types = types,
                                         .attributes = op->attributes()});
    rewriter.replace(*op, *with);
    return "replace";
  }

  /// Past one neighbour that has nothing to do with it.
  std::string move() {
    Op* op = any_op();
    if (op == nullptr || is_fixed(*op) || is_fixed(*op->next())) return {};
    for (const Use& use : op->next()->operand_uses()) {
      if (use.value()->defining_op() == op) return {};
    }
    if (one_in(2)) {
      Rewriter(module_).move_after(*op, *op->next());
    } else {
      Rewriter(module_).move_before(*op->next(), *op);
    }
    return "move";
  }

  std::string clone() {
    Op* op = any_op();
    if (op == nullptr || op->next() == nullptr || !op->extra().successors.empty()) return {};
    Rewriter rewriter(module_);
    rewriter.set_insertion_point_after(*op);
    RewriteMapping mapping;
    rewriter.clone(*op, mapping);
    return "clone";
  }

  std::string change_results() {
    Op* op = any_op();
    if (op == nullptr || op->row() != nullptr || !op->has_signature()) return {};
    if (op->name() == "my.Wrap") return {};  // its results are those of its body
    Rewriter rewriter(module_);
    if (one_in(2)) {
      rewriter.insert_result(*op, below(op->result_count() + std::size_t{1}), type());
      return "insert result";
    }
    for (const Value& result : op->results()) {
      if (result.has_uses()) continue;
      rewriter.erase_result(*op, result.index());
      return "erase result";
    }
    return {};
  }

  // -- regions and blocks -------------------------------------------------------------------------

  /// An op goes into the region of a new one, which returns its results.
  std::string wrap() {
    Op* op = any_op();
    if (op == nullptr || is_fixed(*op)) return {};
    std::vector<const Type*> types;
    for (const Value& result : op->results()) types.push_back(result.type());
    Rewriter rewriter(module_);
    rewriter.set_insertion_point(*op);
    Op* around = rewriter.create(
        {.name = context().op_name("my.Wrap"), .result_types = types, .regions = 1});
    Block* body = rewriter.create_block(*around->region());
    Values results;
    for (Value& result : op->results()) {
      results.push_back(&result);
      rewriter.replace_all_uses(result, *around->result(result.index()));
    }
    rewriter.move_to_end(*op, *body);
    rewriter.set_insertion_point_to_end(*body);
    rewriter.create({.name = context().op_name("cf.ReturnOp"), .operands = results});
    return "wrap";
  }

  std::string unwrap() {
    for (Op* op : ops_) {
      if (op->name() != "my.Wrap" || op->region()->entry() != op->region()->last_block()) continue;
      if (one_in(2)) continue;
      Rewriter rewriter(module_);
      const Values values = rewriter.inline_region(*op->region(), *op, {});
      rewriter.replace(*op, values);
      return "inline a region";
    }
    return {};
  }

  std::string take_body() {
    for (Op* op : ops_) {
      if (op->name() != "my.Wrap" || one_in(2)) continue;
      std::vector<const Type*> types;
      for (const Value& result : op->results()) types.push_back(result.type());
      Rewriter rewriter(module_);
      rewriter.set_insertion_point(*op);
      Op* other = rewriter.create(
          {.name = context().op_name("my.Wrap"), .result_types = types, .regions = 1});
      rewriter.take_body(*other->region(), *op->region());
      rewriter.replace(*op, *other);
      return "take a body";
    }
    return {};
  }

  /// Not where text has no blocks, nor where the end of the region is one of another kind.
  bool may_have_blocks(const Region& region) const {
    return region.parent()->row() == nullptr && region.parent() != module_.top();
  }

  std::string split() {
    Op* op = any_op();
    if (op == nullptr || !may_have_blocks(*op->parent_region())) return {};
    Block& block = *op->block();
    Rewriter rewriter(module_);
    Block* rest = rewriter.split_block(*op);
    branch(block, *rest, {});
    return "split";
  }

  void branch(Block& from, Block& to, std::span<Value* const> operands) {
    Rewriter rewriter(module_);
    rewriter.set_insertion_point_to_end(from);
    Op* op = rewriter.create({.name = context().op_name("my.Br")});
    const SuccessorSpec successor{.block = &to, .operands = operands};
    rewriter.set_successors(*op, std::span(&successor, 1));
  }

  std::string merge() {
    Block* block = any_block();
    if (block->empty() || block->successors().size() != 1 || block->back()->name() != "my.Br")
      return {};
    const OpExtra::Successor last = block->successors()[0];
    Block& next = *last.block;
    if (&next == block || next.predecessors().size() != 1 || next.previous() == nullptr) return {};
    Values arguments;
    for (const Use& use :
         block->back()->operand_uses().subspan(last.first_operand, last.operand_count)) {
      arguments.push_back(use.value());
    }
    Rewriter rewriter(module_);
    rewriter.erase(*block->back());
    rewriter.merge_blocks(next, *block, arguments);
    return "merge";
  }

  /// What each way into the block passes, with one value put in or taken out.
  template <class Edit>
  void edit_ways_in(Block& block, const Edit& edit) {
    for (Block* from : block.predecessors()) {
      Op& last = *from->back();
      std::vector<Values> lists;
      std::vector<SuccessorSpec> specs;
      for (const OpExtra::Successor& each : last.extra().successors) {
        Values& list = lists.emplace_back();
        for (const Use& use : last.operand_uses().subspan(each.first_operand, each.operand_count)) {
          list.push_back(use.value());
        }
        if (each.block == &block) edit(last, list);
        specs.push_back({.block = each.block, .stated = each.stated});
      }
      for (std::size_t i = 0; i < specs.size(); ++i) specs[i].operands = lists[i];
      Rewriter(module_).set_successors(last, specs);
    }
  }

  std::string add_argument() {
    Block* block = any_block();
    if (block->previous() == nullptr) return {};
    for (const Block* from : block->predecessors()) {
      if (visible(*from->back()).empty()) return {};
    }
    const std::size_t i = below(block->arguments().size() + 1);
    Rewriter rewriter(module_);
    Value* argument = rewriter.insert_argument(*block, i, type());
    rewriter.set_name(*argument, module_.fresh_name());
    edit_ways_in(*block, [&](const Op& last, Values& list) {
      const Values values = visible(last);
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), values[below(values.size())]);
    });
    return "add an argument";
  }

  std::string erase_argument() {
    for (Block* block : blocks_) {
      if (block->previous() == nullptr || block->arguments().empty()) continue;
      const std::size_t i = below(block->arguments().size());
      if (block->arguments()[i].has_uses()) continue;
      edit_ways_in(*block, [&](const Op&, Values& list) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      });
      Rewriter(module_).erase_argument(*block, i);
      return "erase an argument";
    }
    return {};
  }

  std::string move_block() {
    Block* block = any_block();
    if (block->previous() == nullptr) return {};
    Rewriter(module_).move_block(*block, *block->parent(), one_in(2) ? nullptr : after(*block));
    return "move a block";
  }
  static Block* after(const Block& block) {
    return block.next() == nullptr ? nullptr : block.next()->next();
  }

  /// One that nothing goes on to.
  std::string add_block() {
    Op* op = any_op();
    if (op == nullptr || !may_have_blocks(*op->parent_region())) return {};
    Rewriter rewriter(module_);
    Block* block = rewriter.create_block(*op->parent_region(), std::vector{type()}, {},
                                         one_in(2) ? op->block()->next() : nullptr);
    rewriter.set_insertion_point_to_end(*block);
    rewriter.create(
        {.name = context().op_name("my.stop"), .operands = std::vector{&block->arguments()[0]}});
    return "add a block";
  }

  std::string erase_block() {
    for (Block* block : blocks_) {
      if (block->previous() == nullptr || !block->predecessors().empty() || is_used(*block))
        continue;
      Rewriter(module_).erase_block(*block);
      return "erase a block";
    }
    return {};
  }
  /// Outside itself.
  static bool is_used(const Block& block) {
    const auto is_inside = [&](const Op* op) {
      while (op != nullptr && op->block() != &block) op = op->parent_op();
      return op != nullptr;
    };
    const auto is_used = [&](const Value& value) {
      for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
        if (!is_inside(use->user())) return true;
      }
      return false;
    };
    return std::ranges::any_of(block.arguments(), is_used) ||
           std::ranges::any_of(block.ops(), [&](const Op* op) {
             return std::ranges::any_of(op->results(), is_used);
           });
  }

  // -- what ops and regions say -------------------------------------------------------------------

  std::string rename() {
    Op* op = any_op();
    if (op == nullptr || !(op->row() == nullptr || op->is(OpId::kProgLabel))) return {};
    Rewriter(module_).set_symbol(*op, context().intern("p" + std::to_string(below(3))));
    return "set a symbol";
  }

  std::string set_attributes() {
    Op* op = any_op();
    if (op == nullptr || op->row() != nullptr || !op->has_signature()) return {};
    const Symbol key = context().intern("k" + std::to_string(below(3)));
    if (one_in(2)) {
      Rewriter(module_).set_attribute(*op, key, context().integer(1));
    } else if (!Rewriter(module_).remove_attribute(*op, key)) {
      return {};
    }
    return "set attributes";
  }

  /// A label, a parameter or a constant of the region.
  std::string add_constant() {
    Op* at = any_op();
    if (at == nullptr) return {};
    Rewriter rewriter(module_);
    rewriter.set_insertion_point(*at);
    const Symbol symbol = context().intern("p" + std::to_string(below(3)));
    if (one_in(3)) {
      rewriter.create(
          {.name = context().op_name("prog.label"), .symbol = symbol, .has_signature = false});
      return "add a label";
    }
    const NamedAttr numbers{
        context().intern("constant"),
        context().array(std::vector{context().integer(static_cast<std::int64_t>(below(3)))})};
    Value* value = rewriter.constant(*at->parent_region(),
                                     {.type = type(), .attributes = std::span(&numbers, 1)});
    rewriter.create({.name = context().op_name("my.Use"), .operands = std::vector{value}});
    return "add a constant";
  }

  const Type* type() { return context().tensor(std::vector{Dim(2)}, DType::kFloat32); }

  Module& module_;
  std::mt19937_64 engine_;
  std::vector<Op*> ops_;
  std::vector<Block*> blocks_;
};

}  // namespace mir::test
