// Places in a module that survive its edits, and walks that stand on them.
#pragma once

#include <cstdint>

#include "mir/op.hpp"

namespace mir {

/// A place among the ops of a region, known to the module: an edit through any rewriter moves it on
/// when what it refers to goes away. Not thread-safe, as edits are not.
class Cursor {
 public:
  /// Which neighbour tells the place; the other one may change.
  enum class Side : std::uint8_t {
    kAfter,  ///< after `at`, at the block's begin when that is null; for walks
    kBefore  ///< before `at`, at the block's end when that is null; for insertion
  };

  Cursor(Module& module, Side side);
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Block* block() const { return block_; }
  Op* at() const { return at_; }
  void set(Block* block, Op* at) {
    block_ = block;
    at_ = at;
  }

 private:
  friend class Module;
  friend class Rewriter;
  friend class RegionWalk;

  void leave(const Op& op);
  void leave(const Block& block);
  void follow_split(const Block& block, Block& rest);
  void follow_merge(const Block& block, Block& into, Op* last, Op* before);

  Cursor* next_;
  Cursor** previous_;
  Block* block_ = nullptr;
  Op* at_ = nullptr;
  Side side_;
};

/// The ops of a region, block by block, while they are edited.
class RegionWalk {
 public:
  RegionWalk(Module& module, Region& region)
      : region_(region), cursor_(module, Cursor::Side::kAfter) {}
  /// The next op; null at the end.
  Op* next() {
    Op* op = cursor_.at_ != nullptr      ? cursor_.at_->next()
             : cursor_.block_ != nullptr ? cursor_.block_->front()
                                         : nullptr;
    while (op == nullptr) {
      Block* block = cursor_.block_ != nullptr ? cursor_.block_->next() : region_.entry();
      if (block == nullptr) return nullptr;
      cursor_.set(block, nullptr);
      op = block->front();
    }
    cursor_.at_ = op;
    return op;
  }

 private:
  Region& region_;
  Cursor cursor_;
};

// Names of upstream's interface. NOLINTBEGIN(readability-identifier-naming)
enum class WalkResult : std::uint8_t {
  WALK_CONTINUE,
  WALK_SKIP,      ///< leaves out the op's own regions; in post-order they have been visited
  WALK_INTERRUPT  ///< ends the walk
};
// NOLINTEND(readability-identifier-naming)

enum class WalkOrder : std::uint8_t {
  kPreOrder,  ///< an op before what is inside it
  kPostOrder  ///< an op after what is inside it
};

/// Calls `visit(Op&)`, which gives a WalkResult, for each op of the region and of those inside it,
/// in order. Any op or block may be made, moved or erased meanwhile, through any rewriter, the op
/// at hand and those around it included: what is made or moved to after the op at hand is visited,
/// what is made before it is not, and nothing that was erased. Walks may nest. False when
/// interrupted.
template <class Visit>
bool walk(Module& module, Region& region, WalkOrder order, const Visit& visit) {
  RegionWalk ops(module, region);
  while (Op* op = ops.next()) {
    if (order == WalkOrder::kPreOrder) {
      const WalkResult result = visit(*op);
      if (result == WalkResult::WALK_INTERRUPT) return false;
      if (result == WalkResult::WALK_SKIP) continue;
    }
    Region* inner = op->is_erased() ? nullptr : op->first_region();
    for (; inner != nullptr; inner = op->is_erased() ? nullptr : inner->next()) {
      if (!walk(module, *inner, order, visit)) return false;
    }
    if (order == WalkOrder::kPostOrder && !op->is_erased() &&
        visit(*op) == WalkResult::WALK_INTERRUPT) {
      return false;
    }
  }
  return true;
}

}  // namespace mir
