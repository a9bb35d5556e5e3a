// Keeps insertion points and walks valid while ops and blocks are moved or erased.
#include "mir/module.hpp"
#include "mir/rewriter.hpp"

namespace mir {

Cursor::~Cursor() {
  detach();
}

void Cursor::attach(GraphState& graph) {
  detach();
  graph_ = &graph;
  next_ = graph.cursors;
  previous_ = &graph.cursors;
  if (next_ != nullptr) next_->previous_ = &next_;
  graph.cursors = this;
}

void Cursor::detach() {
  if (graph_ == nullptr) return;  // it was at no place, or the module went first
  *previous_ = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  graph_ = nullptr;
}

void Cursor::leave(GraphState& graph) {
  for (Cursor* next = graph.cursors; next != nullptr;) {
    Cursor& each = *std::exchange(next, next->next_);
    GraphState* const now = each.block_ == nullptr ? &graph : each.block_->parent()->graph_;
    if (now != &graph) each.attach(*now);
  }
}

/// The op is about to leave its block.
void Cursor::leave(const Op& op) {
  if (at_ == &op) at_ = side_ == Side::kAfter ? op.previous() : op.next();
}

/// The block is about to be erased, or to leave the region of a walk. A walk goes on after the
/// previous block, from the region's begin (null and null) if there is none. An insertion point
/// becomes none.
void Cursor::leave(const Block& block) {
  if (block_ != &block) return;
  block_ = side_ == Side::kAfter ? block.previous() : nullptr;
  at_ = block_ == nullptr ? nullptr : block_->back();
}

/// The block is about to move, with its ops. An insertion point among them moves with them; a walk
/// does not.
void Cursor::follow_move(const Block& block) {
  if (side_ == Side::kAfter) leave(block);
}

/// The end of `block` has become `rest`.
void Cursor::follow_split(const Block& block, Block& rest) {
  if (block_ == &block && at_ != nullptr && at_->block() == &rest) block_ = &rest;
}

/// The ops of `block` are about to stand in `into`, between `last` and `before`. A walk does not
/// follow them out of its region.
void Cursor::follow_merge(const Block& block, Block& into, Op* last, Op* before) {
  if (block_ != &block) return;
  if (side_ == Side::kAfter && block.parent() != into.parent()) return leave(block);
  block_ = &into;
  if (at_ == nullptr) at_ = side_ == Side::kAfter ? last : before;
}

}  // namespace mir
