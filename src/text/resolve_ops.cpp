// Ops and the values that they define and use.
#include <fmt/format.h>

#include <algorithm>

#include "ir/context/language_versions.hpp"
#include "ir/rewrite/result_types.hpp"
#include "mir/control_flow.hpp"
#include "mir/equivalence.hpp"
#include "mir/infer.hpp"
#include "support/arena.hpp"
#include "syntax/text_literal.hpp"
#include "text/resolver.hpp"

namespace mir {

void Resolver::State::begin_head(const Node& node) {
  if (is_damaged(node.token)) return begin_damaged_head(node);
  const std::string_view spelling = text(node.token);
  const std::uint64_t hash = hash_text(spelling);
  const OpName* known = op_names_.find(spelling, hash);
  if (known == nullptr) {
    op_names_.insert(spelling, hash, context_.op_name(spelling));
    known = op_names_.find(spelling, hash);
  }
  head_.name = *known;
  head_.token = node.token;
  head_.location = location(node.token);
  head_.open = true;
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
    value.attributes_ = module_->arena_->copy(attributes_of(mention));
}

namespace {

/// Whether `value` has all attributes and the symbol that `part` has.
bool includes(const Value& value, std::span<const NamedAttr> attributes, bool has_symbol,
              Symbol symbol) {
  return (attributes.empty() || std::ranges::equal(attributes, value.attributes())) &&
         (!has_symbol || (value.has_symbol() && value.symbol() == symbol));
}

}  // namespace

void Resolver::State::define(Value& value, const Mention& mention) {
  set_mention_parts(value, mention);
  const Value* known =
      portable_ && scopes_.defined_here(mention.name) ? scopes_.find(mention.name) : nullptr;
  // Uses above the definition have made a free value that says no more than the definition.
  const bool used_above =
      known != nullptr && known->is_free() &&
      includes(value, known->attributes(), known->has_symbol(), known->symbol());
  if (known != nullptr && !used_above) {
    diagnostics_.error(DiagCode::kRedefinedValue, span(mention.token),
                       fmt::format("value '{}' is defined twice in this region",
                                   text(mention.token).substr(0, text(mention.token).find(':'))));
  }
  scopes_.define(mention.name, &value);
}

namespace {

bool has_unknown_extent(const Value& value) {
  const auto* type = value.tensor_type();
  return type != nullptr && std::ranges::any_of(type->dims(), &Dim::is_unknown);
}

}  // namespace

/// In a portable module mentions agree; any of a constant's mentions may say what it is.
void Resolver::State::check_mention(const Mention& mention, Value& value) {
  const auto attributes = attributes_of(mention);
  if (value.is_free()) {
    if (value.type() == nullptr) value.type_ = mention.type;
    if (value.attributes().empty()) value.attributes_ = module_->arena_->copy(attributes);
    if (mention.has_symbol && !value.has_symbol()) {
      value.symbol_ = mention.symbol;
      value.has_symbol_ = true;
    }
  }
  // What a rule could not infer the first mention with a type may state.
  const bool completes = mention.type != nullptr && open_types_.erase(&value) != 0 &&
                         compatible(mention.type, value.type());
  if (completes) value.type_ = mention.type;
  const bool is_late_value = value.type() == nullptr && late_values_.contains(&value);
  if (mention.type != nullptr && is_late_value) {
    late_mentions_.push_back({&value, mention.type, span(mention.token)});
  }
  // That a value has no type is said where it is defined.
  if (mention.type != nullptr && value.type() != nullptr && mention.type != value.type()) {
    diagnostics_.error(DiagCode::kTypeConflict, span(mention.token),
                       fmt::format("value is used as {}, defined as {}", mention.type->spelling(),
                                   value.type()->spelling()));
  } else if (!includes(value, attributes, mention.has_symbol, mention.symbol)) {
    diagnostics_.error(DiagCode::kTypeConflict, span(mention.token),
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

/// The type of a value that states this one, or none. In a template, that may be any.
const Type* Resolver::State::type_in_template(const Type* type) {
  return type == nullptr && templates_ != 0 ? any_type_ : type;
}

/// The prover of the module; null if it declares no symbols.
ExtentProver* Resolver::State::prover_of_module() {
  if (proved_ != module_) {
    prover_.reset();
    if (auto prover = ExtentProver::of(*module_)) prover_.emplace(std::move(*prover));
    proved_ = module_;
  }
  return prover_ ? &*prover_ : nullptr;
}

std::optional<std::vector<const Type*>> Resolver::State::inferred_types(std::size_t count,
                                                                        Diagnostics& diagnostics) {
  std::vector<const Type*> operands;
  for (std::uint32_t i = 0; i < head_.operands.count; ++i) {
    operands.push_back(value_scratch_[i]->type());
  }
  auto inferred = infer_result_types(*module_,
                                     {.name = head_.name,
                                      .symbol = head_.symbol,
                                      .operands = operands,
                                      .attributes = head_.attributes,
                                      .result_count = count,
                                      .at = span(head_.token)},
                                     diagnostics, prover_of_module());
  if (prover_) prover_->forget_undecided();  // verification reports it
  return inferred;
}

/// True if types of results follow from what comes below: a graph, or the regions of the op.
bool Resolver::State::is_late() const {
  if (!portable_) return false;
  const OpRow* row = head_.name.info->row;
  if (row != nullptr && row->region_flow) return true;
  if (row != nullptr && row->callee) return module_->lookup_op(head_.symbol) == nullptr;
  const auto operands = std::span(value_scratch_).first(head_.operands.count);
  return std::ranges::any_of(operands,
                             [&](const Value* value) { return late_values_.contains(value); });
}

/// True if types are missing that the end of the module tells.
bool Resolver::State::infer_missing_types(std::vector<const Type*>& types) {
  if (std::find(types.begin(), types.end(), nullptr) == types.end()) return false;
  if (is_late()) return true;
  const auto inferred = inferred_types(types.size(), diagnostics_);
  if (!inferred) return false;
  // Where an operand has no type, its definition is the cause; of one that nothing has defined so
  // far the end of the region tells more.
  const auto is_cause = [&](const Value* value) {
    return value->type() == nullptr && (portable_ || !value->is_free());
  };
  const auto is_untyped = [](const Value* value) { return value->type() == nullptr; };
  const auto operands = std::span(value_scratch_).first(head_.operands.count);
  const bool is_told = is_foreign_ || std::ranges::any_of(value_scratch_, is_cause) ||
                       (diagnostics_.has_errors() && std::ranges::any_of(operands, is_untyped));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr && i < inferred->size()) types[i] = (*inferred)[i];
    if (types[i] != nullptr || is_told) continue;
    diagnostics_.error(DiagCode::kTypeMissing, span(mentions_[head_.results.first + i].token),
                       "result needs a type: no rule infers it here");
  }
  return false;
}

void Resolver::State::note_late(Op& op) {
  LateOp late{&op, {}};
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    const bool is_untyped = op.result(i)->type() == nullptr;
    late.untyped.push_back(is_untyped ? span(mentions_[head_.results.first + i].token) : Span());
    if (is_untyped) late_values_.insert(op.result(i));
  }
  late_ops_.push_back(std::move(late));
}

namespace {

/// The types that regions, or the op itself, pass to its results; null where nothing with a type is
/// passed, or after reporting that types differ.
std::vector<const Type*> passed_types(const Op& op, Diagnostics& diagnostics) {
  std::vector<const Type*> types(op.result_count());
  std::vector<bool> differ(op.result_count());
  const auto pass = [&](const Op& from, const RegionEdge& edge) {
    for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
      const std::uint32_t operand = edge.first_operand + i, result = edge.first_target + i;
      if (operand >= from.operand_count() || result >= types.size() || differ[result]) continue;
      const Type* type = from.operand(operand)->type();
      const Type*& known = types[result];
      if (type == nullptr || type == known) continue;
      differ[result] = known != nullptr && !compatible(known, type);
      if (known == nullptr) known = type;
      if (!differ[result]) continue;
      diagnostics.error(DiagCode::kTypeMissing, op.span(),
                        fmt::format("result {} of '{}' needs a type: {} and {} are passed to it",
                                    result, op.name(), known->spelling(), type->spelling()));
      known = nullptr;
    }
  };
  for (const RegionEdge& edge : op.row()->region_flow(op)) {
    if (edge.to != RegionEdge::kOp) continue;
    if (edge.from == RegionEdge::kOp) pass(op, edge);
    if (edge.from == RegionEdge::kOp || edge.from >= op.region_count()) continue;
    for (const Block* block : op.region(edge.from)->blocks()) {
      if (!block->empty() && leaves_region(*block->back())) pass(*block->back(), edge);
    }
  }
  return types;
}

}  // namespace

/// The types of an op whose callee, operands or regions are known by now; null where they are not.
std::vector<const Type*> Resolver::State::late_types(const Op& op, Diagnostics& diagnostics) {
  if (op.row() != nullptr && op.row()->region_flow) return passed_types(op, diagnostics);
  const std::vector<const Type*> operands = operand_types(op);
  auto inferred = infer_result_types(*module_,
                                     {.name = op.op_name(),
                                      .symbol = op.symbol(),
                                      .operands = operands,
                                      .attributes = op.attributes(),
                                      .result_count = op.result_count(),
                                      .at = op.span()},
                                     diagnostics, prover_of_module());
  if (prover_) prover_->forget_undecided();
  std::vector<const Type*> types = inferred ? std::move(*inferred) : std::vector<const Type*>();
  types.resize(op.result_count());
  return types;
}

/// Operands come before their users, so one pass in the order of the text is enough. An op with
/// regions comes after what is in them.
void Resolver::State::settle_late_types() {
  const auto settle = [&](const LateOp& late) {
    const auto& [op, untyped] = late;
    const std::size_t errors = diagnostics_.error_count();
    const std::vector<const Type*> types = late_types(*op, diagnostics_);
    const auto is_untyped = [](const Use& use) { return use.value()->type() == nullptr; };
    const bool is_told = is_foreign_ || diagnostics_.error_count() != errors ||
                         std::ranges::any_of(op->operand_uses(), is_untyped);
    for (std::uint32_t i = 0; i < op->result_count(); ++i) {
      if (!untyped[i].known()) continue;
      op->result(i)->type_ = types[i];
      if (types[i] != nullptr) {
        if (has_unknown_extent(*op->result(i))) open_types_.insert(op->result(i));
      } else if (!is_told) {
        diagnostics_.error(DiagCode::kTypeMissing, untyped[i],
                           "result needs a type: no rule infers it here");
      }
    }
  };
  std::vector<const LateOp*> around;
  const auto settle_around = [&](const Op* next) {
    while (!around.empty() && (next == nullptr || !next->is_inside(*around.back()->op))) {
      settle(*around.back());
      around.pop_back();
    }
  };
  for (const LateOp& each : late_ops_) {
    settle_around(each.op);
    if (each.op->first_region() != nullptr) {
      around.push_back(&each);
    } else {
      settle(each);
    }
  }
  settle_around(nullptr);
  for (const auto& [value, type, at] : late_mentions_) {
    if (value->type() == nullptr) continue;
    if (open_types_.erase(value) != 0 && compatible(type, value->type())) value->type_ = type;
    if (type == value->type()) continue;
    diagnostics_.error(DiagCode::kTypeConflict, at,
                       fmt::format("value is used as {}, defined as {}", type->spelling(),
                                   value->type()->spelling()));
  }
  Diagnostics ignored;
  for (const auto& [op, number] : late_calls_) {
    const std::vector<const Type*> types = late_types(*op, ignored);
    for (std::uint32_t i = 0; i < op->result_count(); ++i) {
      if (types[i] != nullptr && types[i] == op->result(i)->type()) {
        types_noted_->mark_redundant(number + i);
      }
    }
  }
  late_ops_.clear();
  late_values_.clear();
  late_mentions_.clear();
  late_calls_.clear();
}

/// Before the mention is checked, which may complete the type of the value.
void Resolver::State::note_operand(const Mention& mention, const Value& value) {
  const bool completes = open_types_.contains(&value);
  types_noted_->add(
      {.at = span(mention.token).begin,
       .stated = mention.type,
       .value = &value,
       .is_redundant = mention.type != nullptr && mention.type == value.type() && !completes});
}

void Resolver::State::note_free(const Mention& mention, const Value& value) {
  types_noted_->add_free(
      {.at = span(mention.token).begin, .stated = mention.type, .value = &value});
}

/// In a template, a result without a type may have any.
void Resolver::State::note_results(const Op& op) {
  Diagnostics ignored;
  std::optional<std::vector<const Type*>> inferred;
  const auto is_stated = [&](const Mention& mention) { return mention.type != nullptr; };
  const auto results = std::span(mentions_).subspan(head_.results.first, head_.results.count);
  if (templates_ == 0 && !is_foreign_ && is_late() && std::ranges::all_of(results, is_stated)) {
    late_calls_.emplace_back(&op, types_noted_->next());
  }
  if (templates_ == 0 && !is_foreign_) inferred = inferred_types(op.result_count(), ignored);
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    const Mention& mention = mentions_[head_.results.first + i];
    const bool is_inferred =
        inferred && i < inferred->size() && (*inferred)[i] == op.result(i)->type();
    types_noted_->add({.at = span(mention.token).begin,
                       .stated = mention.type,
                       .value = op.result(i),
                       .is_redundant = mention.type != nullptr && is_inferred});
  }
}

/// True if the head is that of a register without attributes whose parameter has a symbol.
bool Resolver::State::implies_symbol() const {
  return portable_ && module_->version() >= kImpliedSymbolVersion &&
         head_.name.kind == OpId::kTensorRegister && !head_.has_attribute_list &&
         head_.results.count == 1 && mentions_[head_.results.first].has_symbol;
}

void Resolver::State::imply_symbol() {
  const std::string_view symbol = context_.text(mentions_[head_.results.first].symbol);
  const Attr* value = is_bare_word(symbol) ? context_.scanned(AttrKind::kString, symbol)
                                           : context_.scanned(AttrKind::kString, quote(symbol));
  head_.attributes.push_back({key::kSymbol, value});
  head_.has_attribute_list = true;
}

/// Its parts but for its operands, results and successors.
void Resolver::State::set_head(Op& op) {
  rewriter_->set_attributes(op, head_.attributes, head_.has_attribute_list);
  if (head_.has_symbol) rewriter_->set_symbol(op, head_.symbol);
  op.path_ = head_.path;
  op.has_path_ = head_.has_path;
  if (head_.square_path) rewriter_->set_square_path(op, true);
  if (!head_.angles.empty()) {
    rewriter_->extra_of(op).angles = module_->arena_->copy(std::span<const Symbol>(head_.angles));
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
      module_->arena_->copy(std::span<const OpExtra::Successor>(list));
  bodies_.back().branches.push_back(&op);
}

void Resolver::State::collect_operands(MentionList list, Region& region) {
  for (std::uint32_t i = 0; i < list.count; ++i) {
    value_scratch_.push_back(use(mentions_[list.first + i], region));
  }
}

Op* Resolver::State::make_op() {
  Region& region = current_region();
  value_scratch_.clear();
  collect_operands(head_.operands, region);
  for (const MentionList& list : head_.successor_operands) collect_operands(list, region);
  type_scratch_.clear();
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    type_scratch_.push_back(type_in_template(mentions_[head_.results.first + i].type));
  }
  const bool is_late = infer_missing_types(type_scratch_);

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
    const Mention& mention = mentions_[head_.results.first + i];
    Value& result = *op->result(i);
    define(result, mention);
    if (portable_ && mention.type == nullptr && has_unknown_extent(result)) {
      open_types_.insert(&result);
    }
  }
  if (is_late) note_late(*op);
  if (types_noted_ != nullptr) note_results(*op);
  rewriter_->insert(*op, current_block(), nullptr);
  op->mark_as_read();
  head_.reset();
  forget_mentions();
  return op;
}

}  // namespace mir
