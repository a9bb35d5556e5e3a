#include "mir/module.hpp"

#include <algorithm>
#include <string>

#include "ir/text/text_literal.hpp"
#include "support/arena.hpp"

namespace mir {

Module::Module(IRContext& context, Symbol name)
    : context_(context), arena_(std::make_unique<Arena>()), symbol_key_(context.intern("symbol")) {
  top_ =
      create({.name = context.op_name(OpId::kBuiltinModule), .regions = 1, .has_signature = false});
  top_->set_symbol(name);
  body().set_has_signature(true);
}

Module::~Module() = default;

std::size_t Module::memory() const {
  return arena_->bytes_reserved();
}

void Module::set_version(std::int64_t version) {
  version_ = version;
  const Symbol key = context_.intern("mir_version");
  if (version == 0) {
    top_->remove_attribute(key);
  } else {
    top_->set_attribute(key, context_.integer(version));
  }
}

// -- making ---------------------------------------------------------------------------------------

void Module::note_made(OpKind kind) {
  const std::size_t word = kind.id / kKindsPerWord;
  if (word >= made_kinds_.size()) made_kinds_.resize(word + 1);
  made_kinds_[word] |= std::uint64_t{1} << kind.id % kKindsPerWord;
}

Op* Module::create(const OpSpec& spec) {
  const std::size_t operand_count = spec.operands.size();
  const std::size_t result_count = spec.result_types.size();
  static_assert(sizeof(Op) % alignof(Use) == 0 && sizeof(Use) % alignof(Value) == 0);
  const std::size_t bytes = sizeof(Op) + operand_count * sizeof(Use) + result_count * sizeof(Value);
  auto* storage = static_cast<std::byte*>(arena_->allocate(bytes, alignof(Op)));
  auto* op = new (storage) Op;
  storage += sizeof(Op);
  op->module_ = this;
  op->name_ = spec.name;
  note_made(spec.name.kind);
  op->id_ = next_op_id_++;
  op->location_ = spec.location;
  op->has_signature_ = spec.has_signature;
  if (spec.path) op->set_path(spec.path);
  if (spec.symbol) op->set_symbol(spec.symbol);

  op->operands_ = reinterpret_cast<Use*>(storage);
  op->operand_count_ = static_cast<std::uint32_t>(operand_count);
  for (std::size_t i = 0; i < operand_count; ++i) {
    auto* use = new (storage) Use;
    use->user_ = op;
    use->set(spec.operands[i]);
    storage += sizeof(Use);
  }
  op->results_ = reinterpret_cast<Value*>(storage);
  op->result_count_ = static_cast<std::uint32_t>(result_count);
  for (std::size_t i = 0; i < result_count; ++i) {
    auto* value = new (storage) Value;
    value->type_ = spec.result_types[i];
    value->owner_ = reinterpret_cast<std::uintptr_t>(op) | Value::kResult;
    value->index_ = static_cast<std::uint32_t>(i) & 0x7fff'ffffu;
    value->id_ = next_value_id_++;
    storage += sizeof(Value);
  }
  for (std::uint32_t i = 0; i < spec.regions; ++i) add_region(op);
  if (!spec.attributes.empty()) set_attributes(op, spec.attributes);
  return op;
}

Region* Module::add_region(Op* op) {
  auto* region = arena_->create<Region>();
  region->parent_ = op;
  if (op->regions_ == nullptr) {
    op->regions_ = region;
  } else {
    Region* last = op->regions_->last_region_;
    region->index_ = last->index_ + 1;
    last->next_ = region;
  }
  op->regions_->last_region_ = region;
  return region;
}

Block* Module::create_block(Region& region, std::span<const Type* const> argument_types,
                            Symbol name) {
  auto* block = arena_->create<Block>();
  block->parent_ = &region;
  block->name_ = name;
  block->previous_ = region.last_;
  (region.last_ == nullptr ? region.first_ : region.last_->next_) = block;
  region.last_ = block;
  create_arguments(*block, argument_types);
  return block;
}

std::span<Value> Module::create_arguments(Block& block, std::span<const Type* const> types) {
  assert(block.argument_count_ == 0);
  const auto arguments = arena_->create_array<Value>(types.size());
  block.arguments_ = arguments.data();
  block.argument_count_ = static_cast<std::uint32_t>(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].type_ = types[i];
    arguments[i].owner_ = reinterpret_cast<std::uintptr_t>(&block) | Value::kArgument;
    arguments[i].index_ = static_cast<std::uint32_t>(i) & 0x7fff'ffffu;
    arguments[i].id_ = next_value_id_++;
  }
  return arguments;
}

void Module::remove_arguments(Block& block) {
  assert(std::ranges::none_of(block.arguments(), &Value::has_uses));
  block.arguments_ = nullptr;
  block.argument_count_ = 0;
}

Value* Module::append_argument(Block& block, const Type* type) {
  const std::span<Value> before = block.arguments();
  std::vector<const Type*> types;
  for (const Value& argument : before) types.push_back(argument.type());
  types.push_back(type);
  block.argument_count_ = 0;
  const std::span<Value> after = create_arguments(block, types);
  for (std::size_t i = 0; i < before.size(); ++i) {
    after[i].name_ = before[i].name_;
    after[i].attributes_ = before[i].attributes_;
    after[i].symbol_ = before[i].symbol_;
    after[i].has_symbol_ = before[i].has_symbol_;
    before[i].replaceAllUsesWith(&after[i]);
  }
  block.parent()->parent()->mark_modified();
  return &after.back();
}

Value* Module::create_free_value(Region& region, const Type* type, ValueName name) {
  if (region.free_count_ == region.free_capacity_) {
    const std::uint32_t capacity = std::max(4u, region.free_capacity_ * 2);
    const auto list = arena_->create_array<Value*>(capacity);
    std::copy_n(region.free_, region.free_count_, list.begin());
    region.free_ = list.data();
    region.free_capacity_ = capacity;
  }
  auto* value = arena_->create<Value>();
  value->type_ = type;
  value->name_ = name;
  value->owner_ = reinterpret_cast<std::uintptr_t>(&region) | Value::kFree;
  value->index_ = region.free_count_ & 0x7fff'ffffu;
  value->id_ = next_value_id_++;
  region.free_[region.free_count_++] = value;
  return value;
}

void Module::remove_unused_free_values(Region& region) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < region.free_count_; ++i) {
    Value* value = region.free_[i];
    if (!value->has_uses()) continue;
    value->index_ = kept & 0x7fff'ffffu;
    region.free_[kept++] = value;
  }
  region.free_count_ = kept;
}

namespace {

void for_each_nested(Op* op, auto&& visit) {
  for (Region* region = op->first_region(); region != nullptr; region = region->next()) {
    for (Block* block = region->entry(); block != nullptr; block = block->next()) {
      for (Op* inner : block->ops()) visit(inner);
    }
  }
}

constexpr std::string_view kTextName = "fresh_";

}  // namespace

void Module::erase(Op* op) {
  drop_operands(op);  // all of them first: nested ops use each other in any order
  discard(op);
}

void Module::drop_operands(Op* op) {
  for (Use& use : op->operand_uses()) {
    use.set(nullptr);
    clear_use_override(use);
  }
  for_each_nested(op, [&](Op* inner) { drop_operands(inner); });
}

void Module::discard(Op* op) {
  for_each_nested(op, [&](Op* inner) { discard(inner); });
  for ([[maybe_unused]] const Value& result : op->results()) assert(!result.has_uses());
  forget_symbols(op);
  if (op->block_ != nullptr) op->block_->unlink(op);
  op->erased_ = true;
}

ValueName Module::upcoming_name(std::uint32_t skip) const {
  const std::uint64_t number = std::uint64_t{next_name_} + skip;
  if (number <= ValueName::kMaxNumber) return ValueName::number(static_cast<std::uint32_t>(number));
  const std::uint64_t beyond = number - ValueName::kMaxNumber - 1;
  return ValueName::symbol(
      context_.intern(std::string(kTextName) + std::to_string(next_text_name_ + beyond)));
}

ValueName Module::fresh_name() {
  const ValueName name = upcoming_name(0);
  reserve_name(name);
  return name;
}

void Module::reserve_name(ValueName name) {
  if (name.is_none()) return;
  if (name.is_number()) {
    next_name_ = std::max(next_name_, name.number() + 1);
    return;
  }
  const std::string_view text = context_.text(name.symbol());
  if (!text.starts_with(kTextName)) return;
  const auto number = read_integer(text.substr(kTextName.size()));
  if (number && *number >= 0) {
    next_text_name_ = std::max(next_text_name_, static_cast<std::uint64_t>(*number) + 1);
  }
}

void Module::set_operands(Op* op, std::span<Value* const> operands) {
  for (Use& use : op->operand_uses()) {
    use.set(nullptr);
    clear_use_override(use);
  }
  if (operands.size() > op->operand_count_) {
    op->operands_ = arena_->create_array<Use>(operands.size()).data();
  }
  op->operand_count_ = static_cast<std::uint32_t>(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    op->operands_[i].user_ = op;
    op->operands_[i].set(operands[i]);
  }
  op->mark_modified();
}

void Module::set_attributes(Op* op, std::span<const NamedAttr> attributes, bool list_present) {
  op->mark_modified();
  op->attributes_ = copy(attributes).data();
  op->attribute_count_ = static_cast<std::uint32_t>(attributes.size());
  op->has_attribute_list_ = list_present || !attributes.empty();
}

void Module::set_value_attributes(Value* value, std::span<const NamedAttr> attributes) {
  value->attributes_ = copy(attributes);
  value->mark_mentions();
}

std::span<const NamedAttr> Module::copy(std::span<const NamedAttr> attributes) {
  return arena_->copy(attributes);
}
std::span<const RegionResult> Module::copy(std::span<const RegionResult> results) {
  return arena_->copy(results);
}
std::span<const Symbol> Module::copy(std::span<const Symbol> symbols) {
  return arena_->copy(symbols);
}
std::span<const OpExtra::Successor> Module::copy(std::span<const OpExtra::Successor> successors) {
  return arena_->copy(successors);
}

// -- symbols --------------------------------------------------------------------------------------

IRContext::SymbolUse Module::lookupSymbol(std::string_view name) const {
  const Symbol symbol = context_.strings().find(name);
  if (!symbol && !name.empty()) return {};
  IRContext::SymbolUse use;
  use.op = lookup_op(symbol);
  use.value = lookup_value(symbol);
  return use;
}

Op* Module::lookup_op(Symbol name) const {
  const auto found = op_symbols_.find(name);
  return found == op_symbols_.end() ? nullptr : found->second;
}

Value* Module::lookup_value(Symbol name) const {
  const auto found = value_symbols_.find(name);
  return found == value_symbols_.end() ? nullptr : found->second;
}

void Module::declare(Symbol name, Op* op) {
  op_symbols_.try_emplace(name, op);
}
void Module::declare(Symbol name, Value* value) {
  value_symbols_.try_emplace(name, value);
}

std::optional<Symbol> Module::declared_symbol(const Op* op) const {
  const OpRow* row = op->row();
  if (row == nullptr || !has(row->traits, Trait::kSymbol)) return std::nullopt;
  if (op->has_symbol()) return op->symbol();
  const Attr* attribute = op->attribute(symbol_key_);
  if (attribute == nullptr || attribute->kind() != AttrKind::kString) return std::nullopt;
  return context_.intern(attribute->text());
}

void Module::declare_symbols(Op* op) {
  if (const auto symbol = declared_symbol(op)) declare(*symbol, op);
  for (Value& result : op->results()) {
    if (result.has_symbol()) declare(result.symbol(), &result);
  }
}

void Module::forget_symbols(Op* op) {
  if (const auto symbol = declared_symbol(op); symbol && lookup_op(*symbol) == op) {
    op_symbols_.erase(*symbol);
  }
  for (const Value& result : op->results()) {
    if (result.has_symbol() && lookup_value(result.symbol()) == &result) {
      value_symbols_.erase(result.symbol());
    }
  }
}

// -- dump oddities --------------------------------------------------------------------------------

const UseOverride* Module::find_override(const Use& use) const {
  const auto found = overrides_.find(&use);
  return found == overrides_.end() ? nullptr : &found->second;
}

void Module::set_use_override(const Use& use, UseOverride override) {
  overrides_[&use] = override;
  use.user()->may_override_ = true;
  use.user()->mark_modified();
}

void Module::clear_use_override(const Use& use) {
  if (!overrides_.empty() && overrides_.erase(&use) != 0) use.user()->mark_modified();
}

void Module::clear_use_overrides() {
  for (const auto& [use, override] : overrides_) use->user()->mark_modified();
  overrides_.clear();
}

}  // namespace mir
