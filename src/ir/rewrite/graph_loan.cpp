#include "ir/rewrite/graph_loan.hpp"

#include <algorithm>

#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"

namespace mir {

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

void GraphLoan::give_back_cursors() {
  while (Cursor* each = own_.cursors_) {
    each->detach();
    each->attach(lender_.cursors_);
  }
}

GraphLoan::GraphLoan(Module& lender) : lender_(lender), own_(lender_.context(), lender_.name()) {
  assert(lender_.is_portable());
  own_.version_ = lender_.version_;
  own_.names_later_ = true;
  own_.listeners_ = lender_.listeners_;
  own_.made_kinds_ = lender_.made_kinds_;
}

GraphLoan::GraphLoan(Op& graph) : GraphLoan(graph.module()) {
  lend(graph);
}

bool GraphLoan::is_plain(const Op& graph) {
  if (graph.first_region() == nullptr) return true;
  const OpHome& inside = *graph.first_region()->home_;
  return !inside.may_declare && !inside.may_have_homes;
}

void GraphLoan::settle(Op& graph, Module& module) {
  Region* const inside = graph.first_region();
  if (inside == nullptr) return;
  if (inside->home_ == graph.home_) {
    // Its name has become that of an isolated op.
    auto* home = lender_.arena_->create<OpHome>(&lender_);
    for (Region* region = inside; region != nullptr; region = region->next()) {
      region->home_ = home;
      for_each_child(*region, [&](Op& op) { op.move_in(*home); });
    }
  }
  inside->home_->module = &module;
}

void GraphLoan::lend(Op& graph) {
  assert(graph.has(Trait::kIsolated));
  if (graphs_.empty()) {
    first_op_id_ = own_.next_op_id_ = lender_.next_op_id_;
    first_value_id_ = own_.next_value_id_ = lender_.next_value_id_;
    lender_.constants_.clear();  // it may hold tables of regions that are lent
  }
  graphs_.push_back(&graph);
  settle(graph, own_);
  if (!is_plain(graph)) for_each_child(graph, [&](Op& op) { lend_inner(op); });
  lend_cursors(graph);
}

void GraphLoan::lend_inner(Op& op) {
  if (op.has(Trait::kSymbol)) {
    lender_.forget_symbols(op);
    declarations_.push_back(&op);
  }
  if (op.has(Trait::kIsolated)) settle(op, own_);
  for_each_child(op, [&](Op& inner) { lend_inner(inner); });
}

GraphLoan::~GraphLoan() {
  give_back();
  lender_.taken_over_.push_back(std::move(own_.arena_));
}

void GraphLoan::give_back() {
  give_back_cursors();
  const bool has_grown = own_.next_op_id_ != first_op_id_ || own_.next_value_id_ != first_value_id_;
  for (Op* graph : graphs_) {
    if (has_grown || !is_plain(*graph)) take_back_inside(*graph);
    settle(*graph, lender_);
  }
  for (Op* op : declarations_) {
    if (!op->is_erased() && lender_.is_linked(*op)) lender_.declare_own_symbols(*op);
  }
  lender_.next_name_ = std::max(lender_.next_name_, own_.next_name_);
  lender_.next_text_name_ = std::max(lender_.next_text_name_, own_.next_text_name_);
  lender_.made_kinds_.resize(std::max(lender_.made_kinds_.size(), own_.made_kinds_.size()));
  for (std::size_t word = 0; word < own_.made_kinds_.size(); ++word) {
    lender_.made_kinds_[word] |= own_.made_kinds_[word];
  }
  graphs_.clear();
  declarations_.clear();
  own_.constants_.clear();
}

void GraphLoan::take_back_inside(Op& op) {
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (Value* value : region->free_values()) take_back(*value);
    for (Block* block : region->blocks()) {
      for (Value& argument : block->arguments()) take_back(argument);
      for (Op* inner : block->ops()) {
        fetch_ahead(inner);
        take_back(*inner);
        for (Value& result : inner->results()) take_back(result);
        take_back_inside(*inner);
      }
    }
  }
}

void GraphLoan::take_back(Op& op) {
  if (op.has(Trait::kIsolated)) settle(op, lender_);
  if (op.id_ < first_op_id_) return;
  op.id_ = lender_.next_op_id_++;
  if (op.has(Trait::kSymbol)) declarations_.push_back(&op);
}

void GraphLoan::take_back(Value& value) {
  if (value.id_ >= first_value_id_) value.id_ = lender_.next_value_id_++;
  if (value.name_.is_none()) value.name_ = lender_.fresh_name();
}

}  // namespace mir
