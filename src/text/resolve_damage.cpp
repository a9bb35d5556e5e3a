// Text that cannot be read: what it may define is not undefined elsewhere.
#include <algorithm>

#include "support/characters.hpp"
#include "syntax/damage.hpp"
#include "text/resolver.hpp"

namespace mir {

namespace {

/// The first word of the text if it can name an op; else one that names no op.
std::string_view op_word(std::string_view text) {
  const auto end = text.find_first_of(" \t\r\n@<[({\"%");
  const std::string_view word = text.substr(0, end);
  return is_op_name(word) && word.find('.') != word.npos ? word : "unknown.op";
}

/// True if the text of an op breaks off before the end of its list of results.
bool lacks_results(std::string_view text) {
  const auto arrow = text.rfind("->");
  if (arrow != text.npos && text.find(')', arrow) != text.npos) return false;
  const auto last = text.rfind('(');
  return last == text.npos || text.find('(') == last || text.find(')', last) == text.npos;
}

std::string_view first_symbol(std::string_view text) {
  std::string_view found;
  for_each_name(text, '@', [&](std::string_view name) {
    if (found.empty()) found = name;
  });
  return found;
}

}  // namespace

/// The names in it may be those of results, so uses of them are not errors.
void Resolver::State::note_damage(std::uint32_t token) {
  DamagedText& damage = module_->notes<DamagedText>();
  damage.places.push_back(span(token));
  const Op* const parent = current_region().parent();
  damage.parents.insert(parent);
  const OpRow* const row = head_.open ? head_.name.info->row : nullptr;
  if (row != nullptr) {
    damage.may_call = damage.may_call || row->callee;
    damage.may_declare = damage.may_declare || has(row->traits, Trait::kSymbol);
  } else if (std::ranges::any_of(text(token), is_letter)) {
    const bool is_computation = head_.open && head_.name.info->dialect_id == DialectId::kLinalg;
    damage.may_call = damage.may_call || !is_computation;
    damage.may_declare = damage.may_declare || !is_computation;
  }
  if (row != nullptr && row->results.max != 0 && lacks_results(text(token))) {
    damage.open.insert(parent);
  }
  for_each_name(text(token), '@', [&](std::string_view name) { damage.symbols.emplace(name); });
  const auto arrow = text(token).rfind("->");
  const char* const results =
      arrow == std::string_view::npos ? nullptr : text(token).data() + arrow;
  for_each_name(text(token), '%', [&](std::string_view word) {
    const ValueName name = name_from_text(word);
    damaged_names_.insert(name.raw());
    const bool is_new_version = !portable_ && results != nullptr && word.data() > results;
    if (scopes_.find(name) != nullptr && !is_new_version) return;
    damage.names.insert(name.raw());
    module_->reserve_name(name);
    scopes_.define(name, rewriter_->create_free_value(current_region(), nullptr, name));
  });
}

void Resolver::State::begin_damaged_head(const Node& node) {
  const std::string_view words = text(node.token);
  head_.name = context_.op_name(op_word(words));
  head_.token = node.token;
  head_.location = location(node.token);
  head_.open = head_.damaged = true;
  const std::string_view symbol = first_symbol(words);
  if (symbol.empty()) return;
  head_.symbol = context_.intern(symbol);
  head_.has_symbol = true;
}

/// Nothing of the op can be read.
void Resolver::State::end_damaged_op() {
  note_damage(head_.token);
  head_.reset();
}

/// The module gets the name that its head begins with, and the form that it seems to have.
void Resolver::State::begin_damaged_module(const Node& node) {
  const std::string_view words = text(node.token);
  module_ = &context_.create_module(first_symbol(words));
  modules_.push_back(module_);
  rewriter_.emplace(*module_);
  rewriter_->set_location(*module_->top(), location(node.token));
  portable_ = words.find(key::kMirVersion) != words.npos;
  is_foreign_ = false;
  unquoted_.clear();
  attributes_.clear();
  if (portable_) rewriter_->set_version(1);
  bodies_.push_back({module_->top(), &module_->body()});
  scopes_.enter(true);
  bodies_.back().block = make_block(module_->body(), {}, {});
  module_->top()->mark_as_read();
  forget_mentions();
  note_damage(node.token);
  module_->notes<DamagedText>().head = true;
}

}  // namespace mir
