// The order numbers of a block's ops.
//
// note [order]
// Numbers grow along the block, so comparing two says which op stands first. A new op takes the
// middle between its neighbours. Where nothing is left between them, the smallest aligned window of
// numbers around that is sparse enough is numbered evenly; denser windows are accepted the smaller
// they are. Amortised this costs O(log n) for each op that is linked, wherever. (Bender, Cole,
// Demaine, Farach-Colton, Zito: Two Simplified Algorithms for Maintaining Order in a List.)
#include <algorithm>

#include "mir/op.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kMiddle = 1u << 31, kStride = 64;
constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;

}  // namespace

void Block::number(Op* op) {
  const bool is_first = op->previous_ == nullptr, is_last = op->next_ == nullptr;
  if (is_first && is_last) {
    op->order_ = kMiddle;
    return;
  }
  const std::uint64_t low = is_first ? 0 : op->previous_->order_;
  const std::uint64_t high = is_last ? kEnd : op->next_->order_;
  const std::uint64_t half = (high - low) / 2;
  if (half == 0) return spread(op);
  const std::uint64_t step = std::min<std::uint64_t>(half, kStride);
  op->order_ = static_cast<std::uint32_t>(is_last    ? low + step
                                          : is_first ? high - step
                                                     : low + half);
}

/// Numbers a window anew in which `op` is, after a neighbour whose number it cannot follow.
void Block::spread(Op* op) {
  constexpr double kGrowth = 2 / 1.2;  // how many more ops the next larger window may have
  op->order_ = (op->previous_ != nullptr ? op->previous_ : op->next_)->order_;
  Op *first = op, *last = op;
  std::uint64_t count = 1;
  double most = 1;
  for (std::uint64_t size = 2;; size *= 2) {
    const std::uint64_t begin = op->order_ & ~(size - 1);
    for (; first->previous_ != nullptr && first->previous_->order_ >= begin; ++count) {
      first = first->previous_;
    }
    for (; last->next_ != nullptr && last->next_->order_ < begin + size; ++count) {
      last = last->next_;
    }
    most *= kGrowth;
    const bool is_sparse = 2 * count <= size && static_cast<double>(count) <= most;
    if (!is_sparse && size < kEnd) continue;
    std::uint64_t i = 0;
    for (Op* each = first;; each = each->next_) {
      each->order_ = static_cast<std::uint32_t>(begin + (2 * i++ + 1) * size / (2 * count));
      if (each == last) return;
    }
  }
}

void Block::link(Op* op, Op* position) {
  assert(op->block_ == nullptr && !op->erased_);
  op->block_ = this;
  op->move_in(*parent_->graph_);
  op->next_ = position;
  op->previous_ = position == nullptr ? last_ : position->previous_;
  (op->previous_ == nullptr ? first_ : op->previous_->next_) = op;
  (position == nullptr ? last_ : position->previous_) = op;
  number(op);
}

void Block::take_out(Op* op) {
  assert(op->block_ == this);
  (op->previous_ == nullptr ? first_ : op->previous_->next_) = op->next_;
  (op->next_ == nullptr ? last_ : op->next_->previous_) = op->previous_;
  op->block_ = nullptr;
  op->previous_ = op->next_ = nullptr;
}

}  // namespace mir
