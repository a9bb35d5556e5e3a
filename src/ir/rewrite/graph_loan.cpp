#include "ir/rewrite/graph_loan.hpp"

#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"

namespace mir {

template <class VisitOp, class VisitValue>
void GraphLoan::for_each(Op& graph, const VisitOp& visit_op, const VisitValue& visit_value) {
  for (Region* region = graph.first_region(); region != nullptr; region = region->next()) {
    for (Value* value : region->free_values()) visit_value(*value);
    for (Block* block : region->blocks()) {
      for (Value& argument : block->arguments()) visit_value(argument);
      for (Op* op : block->ops()) {
        visit_op(*op);
        for (Value& result : op->results()) visit_value(result);
        for_each(*op, visit_op, visit_value);
      }
    }
    lender_.constants_.erase(region);
  }
}

void GraphLoan::lend_cursors() {
  const auto is_inside = [&](const Cursor& cursor) {
    const Region* region = cursor.block() == nullptr ? nullptr : cursor.block()->parent();
    while (region != nullptr && region->parent() != &graph_) {
      region = region->parent()->parent_region();
    }
    return region != nullptr;
  };
  for (Cursor* next = lender_.cursors_; next != nullptr;) {
    Cursor& each = *std::exchange(next, next->next_);
    if (!is_inside(each)) continue;
    each.detach();
    each.attach(own_.cursors_);
  }
}

GraphLoan::GraphLoan(Op& graph)
    : graph_(graph), lender_(graph.module()), own_(lender_.context(), lender_.name()) {
  assert(lender_.is_portable() && graph.has(Trait::kIsolated));
  own_.version_ = lender_.version_;
  for_each_child(graph, [&](Op& op) { lender_.forget_symbols_within(op); });
  const auto lend_op = [&](Op& op) {
    op.module_ = &own_;
    own_.note_made(op.kind());
    op_ids_.push_back(std::exchange(op.id_, static_cast<std::uint32_t>(op_ids_.size())));
  };
  const auto lend_value = [&](Value& value) {
    value_ids_.push_back(std::exchange(value.id_, static_cast<std::uint32_t>(value_ids_.size())));
  };
  for_each(graph, lend_op, lend_value);
  own_.next_op_id_ = static_cast<std::uint32_t>(op_ids_.size());
  own_.next_value_id_ = static_cast<std::uint32_t>(value_ids_.size());
  own_.names_later_ = true;
  own_.listeners_ = lender_.listeners_;
  lend_cursors();
}

GraphLoan::~GraphLoan() {
  while (Cursor* each = own_.cursors_) {
    each->detach();
    each->attach(lender_.cursors_);
  }
  const auto take_op = [&](Op& op) {
    op.module_ = &lender_;
    op.id_ = op.id_ < op_ids_.size() ? op_ids_[op.id_] : lender_.next_op_id_++;
    lender_.note_made(op.kind());
  };
  const auto take_value = [&](Value& value) {
    const bool was_lent = value.id_ < value_ids_.size();
    value.id_ = was_lent ? value_ids_[value.id_] : lender_.next_value_id_++;
    if (value.name_.is_none()) value.name_ = lender_.fresh_name();
  };
  for_each(graph_, take_op, take_value);
  for_each_child(graph_, [&](Op& op) { lender_.declare_symbols(op); });
  lender_.taken_over_.push_back(std::move(own_.arena_));
}

}  // namespace mir
