// Finds conditions and loops in blocks and branches.
//
// Each step makes fewer blocks of a region: a block and its only successor become one, arms of a
// branch become a cf.IfOp, a header with its body becomes a cf.WhileOp. Blocks are looked at again
// when something around them has changed, until nothing fits any more. What a text could not nest
// stays in blocks.
#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dialects/parameters.hpp"
#include "ir/extent_walk.hpp"
#include "ir/joined_extents.hpp"
#include "ir/rewrite/carried_scales.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "mir/dominance.hpp"
#include "mir/parse.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/control/block_ends.hpp"
#include "passes/extract/body_graph.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Regions inside each other, with room for the brackets of ops: a text has two brackets for each.
constexpr std::size_t kMostLevels = kMaxNesting / 2 - 16;

std::size_t levels_in(const Block& block) {
  std::size_t levels = 0;
  for (const Op* op : block.ops()) {
    for (const Region* region = op->first_region(); region != nullptr; region = region->next()) {
      for (const Block* inner : region->blocks()) levels = std::max(levels, 1 + levels_in(*inner));
    }
  }
  return levels;
}

std::size_t levels_around(const Region& region) {
  std::size_t levels = 0;
  for (const Op* op = region.parent(); op != nullptr; op = op->parent_op()) ++levels;
  return levels;
}

class Structuring {
 public:
  Structuring(PassRun& run, Rewriter& rewriter, Region& region)
      : run_(run),
        rewriter_(rewriter),
        ends_(rewriter),
        region_(region),
        around_(levels_around(region)) {}

  void run() {
    const std::vector<Block*> blocks(region_.blocks().begin(), region_.blocks().end());
    move_declarations(rewriter_, blocks);
    split_switches();
    for (Block* block : region_.blocks()) {
      for (const auto& successor : block->successors()) add_edge(*block, *successor.block);
      if (binds_symbols(*block)) binding_.insert(block);
      levels_[block] = levels_in(*block);
      look_at(*block);
    }
    while (!open_.empty()) {
      Block* const block = open_.front();
      open_.pop_front();
      is_open_.erase(block);
      if (gone_.contains(block)) continue;
      if (merge(*block) || make_condition(*block) || make_loop(*block)) look_at(*block);
    }
    if (region_.has_several_blocks()) run_.count("regions that keep blocks");
  }

 private:
  using Values = std::vector<Value*>;

  void look_at(Block& block) {
    if (is_open_.insert(&block).second) open_.push_back(&block);
  }

  /// True if a text can nest both blocks in an op of this region. A null block is left out.
  bool can_nest(const Block* a, const Block* b) const {
    const auto levels = [&](const Block* block) {
      return block == nullptr ? 0 : levels_.at(block);
    };
    return around_ + 1 + std::max(levels(a), levels(b)) <= kMostLevels;
  }
  void nest(const Block& around, const Block& inner) {
    levels_[&around] = std::max(levels_[&around], 1 + levels_.at(&inner));
  }

  // -- edges ------------------------------------------------------------------------------------

  /// The edges that lead to a block, by their sources.
  struct Sources {
    std::unordered_map<Block*, std::size_t> counts;
    std::size_t total = 0;
  };

  bool is_only_reached_from(const Block& to, Block& from) const {
    if (&to == region_.entry()) return false;
    const auto found = sources_.find(&to);
    return found != sources_.end() && found->second.total == 1 &&
           found->second.counts.contains(&from);
  }
  void add_edge(Block& from, const Block& to) {
    Sources& sources = sources_[&to];
    ++sources.counts[&from];
    ++sources.total;
  }
  void drop_edges(Block& from) {
    for (const auto& successor : from.successors()) {
      Sources& sources = sources_[successor.block];
      if (--sources.counts[&from] == 0) sources.counts.erase(&from);
      if (--sources.total == 1) look_at(*sources.counts.begin()->first);
    }
  }
  void add_edges(Block& from) {
    for (const auto& successor : from.successors()) {
      add_edge(from, *successor.block);
      look_at(*successor.block);
    }
    look_at(from);
    // A block with one source is part of what can be found there.
    const Sources& sources = sources_[&from];
    if (sources.total == 1) look_at(*sources.counts.begin()->first);
  }
  void forget(Block& block) {
    sources_.erase(&block);
    gone_.insert(&block);
  }

  static Op* branch_of(const Block& block, OpId kind) {
    Op* const last = block.terminator();
    return last != nullptr && last->is(kind) ? last : nullptr;
  }
  static Block* target_of(const Op& end, std::size_t number) {
    return end.extra().successors[number].block;
  }

  // -- a block and its only successor -----------------------------------------------------------

  bool merge(Block& block) {
    Op* const end = branch_of(block, OpId::kCfBranch);
    if (end == nullptr) return false;
    Block& next = *target_of(*end, 0);
    if (&next == &block || !is_only_reached_from(next, block)) return false;
    if (!JoinedExtents::at_block(*end, end->extra().successors.front()).empty()) return false;
    // Each time that one of two blocks runs, its symbols get values of their own.
    if (binding_.contains(&next) && !binding_.insert(&block).second) return false;
    const Values arguments = passed_to(*end, 0);
    drop_edges(block);
    drop_edges(next);
    rewriter_.erase(*end);
    levels_[&block] = std::max(levels_.at(&block), levels_.at(&next));
    forget(next);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      take_name(*arguments[i], next.arguments()[static_cast<std::uint32_t>(i)]);
    rewriter_.merge_blocks(next, block, arguments);
    add_edges(block);
    run_.count("blocks merged");
    return true;
  }

  /// A result that this pass made is called as the argument that it replaces, once.
  void take_name(Value& result, const Value& argument) {
    const Op* const definition = result.defining_op();
    if (definition == nullptr || !made_.contains(definition)) return;
    if (named_.insert(&result).second) rewriter_.set_name(result, argument.name());
  }

  // -- conditions -------------------------------------------------------------------------------

  /// One way from a branch: by a block of its own, or straight to where both ways meet.
  struct Arm {
    Block* block = nullptr;  ///< null: straight
    Block* meets = nullptr;  ///< null: the block leaves the region
    Op* end = nullptr;       ///< of the block
  };

  Arm arm(Block& from, Block& to) const {
    Op* const end = to.terminator();
    const bool goes_on = end != nullptr && end->is(OpId::kCfBranch);
    if (!goes_on && (end == nullptr || !leaves_region(*end))) return {.meets = &to};
    if (!is_only_reached_from(to, from) || !read_elsewhere(to).empty()) return {.meets = &to};
    return {.block = &to, .meets = goes_on ? target_of(*end, 0) : nullptr, .end = end};
  }

  /// The values of a block that ops in other blocks read.
  Values read_elsewhere(const Block& block) const {
    Values values;
    const auto look = [&](Value& value) {
      for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
        if (use->user()->ancestor_in(region_)->block() == &block) continue;
        return values.push_back(&value);
      }
    };
    for (Value& argument : block.arguments()) look(argument);
    for (Op* op : block.ops()) {
      for (Value& result : op->results()) look(result);
    }
    return values;
  }

  bool make_condition(Block& block) {
    Op* const end = branch_of(block, OpId::kCfCondBranch);
    if (end == nullptr) return false;
    std::array<Arm, 2> arms{arm(block, *target_of(*end, 0)), arm(block, *target_of(*end, 1))};
    if (arms[0].meets != arms[1].meets) return false;
    if (arms[0].meets == nullptr && !leave_alike(*arms[0].end, *arms[1].end)) return false;
    for (const Arm& each : arms) {
      if (each.block != nullptr && (each.block == each.meets || binding_.contains(each.block))) {
        return false;
      }
    }
    if (!can_nest(arms[0].block, arms[1].block)) return false;
    replace_by_condition(block, *end, arms);
    run_.count("conditions found");
    return true;
  }

  static bool leave_alike(const Op& a, const Op& b) {
    return a.op_id() == b.op_id() &&
           std::ranges::equal(a.operand_uses(), b.operand_uses(), [](const Use& x, const Use& y) {
             return x.value()->type() == y.value()->type();
           });
  }

  void replace_by_condition(Block& block, Op& end, std::span<const Arm> arms) {
    std::array<Values, 2> passed{passed_to(end, 0), passed_to(end, 1)};
    Value* const condition = end.operand(0);
    const OpId leaving = arms[0].meets == nullptr ? arms[0].end->op_id() : OpId::kNone;
    std::vector<const Value*> models;  // of the results
    if (arms[0].meets != nullptr) {
      for (const Value& argument : arms[0].meets->arguments()) models.push_back(&argument);
    } else {
      for (const Use& use : arms[0].end->operand_uses()) models.push_back(use.value());
    }
    const std::vector<const Type*> types = types_of(models);
    drop_edges(block);
    for (const Arm& each : arms) {
      if (each.block != nullptr) drop_edges(*each.block);
    }
    rewriter_.erase(end);
    rewriter_.set_insertion_point_to_end(block);
    Op& made = *rewriter_.create({.name = rewriter_.context().op_name(OpId::kCfIf),
                                  .operands = std::span(&condition, 1),
                                  .result_types = types,
                                  .regions = 2});
    for (Value& result : made.results()) carry_scales(rewriter_, *models[result.index()], result);
    for (std::uint32_t i = 0; i < 2; ++i) {
      Region& region = *made.region(i);
      Block& inner = *rewriter_.create_block(region);
      const Values values = arms[i].block != nullptr ? ends_.take_off(*arms[i].end) : passed[i];
      std::vector<const Type*> of_region;  // whose extents may differ from those of the results
      for (const Value* value : values) of_region.push_back(value->type());
      rewriter_.set_has_signature(region, true);
      rewriter_.set_result_types(region, of_region);
      if (arms[i].block != nullptr) {
        // The last op of the arm goes first: what it passes may be an argument.
        Op* const last = rewriter_.create_detached(
            {.name = rewriter_.context().op_name(OpId::kCfYield), .operands = values});
        rewriter_.insert(*last, *arms[i].block, nullptr);
        nest(block, *arms[i].block);
        forget(*arms[i].block);
        rewriter_.merge_blocks(*arms[i].block, inner, passed[i]);
      } else {
        ends_.leave(inner, OpId::kCfYield, values);
      }
    }
    made_.insert(&made);
    const Values results = all_of(made.results());
    if (arms[0].meets != nullptr) {
      ends_.branch(block, {arms[0].meets, results});
    } else {
      ends_.leave(block, leaving, results);
    }
    add_edges(block);
  }

  static std::vector<const Type*> types_of(std::span<const Value* const> values) {
    std::vector<const Type*> types;
    for (const Value* value : values) types.push_back(value->type());
    return types;
  }

  static Values all_of(ValueRange values) {
    Values all;
    for (Value& value : values) all.push_back(&value);
    return all;
  }

  // -- loops ------------------------------------------------------------------------------------

  /// The block is a header that decides, and its body is one block that goes back, or nothing.
  bool make_loop(Block& header) {
    Op* const end = branch_of(header, OpId::kCfCondBranch);
    if (end == nullptr || &header == region_.entry()) return false;
    for (std::size_t inside = 0; inside < 2; ++inside) {
      Block& body = *target_of(*end, inside);
      Block& exit = *target_of(*end, 1 - inside);
      if (&exit == &header || &exit == &body) continue;
      const bool is_alone = &body == &header;
      if (!is_alone) {
        const Op* const back = branch_of(body, OpId::kCfBranch);
        if (back == nullptr || target_of(*back, 0) != &header ||
            !is_only_reached_from(body, header) || !read_elsewhere(body).empty()) {
          continue;
        }
      }
      if (binding_.contains(&header) || binding_.contains(&body)) continue;
      if (!can_nest(&header, &body)) continue;
      replace_by_loop(header, is_alone ? nullptr : &body, exit, inside);
      run_.count("loops found");
      return true;
    }
    return false;
  }

  /// `body`: null if the header goes back to itself.
  void replace_by_loop(Block& header, Block* body, Block& exit, std::size_t inside) {
    Op& decision = *header.terminator();
    const Values kept = read_elsewhere(header);
    const Values to_body = passed_to(decision, inside), to_exit = passed_to(decision, 1 - inside);
    Values passed = to_body;
    const auto place_of = [&](Value* value) {
      const auto found = std::ranges::find(passed, value);
      const auto place = static_cast<std::uint32_t>(found - passed.begin());
      if (found == passed.end()) passed.push_back(value);
      return place;
    };
    std::vector<std::uint32_t> exit_places, kept_places;
    for (Value* value : to_exit) exit_places.push_back(place_of(value));
    for (Value* value : kept) kept_places.push_back(place_of(value));
    std::vector<const Type*> types, results;
    for (const Value& argument : header.arguments()) types.push_back(argument.type());
    for (const Value* value : passed) results.push_back(value->type());

    // A block of the same arguments takes the place of the header.
    drop_edges(header);
    if (body != nullptr) drop_edges(*body);
    Block& outer = *rewriter_.create_block(region_, types, {}, &header);
    redirect(header, outer);
    nest(outer, header);
    if (body != nullptr) nest(outer, *body);
    rewriter_.set_insertion_point_to_end(outer);
    const Values carried = all_of(outer.arguments());
    for (const Value& argument : header.arguments()) {
      carry_scales(rewriter_, argument, *carried[argument.index()]);
    }
    Op& loop = *rewriter_.create({.name = rewriter_.context().op_name(OpId::kCfWhile),
                                  .operands = carried,
                                  .result_types = results,
                                  .regions = 2});
    for (Value& result : loop.results()) carry_scales(rewriter_, *passed[result.index()], result);
    for (std::uint32_t i = 0; i < 2; ++i) rewriter_.set_has_signature(*loop.region(i), true);
    rewriter_.set_result_types(*loop.region(0), results);
    rewriter_.set_result_types(*loop.region(1), types);
    forget(header);
    if (body != nullptr) forget(*body);
    rewriter_.move_block(header, *loop.region(0));
    decide(header, passed, inside);
    // The exit and all after it read results, the body reads its arguments.
    Block& second = body == nullptr ? *rewriter_.create_block(*loop.region(1), results) : *body;
    if (body != nullptr) {
      rewriter_.move_block(*body, *loop.region(1));
      for (std::size_t i = to_body.size(); i < results.size(); ++i) {
        rewriter_.add_argument(*body, results[i]);
      }
    }
    for (Value& argument : second.arguments()) {
      carry_scales(rewriter_, *passed[argument.index()], argument);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      replace_outside(*kept[i], *loop.region(0), *loop.region(1),
                      second.arguments()[kept_places[i]], *loop.result(kept_places[i]));
    }
    if (body == nullptr) {
      const auto arguments = all_of(second.arguments());
      ends_.leave(second, OpId::kCfYield, std::span(arguments).first(to_body.size()));
    } else {
      const Values again = ends_.take_off(*body->terminator());
      ends_.leave(*body, OpId::kCfYield, again);
    }
    Values results_for_exit;
    for (const std::uint32_t place : exit_places) results_for_exit.push_back(loop.result(place));
    ends_.branch(outer, {&exit, results_for_exit});
    made_.insert(&loop);
    add_edges(outer);
  }

  /// Ends the header with a condition that holds as long as the loop goes on.
  void decide(Block& header, Values passed, std::size_t inside) {
    Value* condition = header.terminator()->operand(0);
    rewriter_.erase(*header.terminator());
    rewriter_.set_insertion_point_to_end(header);
    if (inside == 1) {
      const Type* const type = condition->type();
      const auto* tensor = condition->tensor_type();
      const Symbol device = tensor == nullptr ? Symbol() : tensor->device();
      condition = rewriter_
                      .create({.name = rewriter_.context().op_name(OpId::kLinalgNot, device),
                               .operands = std::span(&condition, 1),
                               .result_types = std::span(&type, 1)})
                      ->result();
    }
    passed.insert(passed.begin(), condition);
    ends_.leave(header, OpId::kCfCondition, passed);
  }

  /// Branches to the header from outside go to the block that takes its place.
  void redirect(Block& header, Block& outer) {
    std::vector<Block*> sources;
    for (const auto& [source, number] : sources_[&header].counts) sources.push_back(source);
    for (Block* source : sources) {
      Op& end = *source->terminator();
      drop_edges(*source);
      std::vector<Values> operands;
      for (std::size_t i = 0; i < end.extra().successors.size(); ++i) {
        operands.push_back(passed_to(end, i));
      }
      std::vector<SuccessorSpec> successors;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        Block* const target = target_of(end, i);
        successors.push_back(
            {.block = target == &header ? &outer : target, .operands = operands[i]});
      }
      rewriter_.set_successors(end, successors);
      for (const auto& successor : source->successors()) add_edge(*source, *successor.block);
    }
  }

  /// Uses of a value of the header: those in the body read its argument, those around the loop the
  /// result.
  void replace_outside(Value& value, const Region& header, const Region& body, Value& argument,
                       Value& result) {
    rewriter_.replace_uses_if(
        value, argument, [&](const Use& use) { return use.user()->ancestor_in(body) != nullptr; });
    rewriter_.replace_uses_if(value, result, [&](const Use& use) {
      return use.user()->ancestor_in(header) == nullptr && use.user()->ancestor_in(body) == nullptr;
    });
  }

  // -- switches ---------------------------------------------------------------------------------

  /// Each case is a comparison in a block of its own. Their conditions will be inside each other.
  void split_switches() {
    std::vector<Op*> switches;
    for (Block* block : region_.blocks()) {
      if (Op* end = branch_of(*block, OpId::kCfSwitch)) switches.push_back(end);
    }
    for (Op* end : switches) {
      const Attr* const cases = end->attribute(key::kCases);
      const bool is_complete =
          cases != nullptr && cases->elements().size() + 1 == end->extra().successors.size();
      const TensorType* const type = end->operand(0)->tensor_type();
      if (!is_complete || type == nullptr || !type->element_count()) continue;
      if (around_ + cases->elements().size() > kMostLevels) continue;
      split_switch(*end, *cases);
      run_.count("switches split");
    }
  }

  void split_switch(Op& end, const Attr& cases) {
    std::vector<BlockEnds::Target> targets;
    for (std::size_t i = 0; i < end.extra().successors.size(); ++i) {
      targets.push_back({target_of(end, i), passed_to(end, i)});
    }
    Value& index = *end.operand(0);
    Block* block = end.block();
    rewriter_.erase(end);
    for (std::size_t i = 1; i < targets.size(); ++i) {
      const bool is_last = i + 1 == targets.size();
      rewriter_.set_insertion_point_to_end(*block);
      Value& is_it = equal(index, *cases.elements()[i - 1]);
      Block* const next =
          is_last ? nullptr : rewriter_.create_block(region_, {}, {}, block->next());
      ends_.conditional(*block, is_it, targets[i],
                        is_last ? targets[0] : BlockEnds::Target{next, {}});
      block = next;
    }
    if (targets.size() == 1) ends_.branch(*block, targets[0]);
  }

  Value& equal(Value& index, const Attr& number) {
    IRContext& context = rewriter_.context();
    const auto* type = index.tensor_type();
    const Attr* const element = &number;
    const NamedAttr constant{key::kConstant, context.array({&element, 1})};
    const std::array<Value*, 2> operands{
        &index, rewriter_.constant(region_, {.type = type, .attributes = {&constant, 1}})};
    const Type* const truth =
        context.tensor(type->dims(), context.intern(name_of(DType::kBool)), type->device());
    return *rewriter_
                .create({.name = context.op_name(OpId::kLinalgEqual, type->device()),
                         .operands = operands,
                         .result_types = std::span(&truth, 1)})
                ->result();
  }

  PassRun& run_;
  Rewriter& rewriter_;
  BlockEnds ends_;
  Region& region_;
  std::size_t around_;                                    // levels around the region
  std::unordered_map<const Block*, std::size_t> levels_;  // in each block
  std::unordered_map<const Block*, Sources> sources_;
  std::deque<Block*> open_;
  std::unordered_set<const Block*> is_open_, gone_;
  std::unordered_set<const Block*> binding_;  // see binds_symbols()
  std::unordered_set<const Op*> made_;
  std::unordered_set<const Value*> named_;
};

/// Regions with blocks that nothing reaches, or with ends of other dialects, are left alone.
bool is_plain(const Region& region) {
  const Dominance dominance(region);
  return std::ranges::all_of(region.blocks(), [&](const Block* block) {
    const Op* const last = block->terminator();
    if (last == nullptr || !dominance.is_reachable(*block)) return false;
    return leaves_region(*last) || last->is(OpId::kCfBranch, OpId::kCfCondBranch, OpId::kCfSwitch);
  });
}

PassResult blocks_to_structure(PassRun& run) {
  std::vector<Region*> regions;
  const auto add = [&](Region& region) {
    if (region.has_several_blocks() && is_plain(region)) regions.push_back(&region);
  };
  add(run.region());
  walk(run.region(), WalkOrder::kPostOrder, [&](Op& op) {
    if (op.has(Trait::kIsolated)) return WalkResult::kContinue;
    for (Region* region = op.first_region(); region != nullptr; region = region->next())
      add(*region);
    return WalkResult::kContinue;
  });
  Rewriter rewriter(run.module());
  for (Region* region : regions) Structuring(run, rewriter, *region).run();
  return run.result();
}

}  // namespace

Pass blocks_to_structure_pass() {
  return {.name = "blocks-to-structure",
          .summary = "finds conditions and loops in blocks and branches",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .preserves = AnalysisSet::of<SymbolRanges>(),
          .run = blocks_to_structure};
}

}  // namespace mir
