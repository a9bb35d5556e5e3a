// What ops and values say: attributes, symbols, names, types; constants of regions.
#include <algorithm>
#include <unordered_set>

#include "ir/context/repeated_key.hpp"
#include "ir/ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/rewriter.hpp"
#include "support/arena.hpp"
#include "syntax/spellings.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

// -- attributes and heads of ops ------------------------------------------------------------------

/// Edits what an op may declare its symbol by. An op whose symbol stays keeps its rank.
template <class Edit>
void Rewriter::edit_symbol(Op& op, const Edit& edit) {
  const bool declares = op.block_ != nullptr && module_.may_declare(op) && module_.is_linked(op);
  if (!declares) return edit();
  const auto before = module_.declared_symbol(&op);
  edit();
  const auto after = module_.declared_symbol(&op);
  if (before == after) return;
  if (before) module_.op_symbols_.remove(*before, op);
  if (after) module_.op_symbols_.add(*after, op);
}

namespace {

bool is_loose_word(const Attr& value) {
  return value.kind() == AttrKind::kString && !value.is_quoted() && !is_bare_word(value.text());
}

bool is_portable(const NamedAttr& attribute) {
  return attribute.value->kind() != AttrKind::kInvalid && !is_loose_word(*attribute.value);
}

/// True if a portable module can contain the list as it is.
bool is_portable(std::span<const NamedAttr> list) {
  return std::ranges::all_of(list, [](const NamedAttr& each) { return is_portable(each); }) &&
         !repeated_key(list);
}

}  // namespace

/// The list as a text of this module can say it, kept.
std::span<const NamedAttr> Rewriter::printable(const GraphState& graph,
                                               std::span<const NamedAttr> attributes) {
  Arena& arena = arena_of(graph);
  if (!module_.is_portable() || is_portable(attributes)) return arena.copy(attributes);
  std::vector<NamedAttr> list;
  std::unordered_set<Symbol> keys;
  for (NamedAttr each : attributes) {
    if (!keys.insert(each.key).second || each.value->kind() == AttrKind::kInvalid) continue;
    if (is_loose_word(*each.value)) each.value = context().string(each.value->text());
    list.push_back(each);
  }
  return arena.copy(std::span<const NamedAttr>(list));
}

void Rewriter::set_attributes(Op& op, std::span<const NamedAttr> wanted, bool list_present) {
  const std::span<const NamedAttr> attributes = printable(*op.graph_, wanted);
  edit_symbol(op, [&] {
    op.attributes_ = attributes.data();
    op.attribute_count_ = static_cast<std::uint32_t>(attributes.size());
    op.has_attribute_list_ = list_present || !attributes.empty();
  });
  changed(op, OpChange::kAttributes);
}

void Rewriter::set_attribute(Op& op, Symbol key, const Attr* value) {
  std::vector<NamedAttr> list(op.attributes().begin(), op.attributes().end());
  bool found = false;
  for (NamedAttr& attribute : list) {
    if (attribute.key != key) continue;
    attribute.value = value;
    found = true;
  }
  if (!found) list.push_back({key, value});
  set_attributes(op, list);
}

bool Rewriter::remove_attribute(Op& op, Symbol key) {
  std::vector<NamedAttr> list(op.attributes().begin(), op.attributes().end());
  if (std::erase_if(list, [&](const NamedAttr& attribute) { return attribute.key == key; }) == 0) {
    return false;
  }
  set_attributes(op, list);
  return true;
}

void Rewriter::set_symbol(Op& op, Symbol symbol) {
  edit_symbol(op, [&] {
    op.symbol_ = symbol;
    op.has_symbol_ = true;
  });
  changed(op, OpChange::kHead);
}

bool Rewriter::can_say(Symbol path, bool in_dump) const {
  const std::string_view text = context().text(path);
  constexpr std::size_t kMostBytes = 1000;
  return in_dump ? is_path_text(text) : quote(text).size() <= kMostBytes;
}

bool Rewriter::set_path(Op& op, Symbol path) {
  if (!can_say(path, !module_.is_portable())) return false;
  op.path_ = path;
  op.has_path_ = true;
  changed(op, OpChange::kHead);
  return true;
}

void Rewriter::clear_path(Op& op) {
  op.path_ = Symbol();
  op.has_path_ = false;
  changed(op, OpChange::kHead);
}

void Rewriter::set_square_path(Op& op, bool square) {
  dump_facts_of(op).has_square_path = square;
  changed(op, OpChange::kHead);
}

OpExtra& Rewriter::extra_of(Op& op) {
  if (op.extra_ == nullptr) op.extra_ = arena_of(*op.graph_).create<OpExtra>();
  return *op.extra_;
}

DumpFacts& Rewriter::dump_facts_of(Op& op) {
  OpExtra& extra = extra_of(op);
  if (extra.dump == nullptr) extra.dump = arena_of(*op.graph_).create<DumpFacts>();
  return *extra.dump;
}

bool Rewriter::set_angles(Op& op, std::span<const Symbol> angles) {
  const auto can_say_angle = [&](Symbol each) { return is_angle_text(context().text(each)); };
  if (!std::ranges::all_of(angles, can_say_angle)) return false;
  extra_of(op).angles = arena_of(*op.graph_).copy(angles);
  changed(op, OpChange::kHead);
  return true;
}

void Rewriter::set_address(Op& op, std::optional<std::uint64_t> address) {
  dump_facts_of(op).address = address;
  changed(op, OpChange::kHead);
}

void Rewriter::set_label(Op& op, Symbol label) {
  dump_facts_of(op).label = label;
  changed(op, OpChange::kHead);
}

void Rewriter::set_location(Op& op, Location location) {
  op.location_ = location;
  op.read_ = false;
  changed(op, OpChange::kLocation);
}

std::span<const NamedAttr> Rewriter::keep(std::span<const NamedAttr> attributes) {
  return arena_of(graph()).copy(attributes);
}

// -- values ---------------------------------------------------------------------------------------

/// Makes everything that mentions the value print anew.
template <class Edit>
void Rewriter::edit_value(Value& value, const Edit& edit) {
  const ValueFacts before{value.type_, value.name_, value.symbol_, value.has_symbol(),
                          value.attributes_};
  edit();
  if (Op* op = value.defining_op()) op->modified_ = true;
  if (const Block* block = value.argument_of()) block->parent()->parent()->modified_ = true;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    use->user()->modified_ = true;
    forget_result(*use);
  }
  if (const Region* region = value.free_in()) note_constant(*region, value);
  tell_edit(graph_of(value), false, &RewriteListener::did_change_value, value, before);
}

void Rewriter::set_type(Value& value, const Type* type) {
  edit_value(value, [&] { value.type_ = type; });
}

void Rewriter::set_name(Value& value, ValueName name) {
  if (name.is_none()) {
    name = fresh_name();
    graph_of(value).has_new_values |= name.is_none();
  }
  module_.reserve_name(name);
  edit_value(value, [&] { value.name_ = name; });
}

void Rewriter::set_symbol(Value& value, Symbol symbol) {
  const Op* op = value.defining_op();
  const bool is_linked = op != nullptr && module_.is_linked(*op);
  const bool same = value.has_symbol_ && value.symbol_ == symbol;
  edit_value(value, [&] {
    if (is_linked && !same) module_.forget_symbol(value);
    value.symbol_ = symbol;
    value.has_symbol_ = true;
    if (is_linked && !same && Module::declares(value)) module_.value_symbols_.add(symbol, value);
  });
}

void Rewriter::clear_symbol(Value& value) {
  const Op* op = value.defining_op();
  edit_value(value, [&] {
    if (value.has_symbol_ && op != nullptr && module_.is_linked(*op)) module_.forget_symbol(value);
    value.symbol_ = Symbol();
    value.has_symbol_ = false;
  });
}

void Rewriter::set_attributes(Value& value, std::span<const NamedAttr> attributes) {
  edit_value(value, [&] { value.attributes_ = printable(graph_of(value), attributes); });
}

// -- values that no op defines --------------------------------------------------------------------

const Attr* Constant::number() const {
  const Attr* list = find_attribute(attributes, key::kConstant);
  return list != nullptr && list->elements().size() == 1 ? list->elements().front() : nullptr;
}

std::optional<Constant> constant_of(const Value& value) {
  const Op* op = value.defining_op();
  const bool is_parameter = value.has_symbol() && (op == nullptr || op->is(OpId::kTensorRegister));
  const bool has_numbers = value.is_free() && value.attribute(key::kConstant) != nullptr;
  if (value.is_argument() || !(is_parameter || has_numbers)) return std::nullopt;
  return Constant{value.type(), value.attributes(), value.symbol(), value.has_symbol()};
}

namespace {

std::size_t hash_of(const Constant& constant) {
  const auto mixed = [](std::size_t seed, std::size_t next) {
    return (seed ^ next) * static_cast<std::size_t>(0x9e3779b97f4a7c15);
  };
  std::size_t hash = std::hash<const void*>{}(constant.type);
  hash = mixed(hash, constant.has_symbol ? constant.symbol.id + std::size_t{1} : 0);
  for (const NamedAttr& each : constant.attributes) {
    hash = mixed(mixed(hash, each.key.id), std::hash<const void*>{}(each.value));
  }
  return hash;
}

bool is_in(const Region& region, const Value& value) {
  const auto list = region.free_values();
  return value.free_in() == &region && value.index() < list.size() && list[value.index()] == &value;
}

}  // namespace

/// Enters what the value holds now; what it held before is found out by those who look it up.
void Rewriter::note_constant(const Region& region, Value& value) {
  auto& tables = region.graph_->editor->constants_;
  const auto table = tables.find(&region);
  if (table == tables.end()) return;
  if (const auto constant = constant_of(value)) table->second.emplace(hash_of(*constant), &value);
}

Value* Rewriter::find_constant(const Region& region, const Constant& wanted) {
  const auto [table, is_new] = region.graph_->editor->constants_.try_emplace(&region);
  if (is_new) {
    for (Value* value : region.free_values()) note_constant(region, *value);
  }
  Value* best = nullptr;
  const auto [first, last] = table->second.equal_range(hash_of(wanted));
  for (auto each = first; each != last; ++each) {
    Value& value = *each->second;
    if (!is_in(region, value) || constant_of(value) != wanted) continue;
    if (best == nullptr || value.index() < best->index()) best = &value;
  }
  return best;
}

Value* Rewriter::constant(Region& region, const Constant& constant) {
  if (Value* known = find_constant(region, constant)) return known;
  Value* value = create_free_value(region, constant.type, fresh_name());
  edit_value(*value, [&] {
    value->symbol_ = constant.symbol;
    value->has_symbol_ = constant.has_symbol;
    value->attributes_ = printable(*region.graph_, constant.attributes);
  });
  return value;
}

Value* Rewriter::create_free_value(Region& region, const Type* type, ValueName name) {
  GraphState& graph = *region.graph_;
  if (region.free_count_ == region.free_capacity_) {
    const std::uint32_t capacity = std::max(4u, region.free_capacity_ * 2);
    const auto list = arena_of(graph).create_array<Value*>(capacity);
    std::copy_n(region.free_, region.free_count_, list.begin());
    region.free_ = list.data();
    region.free_capacity_ = capacity;
  }
  module_.reserve_name(name);
  auto* value = arena_of(graph).create<Value>();
  value->type_ = type;
  value->name_ = name;
  value->owner_ = reinterpret_cast<std::uintptr_t>(&region) | Value::kFree;
  value->index_ = region.free_count_ & 0x7fff'ffffu;
  value->id_ = next_value_id(graph);
  region.free_[region.free_count_++] = value;
  tell_edit(graph, false, &RewriteListener::did_insert_free_value, *value);
  return value;
}

void Rewriter::erase_unused_free_values(Region& region) {
  std::uint32_t kept = 0;
  for (Value* value : region.free_values()) {
    if (value->has_uses()) continue;
    tell_edit(*region.graph_, false, &RewriteListener::will_erase_free_value, *value);
  }
  for (Value* value : region.free_values()) {
    if (!value->has_uses()) continue;
    value->index_ = kept & 0x7fff'ffffu;
    region.free_[kept++] = value;
  }
  region.free_count_ = kept;
}

/// The region's value that holds what `value`, free in another one, holds; for what a text only
/// names (a dump's inputs) that of the same name and type.
Value* Rewriter::counterpart(const Value& value, Region& region) {
  if (const auto known = constant_of(value)) {
    if (Value* found = find_constant(region, *known)) return found;
  } else {
    for (Value* each : region.free_values()) {
      if (each->name() == value.name() && each->type() == value.type() && !constant_of(*each)) {
        return each;
      }
    }
  }
  Value* made = create_free_value(region, value.type(), value.name());
  edit_value(*made, [&] {
    made->symbol_ = value.symbol_;
    made->has_symbol_ = value.has_symbol_;
    made->attributes_ = printable(*region.graph_, value.attributes());
  });
  return made;
}

/// Returns the value to use in `region`: the counterpart of a free value that is not visible there.
Value* Rewriter::brought(Value& value, Region& region) {
  const Region* from = value.free_in();
  return from == nullptr || region.sees(*from) ? &value : counterpart(value, region);
}

/// Gives the op and what is inside it values that are visible in `region`, where it stands now.
void Rewriter::bring_constants(Op& op, Region& region) {
  for (Use& use : op.operand_uses()) {
    const Region* from = use.value() == nullptr ? nullptr : use.value()->free_in();
    if (from == nullptr || op.parent_region()->sees(*from)) continue;
    set_operand(op, use.index(), counterpart(*use.value(), region));
  }
  for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
    for (Block* block : inner->blocks()) {
      for (Op* each : block->ops()) bring_constants(*each, region);
    }
  }
}

// -- dumps ----------------------------------------------------------------------------------------

void Rewriter::set_mention(const Use& use, const StatedMention& mention) {
  Op& user = *use.user();
  auto& mentions = dump_facts_of(user).mentions;
  Arena& arena = arena_of(*user.graph_);
  if (mentions.empty()) mentions = arena.create_array<StatedMention*>(user.operand_count_);
  StatedMention*& kept = mentions[use.index()];
  if (kept == nullptr) kept = arena.create<StatedMention>();
  *kept = mention;
  kept->attributes = printable(*user.graph_, mention.attributes);
  changed(user, OpChange::kMention);
}

/// Returns false if the mention states nothing.
bool Rewriter::drop_mention(const Use& use) {
  const auto mentions = use.user()->dump_facts().mentions;
  return !mentions.empty() && std::exchange(mentions[use.index()], nullptr) != nullptr;
}

void Rewriter::clear_mentions() {
  for_each_op(module_, [&](Op& op) {
    bool is_changed = false;
    for (const Use& use : op.operand_uses()) is_changed |= drop_mention(use);
    if (is_changed) changed(op, OpChange::kMention);
  });
}

bool Rewriter::can_say_paths(const Region& region) const {
  for (Block* block : region.blocks()) {
    for (const Op* op : block->ops()) {
      if (op->has_path() && !can_say(op->path(), true)) return false;
      for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
        if (!can_say_paths(*inner)) return false;
      }
    }
  }
  return true;
}

void Rewriter::make_printable(Value& value) {
  if (!is_portable(value.attributes())) set_attributes(value, value.attributes());
}

/// With what is inside it.
void Rewriter::make_printable(Op& op) {
  if (!is_portable(op.attributes())) set_attributes(op, op.attributes(), op.has_attribute_list());
  for (Value& result : op.results()) make_printable(result);
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (Value* value : region->free_values()) make_printable(*value);
    for (Block* block : region->blocks()) {
      for (Value& argument : block->arguments()) make_printable(argument);
      for (Op* inner : block->ops()) make_printable(*inner);
    }
  }
}

bool Rewriter::set_version(std::int64_t version) {
  if (version == 0 && module_.is_portable() && !can_say_paths(module_.body())) return false;
  const bool becomes_portable = version != 0 && !module_.is_portable();
  module_.version_ = version;
  if (becomes_portable) {
    clear_mentions();
    make_printable(*module_.top());
  }
  if (version == 0) {
    for_each_signature(module_.body(), [&](Region& each) { store_ports(each, {}); });
    remove_attribute(*module_.top(), key::kMirVersion);
  } else {
    set_attribute(*module_.top(), key::kMirVersion, context().integer(version));
  }
  return true;
}

}  // namespace mir
