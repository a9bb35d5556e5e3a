// Regions, blocks and their arguments.
#include <algorithm>

#include "ir/own_graph.hpp"
#include "ir/rewrite/carried_scales.hpp"
#include "mir/rewriter.hpp"
#include "support/arena.hpp"

namespace mir {

Region* Rewriter::add_region(Op& op) {
  auto* region = arena_of(*op.graph_).create<Region>();
  region->parent_ = &op;
  OpExtra& extra = extra_of(op);
  if (extra.regions == nullptr) {
    extra.regions = region;
    const bool has_own = has_own_graph(op) && module_.top_ != nullptr;
    region->graph_ = has_own ? &module_.add_graph(*op.graph_->editor) : op.graph_;
  } else {
    region->graph_ = extra.regions->graph_;
    Region* last = extra.regions->last_region_;
    region->index_ = last->index_ + 1;
    last->next_ = region;
  }
  extra.regions->last_region_ = region;
  changed(*region);
  return region;
}

void Rewriter::set_has_signature(Region& region, bool has) {
  region.has_signature_ = has;
  changed(region);
}

void Rewriter::set_result_types(Region& region, std::span<const Type* const> types) {
  region.result_types_ = arena_of(*region.graph_).copy(types);
  region.stated_results_ = {};
  if (region.ports().outputs.size() > types.size()) {
    store_ports(region, {region.ports().inputs, region.ports().outputs.first(types.size())});
  }
  changed(region);
}

// -- ports ----------------------------------------------------------------------------------------

void Rewriter::store_ports(Region& region, const RegionPorts& ports) {
  if (ports.inputs.empty() && ports.outputs.empty()) {
    region.ports_ = nullptr;
    return;
  }
  for (const ValueName name : ports.inputs) module_.reserve_name(name);
  for (const ValueName name : ports.outputs) module_.reserve_name(name);
  Arena& arena = arena_of(*region.graph_);
  region.ports_ =
      arena.create<RegionPorts>(RegionPorts{arena.copy(ports.inputs), arena.copy(ports.outputs)});
}

void Rewriter::set_ports(Region& region, const RegionPorts& ports) {
  store_ports(region, ports);
  changed(region);
}

void Rewriter::state_ports(Region& region) {
  const std::size_t input_count = region.entry_arguments().size();
  const std::size_t output_count = region.result_types().size();
  const RegionPorts& stated = region.ports();
  const auto are_stated = [](std::span<const ValueName> ports, std::size_t count) {
    return ports.size() == count && std::ranges::none_of(ports, &ValueName::is_none);
  };
  if (are_stated(stated.inputs, input_count) && are_stated(stated.outputs, output_count)) return;
  std::vector<ValueName> inputs, outputs;
  for (std::size_t i = 0; i < input_count; ++i) inputs.push_back(region.input_port(i));
  for (std::size_t i = 0; i < output_count; ++i) outputs.push_back(region.output_port(i));
  store_ports(region, {inputs, outputs});
}

/// Ports stay with their inputs when an argument of the entry comes or goes.
void Rewriter::shift_input_ports(const Block& block, std::size_t i, bool is_new) {
  Region& region = *block.parent_;
  const auto stated = region.ports().inputs;
  if (region.first_ != &block || i >= stated.size()) return;
  if (!is_new && i + 1 == stated.size()) {
    region.ports_->inputs = stated.first(i);
    return;
  }
  std::vector<ValueName> inputs(stated.begin(), stated.end());
  const auto at = inputs.begin() + static_cast<std::ptrdiff_t>(i);
  is_new ? inputs.insert(at, ValueName()) : inputs.erase(at);
  store_ports(region, {inputs, region.ports().outputs});
}

void Rewriter::state_results(Region& region, std::span<const RegionResult> results) {
  std::vector<const Type*> types;
  std::vector<RegionResult> kept(results.begin(), results.end());
  for (RegionResult& each : kept) {
    each.attributes = printable(*region.graph_, each.attributes);
    types.push_back(each.type);
  }
  set_result_types(region, types);
  region.stated_results_ = arena_of(*region.graph_).copy(std::span<const RegionResult>(kept));
}

// -- blocks ---------------------------------------------------------------------------------------

void Rewriter::leave(Block& block) {
  Cursor* each = block.parent_->graph_->cursors;
  for (; each != nullptr; each = each->next_) each->leave(block);
}

void Rewriter::take_out(Block& block) {
  leave(block);
  unlink(block);
}

/// The text of the region's op has no block like the one that comes or goes.
void Rewriter::link(Block& block, Region& region, Block* before) {
  assert(before == nullptr || before->parent_ == &region);
  block.parent_ = &region;
  block.next_ = before;
  block.previous_ = before == nullptr ? region.last_ : before->previous_;
  (block.previous_ == nullptr ? region.first_ : block.previous_->next_) = &block;
  (before == nullptr ? region.last_ : before->previous_) = &block;
  region.parent_->modified_ = true;
}

void Rewriter::unlink(Block& block) {
  Region& region = *block.parent_;
  (block.previous_ == nullptr ? region.first_ : block.previous_->next_) = block.next_;
  (block.next_ == nullptr ? region.last_ : block.next_->previous_) = block.previous_;
  block.previous_ = block.next_ = nullptr;
  region.parent_->modified_ = true;
}

Block* Rewriter::create_block(Region& region, std::span<const Type* const> argument_types,
                              Symbol name, Block* before) {
  GraphState& graph = *region.graph_;
  auto* block = arena_of(graph).create<Block>();
  block->name_ = name;
  const auto arguments = arena_of(graph).create_array<Value>(argument_types.size());
  block->arguments_ = {arguments.data(), static_cast<std::uint32_t>(arguments.size())};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].type_ = argument_types[i];
    arguments[i].owner_ = reinterpret_cast<std::uintptr_t>(block) | Value::kArgument;
    arguments[i].index_ = static_cast<std::uint32_t>(i) & 0x7fff'ffffu;
    arguments[i].id_ = next_value_id(graph);
  }
  link(*block, region, before);
  tell_edit(graph, true, &RewriteListener::did_insert_block, *block);
  return block;
}

namespace {

[[maybe_unused]] bool is_entered(const Block& block) {
  const auto from = block.predecessors();
  return std::ranges::any_of(from, [&](const Block* each) { return each != &block; });
}

}  // namespace

void Rewriter::erase_block(Block& block) {
  assert(!is_entered(block));
  for (Op* op : block.ops()) tell_erased(*op);
  tell_edit(*block.parent_->graph_, true, &RewriteListener::will_erase_block, block);
  for (Op* op : block.ops()) drop_operands(*op);
  for (Op* op : block.ops()) discard(*op);
  assert(std::ranges::none_of(block.arguments(), &Value::has_uses));
  take_out(block);
}

Block* Rewriter::split_block(Op& first) {
  Block& block = *first.block_;
  Block* rest = create_block(*block.parent_, {}, {}, block.next_);
  rest->first_ = &first;
  rest->last_ = std::exchange(block.last_, first.previous_);
  (first.previous_ == nullptr ? block.first_ : first.previous_->next_) = nullptr;
  first.previous_ = nullptr;
  for (Op* op = &first; op != nullptr; op = op->next_) op->block_ = rest;
  for (Cursor* each = first.graph_->cursors; each != nullptr; each = each->next_) {
    each->follow_split(block, *rest);
  }
  for (Op* op : rest->ops()) tell_edit(*op, &RewriteListener::did_move, *op, block);
  return rest;
}

/// Moves all ops, which use `arguments` in place of those of `from`.
void Rewriter::splice(Block& from, Block& to, Op* before, std::span<Value* const> arguments) {
  assert(&from != &to && from.predecessors().empty());
  assert(arguments.size() == from.arguments().size());
  GraphState& graph = *from.parent_->graph_;
  check_scope(graph, from);
  for (Value& argument : from.arguments()) {
    carry_scales(*this, argument, *arguments[argument.index()]);
    replace_all_uses(argument, *arguments[argument.index()]);
  }
  Op* last = before == nullptr ? to.last_ : before->previous_;
  for (Cursor* each = graph.cursors; each != nullptr; each = each->next_) {
    each->follow_merge(from, to, last, before);
  }
  const bool was_linked = from.first_ != nullptr && module_.is_linked(*from.first_);
  const bool sees_same = to.parent_->sees(*from.parent_);
  while (Op* op = from.first_) {
    from.take_out(op);  // without leave(): places have followed
    to.link(op, before);
    if (from.parent_ != to.parent_) {
      if (!sees_same) bring_constants(*op, *to.parent_);
      follow_symbols(*op, was_linked);
    }
    tell_edit(*op, &RewriteListener::did_move, *op, from);
  }
  if (to.parent_->graph_ != &graph) Cursor::leave(graph);
  erase_block(from);
}

void Rewriter::merge_blocks(Block& source, Block& into, std::span<Value* const> arguments) {
  splice(source, into, nullptr, arguments);
}

void Rewriter::move_block(Block& block, Region& region, Block* before) {
  assert(before != &block);
  Region& from = *block.parent_;
  const bool was_linked = !block.empty() && module_.is_linked(*block.front());
  GraphState& graph = *from.graph_;
  check_scope(graph, block);
  for (Cursor* each = graph.cursors; each != nullptr; each = each->next_) {
    each->follow_move(block);
  }
  unlink(block);
  link(block, region, before);
  if (&from != &region) {
    const bool sees_same = region.sees(from);
    for (Op* op : block.ops()) {
      op->move_in(*region.graph_);
      if (!sees_same) bring_constants(*op, region);
      follow_symbols(*op, was_linked);
    }
  }
  if (region.graph_ != &graph) Cursor::leave(graph);
  tell_edit(*region.graph_, true, &RewriteListener::did_move_block, block, from);
}

std::vector<Value*> Rewriter::inline_region(Region& from, Op& before,
                                            std::span<Value* const> arguments) {
  Block& body = *from.first_;
  assert(&body == from.last_);
  std::vector<Value*> handed_over;
  if (Op* last = body.terminator()) {
    for (const Use& use : last->operand_uses()) {
      Value& value = *use.value();
      handed_over.push_back(value.argument_of() == &body ? arguments[value.index()]
                                                         : brought(value, *before.parent_region()));
    }
    erase(*last);
  }
  splice(body, *before.block_, &before, arguments);
  return handed_over;
}

void Rewriter::inline_region(Region& from, Block& before) {
  while (Block* block = from.first_) {
    block->name_ = {};  // another block of the region may have it
    move_block(*block, *before.parent_, &before);
  }
}

void Rewriter::take_body(Region& to, Region& from) {
  assert(to.empty());
  while (from.first_ != nullptr) move_block(*from.first_, to);
  set_has_signature(to, from.has_signature());
  copy_results(from, to);
  set_result_types(from, {});
  store_ports(from, {});
}

// -- arguments ------------------------------------------------------------------------------------

Value* Rewriter::insert_argument(Block& block, std::size_t i, const Type* type) {
  GraphState& graph = *block.parent_->graph_;
  Value* value = place_value(graph, block.arguments_, i, type,
                             reinterpret_cast<std::uintptr_t>(&block) | Value::kArgument);
  shift_input_ports(block, i, true);
  block.parent_->parent_->modified_ = true;
  tell_edit(graph, false, &RewriteListener::did_change_arguments, block);
  return value;
}

void Rewriter::erase_argument(Block& block, std::size_t i) {
  const GraphState& graph = *block.parent_->graph_;
  take_value(graph, block.arguments_, i);
  shift_input_ports(block, i, false);
  block.parent_->parent_->modified_ = true;
  tell_edit(graph, false, &RewriteListener::did_change_arguments, block);
}

void Rewriter::erase_arguments(Block& block) {
  while (!block.arguments().empty()) erase_argument(block, block.arguments().size() - 1);
}

// -- flow -----------------------------------------------------------------------------------------

std::span<const OpExtra::Successor> Block::successors() const {
  return last_ == nullptr ? std::span<const OpExtra::Successor>() : last_->extra().successors;
}

std::vector<Block*> Block::predecessors() const {
  std::vector<Block*> list;
  for (Block* block : parent_->blocks()) {
    const auto leads_here = [&](const auto& successor) { return successor.block == this; };
    if (std::ranges::any_of(block->successors(), leads_here)) list.push_back(block);
  }
  return list;
}

}  // namespace mir
