#include "mir/module.hpp"

#include <algorithm>
#include <string>

#include "mir/walk.hpp"
#include "support/arena.hpp"
#include "support/number_text.hpp"

namespace mir {

std::size_t Module::memory() const {
  std::size_t bytes = arena_->bytes_reserved();
  for (const auto& arena : taken_over_) bytes += arena->bytes_reserved();
  return bytes;
}

// -- making ---------------------------------------------------------------------------------------

void Module::note_made(OpKind kind) {
  const std::size_t word = kind.id / kKindsPerWord;
  if (word >= made_kinds_.size()) made_kinds_.resize(word + 1);
  made_kinds_[word] |= std::uint64_t{1} << kind.id % kKindsPerWord;
}

namespace {

constexpr std::string_view kTextName = "fresh_";

}  // namespace

ValueName Module::upcoming_name(std::uint32_t skip) const {
  const std::uint64_t number = std::uint64_t{next_name_} + skip;
  if (number <= ValueName::kMaxNumber) return ValueName::number(static_cast<std::uint32_t>(number));
  const std::uint64_t beyond = number - ValueName::kMaxNumber - 1;
  return ValueName::symbol(
      context_.intern(std::string(kTextName) + std::to_string(next_text_name_ + beyond)));
}

ValueName Module::fresh_name() {
  if (names_later_) return {};
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

void Module::update_names(std::string_view dialect) {
  const auto update = [&](auto& self, Op& op) -> void {
    const std::string_view spelling = context_.text(op.name_.spelling);
    if (spelling.substr(0, spelling.find('.')) == dialect) {
      op.name_ = context_.op_name(spelling);
      note_made(op.kind());
      op.note_in_home();
      // The module itself declares nothing in itself.
      if (&op != top_) declare_own_symbols(op);
    }
    for_each_child(op, [&](Op& inner) { self(self, inner); });
  };
  update(update, *top_);
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

/// Its symbol and those of its results.
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

/// Its own; nested ones are erased for themselves.
void Module::forget_symbols(const Op& op) {
  if (const auto symbol = declared_symbol(&op)) op_symbols_.remove(*symbol, op);
  for (const Value& result : op.results()) forget_symbol(result);
}

void Module::forget_symbols_within(Op& op) {
  forget_symbols(op);
  for_each_child(op, [&](Op& inner) { forget_symbols_within(inner); });
}

}  // namespace mir
