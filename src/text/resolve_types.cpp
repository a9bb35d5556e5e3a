// Types of results that the text leaves out.
//
// note [types that wait]
// Most types follow from what is above an op: its operands and its attributes. A result waits for
// the end of the module if its type follows from something else: a graph or a parameter below it,
// the ends of the op's regions, an operand that waits itself, or, where the rule of the op leaves
// an extent unknown, a mention or a signature that states it. At the end, a worklist infers each
// waiting op once all values are typed that it depends on. So the order of the text does not matter
// and each op is inferred once.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/equal_extents.hpp"
#include "ir/propose_attribute.hpp"
#include "ir/rewrite/result_types.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "text/resolver.hpp"

namespace mir {

namespace {

bool has_unknown_extent(const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  return tensor != nullptr && std::ranges::any_of(tensor->dims(), &Dim::is_unknown);
}

bool is_untyped(const Value* value) {
  return value->type() == nullptr;
}

/// The type with the extents that `choose(a, b)` selects from those of two compatible types.
template <class Choose>
const Type* combined(IRContext& context, const Type* a, const Type* b, const Choose& choose) {
  const auto *x = dyn_cast<TensorType>(a), *y = dyn_cast<TensorType>(b);
  if (x == nullptr || y == nullptr || a == b) return a;
  std::vector<Dim> extents;
  for (std::size_t i = 0; i < x->rank(); ++i) extents.push_back(choose(x->dims()[i], y->dims()[i]));
  return context.tensor(extents, x->dtype_name(), x->device(), x->encoding());
}

/// Calls `visit(value, result)` for each value that the regions of an op, or the op itself, pass to
/// a result of it.
template <class Visit>
void for_each_passed(const Op& op, const Visit& visit) {
  const auto pass = [&](const Op& from, const RegionEdge& edge) {
    for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
      const std::uint32_t operand = edge.first_operand + i, result = edge.first_target + i;
      if (operand >= from.operand_count() || result >= op.result_count()) continue;
      visit(*from.operand(operand), result);
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
}

/// The types that are passed to the results of an op with regions. An extent that one of them
/// leaves unknown is unknown. Null where nothing with a type is passed, or after reporting that
/// types differ.
std::vector<const Type*> passed_types(const Op& op, Diagnostics& diagnostics) {
  std::vector<const Type*> types(op.result_count());
  std::vector<bool> differ(op.result_count());
  for_each_passed(op, [&](const Value& value, std::uint32_t result) {
    const Type* const type = value.type();
    const Type*& known = types[result];
    if (type == nullptr || type == known || differ[result]) return;
    differ[result] = known != nullptr && !compatible(known, type);
    if (differ[result]) {
      diagnostics.error(diag::kTypeMissing, op.span(),
                        fmt::format("result {} of '{}' needs a type: {} and {} are passed to it",
                                    result, op.name(), known->spelling(), type->spelling()));
      known = nullptr;
      return;
    }
    known =
        known == nullptr ? type : combined(op.module().context(), known, type, [](Dim a, Dim b) {
          return equal_extents(a, b) ? a : Dim::unknown();
        });
  });
  return types;
}

/// The type with the extents that the signatures of regions state which return the value, where it
/// leaves them unknown; of a value without a type, the type.
const Type* as_returned(const Value& value, const Type* type) {
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    const Op& end = *use->user();
    if (!leaves_region(end) || end.parent_region() == nullptr) continue;
    const auto stated = end.parent_region()->result_types();
    const std::size_t count = end.plain_operands().size();
    // A ConditionOp returns its operands but for the first.
    if (count < stated.size() || use->index() < count - stated.size() || use->index() >= count) {
      continue;
    }
    const Type* const returned = stated[use->index() - (count - stated.size())];
    if (returned == nullptr) continue;
    if (type == nullptr) return returned;
    if (!compatible(type, returned)) continue;
    type = combined(end.module().context(), type, returned,
                    [](Dim own, Dim other) { return own.is_unknown() ? other : own; });
  }
  return type;
}

/// The parameter that gives a ParamOp its type.
const Value* parameter_of(const Op& op) {
  const Attr* name = op.is(OpId::kLinalgParam) ? op.attribute(key::kName) : nullptr;
  return name == nullptr || name->kind() != AttrKind::kString
             ? nullptr
             : op.module().lookup_symbol(name->text()).value;
}

/// Calls `visit(value)` for each value without a type on which the types of an op depend.
template <class Visit>
void for_each_source(const Op& op, const Visit& visit) {
  const auto see = [&](const Value& value) {
    if (is_untyped(&value)) visit(value);
  };
  if (op.row() != nullptr && op.row()->region_flow) {
    for_each_passed(op, [&](const Value& value, std::uint32_t) { see(value); });
    return;
  }
  for (const Use& use : op.operand_uses()) see(*use.value());
  if (const Value* parameter = parameter_of(op)) see(*parameter);
  const Op* const graph = called_graph(op);
  const Region* const body = graph == nullptr ? nullptr : graph->first_region();
  for (std::size_t i = 0; body != nullptr && i < body->result_types().size(); ++i) {
    const Value* const returned = body->result_types()[i] == nullptr ? body->returned(i) : nullptr;
    if (returned != nullptr) see(*returned);
  }
}

}  // namespace

// -- while the text is read -----------------------------------------------------------------------

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
                                      .at = span(head_.token),
                                      .path = head_.path},
                                     diagnostics, prover_of_module());
  if (prover_) prover_->forget_undecided();  // verification reports it
  return inferred;
}

/// Reports why the rule of an op refused it. If it lacks an attribute, proposes that.
void Resolver::State::report_refusal(Diagnostics&& found, Span name, const OpKindInfo& op) {
  if (!found.has_errors()) return;
  Diagnostic* missing =
      found.find_error([](const Diagnostic& each) { return each.code == diag::kAttributeMissing; });
  if (missing != nullptr) {
    for (const AttrRow& row : op.row->attributes) {
      if (!missing->message.ends_with(fmt::format("'{}'", row.name))) continue;
      propose_attribute(*missing, OpText(file_, name), op, row);
    }
  }
  diagnostics_.append(std::move(found));
}

/// True if types of results follow from what comes below: a graph, an operand that waits, or the
/// regions of the op.
bool Resolver::State::may_wait() const {
  if (!portable_) return false;
  const OpRow* row = head_.name.info->row;
  if (row != nullptr && row->region_flow) return true;
  if (row != nullptr && row->callee && module_->lookup_op(head_.symbol) == nullptr) return true;
  return std::ranges::any_of(std::span(value_scratch_).first(head_.operands.count), is_untyped);
}

/// True if types are missing that the end of the module tells.
bool Resolver::State::infer_missing_types(std::vector<const Type*>& types) {
  if (std::ranges::find(types, nullptr) == types.end()) return false;
  if (may_wait()) return true;
  Diagnostics found;
  const auto inferred = inferred_types(types.size(), found);
  report_refusal(std::move(found), span(head_.token), *head_.name.info);
  if (!inferred) return false;
  // Where an operand has no type, its definition is the cause.
  const auto is_cause = [](const Value* value) { return is_untyped(value) && !value->is_free(); };
  const auto operands = std::span(value_scratch_).first(head_.operands.count);
  const bool is_told = is_foreign_ || std::ranges::any_of(value_scratch_, is_cause) ||
                       (diagnostics_.has_errors() && std::ranges::any_of(operands, is_untyped));
  bool waits = false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != nullptr) continue;
    const Type* const type = i < inferred->size() ? (*inferred)[i] : nullptr;
    if (portable_ && (type == nullptr || has_unknown_extent(type))) {
      waits = true;
      continue;
    }
    types[i] = type;
    if (type != nullptr || is_told) continue;
    diagnostics_.error(diag::kTypeMissing, span(mentions_[head_.results.first + i].token),
                       "result needs a type: no rule infers it here");
  }
  return waits;
}

void Resolver::State::wait_for_types(Op& op) {
  WaitingOp waiting{&op, static_cast<std::uint32_t>(waiting_results_.size())};
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    if (!is_untyped(op.result(i))) continue;
    waiting_results_.push_back({op.result(i), span(mentions_[head_.results.first + i].token)});
    ++waiting.result_count;
  }
  waiting_ops_.push_back(waiting);
}

/// Before the mention is checked, which may complete the type of the value.
void Resolver::State::note_operand(const Mention& mention, const Value& value) {
  const TypeMention noted{.at = span(mention.token).begin,
                          .stated = mention.type,
                          .value = &value,
                          .is_redundant = mention.type != nullptr && mention.type == value.type()};
  value.is_free() ? types_noted_->add_free(noted) : types_noted_->add(noted);
  note_use(mention, value);
}

void Resolver::State::note_free(const Mention& mention, const Value& value) {
  types_noted_->add_free(
      {.at = span(mention.token).begin, .stated = mention.type, .value = &value});
  note_definition(mention);
}

/// In a template, a result without a type may have any. The types that reading a portable module
/// infers are known at its end.
void Resolver::State::note_results(const Op& op) {
  Diagnostics ignored;
  std::optional<std::vector<const Type*>> inferred;
  if (templates_ == 0 && portable_) noted_ops_.emplace_back(&op, types_noted_->next());
  if (templates_ == 0 && !portable_ && !is_foreign_) {
    inferred = inferred_types(op.result_count(), ignored);
  }
  for (std::uint32_t i = 0; i < head_.results.count; ++i) {
    const Mention& mention = mentions_[head_.results.first + i];
    const bool is_inferred =
        inferred && i < inferred->size() && (*inferred)[i] == op.result(i)->type();
    types_noted_->add({.at = span(mention.token).begin,
                       .stated = mention.type,
                       .value = op.result(i),
                       .is_redundant = mention.type != nullptr && is_inferred});
    note_definition(mention);
  }
}

// -- at the end of the module ---------------------------------------------------------------------

/// The types that reading infers for an op whose callee, operands and regions are known by now;
/// null where nothing tells them.
std::vector<const Type*> Resolver::State::types_of_read(const Op& op, Diagnostics& diagnostics) {
  if (op.row() != nullptr && op.row()->region_flow) return passed_types(op, diagnostics);
  const std::vector<const Type*> operands = operand_types(op);
  auto inferred = infer_result_types(*module_,
                                     {.name = op.op_name(),
                                      .symbol = op.symbol(),
                                      .operands = operands,
                                      .attributes = op.attributes(),
                                      .result_count = op.result_count(),
                                      .at = op.span(),
                                      .path = op.path()},
                                     diagnostics, prover_of_module());
  if (prover_) prover_->forget_undecided();
  std::vector<const Type*> types = inferred ? std::move(*inferred) : std::vector<const Type*>();
  types.resize(op.result_count());
  return types;
}

/// Infers the waiting ops of a module, see note [types that wait].
class Resolver::State::Worklist {
 public:
  explicit Worklist(State& state) : state_(state), missing_(state.waiting_ops_.size()) {
    for (std::size_t i = 0; i < state_.typed_mentions_.size(); ++i) {
      first_mentions_.try_emplace(state_.typed_mentions_[i].value, i);
    }
  }

  void run() {
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      for_each_source(*state_.waiting_ops_[i].op, [&](const Value& value) {
        users_[&value].push_back(i);
        ++missing_[i];
      });
      if (missing_[i] == 0) ready_.push_back(i);
    }
    for (std::size_t next = 0; next < ready_.size(); ++next) {
      infer(state_.waiting_ops_[ready_[next]]);
    }
    const auto stuck = std::ranges::find_if(missing_, [](std::size_t count) { return count != 0; });
    // Otherwise the cause has been reported.
    if (stuck == missing_.end() || state_.is_foreign_ || state_.diagnostics_.has_errors()) return;
    const auto& each = state_.waiting_ops_[static_cast<std::size_t>(stuck - missing_.begin())];
    report(state_.waiting_results_[each.first_result], "the types of its operands depend on it");
  }

  /// True if the mention states what its value has no other type for.
  bool is_needed(const TypedMention& mention) const { return needed_.contains(&mention); }

 private:
  void infer(const WaitingOp& waiting) {
    Diagnostics found;
    const std::vector<const Type*> types = state_.types_of_read(*waiting.op, found);
    const bool is_told = state_.is_foreign_ || found.has_errors();
    state_.report_refusal(std::move(found), waiting.op->span(), waiting.op->info());
    for (const WaitingResult& result :
         std::span(state_.waiting_results_).subspan(waiting.first_result, waiting.result_count)) {
      const Type* type = types[result.value->index()];
      if (type == nullptr && is_told) continue;
      if (type == nullptr || has_unknown_extent(type)) type = completed(*result.value, type);
      if (type == nullptr) {
        report(result, "no rule infers it here");
      } else {
        give(*result.value, type);
      }
    }
  }

  void give(Value& value, const Type* type) {
    value.type_ = type;
    const auto found = users_.find(&value);
    if (found == users_.end()) return;
    for (const std::size_t user : found->second) {
      if (--missing_[user] == 0) ready_.push_back(user);
    }
  }

  /// Completes an inferred type by the first mention with a type, otherwise by a signature.
  const Type* completed(const Value& value, const Type* type) {
    const auto found = first_mentions_.find(&value);
    if (found == first_mentions_.end()) return as_returned(value, type);
    const TypedMention& mention = state_.typed_mentions_[found->second];
    if (type != nullptr && !compatible(mention.type, type)) return type;
    needed_.insert(&mention);
    return mention.type;
  }

  void report(const WaitingResult& result, std::string_view why) {
    state_.diagnostics_.error(diag::kTypeMissing, result.at,
                              fmt::format("result needs a type: {}", why));
  }

  State& state_;
  std::vector<std::size_t> missing_;  // for each op: values without a type that it depends on
  std::vector<std::size_t> ready_;
  std::unordered_map<const Value*, std::vector<std::size_t>> users_;
  std::unordered_map<const Value*, std::size_t> first_mentions_;
  std::unordered_set<const TypedMention*> needed_;
};

void Resolver::State::settle_types() {
  if (!waiting_ops_.empty() || !typed_mentions_.empty()) {
    std::ranges::stable_sort(typed_mentions_, {}, [](const auto& each) { return each.at.begin; });
    Worklist worklist(*this);
    worklist.run();
    for (const TypedMention& each : typed_mentions_) {
      if (each.value->type() == nullptr) continue;
      if (each.type != each.value->type()) {
        diagnostics_.error(diag::kTypeConflict, each.at,
                           fmt::format("value is used as {}, defined as {}", each.type->spelling(),
                                       each.value->type()->spelling()));
      } else if (each.number != kUnnoted && !worklist.is_needed(each)) {
        types_noted_->mark_redundant(each.number);
      }
    }
  }
  settle_signatures();
  Diagnostics ignored;
  for (const auto& [op, number] : noted_ops_) {
    const std::size_t errors = ignored.error_count();
    const std::vector<const Type*> types = types_of_read(*op, ignored);
    if (ignored.error_count() != errors) continue;  // only stated types hide the error
    for (std::uint32_t i = 0; i < op->result_count(); ++i) {
      const Type* const type = types[i];
      const Value& result = *op->result(i);
      if (type == nullptr && as_returned(result, nullptr) == nullptr) continue;
      const bool is_open = type == nullptr || has_unknown_extent(type);
      if ((is_open ? as_returned(result, type) : type) == result.type()) {
        types_noted_->mark_redundant(number + i);
      }
    }
  }
  waiting_ops_.clear();
  waiting_results_.clear();
  typed_mentions_.clear();
  noted_ops_.clear();
}

/// A result of a graph's signature without a type has that of the value that is returned.
void Resolver::State::settle_signatures() {
  for (Region* region : std::exchange(open_signatures_, {})) {
    const auto stated = region->stated_results();
    std::vector<RegionResult> results(stated.begin(), stated.end());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value* const returned = results[i].type == nullptr ? region->returned(i) : nullptr;
      if (returned != nullptr) results[i].type = returned->type();
    }
    rewriter_->state_results(*region, results);
    region->parent()->mark_as_read();
  }
}

}  // namespace mir
