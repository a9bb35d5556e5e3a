// Copies of ops, within a module and from another one of its context.
#include <memory>

#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"

namespace mir {

Op* Rewriter::clone(const Op& op, RewriteMapping& mapping) {
  assert(&op.module().context() == &context());
  is_quiet_ = true;  // there are no events for nested ops
  Op* made = copy(op, mapping, place_.block(), place_.at());
  settle_forward_uses(mapping);
  is_quiet_ = false;
  if (made->block_ == nullptr) return made;
  if (module_.is_linked(*made)) module_.declare_symbols(*made);
  tell_edit(*made, &RewriteListener::did_insert, *made);
  return made;
}

/// Operands that were copied before their definitions.
void Rewriter::settle_forward_uses(const RewriteMapping& mapping) {
  for (Use* use : forward_uses_) {
    if (Value* mapped = mapping.find(*use->value())) use->set(mapped);
  }
  forward_uses_.clear();
}

std::unique_ptr<Module> clone(const Module& module) {
  auto copy = std::make_unique<Module>(module.context(), module.name());
  Rewriter(*copy).copy_module(module);
  return copy;
}

void Rewriter::copy_module(const Module& from) {
  module_.version_ = from.version_;
  is_quiet_ = true;
  RewriteMapping mapping;
  Op& top = *module_.top();
  set_attributes(top, from.top()->attributes());
  set_location(top, from.top()->location());
  copy_body(from.body(), module_.body(), mapping);
  settle_forward_uses(mapping);
  is_quiet_ = false;
  for_each_child(module_.body(), [&](Op& op) { module_.declare_symbols(op); });
}

/// Returns the operand of a copy for an operand of the original.
Value* Rewriter::copy_of(Value& value, const RewriteMapping& mapping, Region* region) {
  if (Value* mapped = mapping.find(value)) return mapped;
  if (!value.is_free()) return &value;
  return region == nullptr ? &value : brought(value, *region);
}

/// Made and linked before what is inside it, so that constants find their place.
Op* Rewriter::copy(const Op& op, RewriteMapping& mapping, Block* block, Op* before) {
  std::vector<Value*> operands;
  for (const Use& use : op.operand_uses()) {
    operands.push_back(
        copy_of(*use.value(), mapping, block == nullptr ? nullptr : block->parent()));
  }
  std::vector<const Type*> types;
  for (const Value& result : op.results()) types.push_back(result.type());
  GraphState& of_copy = block != nullptr           ? *block->parent_->graph_
                        : &op.module() == &module_ ? *op.graph_
                                                   : graph();
  Op* made = create_in(of_copy, {.name = op.op_name(),
                                 .operands = operands,
                                 .result_types = types,
                                 .attributes = op.attributes(),
                                 .location = op.location(),
                                 .has_signature = op.has_signature()});
  // A value that is used above its definition is copied later.
  for (const Use& use : op.operand_uses()) {
    const bool may_follow = use.value()->is_result() && mapping.find(*use.value()) == nullptr;
    if (may_follow) forward_uses_.push_back(&made->operand_uses()[use.index()]);
  }
  copy_head(op, *made, mapping);
  for (Value& result : op.results()) copy_value(result, *made->result(result.index()), mapping);
  if (block != nullptr) block->link(made, before);
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    copy_body(*region, *add_region(*made), mapping);
  }
  return made;
}

/// Copies the parts that create_detached() does not take, and those of single mentions in dumps.
void Rewriter::copy_head(const Op& from, Op& to, const RewriteMapping& mapping) {
  to.symbol_ = from.symbol_;
  to.has_symbol_ = from.has_symbol_;
  if (from.has_path()) set_path(to, from.path());
  to.has_attribute_list_ = from.has_attribute_list_;
  if (from.extra_ == nullptr) return;
  copy_facts(from, to);
  OpExtra& extra = extra_of(to);
  extra.angles = arena_of(*to.graph_).copy(from.extra_->angles);
  std::vector<OpExtra::Successor> successors(from.extra_->successors.begin(),
                                             from.extra_->successors.end());
  for (OpExtra::Successor& each : successors) {
    if (each.block == nullptr) continue;
    if (Block* mapped = mapping.find(*each.block)) each.block = mapped;
  }
  extra.successors = arena_of(*to.graph_).copy(std::span<const OpExtra::Successor>(successors));
}

void Rewriter::copy_facts(const Op& from, Op& to) {
  for (const Use& use : from.operand_uses()) {
    if (const StatedMention* other = stated_mention(use)) {
      set_mention(to.operand_uses()[use.index()], *other);
    }
  }
  const DumpFacts& facts = from.dump_facts();
  if (facts.has_square_path) set_square_path(to, true);
  if (facts.address) set_address(to, facts.address);
  if (facts.label) set_label(to, *facts.label);
}

/// The types, what the text says where it says anything, and the ports.
void Rewriter::copy_results(const Region& from, Region& to) {
  const auto stated = from.stated_results();
  stated.empty() ? set_result_types(to, from.result_types()) : state_results(to, stated);
  store_ports(to, from.ports());
}

void Rewriter::copy_value(const Value& from, Value& to, RewriteMapping& mapping) {
  to.name_ = from.name_;
  to.symbol_ = from.symbol_;
  to.has_symbol_ = from.has_symbol_;
  to.attributes_ = printable(graph_of(to), from.attributes_);
  module_.reserve_name(from.name_);
  mapping.map(from, to);
}

/// All blocks and arguments first: ops go on to later blocks, and use values above their
/// definition.
void Rewriter::copy_body(const Region& from, Region& to, RewriteMapping& mapping) {
  to.has_signature_ = from.has_signature_;
  copy_results(from, to);
  for (Value* value : from.free_values()) {
    copy_value(*value, *create_free_value(to, value->type(), {}), mapping);
  }
  for (Block* block : from.blocks()) {
    std::vector<const Type*> types;
    for (const Value& argument : block->arguments()) types.push_back(argument.type());
    Block* made = create_block(to, types, block->name());
    mapping.map(*block, *made);
    for (Value& argument : block->arguments()) {
      copy_value(argument, made->arguments()[argument.index()], mapping);
    }
  }
  for (Block* block : from.blocks()) {
    for (Op* op : block->ops()) copy(*op, mapping, mapping.find(*block), nullptr);
  }
}

}  // namespace mir
