// Replaces conditions and loops by blocks and branches.
#include <array>
#include <vector>

#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "passes/control/block_ends.hpp"
#include "passes/control/constant_loop.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// Takes one op apart. What follows it goes to a block whose arguments are the results.
class Flattening {
 public:
  Flattening(Rewriter& rewriter, Op& op)
      : rewriter_(rewriter), ends_(rewriter), op_(op), start_(*op.block()) {}

  void run() {
    rest_ = rewriter_.split_block(*op_.next());
    for (Value& result : op_.results()) {
      Value& argument = *rewriter_.add_argument(*rest_, result.type());
      rewriter_.set_name(argument, result.name());
      rewriter_.set_attributes(argument, result.attributes());
      rewriter_.replace_all_uses(result, argument);
    }
    for (const Use& use : op_.operand_uses()) operands_.push_back(use.value());
    // The first and the last ops of each region are known before its blocks are among others.
    std::vector<Block*> entries;
    std::vector<std::vector<Op*>> exits;
    for (Region* region = op_.first_region(); region != nullptr; region = region->next()) {
      entries.push_back(region->entry());
      exits.emplace_back();
      for (Block* block : region->blocks()) {
        Op* const last = block->terminator();
        if (last != nullptr && leaves_region(*last)) exits.back().push_back(last);
      }
    }
    for (Region* region = op_.first_region(); region != nullptr; region = region->next()) {
      rewriter_.inline_region(*region, *rest_);
    }
    const OpId kind = op_.op_id();
    device_ = op_.operand_count() == 0 ? Symbol() : device_of(*op_.operand(0));
    rewriter_.erase(op_);
    if (kind == OpId::kCfIf) {
      branch_to(entries, exits);
    } else if (kind == OpId::kCfWhile) {
      loop_while(entries, exits);
    } else {
      loop_for(*entries[0], exits[0]);
    }
  }

 private:
  static Symbol device_of(const Value& value) {
    const TensorType* const type = value.tensor_type();
    return type == nullptr ? Symbol() : type->device();
  }

  void branch_to(std::span<Block* const> entries, std::span<const std::vector<Op*>> exits) {
    ends_.conditional(start_, *operands_[0], {entries[0], {}}, {entries[1], {}});
    for (const auto& ends : exits) {
      for (Op* end : ends) ends_.go_on(*end, *rest_);
    }
  }

  void loop_while(std::span<Block* const> entries, std::span<const std::vector<Op*>> exits) {
    ends_.branch(start_, {entries[0], operands_});
    for (Op* end : exits[0]) {
      Block& block = *end->block();
      const std::vector<Value*> all = ends_.take_off(*end);
      const std::vector<Value*> passed(all.begin() + 1, all.end());
      ends_.conditional(block, *all[0], {entries[1], passed}, {rest_, passed});
    }
    for (Op* end : exits[1]) ends_.go_on(*end, *entries[0]);
  }

  /// The body decides at its end: the next index is below the last one, and above this one, as a
  /// sum that is too large for the type is not.
  void loop_for(Block& body, std::span<Op* const> exits) {
    const std::vector<Value*> carried(operands_.begin() + 3, operands_.end());
    std::vector<Value*> first{operands_[0]};
    first.insert(first.end(), carried.begin(), carried.end());
    rewriter_.set_insertion_point_to_end(start_);
    Value& begins = less(*operands_[0], *operands_[1]);
    ends_.conditional(start_, begins, {&body, first}, {rest_, carried});
    for (Op* end : exits) {
      Block& block = *end->block();
      const std::vector<Value*> passed = ends_.take_off(*end);
      rewriter_.set_insertion_point_to_end(block);
      Value& index = body.arguments()[0];
      Value& next = make(OpId::kLinalgAdd, index, *operands_[2], index.type());
      Value& is_below = less(next, *operands_[1]);
      Value& goes_on = make(OpId::kLinalgAnd, less(index, next), is_below, is_below.type());
      std::vector<Value*> again{&next};
      again.insert(again.end(), passed.begin(), passed.end());
      ends_.conditional(block, goes_on, {&body, again}, {rest_, passed});
    }
  }

  Value& less(Value& a, Value& b) {
    const auto* type = dyn_cast<TensorType>(a.type());
    IRContext& context = rewriter_.context();
    return make(
        OpId::kLinalgLess, a, b,
        context.tensor(type->dims(), context.intern(name_of(DType::kBool)), type->device()));
  }

  Value& make(OpId kind, Value& a, Value& b, const Type* type) {
    const std::array<Value*, 2> operands{&a, &b};
    return *rewriter_
                .create({.name = rewriter_.context().op_name(kind, device_),
                         .operands = operands,
                         .result_types = std::span(&type, 1)})
                ->result();
  }

  Rewriter& rewriter_;
  BlockEnds ends_;
  Op& op_;
  Block& start_;
  Block* rest_ = nullptr;
  Symbol device_;
  std::vector<Value*> operands_;
};

bool may_flatten(const Op& op) {
  if (op.next() == nullptr || op.parent_op()->is(OpId::kGraphFused)) return false;
  if (!symbols_bound_in(op).empty()) return false;
  if (!op.is(OpId::kCfFor)) return true;
  // A step that is not above 0 is an error of a run.
  const auto step = constant_element(*op.operand(2));
  return step && *step > 0 && op.operand(0)->tensor_type() != nullptr;
}

PassResult structure_to_blocks(PassRun& run) {
  // From the last to the first, so that little follows an op that is taken apart, and those inside
  // an op before it.
  std::vector<Op*> found;
  walk(run.region(), WalkOrder::kPreOrder, [&](Op& op) {
    if (op.is(OpId::kCfIf, OpId::kCfFor, OpId::kCfWhile)) found.push_back(&op);
    return WalkResult::kContinue;
  });
  Rewriter rewriter(run.module());
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    Op* const op = *at;
    if (may_flatten(*op)) {
      Flattening(rewriter, *op).run();
      run.count("operations taken apart");
    } else {
      run.count("operations kept");
    }
  }
  return run.result();
}

}  // namespace

Pass structure_to_blocks_pass() {
  return {.name = "structure-to-blocks",
          .summary = "replaces conditions and loops by blocks and branches",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .preserves = AnalysisSet::of<SymbolRanges>(),
          .run = structure_to_blocks};
}

}  // namespace mir
