// Modules: names of values, declared symbols and memory use.
#include "mir/module.hpp"

#include <algorithm>
#include <string>

#include "ir/own_graph.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

WalkRoot::WalkRoot(const Module& module) : WalkRoot(module.body(), WalkScope::kAll) {}

std::size_t Module::memory() const {
  std::size_t bytes = own_.arena_->bytes_reserved();
  for (const auto& arena : more_arenas_) bytes += arena->bytes_reserved();
  return bytes;
}

// -- making ---------------------------------------------------------------------------------------

void Module::note_made(OpKind kind) {
  if (kind.id >= kOpCount || has_made(kind.op())) return;
  made_kinds_[kind.id / kKindsPerWord] |= std::uint64_t{1} << kind.id % kKindsPerWord;
}

std::uint32_t Module::next_id(std::atomic<std::uint32_t>& end, const Editor& editor,
                              Editor::Ids& ids) {
  if (editor.is_of_module_) {  // nobody else takes ids
    const std::uint32_t id = end.load(std::memory_order_relaxed);
    end.store(id + 1, std::memory_order_relaxed);
    return id;
  }
  constexpr std::uint32_t kBlock = 64;
  if (ids.next == ids.end) {
    ids.next = end.fetch_add(kBlock, std::memory_order_relaxed);
    ids.end = ids.next + kBlock;
  }
  return ids.next++;
}

namespace {

constexpr std::string_view kTextName = "fresh_";

}  // namespace

ValueName Module::upcoming_name(std::uint32_t skip) const {
  const std::uint64_t number = std::uint64_t{next_name_.load()} + skip;
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

namespace {

template <class T>
void raise_to(std::atomic<T>& number, T least) {
  T now = number.load(std::memory_order_relaxed);
  while (now < least && !number.compare_exchange_weak(now, least)) {
  }
}

}  // namespace

void Module::reserve_name(ValueName name) {
  if (name.is_none()) return;
  if (name.is_number()) return raise_to(next_name_, name.number() + 1);
  const std::string_view text = context_.text(name.symbol());
  if (!text.starts_with(kTextName)) return;
  const auto number = read_integer(text.substr(kTextName.size()));
  if (number && *number >= 0) {
    raise_to(next_text_name_, static_cast<std::uint64_t>(*number) + 1);
  }
}

void Module::update_names(std::string_view dialect) {
  const auto update = [&](auto& self, Op& op) -> void {
    const std::string_view spelling = context_.text(op.name_.spelling);
    if (spelling.substr(0, spelling.find('.')) == dialect) {
      op.name_ = context_.op_name(spelling);
      note_made(op.kind());
      op.note_in_graph();
      if (has_own_graph(op)) isolate(op);
      // The module itself declares nothing in itself.
      if (&op != top_) declare_own_symbols(op);
    }
    for_each_child(op, [&](Op& inner) { self(self, inner); });
  };
  update(update, *top_);
}

// -- symbols --------------------------------------------------------------------------------------

IRContext::SymbolUse Module::lookup_symbol(std::string_view name) const {
  const Symbol symbol = context_.strings().find(name);
  if (!symbol && !name.empty()) return {};
  IRContext::SymbolUse use;
  use.op = lookup_op(symbol);
  use.value = lookup_value(symbol);
  return use;
}

std::optional<Symbol> Module::declared_symbol(const Op* op) const {
  const OpRow* row = op->row();
  if (row == nullptr || !has(row->traits, Trait::kSymbol)) return std::nullopt;
  if (op->has_symbol()) return op->symbol();
  const Attr* attribute = op->attribute(key::kSymbol);
  if (attribute == nullptr || attribute->kind() != AttrKind::kString) return std::nullopt;
  return context_.intern(attribute->text());
}

bool Module::may_declare(const Op& op) const {
  return op.has(Trait::kSymbol) || op.first_region() != nullptr;
}

bool Module::declares(const Value& value) {
  const Op* op = value.defining_op();
  return value.has_symbol() && op != nullptr && op->has(Trait::kSymbol);
}

bool Module::is_linked(const Op& op) const {
  return &op == top_ || op.is_inside(*top_);
}

/// Declares the symbol of the op and those of its results.
void Module::declare_own_symbols(Op& op) {
  if (const auto symbol = declared_symbol(&op)) op_symbols_.add(*symbol, op);
  for (Value& result : op.results()) {
    if (declares(result)) value_symbols_.add(result.symbol(), result);
  }
}

/// With those of the ops inside it.
void Module::declare_symbols(Op& op) {
  declare_own_symbols(op);
  for_each_child(op, [&](Op& inner) { declare_symbols(inner); });
}

void Module::forget_symbol(const Value& value) {
  if (declares(value)) value_symbols_.remove(value.symbol(), value);
}

/// Forgets the symbols that this op declares. Those of nested ops are forgotten when these are
/// erased.
void Module::forget_symbols(const Op& op) {
  if (const auto symbol = declared_symbol(&op)) op_symbols_.remove(*symbol, op);
  for (const Value& result : op.results()) forget_symbol(result);
}

void Module::forget_symbols_within(Op& op) {
  forget_symbols(op);
  for_each_child(op, [&](Op& inner) { forget_symbols_within(inner); });
}

}  // namespace mir
