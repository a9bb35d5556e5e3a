// Decides which breaches follow from errors in the text.
#include "verify/doubts.hpp"

#include <string>
#include <string_view>

#include "ir/declares_dialect.hpp"
#include "ir/ports.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/verification.hpp"
#include "mir/walk.hpp"
#include "syntax/damage.hpp"
#include "syntax/op_text.hpp"
#include "verify/checks.hpp"

namespace mir {

namespace {

bool is_one_of(std::span<const DiagCode> codes, DiagCode code) {
  return std::ranges::find(codes, code) != codes.end();
}

/// The group of a constraint; that of the shape rules if no other has it, and of errors of reading.
CheckGroup group_of(const Diagnostic& breach) {
  const std::string_view id =
      std::string_view(breach.constraint).substr(0, breach.constraint.find(':'));
  const auto found = std::ranges::find(constraints(), id, &Constraint::id);
  return found == constraints().end() ? CheckGroup::kShapes : found->group;
}

/// True if the text of the op states the types of all its results.
bool states_types(const Op& op) {
  IRContext& context = op.module().context();
  const SourceFile* const file = context.sources().file_of(op.span().begin);
  if (file == nullptr) return false;
  const OpText text(*file, op.span());
  return std::ranges::all_of(op.results(), [&](const Value& result) {
    const Span at = text.mention(name_text(result.name(), context));
    if (!at.known()) return false;
    const std::string_view rest = file->text().substr(at.end - file->base());
    const auto next = rest.find_first_not_of(" \t");
    return next != rest.npos && rest[next] == ':';
  });
}

/// True for an op, or an op with values, of a dialect that text may declare.
bool depends_on_dialects(const Op& op) {
  const auto is_declared = [](const Type* type) { return dyn_cast<DialectType>(type) != nullptr; };
  return op.op_name().info->dialect_id == DialectId::kOther ||
         std::ranges::any_of(op.operand_uses(),
                             [&](const Use& use) { return is_declared(use.value()->type()); }) ||
         std::ranges::any_of(op.results(),
                             [&](const Value& result) { return is_declared(result.type()); });
}

/// True if the text at a place is `*` or `<.name>`, so that its meaning is said elsewhere.
bool is_short_form(const Op& op, Span at) {
  const SourceFile* const file = op.module().context().sources().file_of(at.begin);
  if (file == nullptr) return false;
  const std::string_view text = file->slice(at);
  return text.starts_with('*') || text.starts_with("<.");
}

/// True if an operand has a type that is not a tensor, such as a name that nothing defines.
bool has_other_operand(const Op& op) {
  return std::ranges::any_of(op.operand_uses(),
                             [](const Use& use) { return use.value()->tensor_type() == nullptr; });
}

/// True if an operand has an element type that is not known, which is an error where it is defined.
bool has_unknown_element(const Op& op) {
  return std::ranges::any_of(op.operand_uses(), [](const Use& use) {
    return checks::has_unknown_element(use.value()->type());
  });
}

bool mentions_one_of(const Op& op, const std::unordered_set<std::uint32_t>& names) {
  if (names.empty()) return false;
  const auto is_named = [&](const Value& value) { return names.contains(value.name().raw()); };
  return std::ranges::any_of(op.operand_uses(),
                             [&](const Use& use) { return is_named(*use.value()); }) ||
         std::ranges::any_of(op.results(), is_named);
}

}  // namespace

bool concerns_op_alone(DiagCode code) {
  constexpr DiagCode kCodes[] = {diag::kUnknownOp,        diag::kWrongArity,
                                 diag::kUnknownAttribute, diag::kUnknownCallee,
                                 diag::kAttributeKind,    diag::kDuplicateSymbol};
  return is_one_of(kCodes, code);
}

OpsInOrder::OpsInOrder(std::span<Module* const> modules) {
  for (const Module* module : modules) {
    ops_.emplace_back(module->top()->span().begin, module->top());
    for_each_op(*module, [&](const Op& op) { ops_.emplace_back(op.span().begin, &op); });
  }
  std::ranges::sort(ops_);
}

std::vector<UnclosedOp> unclosed_ops(const OpsInOrder& ops, std::span<const Diagnostic> known) {
  std::vector<UnclosedOp> unclosed;
  for (const Diagnostic& each : known) {
    if (each.code != diag::kUnexpectedToken) continue;
    for (const Note& note : each.notes) {
      const Op* op = note.at.known() ? ops.at(note.at.begin) : nullptr;
      if (op != nullptr) unclosed.push_back({op, each.at.begin});
    }
  }
  return unclosed;
}

// -- what is in doubt -----------------------------------------------------------------------------

namespace {

/// The op around `op`, or itself, that is in no other op of its module.
const Op* top_level(const Op* op) {
  while (op != nullptr && op->parent_op() != nullptr && op->parent_op()->parent_op() != nullptr) {
    op = op->parent_op();
  }
  return op;
}

std::string_view line_around(const SourceFile& file, SourcePos place) {
  const std::string_view text = file.text();
  const std::size_t at = std::min<std::size_t>(place - file.base(), text.size());
  const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

Doubts::Doubts(std::span<Module* const> modules, const OpsInOrder& ops,
               std::span<const Diagnostic> known)
    : order_(ops), modules_(modules), unclosed_(unclosed_ops(ops, known)) {
  for (Module* module : modules) {
    const DamagedText& damage = module->notes<DamagedText>();
    for (const Op* op : damage.parents) {
      add_parents(op);
      while (op != nullptr && damaged_.insert(op).second) op = op->parent_op();
    }
    if (damage.places.empty()) continue;
    unsound_modules_.insert(module);
    const SourceFile* const file = module->context().sources().file_of(damage.places[0].begin);
    const auto may_declare = [&](Span place) {
      return file != nullptr && file->slice(place).find("dialect.") != std::string_view::npos;
    };
    are_dialects_lost_ = are_dialects_lost_ || declares_dialect(*module) ||
                         std::ranges::any_of(damage.places, may_declare);
  }
  find_lost_structure(known);
  find_cut_lists(known);
  for (const Diagnostic& each : known) {
    const Op* const op = each.severity == Severity::kError ? order_.at(each.at.begin) : nullptr;
    if (op == nullptr) continue;
    unsound_modules_.insert(&op->module());
    if (each.code == diag::kMissingBrace) {  // the op may be another one than the brace was of
      add_parents(op);
      continue;
    }
    if (each.code >= kFirstOfResolve) {
      add(*op);
      continue;
    }
    // Text between ops, such as the name of a block, is in no place of its own.
    are_dialects_lost_ = are_dialects_lost_ || declares_dialect(op->module());
    for (const Op* at = op->parent_op(); at != nullptr; at = at->parent_op()) damaged_.insert(at);
  }
  for (const auto& [at, op] : order_) {
    if (!concern(op->module())) continue;
    const auto has_no_type = [](const Use& use) { return use.value()->type() == nullptr; };
    const bool is_in_doubt =
        mentions_one_of(*op, damage_of(*op).names) ||
        (op->module().is_portable() && std::ranges::any_of(op->operand_uses(), has_no_type));
    if (is_in_doubt) add(*op);
  }
  follow_pending();
}

namespace {

/// True if only the last brace of a module is missing, at the end of a text whose layout shows that
/// no other one is. All ops are where they seem to be.
bool lacks_last_brace(const UnclosedOp& unclosed) {
  const Module& module = unclosed.op->module();
  if (unclosed.op != module.top()) return false;
  const SourceFile* const file = module.context().sources().file_of(unclosed.noticed);
  if (file == nullptr) return false;
  std::string_view rest = file->text().substr(unclosed.noticed - file->base());
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (!rest.starts_with("//")) break;
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
  }
  return rest.empty() && closes_at_indents(file->text());
}

/// The indent of the last line with words in a text.
std::size_t last_indent(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  const std::size_t begin = end == text.npos ? 0 : text.rfind('\n', end) + 1;
  return text.find_first_not_of(" \t", begin) - begin;
}

/// True if the brace at a place, or right before it, is the only one too many, as the layout of the
/// text shows. Below deeper lines, it may be the opening brace above them that is missing.
bool is_only_stray_brace(const SourceFile& file, SourcePos place) {
  const std::string_view text = file.text();
  const std::size_t brace = text.rfind('}', place - file.base());
  const bool is_near =
      brace != text.npos && text.find_first_not_of(" \t\r\n", brace + 1) >= place - file.base();
  return is_near && last_indent(text.substr(0, brace)) <= last_indent(text.substr(0, brace + 1)) &&
         unclosed_braces(text) == -1 && closes_at_indents(text, brace);
}

}  // namespace

void Doubts::find_lost_structure(std::span<const Diagnostic> known) {
  for (const UnclosedOp& each : unclosed_) {
    add_parents(each.op);
    if (lacks_last_brace(each)) continue;
    lost_from_ = std::min(lost_from_, top_level(each.op)->span().begin);
  }
  const SourceFile* file = nullptr;
  const bool is_brace_known =
      std::ranges::find(known, diag::kMissingBrace, &Diagnostic::code) != known.end();
  for (const Diagnostic& each : known) {
    if (each.code >= kFirstOfResolve || !each.at.known() || modules_.empty()) continue;
    if (file == nullptr) {
      file = modules_.front()->context().sources().file_of(each.at.begin);
      if (file == nullptr) return;
      if (unclosed_.empty() && !is_brace_known && unclosed_braces(file->text()) != 0 &&
          !is_only_stray_brace(*file, each.at.begin)) {
        const Op* const op = top_level(order_.at(each.at.begin));
        lost_from_ = std::min({lost_from_, each.at.begin, op == nullptr ? 0 : op->span().begin});
      }
    }
    const std::string_view line = line_around(*file, each.at.begin);
    const auto first = line.find_first_not_of(" \t");
    are_aliases_lost_ = are_aliases_lost_ || order_.at(each.at.begin) == nullptr ||
                        (first != line.npos && (line[first] == '#' || line[first] == '!'));
  }
  const Op* const op = lost_from_ == kNowhere ? nullptr : order_.at(lost_from_);
  if (op != nullptr) lost_in_ = &op->module();
}

/// Finds ops with an attribute whose text lacks the pair of a bracket, so that commas cut the list
/// at wrong places. Keeps where the first text without quotes is.
void Doubts::find_cut_lists(std::span<const Diagnostic> known) {
  std::unordered_map<const Op*, SourcePos> first;  // text without quotes
  for (const Diagnostic& each : known) {
    const Op* const op = each.code == diag::kQuotesNeeded ? order_.at(each.at.begin) : nullptr;
    if (op == nullptr) continue;
    const SourceFile* const file = op->module().context().sources().file_of(each.at.begin);
    if (file == nullptr) continue;
    const std::string_view text = file->slice(each.at);
    const auto has_pairs = [&](char opening, char closing) {
      return std::ranges::count(text, opening) == std::ranges::count(text, closing);
    };
    const SourcePos from = first.try_emplace(op, each.at.begin).first->second;
    if (has_pairs('{', '}') && has_pairs('[', ']')) continue;
    cut_lists_.try_emplace(op, from);
    are_dialects_lost_ = are_dialects_lost_ || declares_dialect(op->module());
  }
}

/// True if the list of a top-level op, or of an op in it, is cut.
bool Doubts::is_below_cut_list(const Op& op) const {
  return std::ranges::any_of(cut_lists_, [&](const auto& cut) {
    return top_level(cut.first) == top_level(&op) && &cut.first->module() == &op.module();
  });
}

void Doubts::add(const Op& op) {
  if (!ops_.insert(&op).second) return;
  add_parents(op.parent_op());
  if (op.module().is_portable()) pending_.push_back(&op);
}

void Doubts::add_parents(const Op* op) {
  while (op != nullptr && parents_.insert(op).second) op = op->parent_op();
}

/// Users of results are in doubt, too, and so on unless their own types are stated.
void Doubts::follow_pending() {
  while (!pending_.empty()) {
    const Op& op = *pending_.back();
    pending_.pop_back();
    for (const Value& result : op.results()) {
      for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
        const Op& user = *use->user();
        if (ops_.contains(&user)) continue;
        add(user);
        if (states_types(user)) pending_.pop_back();
      }
    }
  }
}

// -- what is decided nevertheless -----------------------------------------------------------------

/// True if text that breaks off, or that may be in another region, may define a value of the op.
bool Doubts::may_be_defined(const Op& op) const {
  const DamagedText& damage = damage_of(op);
  if (damage.head || op.span().begin >= lost_from_) return true;
  for (const Op* at = &op; at != nullptr; at = at->parent_op()) {
    if (damage.open.contains(at->parent_op()) || damage.headless.contains(at)) return true;
  }
  return false;
}

/// See note [lost structure].
bool Doubts::is_displaced(const Op& op) const {
  const DamagedText& damage = damage_of(op);
  if (damage.head || op.span().begin >= lost_from_) return true;
  for (const Op* at = &op; at != nullptr; at = at->parent_op()) {
    if (damage.headless.contains(at)) return true;
  }
  return false;
}

/// True if ops of the op's module are displaced.
bool Doubts::is_in_lost_module(const Op& op) const {
  return &op.module() == lost_in_ || is_displaced(op);
}

bool Doubts::is_in_damaged_template(const Op& op) const {
  for (const Op* at = &op; at != nullptr; at = at->parent_op()) {
    if (at->has(Trait::kTemplate) && (damaged_.contains(at) || is_in_lost_module(*at))) return true;
  }
  return false;
}

bool Doubts::is_damaged(SourcePos place) const {
  return std::ranges::any_of(modules_, [&](Module* module) {
    return std::ranges::any_of(module->notes<DamagedText>().places,
                               [&](Span at) { return at.begin <= place && place < at.end; });
  });
}

/// True if the op has no lists, and text that cannot be read follows, which may have them.
bool Doubts::is_cut_off(const Op& op) const {
  if (op.has_signature()) return false;
  const std::vector<Span>& places = damage_of(op).places;
  const auto place = std::ranges::lower_bound(places, op.span().end, {}, &Span::begin);
  if (place == places.end()) return false;
  // If the text has a body, it is an op of its own.
  const Op* before = order_.at(place->begin);
  if (damage_of(op).headless.contains(before)) before = order_.at(place->begin - 1);
  return before == &op;
}

/// Checks that look at all of a module, or at its symbols.
bool Doubts::decides_by_module(DiagCode code, const Op& op) const {
  const DamagedText& damage = damage_of(op);
  if (is_in_lost_module(op)) return false;
  if (code == diag::kUnusedGraph) return !damage.may_call;
  constexpr DiagCode kOfSymbols[] = {diag::kUnknownParameter, diag::kParameterSize,
                                     diag::kKernelMismatch};
  if (is_one_of(kOfSymbols, code)) return !damage.may_declare && is_sound(op);
  return false;
}

bool Doubts::decides_op_alone(DiagCode code, const Op& op) const {
  const DamagedText& damage = damage_of(op);
  switch (code) {
    case diag::kUnknownCallee: {
      const auto name = op.module().context().text(op.symbol());
      const auto has_symbol = [](const Op* head) { return head->has_symbol(); };
      return !is_in_lost_module(op) && !damage.symbols.contains(std::string(name)) &&
             std::ranges::all_of(damage.headless, has_symbol) &&
             std::ranges::none_of(modules_,
                                  [](Module* module) { return module->notes<DamagedText>().head; });
    }
    case diag::kWrongArity:
      return !parents_.contains(&op) && op.span().begin < lost_from_ && !is_cut_off(op);
    case diag::kDuplicateSymbol:
      return op.span().begin < lost_from_;
    case diag::kUnknownOp:
      return !damage.headless.contains(&op);
    case diag::kAttributeKind:
      return !are_aliases_lost_ || is_sound(op);
    default:
      return true;
  }
}

bool Doubts::decides(CheckGroup group, DiagCode code, const Op& op) const {
  constexpr DiagCode kOfModule[] = {
      diag::kUnusedGraph,      diag::kUnusedSymbol,   diag::kUnboundSymbol,
      diag::kCallCycle,        diag::kCacheStep,      diag::kUnknownLabel,
      diag::kUnknownParameter, diag::kParameterSize,  diag::kJumpOffset,
      diag::kUnbalancedReturn, diag::kJumpCycle,      diag::kBindPosition,
      diag::kUnreachableCode,  diag::kAddressOrder,   diag::kNeverFreed,
      diag::kUndefinedSlot,    diag::kKernelMismatch, diag::kQuantMissing};
  if (is_one_of(kOfModule, code)) return decides_by_module(code, op);
  if (code == diag::kUnknownElementType) return true;
  constexpr DiagCode kOfBlocks[] = {
      diag::kMisplacedTerminator, diag::kUnknownSuccessor, diag::kSuccessorMismatch,
      diag::kMisplacedSuccessors, diag::kDuplicateBlock,   diag::kUnreachableBlock,
      diag::kOpenBlock,           diag::kNotDominated,     diag::kUseBeforeDefinition};
  if (is_one_of(kOfBlocks, code) && damaged_.contains(op.parent_op())) return false;
  if (code == diag::kCallMismatch) {
    const Op* const graph = op.module().lookup_op(op.symbol());
    const Region* const body = graph == nullptr ? nullptr : graph->first_region();
    if (damaged_.contains(graph) && (body == nullptr || !body->has_signature())) return false;
  }
  switch (group) {
    case CheckGroup::kQuantisation:
      return !op.module().is_portable() || is_sound(op);
    case CheckGroup::kAttributes:
    case CheckGroup::kTypes:
    case CheckGroup::kShapes:
      return is_sound(op);
    case CheckGroup::kLifetime:
      if (is_in_lost_module(op) || !is_sound(op)) return false;
      return code == diag::kConstantFreed ||
             (damage_of(op).open.empty() && op.parent_of_kind(OpId::kProgFragment) == nullptr);
    case CheckGroup::kDump: {
      // A value that nothing defines may have been defined by text that breaks off.
      const bool is_of_values = code == diag::kLostConstant || code == diag::kStaleMention;
      return !is_displaced(op) && is_sound(op) && !(is_of_values && may_be_defined(op));
    }
    case CheckGroup::kStructure:
      return !is_displaced(op) && is_sound(op);
    default:
      return !is_in_lost_module(op) && is_sound(op);
  }
}

bool Doubts::decide(const Diagnostic& breach) const {
  const Op* const op = order_.at(breach.at.begin);
  if (op == nullptr) return false;
  if (are_dialects_lost_ && depends_on_dialects(*op)) return false;
  if (cut_lists_.contains(op)) return false;
  if (!concern(op->module())) return breach.at.begin < lost_from_;
  if (is_in_damaged_template(*op)) return false;
  const auto is_lost = [&](const Note& note) { return is_damaged(note.at.begin); };
  if (std::ranges::any_of(breach.notes, is_lost)) return false;
  if (damage_of(*op).head && !op->module().is_portable()) return false;
  if (concerns_op_alone(breach.code)) {
    const bool is_of_wrong_op = breach.severity != Severity::kError && ops_.contains(op);
    return !is_of_wrong_op && decides_op_alone(breach.code, *op);
  }
  if (breach.code < kFirstOfVerification) {
    const bool is_of_definition =
        breach.code == diag::kRedefinedValue || breach.code == diag::kTypeConflict;
    return !explain(breach) && is_sound(*op) && !(is_of_definition && may_be_defined(*op));
  }
  return decides(group_of(breach), breach.code, *op);
}

bool Doubts::explain(const Diagnostic& error) const {
  const Op* const op = order_.at(error.at.begin);
  if (op == nullptr) return error.code == diag::kUnknownAlias && are_aliases_lost_;
  const auto cut = cut_lists_.find(op);
  if (cut != cut_lists_.end()) {
    return error.code >= kFirstOfResolve && error.at.begin >= cut->second &&
           (error.code != diag::kQuotesNeeded || error.at.begin != cut->second);
  }
  if (are_dialects_lost_ && error.code >= kFirstOfVerification && depends_on_dialects(*op)) {
    return true;
  }
  switch (error.code) {
    case diag::kUndefinedValue:
      return may_be_defined(*op) || mentions_one_of(*op, damage_of(*op).names);
    case diag::kUnknownAlias:
      return are_aliases_lost_;
    case diag::kMalformedAttribute:
      return is_short_form(*op, error.at) &&
             (are_aliases_lost_ || is_displaced(*op) || mentions_one_of(*op, damage_of(*op).names));
    case diag::kNotATensor:
      return are_aliases_lost_ && has_other_operand(*op);
    case diag::kTypeMissing:
      return error.at.begin >= lost_from_ || is_displaced(*op);
    case diag::kNeedsVersion:
      return damage_of(*op).head;
    case diag::kBadDeclaration:
      return are_dialects_lost_ || is_below_cut_list(*op) || damaged_.contains(top_level(op)) ||
             is_in_lost_module(*op);
    case diag::kBadDialect:
    case diag::kTypeParameters:
      return are_dialects_lost_;
    case diag::kTypeConflict:
      return op->module().is_portable() && has_unknown_element(*op);
    default:
      return false;
  }
}

}  // namespace mir
