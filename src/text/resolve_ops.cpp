// Ops and the values that they define and use.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/context/language_versions.hpp"
#include "mir/codes/names.hpp"
#include "mir/equivalence.hpp"
#include "support/arena.hpp"
#include "support/suggest.hpp"
#include "syntax/short_names.hpp"
#include "syntax/text_literal.hpp"
#include "text/resolver.hpp"

namespace mir {

void Resolver::State::begin_head(const Node& node) {
  if (is_damaged(node.token)) return begin_damaged_head(node);
  head_.name = op_name(text(node.token));
  if (is_short_op_name(text(node.token))) did_read_short_form(node.token);
  head_.token = node.token;
  head_.location = location(node.token);
  head_.open = true;
}

OpName Resolver::State::op_name(std::string_view spelling) {
  const bool is_short = is_short_op_name(spelling);
  const Op* const graph = is_short ? graph_around() : nullptr;
  if (is_short && graph != std::exchange(named_in_, graph)) short_names_ = {};
  TextTable<OpName>& names = is_short ? short_names_ : op_names_;
  const std::uint64_t hash = hash_text(spelling);
  const OpName* known = names.find(spelling, hash);
  if (known == nullptr) {
    names.insert(spelling, hash,
                 context_.op_name(is_short ? full_op_name(spelling, device_in(graph))
                                           : std::string(spelling)));
    known = names.find(spelling, hash);
  }
  return *known;
}

std::span<const NamedAttr> Resolver::State::attributes_of(const Mention& mention) const {
  return std::span(mention_attributes_).subspan(mention.first_attribute, mention.attribute_count);
}

void Resolver::State::set_mention_parts(Value& value, const Mention& mention) {
  value.name_ = mention.name;
  module_->reserve_name(mention.name);
  if (mention.has_symbol) {
    value.symbol_ = mention.symbol;
    value.has_symbol_ = true;
  }
  if (mention.attribute_count != 0)
    value.attributes_ = module_->own_.arena_->copy(attributes_of(mention));
}

namespace {

/// True if `value` has these attributes, if there are any, and this symbol.
bool includes(const Value& value, std::span<const NamedAttr> attributes, bool has_symbol,
              Symbol symbol) {
  return (attributes.empty() || std::ranges::equal(attributes, value.attributes())) &&
         (!has_symbol || (value.has_symbol() && value.symbol() == symbol));
}

}  // namespace

std::string Resolver::State::unused_name(std::string_view name) const {
  const bool is_number = name.find_first_not_of("0123456789", 1) == name.npos;
  if (name.ends_with('"')) return "";
  const std::string stem = is_number ? fmt::format("%v{}", name.substr(1)) : std::string(name);
  constexpr int kMostTried = 100;
  for (int i = 2; i < kMostTried; ++i) {
    std::string made = fmt::format("{}_{}", stem, i);
    if (unit_text_.find(made) == std::string_view::npos) return made;
  }
  return "";
}

void Resolver::State::define(Value& value, const Mention& mention) {
  set_mention_parts(value, mention);
  const Value* known =
      portable_ && scopes_.defined_here(mention.name) ? scopes_.find(mention.name) : nullptr;
  // Uses above the definition have made a free value that says no more than the definition.
  const bool used_above =
      known != nullptr && known->is_free() &&
      includes(value, known->attributes(), known->has_symbol(), known->symbol());
  if (known != nullptr && !used_above) {
    const std::string_view name = text(mention.token).substr(0, text(mention.token).find(':'));
    Span at = span(mention.token);
    at.end = at.begin + static_cast<SourcePos>(name.size());
    const bool is_shown = !diagnostics_.is_full();
    Diagnostic& added = diagnostics_.error(
        diag::kRedefinedValue, at, fmt::format("value '{}' is defined twice in this region", name));
    if (is_shown && ++redefined_count_ <= kMostSuggestions) {
      if (const Op* first = known->defining_op()) added.note(first->span(), "first defined here");
      if (std::string free = unused_name(name); !free.empty()) {
        added.proposals.push_back({at, std::move(free)});
      }
    }
  }
  scopes_.define(mention.name, &value);
}

/// In a portable module mentions agree; any of a constant's mentions may say what it is.
void Resolver::State::check_mention(const Mention& mention, Value& value) {
  const auto attributes = attributes_of(mention);
  if (value.is_free()) {
    if (value.type() == nullptr) value.type_ = mention.type;
    if (value.attributes().empty()) value.attributes_ = module_->own_.arena_->copy(attributes);
    if (mention.has_symbol && !value.has_symbol()) {
      value.symbol_ = mention.symbol;
      value.has_symbol_ = true;
    }
  }
  if (mention.type != nullptr && value.type() == nullptr && !value.is_free()) {
    typed_mentions_.push_back({&value, mention.type, span(mention.token),
                               types_noted_ == nullptr ? kUnnoted : types_noted_->next() - 1});
  }
  // That a value has no type is said where it is defined.
  if (mention.type != nullptr && value.type() != nullptr && mention.type != value.type()) {
    diagnostics_.error(diag::kTypeConflict, span(mention.token),
                       fmt::format("value is used as {}, defined as {}", mention.type->spelling(),
                                   value.type()->spelling()));
  } else if (!includes(value, attributes, mention.has_symbol, mention.symbol)) {
    diagnostics_.error(diag::kTypeConflict, span(mention.token),
                       "value is used with other attributes than it is defined with");
  }
}

/// The value a mention in operand position means; makes a free value for an undefined name.
Value* Resolver::State::use(const Mention& mention, Region& region) {
  if (Value* value = scopes_.find(mention.name)) {
    if (types_noted_ != nullptr) note_operand(mention, *value);
    if (portable_) check_mention(mention, *value);
    return value;
  }
  Value* value = rewriter_->create_free_value(region, type_in_template(mention.type), mention.name);
  set_mention_parts(*value, mention);
  scopes_.define(mention.name, value);
  if (types_noted_ != nullptr) note_free(mention, *value);
  return value;
}

/// Remembers what mentions of operands state beyond what their values do.
void Resolver::State::attach_uses(Op* op, std::uint32_t first_operand, MentionList list) {
  if (portable_) return;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Mention& mention = mentions_[list.first + i];
    const Use& use = op->operand_uses()[first_operand + i];
    const Value& value = *use.value();
    const auto attributes = attributes_of(mention);
    const bool same = (mention.type == nullptr || mention.type == value.type()) &&
                      mention.has_symbol == value.has_symbol() &&
                      mention.symbol == value.symbol() &&
                      std::equal(attributes.begin(), attributes.end(), value.attributes().begin(),
                                 value.attributes().end());
    if (same) continue;
    rewriter_->set_mention(use, {mention.type == nullptr ? value.type() : mention.type, attributes,
                                 mention.symbol, mention.has_symbol});
  }
}

/// True if the head is that of a register without attributes whose parameter has a symbol.
bool Resolver::State::implies_symbol() const {
  return portable_ && module_->version() >= kImpliedSymbolVersion &&
         head_.name.kind == OpId::kTensorRegister && !head_.has_attribute_list &&
         head_.results.count == 1 && mentions_[head_.results.first].has_symbol;
}

void Resolver::State::imply_symbol() {
  head_.attributes.push_back(symbol_attribute(*module_, mentions_[head_.results.first].symbol));
  head_.has_attribute_list = true;
}

/// Sets the op's parts, except for operands, results and successors.
void Resolver::State::set_head(Op& op) {
  rewriter_->set_attributes(op, head_.attributes, head_.has_attribute_list);
  if (head_.has_symbol) rewriter_->set_symbol(op, head_.symbol);
  op.path_ = head_.path;
  op.has_path_ = head_.has_path;
  if (head_.square_path) rewriter_->set_square_path(op, true);
  if (!head_.angles.empty()) {
    rewriter_->extra_of(op).angles =
        module_->own_.arena_->copy(std::span<const Symbol>(head_.angles));
  }
  if (head_.address) rewriter_->set_address(op, head_.address);
  if (head_.label) rewriter_->set_label(op, *head_.label);
}

/// The operands after the op's own are those of its successors, whose blocks may be below.
void Resolver::State::set_successors(Op& op, std::uint32_t first_operand) {
  if (head_.successors.empty()) return;
  std::vector<OpExtra::Successor> list;
  for (std::size_t i = 0; i < head_.successors.size(); ++i) {
    const MentionList operands = head_.successor_operands[i];
    list.push_back({nullptr, head_.successors[i], first_operand, operands.count});
    attach_uses(&op, first_operand, operands);
    first_operand += operands.count;
  }
  rewriter_->extra_of(op).successors =
      module_->own_.arena_->copy(std::span<const OpExtra::Successor>(list));
  bodies_.back().branches.push_back(&op);
}

void Resolver::State::collect_operands(MentionList list, Region& region) {
  for (Mention& mention : std::span(mentions_).subspan(list.first, list.count)) {
    complete_use(mention);
    value_scratch_.push_back(use(mention, region));
  }
}

Op* Resolver::State::make_op() {
  Region& region = current_region();
  value_scratch_.clear();
  collect_operands(head_.operands, region);
  for (const MentionList& list : head_.successor_operands) collect_operands(list, region);
  complete_head();
  type_scratch_.clear();
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    type_scratch_.push_back(type_in_template(mentions_[head_.results.first + i].type));
  }
  const bool waits = infer_missing_types(type_scratch_);

  Op* op = rewriter_->create_detached({.name = head_.name,
                                       .operands = value_scratch_,
                                       .result_types = type_scratch_,
                                       .location = head_.location,
                                       .has_signature = head_.has_signature});
  if (implies_symbol()) imply_symbol();
  set_head(*op);
  attach_uses(op, 0, head_.operands);
  set_successors(*op, head_.operands.count);
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    define(*op->result(i), mentions_[head_.results.first + i]);
  }
  if (waits) wait_for_types(*op);
  if (types_noted_ != nullptr) {
    note_results(*op);
    note_name();
    note_implied();
  }
  rewriter_->insert(*op, current_block(), nullptr);
  op->mark_as_read();
  head_.reset();
  forget_mentions();
  return op;
}

}  // namespace mir
