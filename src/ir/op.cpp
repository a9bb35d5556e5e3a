#include "mir/op.hpp"

#include <vector>

#include "mir/module.hpp"
#include "support/arena.hpp"

namespace mir {

// -- uses and values ----------------------------------------------------------------------------

std::uint32_t Use::index() const {
  return static_cast<std::uint32_t>(this - user_->operand_uses().data());
}

void Use::set(Value* value) {
  if (value_ != nullptr) {
    *previous_ = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }
  value_ = value;
  if (value == nullptr) return;
  next_ = value->uses_;
  previous_ = &value->uses_;
  if (next_ != nullptr) next_->previous_ = &next_;
  value->uses_ = this;
}

const Attr* Value::attribute(Symbol key) const {
  for (const NamedAttr& attribute : attributes_) {
    if (attribute.key == key) return attribute.value;
  }
  return nullptr;
}

void Value::mark_mentions() {
  if (Op* op = defining_op()) op->mark_modified();
  if (const Block* block = argument_of()) block->parent()->parent()->mark_modified();
  for (const Use* use = uses_; use != nullptr; use = use->next()) use->user()->mark_modified();
}

std::size_t Value::use_count() const {
  std::size_t count = 0;
  for (const Use* use = uses_; use != nullptr; use = use->next()) ++count;
  return count;
}

void Value::replaceAllUsesWith(Value* other) {
  if (other == this) return;
  while (uses_ != nullptr) {
    Op& user = *uses_->user();
    user.mark_modified();
    user.module().clear_use_override(*uses_);
    uses_->set(other);
  }
}

// -- ops ------------------------------------------------------------------------------------------

void Op::set_symbol(Symbol symbol) {
  symbol_ = symbol;
  has_symbol_ = true;
  modified_ = true;
}

void Op::set_path(Symbol path) {
  path_ = path;
  has_path_ = true;
  modified_ = true;
}

void Op::clear_path() {
  path_ = Symbol();
  has_path_ = false;
  modified_ = true;
}

void Op::set_operand(std::size_t i, Value* value) {
  assert(i < operand_count_);
  module_->clear_use_override(operands_[i]);
  operands_[i].set(value);
  modified_ = true;
}

const Attr* Op::attribute(Symbol key) const {
  for (const NamedAttr& attribute : attributes()) {
    if (attribute.key == key) return attribute.value;
  }
  return nullptr;
}

const Attr* Op::attribute(std::string_view key) const {
  for (const NamedAttr& attribute : attributes()) {
    if (module_->context().text(attribute.key) == key) return attribute.value;
  }
  return nullptr;
}

void Op::set_attribute(Symbol key, const Attr* value) {
  std::vector<NamedAttr> list(attributes().begin(), attributes().end());
  bool found = false;
  for (NamedAttr& attribute : list) {
    if (attribute.key != key) continue;
    attribute.value = value;
    found = true;
  }
  if (!found) list.push_back({key, value});
  module_->set_attributes(this, list);
  modified_ = true;
}

bool Op::remove_attribute(Symbol key) {
  std::vector<NamedAttr> list(attributes().begin(), attributes().end());
  if (std::erase_if(list, [&](const NamedAttr& attribute) { return attribute.key == key; }) == 0) {
    return false;
  }
  module_->set_attributes(this, list);
  modified_ = true;
  return true;
}

Region* Op::region(std::size_t i) const {
  Region* region = regions_;
  while (i-- != 0) region = region->next();
  return region;
}

OpExtra& Op::mutable_extra() {
  if (extra_ == nullptr) extra_ = module_->arena().create<OpExtra>();
  modified_ = true;
  return *extra_;
}

std::string_view Op::angle(std::size_t i) const {
  const auto& angles = extra().angles;
  return i < angles.size() ? module_->context().text(angles[i]) : std::string_view();
}

Span Op::span() const {
  const Span at = module_->context().locations().span(location_);
  if (!at.known() || at.end > at.begin) return at;
  const auto name = module_->context().text(this == module_->top() ? symbol_ : name_.spelling);
  const SourcePos length = static_cast<SourcePos>(name.size()) + (this == module_->top() ? 1 : 0);
  return {at.begin, at.begin + length};
}

Region* Op::parent_region() const {
  return block_ == nullptr ? nullptr : block_->parent();
}

Op* Op::parent_op() const {
  const Region* region = parent_region();
  return region == nullptr ? nullptr : region->parent();
}

bool Op::is_before_in_block(const Op* other) const {
  for (const Op* op = next_; op != nullptr; op = op->next()) {
    if (op == other) return true;
  }
  return false;
}

// -- regions and blocks
// ---------------------------------------------------------------------------------------

Value* Region::returned(std::size_t result) const {
  const Op* last = last_ == nullptr ? nullptr : last_->terminator();
  if (last == nullptr || last->operand_count() != results_.size()) return nullptr;
  return last->operand(result);
}

Op* Block::terminator() const {
  if (last_ == nullptr) return nullptr;
  const OpRow* row = last_->row();
  return row != nullptr && has(row->traits, Trait::kTerminator) ? last_ : nullptr;
}

void Block::insert_before(Op* op, Op* position) {
  assert(op->block_ == nullptr && !op->erased_);
  op->block_ = this;
  op->next_ = position;
  op->previous_ = position == nullptr ? last_ : position->previous_;
  (op->previous_ == nullptr ? first_ : op->previous_->next_) = op;
  (position == nullptr ? last_ : position->previous_) = op;
}

void Block::unlink(Op* op) {
  assert(op->block_ == this);
  (op->previous_ == nullptr ? first_ : op->previous_->next_) = op->next_;
  (op->next_ == nullptr ? last_ : op->next_->previous_) = op->previous_;
  op->block_ = nullptr;
  op->previous_ = op->next_ = nullptr;
}

}  // namespace mir
