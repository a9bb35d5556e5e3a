// Uses, values and ops: access to their parts, and moves between graphs.
#include "mir/op.hpp"

#include <algorithm>
#include <utility>

#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"
#include "support/characters.hpp"

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

const Attr* find_attribute(const IRContext& context, std::span<const NamedAttr> attributes,
                           KeyRef key) {
  if (key.symbol) return find_attribute(attributes, key.symbol);
  for (const NamedAttr& each : attributes) {
    if (context.text(each.key) == key.text) return each.value;
  }
  return nullptr;
}

std::size_t Value::use_count() const {
  std::size_t count = 0;
  for (const Use* use = uses_; use != nullptr; use = use->next()) ++count;
  return count;
}

// -- ops ------------------------------------------------------------------------------------------

const Attr* Op::attribute(std::string_view key) const {
  return find_attribute(module().context(), attributes(), key);
}

/// With all that is inside it, but for graphs of their own.
void Op::move_in(GraphState& graph) {
  GraphState* const before = std::exchange(graph_, &graph);
  note_in_graph();
  if (before == &graph) return;
  for (Region* region = first_region(); region != nullptr; region = region->next()) {
    if (region->graph_ != before) continue;
    region->graph_ = &graph;
    for_each_child(*region, [&](Op& op) { op.move_in(graph); });
  }
}

void Op::note_in_graph() {
  const OpRow* const known = row();
  const bool may_be_any = known == nullptr;  // a dialect may be registered later
  graph_->may_have_graphs |= may_be_any || has(Trait::kIsolated) || has(Trait::kCallable);
  graph_->may_call |= may_be_any || static_cast<bool>(known->callee);
}

std::span<Use> Op::plain_operands() const {
  std::size_t count = operand_count_;
  for (const OpExtra::Successor& each : extra().successors) count -= each.operand_count;
  return operand_uses().first(count);
}

Region* Op::region(std::size_t i) const {
  Region* region = first_region();
  while (i-- != 0) region = region->next();
  return region;
}

std::string_view Op::angle(std::size_t i) const {
  const auto& angles = extra().angles;
  return i < angles.size() ? module().context().text(angles[i]) : std::string_view();
}

namespace {

/// The op name at a position of a text.
Span name_at(const SourceManager& sources, SourcePos begin) {
  const SourceFile* file = sources.file_of(begin);
  if (file == nullptr) return {begin, begin};
  const std::string_view rest = file->text().substr(begin - file->base());
  const auto is_name = [](char c) { return is_name_character(c, "_."); };
  const auto length = std::ranges::find_if_not(rest, is_name) - rest.begin();
  return {begin, begin + static_cast<SourcePos>(length)};
}

}  // namespace

Span op_span(const IRContext& context, Location location) {
  const Span at = context.locations().span(location);
  return at.known() && at.end == at.begin ? name_at(context.sources(), at.begin) : at;
}

Span Op::span() const {
  if (!read_) return op_span(module().context(), location_);
  const Span at = module().context().locations().span(location_);
  if (!at.known() || at.end > at.begin) return at;
  const auto name = module().context().text(this == module().top() ? symbol_ : name_.spelling);
  const SourcePos length = static_cast<SourcePos>(name.size()) + (this == module().top() ? 1 : 0);
  return {at.begin, at.begin + length};
}

Region* Op::parent_region() const {
  return block_ == nullptr ? nullptr : block_->parent();
}

Op* Op::parent_op() const {
  const Region* region = parent_region();
  return region == nullptr ? nullptr : region->parent();
}

Op* Op::parent_of_kind(OpId kind) const {
  Op* at = parent_op();
  while (at != nullptr && !at->is(kind)) at = at->parent_op();
  return at;
}

const Op* Op::ancestor_in(const Region& region) const {
  const Op* at = this;
  while (at != nullptr && at->parent_region() != &region) at = at->parent_op();
  return at;
}

bool Op::is_inside(const Op& other) const {
  const Op* at = parent_op();
  while (at != nullptr && at != &other) at = at->parent_op();
  return at != nullptr;
}

// -- regions and blocks ---------------------------------------------------------------------------

bool Region::sees(const Region& outer) const {
  const Region* at = this;
  while (at != nullptr && at != &outer) {
    const Op* op = at->parent();
    at = op->has(Trait::kIsolated) ? nullptr : op->parent_region();
  }
  return at != nullptr;
}

Value* Region::returned(std::size_t result) const {
  const Op* const last = first_return(*this);
  if (last == nullptr) return nullptr;
  const std::size_t first = last->is(OpId::kCfCondition) ? 1 : 0;  // the condition stays
  if (last->operand_count() != first + result_types_.size()) return nullptr;
  return last->operand(first + result);
}

ValueName Region::input_port(std::size_t input) const {
  const auto stated = ports().inputs;
  if (input < stated.size() && !stated[input].is_none()) return stated[input];
  return default_port(entry_arguments()[input]);
}

ValueName Region::output_port(std::size_t output) const {
  const auto stated = ports().outputs;
  if (output < stated.size() && !stated[output].is_none()) return stated[output];
  const Value* const value = returned(output);
  return value == nullptr ? ValueName() : default_port(*value);
}

Op* Block::terminator() const {
  if (last_ == nullptr) return nullptr;
  const OpRow* row = last_->row();
  return row != nullptr && has(row->traits, Trait::kTerminator) ? last_ : nullptr;
}

}  // namespace mir
