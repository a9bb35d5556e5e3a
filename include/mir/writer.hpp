// Walking and editing in the vocabulary of the MLLM IR document: a thin layer over the rewriter.
#pragma once

#include "mir/ops.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Edits one region while walking it.
class IRWriter {
 public:
  // Names of upstream's interface. NOLINTBEGIN(readability-identifier-naming)
  using WalkResult = mir::WalkResult;
  enum Position { BEFORE, AFTER };
  // NOLINTEND(readability-identifier-naming)

  IRWriter(Module& module, Region& region) : rewriter_(module), region_(region) {}
  explicit IRWriter(Module& module) : IRWriter(module, module.body()) {}

  Module& module() const { return rewriter_.module(); }
  IRContext& context() const { return rewriter_.context(); }
  /// For edits that upstream has no name for.
  Rewriter& rewriter() { return rewriter_; }

  /// Calls `visit(IRWriter&, T)` for each op of the region, in order and nested ones after their
  /// parent, that fits T; see mir::walk.
  template <class T, class Visit>
  bool walk(const Visit& visit) {
    return mir::walk(module(), region_, WalkOrder::kPreOrder, [&](Op& op) {
      return T::classof(&op) ? visit(*this, T(&op)) : WalkResult::WALK_CONTINUE;
    });
  }

  /// Makes an op and links it next to `at`.
  Op* createAtPos(Op* at, Position position, const OpSpec& spec) {
    if (position == BEFORE) {
      rewriter_.set_insertion_point(*at);
    } else {
      rewriter_.set_insertion_point_after(*at);
    }
    return rewriter_.create(spec);
  }
  /// Makes an op at the end of the region's first block.
  Op* create(const OpSpec& spec) {
    Block* entry = region_.entry();
    rewriter_.set_insertion_point_to_end(entry != nullptr ? *entry
                                                          : *rewriter_.create_block(region_));
    return rewriter_.create(spec);
  }
  /// Every use of `old_op`'s results becomes a use of `new_op`'s; `old_op` is removed. Both have
  /// equally many results; `new_op` may already be linked, otherwise it takes the old one's place.
  void replaceOp(Op* old_op, Op* new_op) { rewriter_.replace(*old_op, *new_op); }
  /// Removes an op whose results have no uses.
  void removeOp(Op* op) { rewriter_.erase(*op); }

 private:
  Rewriter rewriter_;
  Region& region_;
};

}  // namespace mir
