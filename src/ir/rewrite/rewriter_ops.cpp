// Making, linking, moving and erasing ops; their operands and results.
#include <algorithm>
#include <bit>

#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"
#include "syntax/spellings.hpp"

namespace mir {

// -- listeners and places -------------------------------------------------------------------------

ListenerScope::ListenerScope(Module& module, RewriteListener& listener)
    : editor_(module.own_), listener_(listener) {
  editor_.listeners_.push_back(&listener);
}

ListenerScope::ListenerScope(const Region& region, RewriteListener& listener)
    : editor_(*region.graph_->editor), listener_(listener) {
  editor_.listeners_.push_back(&listener);
}

ListenerScope::~ListenerScope() {
  std::erase(editor_.listeners_, &listener_);
}

GraphState& Rewriter::graph_of(const Value& value) {
  if (const Op* op = value.defining_op()) return *op->graph_;
  if (const Block* block = value.argument_of()) return *block->parent_->graph_;
  return *value.free_in()->graph_;
}

const Op& Rewriter::owner_of(const Value& value) {
  if (const Op* op = value.defining_op()) return *op;
  if (const Block* block = value.argument_of()) return owner_of(*block);
  return *value.free_in()->parent_;
}

/// A detached op is in no graph yet.
void Rewriter::refuse_linked(const Op& op) const {
  if (module_.is_linked(op)) throw StrayEdit{op};
}

GraphState& Rewriter::graph() const {
  assert(place_.block() != nullptr || !module_.works_on_graphs());
  return place_.block() == nullptr ? module_.state_ : *place_.block()->parent_->graph_;
}

/// All changes of ops end here: the op prints anew, and listeners are notified once it is linked.
void Rewriter::changed(Op& op, OpChange change) {
  assert(!op.erased_);
  op.modified_ = true;
  if (op.block_ == nullptr && &op != module_.top()) return;
  tell_edit(op, &RewriteListener::did_change, op, change);
}

/// The op of the region prints anew. The edit is one of the graph that the region belongs to.
void Rewriter::changed(Region& region) {
  Op& op = *region.parent_;
  op.modified_ = true;
  if (op.block_ == nullptr && &op != module_.top()) return;
  tell_edit(*region.graph_, true, &RewriteListener::did_change, op, OpChange::kRegions);
}

void Rewriter::leave(Op& op) {
  for (Cursor* each = op.graph_->cursors; each != nullptr; each = each->next_) each->leave(op);
}

std::uint32_t Rewriter::next_value_id(GraphState& graph) {
  graph.has_new_values |= module_.works_on_graphs();
  return Module::next_id(module_.value_id_end_, *graph.editor, graph.editor->value_ids_);
}

/// While passes work on graphs, values get names at the end, in the order of the text.
ValueName Rewriter::fresh_name() {
  return module_.works_on_graphs() ? ValueName() : module_.fresh_name();
}

// -- making ---------------------------------------------------------------------------------------

Op* Rewriter::create_detached(const OpSpec& spec) {
  return create_in(graph(), spec);
}

Op* Rewriter::create_in(GraphState& graph, const OpSpec& spec) {
  const std::size_t operand_count = spec.operands.size();
  const auto result_count = static_cast<std::uint32_t>(spec.result_types.size());
  static_assert(sizeof(Op) % alignof(Use) == 0 && sizeof(Use) % alignof(Value) == 0);
  const std::size_t bytes = sizeof(Op) + operand_count * sizeof(Use) + result_count * sizeof(Value);
  auto* storage = static_cast<std::byte*>(arena_of(graph).allocate(bytes, alignof(Op)));
  auto* op = new (storage) Op;
  storage += sizeof(Op);
  op->graph_ = &graph;
  op->name_ = spec.name;
  module_.note_made(spec.name.kind);
  op->id_ = Module::next_id(module_.op_id_end_, *graph.editor, graph.editor->op_ids_);
  op->location_ = spec.location ? spec.location : default_location_;
  // The free text of a plug-in's name ends at a list.
  op->has_signature_ = spec.has_signature || !is_plain_op_name(context().text(spec.name.spelling));
  const bool has_path = spec.path && can_say(spec.path, !module_.is_portable());
  op->path_ = has_path ? spec.path : Symbol();
  op->has_path_ = has_path;
  op->symbol_ = spec.symbol;
  op->has_symbol_ = static_cast<bool>(spec.symbol);

  op->operands_ = reinterpret_cast<Use*>(storage);
  op->operand_count_ = static_cast<std::uint32_t>(operand_count);
  for (Value* operand : spec.operands) {
    auto* use = new (storage) Use;
    use->user_ = op;
    use->set(operand);
    storage += sizeof(Use);
  }
  op->results_ = {reinterpret_cast<Value*>(storage), result_count};
  for (std::uint32_t i = 0; i < result_count; ++i) {
    auto* value = new (storage) Value;
    value->type_ = spec.result_types[i];
    value->owner_ = reinterpret_cast<std::uintptr_t>(op) | Value::kResult;
    value->index_ = i & 0x7fff'ffffu;
    value->id_ = next_value_id(graph);
    storage += sizeof(Value);
  }
  for (std::uint32_t i = 0; i < spec.regions; ++i) add_region(*op);
  if (!spec.attributes.empty()) set_attributes(*op, spec.attributes);
  return op;
}

Op* Rewriter::create(const OpSpec& spec) {
  Op* op = create_detached(spec);
  name_results(*op);
  insert(*op);
  return op;
}

void Rewriter::name_results(Op& op) {
  for (Value& result : op.results()) {
    if (result.name().is_none()) set_name(result, fresh_name());
  }
}

void Rewriter::insert(Op& op) {
  assert(place_.block() != nullptr);
  insert(op, *place_.block(), place_.at());
}

void Rewriter::insert(Op& op, Block& block, Op* before) {
  GraphState& graph = *op.graph_;
  block.link(&op, before);
  if (op.graph_ != &graph && op.first_region() != nullptr) Cursor::leave(graph);
  if (module_.may_declare(op) && module_.is_linked(op)) module_.declare_symbols(op);
  tell_edit(op, &RewriteListener::did_insert, op);
}

// -- erasing --------------------------------------------------------------------------------------

void Rewriter::erase(Op& op) {
  assert(!op.erased_ && &op != module_.top());
  tell_erased(op);
  drop_operands(op);  // all of them first: nested ops use each other in any order
  discard(op);
}

void Rewriter::tell_erased(Op& op) {
  if (op.graph_->may_have_graphs || !op.graph_->editor->listeners_.empty()) {
    for_each_child(op, [&](Op& inner) { tell_erased(inner); });
  }
  tell_edit(op, &RewriteListener::will_erase, op);
}

void Rewriter::drop_operands(Op& op) {
  for (Use& use : op.operand_uses()) set_use(use, nullptr);
  for_each_child(op, [&](Op& inner) { drop_operands(inner); });
}

void Rewriter::discard(Op& op) {
  for_each_child(op, [&](Op& inner) { discard(inner); });
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    while (region->first_ != nullptr) take_out(*region->first_);
  }
  assert(std::ranges::none_of(op.results(), &Value::has_uses));
  module_.forget_symbols(op);
  if (op.block_ != nullptr) {
    leave(op);
    op.block_->take_out(&op);
  }
  op.erased_ = true;
}

void Rewriter::replace(Op& op, std::span<Value* const> values) {
  assert(values.size() == op.result_count());
  for (Value& result : op.results()) replace_all_uses(result, *values[result.index()]);
  erase(op);
}

void Rewriter::replace(Op& op, Op& with) {
  assert(op.result_count() == with.result_count());
  for (Value& result : op.results()) replace_definition(result, *with.result(result.index()));
  if (!with.location_) with.location_ = op.location_;
  if (with.block_ == nullptr) insert(with, *op.block_, &op);
  erase(op);
}

// -- moving ---------------------------------------------------------------------------------------

void Rewriter::move_before(Op& op, Op& before) {
  if (&op != &before) relink(op, *before.block_, &before);
}
void Rewriter::move_after(Op& op, Op& after) {
  if (&op != &after) relink(op, *after.block_, after.next_ == &op ? op.next_ : after.next_);
}
void Rewriter::move_to_end(Op& op, Block& block) {
  relink(op, block, nullptr);
}

void Rewriter::relink(Op& op, Block& block, Op* before) {
  Block& from = *op.block_;
  GraphState& graph = *op.graph_;
  check_scope(graph, op);
  const bool was_linked = module_.is_linked(op);
  leave(op);
  op.block_->take_out(&op);
  block.link(&op, before);
  if (from.parent() != block.parent()) {
    bring_constants(op, *block.parent());
    follow_symbols(op, was_linked);
    if (op.graph_ != &graph) Cursor::leave(graph);
  }
  tell_edit(op, &RewriteListener::did_move, op, from);
}

/// Declares or forgets the symbols of an op that moved to or from a place outside the module.
void Rewriter::follow_symbols(Op& op, bool was_linked) {
  const bool is_linked = module_.is_linked(op);
  if (is_linked && !was_linked) module_.declare_symbols(op);
  if (was_linked && !is_linked) module_.forget_symbols_within(op);
}

// -- operands -------------------------------------------------------------------------------------

void Rewriter::set_use(Use& use, Value* value) {
  drop_mention(use);
  Value* before = use.value();
  use.set(value);
  if (before != nullptr && before != value) {
    forget_result(use);
    tell(*use.user_->graph_, &RewriteListener::did_drop_use, *before, *use.user_);
  }
}

/// Results in the signature of a portable module repeat the facts of the returned values. An edit
/// of a returned value, or another one in its place, makes these facts wrong.
void Rewriter::forget_result(const Use& use) {
  const Op& user = *use.user();
  if (!user.has(Trait::kTerminator) || !module_.is_portable()) return;
  Region* region = user.parent_region();
  if (region == nullptr) return;
  const std::span<const RegionResult> stated = region->stated_results();
  const std::size_t first = user.is(OpId::kCfCondition) ? 1 : 0;  // the condition stays
  if (use.index() < first || use.index() - first >= stated.size()) return;
  const RegionResult& result = stated[use.index() - first];
  if (!result.has_symbol && result.attributes.empty()) return;
  region->stated_results_ = {};
  region->parent()->modified_ = true;
}

void Rewriter::set_operand(Op& op, std::size_t i, Value* value) {
  assert(i < op.operand_count_);
  set_use(op.operands_[i], value);
  changed(op, OpChange::kOperands);
}

void Rewriter::set_operands(Op& op, std::span<Value* const> operands) {
  set_use_list(op, operands);
  changed(op, OpChange::kOperands);
}

void Rewriter::set_use_list(Op& op, std::span<Value* const> operands) {
  // The list may have been read from the operands that are set anew.
  const std::vector<Value*> wanted(operands.begin(), operands.end());
  const bool has_room = wanted.size() <= op.operand_count_;
  for (Use& use : op.operand_uses()) {
    const bool stays =
        has_room && use.index() < wanted.size() && use.value() == wanted[use.index()];
    if (!stays) set_use(use, nullptr);
  }
  if (!has_room) {
    op.operands_ = arena_of(*op.graph_).create_array<Use>(wanted.size()).data();
    if (op.extra().dump != nullptr) op.extra_->dump->mentions = {};
  }
  op.operand_count_ = static_cast<std::uint32_t>(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Use& use = op.operands_[i];
    use.user_ = &op;
    if (use.value() == nullptr) use.set(wanted[i]);
  }
}

void Rewriter::replace_all_uses(Value& from, Value& to) {
  if (&from == &to || !from.has_uses()) return;
  tell(graph_of(from), &RewriteListener::will_replace_uses, from, to);
  while (from.has_uses()) set_operand(*from.uses_->user_, from.uses_->index(), &to);
}

/// The value is defined by another op, and what mentions say of it stays true.
void Rewriter::replace_definition(Value& from, Value& to) {
  std::vector<std::pair<const Use*, StatedMention>> mentions;
  for (const Use* use = from.first_use(); use != nullptr; use = use->next()) {
    const StatedMention* stated = stated_mention(*use);
    if (stated != nullptr) mentions.emplace_back(use, *stated);
  }
  replace_all_uses(from, to);
  for (const auto& [use, stated] : mentions) set_mention(*use, stated);
}

bool Rewriter::set_successors(Op& op, std::span<const SuccessorSpec> successors) {
  for (const SuccessorSpec& each : successors) {
    if (each.block == nullptr && !is_block_name(context().text(each.stated))) return false;
  }
  std::vector<Value*> operands;
  for (const Use& use : op.plain_operands()) operands.push_back(use.value());
  std::vector<OpExtra::Successor> list;
  for (const SuccessorSpec& each : successors) {
    list.push_back({each.block, each.stated, static_cast<std::uint32_t>(operands.size()),
                    static_cast<std::uint32_t>(each.operands.size())});
    operands.insert(operands.end(), each.operands.begin(), each.operands.end());
  }
  set_use_list(op, operands);
  extra_of(op).successors = arena_of(*op.graph_).copy(std::span<const OpExtra::Successor>(list));
  changed(op, OpChange::kOperands);
  return true;
}

// -- lists of values ------------------------------------------------------------------------------

/// Makes room for one more pointer. Lists of pointers have room for the next power of two.
void Rewriter::spread_values(const GraphState& graph, ValueRange& list) {
  const std::size_t room = std::bit_ceil(std::size_t{list.count_});
  const bool is_spread = (list.at_ & ValueRange::kPointers) != 0;
  if (is_spread && list.count_ < room) return;
  const auto pointers = arena_of(graph).create_array<Value*>(std::bit_ceil(list.size() + 1));
  for (Value& value : list) pointers[value.index()] = &value;
  list.at_ = reinterpret_cast<std::uintptr_t>(pointers.data()) | ValueRange::kPointers;
}

Value* Rewriter::place_value(GraphState& graph, ValueRange& list, std::size_t i, const Type* type,
                             std::uintptr_t owner) {
  assert(i <= list.size());
  auto* value = arena_of(graph).create<Value>();
  value->type_ = type;
  value->owner_ = owner;
  value->id_ = next_value_id(graph);
  spread_values(graph, list);
  auto** pointers = reinterpret_cast<Value**>(list.at_ & ~ValueRange::kPointers);
  std::copy_backward(pointers + i, pointers + list.count_, pointers + list.count_ + 1);
  pointers[i] = value;
  ++list.count_;
  for (std::size_t k = i; k < list.size(); ++k) list[k].index_ = k & 0x7fff'ffffu;
  return value;
}

void Rewriter::take_value(const GraphState& graph, ValueRange& list, std::size_t i) {
  assert(!list[i].has_uses());
  if (i + 1 != list.size()) {
    spread_values(graph, list);
    auto** pointers = reinterpret_cast<Value**>(list.at_ & ~ValueRange::kPointers);
    std::copy(pointers + i + 1, pointers + list.count_, pointers + i);
  }
  --list.count_;
  for (std::size_t k = i; k < list.size(); ++k) list[k].index_ = k & 0x7fff'ffffu;
}

Value* Rewriter::add_result(Op& op, const Type* type) {
  return insert_result(op, op.result_count(), type);
}

Value* Rewriter::insert_result(Op& op, std::size_t i, const Type* type) {
  Value* value = place_value(*op.graph_, op.results_, i, type,
                             reinterpret_cast<std::uintptr_t>(&op) | Value::kResult);
  changed(op, OpChange::kResults);
  return value;
}

void Rewriter::erase_result(Op& op, std::size_t i) {
  if (module_.is_linked(op)) module_.forget_symbol(op.results_[i]);
  take_value(*op.graph_, op.results_, i);
  changed(op, OpChange::kResults);
}

}  // namespace mir
