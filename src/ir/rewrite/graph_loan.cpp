#include "ir/rewrite/graph_loan.hpp"

#include <algorithm>

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
        fetch_ahead(op);
        visit_op(*op);
        for (Value& result : op->results()) visit_value(result);
        for_each(*op, visit_op, visit_value);
      }
    }
    if (!lender_.constants_.empty()) lender_.constants_.erase(region);
  }
}

void GraphLoan::lend_cursors(const Op& graph) {
  const auto is_inside = [&](const Cursor& cursor) {
    const Region* region = cursor.block() == nullptr ? nullptr : cursor.block()->parent();
    while (region != nullptr && region->parent() != &graph) {
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

GraphLoan::GraphLoan(Module& lender) : lender_(lender), own_(lender_.context(), lender_.name()) {
  assert(lender_.is_portable());
  own_.version_ = lender_.version_;
  own_.next_op_id_ = own_.next_value_id_ = 0;
  own_.names_later_ = true;
  own_.listeners_ = lender_.listeners_;
  own_.made_kinds_ = lender_.made_kinds_;
}

GraphLoan::GraphLoan(Op& graph) : GraphLoan(graph.module()) {
  lend(graph);
}

void GraphLoan::lend(Op& graph) {
  assert(graph.has(Trait::kIsolated) && op_ids_.size() == own_.next_op_id_);
  graphs_.push_back(&graph);
  const auto lend_op = [&](Op& op) {
    if (op.has(Trait::kSymbol)) {
      lender_.forget_symbols(op);
      declarations_.push_back(&op);
    }
    op.module_ = &own_;
    op_ids_.push_back(std::exchange(op.id_, static_cast<std::uint32_t>(op_ids_.size())));
  };
  const auto lend_value = [&](Value& value) {
    value_ids_.push_back(std::exchange(value.id_, static_cast<std::uint32_t>(value_ids_.size())));
  };
  for_each(graph, lend_op, lend_value);
  own_.next_op_id_ = static_cast<std::uint32_t>(op_ids_.size());
  own_.next_value_id_ = static_cast<std::uint32_t>(value_ids_.size());
  lend_cursors(graph);
}

GraphLoan::~GraphLoan() {
  give_back();
  lender_.taken_over_.push_back(std::move(own_.arena_));
}

void GraphLoan::give_back() {
  while (Cursor* each = own_.cursors_) {
    each->detach();
    each->attach(lender_.cursors_);
  }
  const auto take_op = [&](Op& op) {
    const bool was_lent = op.id_ < op_ids_.size();
    op.module_ = &lender_;
    op.id_ = was_lent ? op_ids_[op.id_] : lender_.next_op_id_++;
    if (!was_lent && op.has(Trait::kSymbol)) declarations_.push_back(&op);
  };
  const auto take_value = [&](Value& value) {
    const bool was_lent = value.id_ < value_ids_.size();
    value.id_ = was_lent ? value_ids_[value.id_] : lender_.next_value_id_++;
    if (value.name_.is_none()) value.name_ = lender_.fresh_name();
    lender_.reserve_name(value.name_);
  };
  for (Op* graph : graphs_) for_each(*graph, take_op, take_value);
  for (Op* op : declarations_) {
    if (!op->is_erased() && lender_.is_linked(*op)) lender_.declare_own_symbols(*op);
  }
  lender_.made_kinds_.resize(std::max(lender_.made_kinds_.size(), own_.made_kinds_.size()));
  for (std::size_t word = 0; word < own_.made_kinds_.size(); ++word) {
    lender_.made_kinds_[word] |= own_.made_kinds_[word];
  }
  graphs_.clear();
  declarations_.clear();
  op_ids_.clear();
  value_ids_.clear();
  own_.constants_.clear();
  own_.next_op_id_ = own_.next_value_id_ = 0;
}

}  // namespace mir
