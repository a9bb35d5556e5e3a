// Upgrade step: infers options of reductions and of ops that select by indices.
#include <algorithm>
#include <optional>

#include "mir/infer.hpp"
#include "upgrade/steps/option_rules.hpp"
#include "upgrade/steps/piece_shape.hpp"

// Options of reductions and of ops that pick by indices.

namespace mir {

namespace {

/// Returns the result types of the op with the candidate; empty if it is not valid.
std::vector<const Type*> inferred(Recovery& recovery, const Op& op,
                                  const OptionCandidate& candidate) {
  std::vector<NamedAttr> attributes(op.attributes().begin(), op.attributes().end());
  for (const auto& [key, value] : candidate) {
    if (!Recovery::is_stated(op, key))
      attributes.push_back({recovery.context().intern(key), value});
  }
  Diagnostics unheard(1);
  return infer(op, operand_types(op), attributes, unheard).value_or(std::vector<const Type*>());
}

bool gives_what_is_printed(Recovery& recovery, const Op& op, const OptionCandidate& candidate) {
  const auto types = inferred(recovery, op, candidate);
  if (types.size() < op.result_count()) return false;
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    const auto* given = dyn_cast<TensorType>(types[i]);
    const auto* printed = op.result(i)->tensor_type();
    if (given == nullptr || printed == nullptr || !compatible_shapes(*given, *printed))
      return false;
  }
  return true;
}

}  // namespace

void choose_options(Recovery& recovery, Op& op, std::span<const OptionCandidate> candidates,
                    std::string_view fact, Candidates which) {
  const OptionCandidate* first = nullptr;
  bool several = which == Candidates::kLikely;
  for (const OptionCandidate& candidate : candidates) {
    if (!gives_what_is_printed(recovery, op, candidate)) continue;
    several = several || first != nullptr;
    if (first == nullptr) first = &candidate;
  }
  if (first == nullptr) return recovery.refuse(op, fact, "no value gives what is printed");
  for (const auto& [key, value] : *first) {
    if (several) {
      recovery.assume(op, key, value);
    } else {
      recovery.derive(op, key, value);
    }
  }
}

void reduction(Recovery& recovery, Op& op) {
  constexpr std::int64_t kAllDimensions = 2147483647;  // upstream's own number for them
  IRContext& context = recovery.context();
  const auto rank = static_cast<std::int64_t>(shape_of(*op.operand(0)).size());
  std::vector<OptionCandidate> candidates;
  for (const bool keep : {true, false}) {
    for (std::int64_t dim = rank - 1; dim >= 0; --dim) {
      candidates.push_back(
          {{key::kDim, context.integer(dim)}, {key::kKeepDim, context.boolean(keep)}});
    }
    candidates.push_back(
        {{key::kDim, context.integer(kAllDimensions)}, {key::kKeepDim, context.boolean(keep)}});
  }
  choose_options(recovery, op, candidates, "dim, keep_dim");
}

namespace {

/// Every dimension from the first up to `count`.
std::vector<OptionCandidate> every_dim(Recovery& recovery, std::size_t count) {
  std::vector<OptionCandidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    candidates.push_back({{key::kDim, recovery.context().integer(static_cast<std::int64_t>(i))}});
  }
  return candidates;
}

}  // namespace

void gather(Recovery& recovery, Op& op) {
  choose_options(recovery, op, every_dim(recovery, shape_of(*op.operand(0)).size()), key::kDim);
}

void stack(Recovery& recovery, Op& op) {
  choose_options(recovery, op, every_dim(recovery, shape_of(*op.operand(0)).size() + 1), key::kDim);
}

void top_k(Recovery& recovery, Op& op) {
  IRContext& context = recovery.context();
  const PieceShape kept = shape_of(*op.result());
  std::vector<OptionCandidate> candidates;
  for (std::size_t i = kept.size(); i-- > 0;) {
    if (!kept[i].is_constant()) continue;
    candidates.push_back({{key::kK, context.integer(kept[i].constant())},
                          {key::kDim, context.integer(static_cast<std::int64_t>(i))}});
  }
  choose_options(recovery, op, candidates, "k, dim");
  recovery.assume(op, key::kLargest, context.boolean(true));
  recovery.assume(op, key::kSorted, context.boolean(true));
}

void argsort(Recovery& recovery, Op& op) {
  recovery.assume(op, key::kDim, recovery.context().integer(-1));
  recovery.assume(op, key::kDescending, recovery.context().boolean(false));
}

namespace {

bool is_index_type(const TensorType& type) {
  return type.dtype() == DType::kInt32 || type.dtype() == DType::kInt64;
}

/// Rows of one dimension picked by a tensor, `dropped` dimensions after it at their first element,
/// the others whole.
OptionCandidate rows_by_operand(IRContext& context, std::size_t rank, std::size_t dim,
                                std::size_t dropped) {
  const Attr* const zero = context.integer(0);
  std::vector<const Attr*> entries(rank, context.dict({}));
  entries[dim] = context.integer(1);  // the operand
  for (std::size_t i = dim + 1; i <= dim + dropped; ++i) {
    entries[i] = context.array(std::span(&zero, 1));
  }
  return {{key::kIndices, context.array(entries)}};
}

/// Rows of the first dimension before rows of others, and those before dropped dimensions.
std::vector<OptionCandidate> picks(IRContext& context, std::size_t rank) {
  std::vector<OptionCandidate> candidates;
  for (std::size_t dim = 0; dim < rank; ++dim) {
    candidates.push_back(rows_by_operand(context, rank, dim, 0));
  }
  for (std::size_t dropped = 1; dropped + 1 < rank; ++dropped) {
    candidates.push_back(rows_by_operand(context, rank, 0, dropped));
  }
  return candidates;
}

bool is_before(const Op& first, const Op& second) {
  const Op* before = second.previous();
  while (before != nullptr && before != &first) before = before->previous();
  return before == &first;
}

/// A value as the ops in front of `op` leave it, when they only view it and pick by it; null
/// otherwise.
Value* seen_from(Value& value, const Op& op) {
  Value* latest = &value;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    const Op* user = use->user();
    if (user->is(OpId::kLinalgIndex)) continue;
    Value* viewed = user->is(OpId::kLinalgView) ? seen_from(*use->user()->result(), op) : nullptr;
    if (viewed == nullptr) return nullptr;
    if (is_before(*user, op)) latest = viewed;
  }
  return latest;
}

/// The one integer input of the graph that nothing else reads.
Value* find_positions(const Op& op) {
  Value* found = nullptr;
  for (Value& argument : op.block()->arguments()) {
    const auto* type = argument.tensor_type();
    Value* seen = type != nullptr && is_index_type(*type) ? seen_from(argument, op) : nullptr;
    if (seen == nullptr) continue;
    if (found != nullptr) return nullptr;
    found = seen;
  }
  return found;
}

/// True if the indices name a second operand but the dump prints only one.
bool lacks_operand(const Op& op, const Attr& indices) {
  return op.operand_count() == 1 && indices.kind() == AttrKind::kArray &&
         std::ranges::any_of(indices.elements(), [](const Attr* each) {
           return each->kind() == AttrKind::kInt && each->integer() == 1;
         });
}

/// The op gives another shape of what is printed: a view of it is what the others read.
void view_result(Recovery& recovery, Op& op, const TensorType& given) {
  const auto& printed = *op.result()->tensor_type();
  Value* view = make_view(recovery.module, *op.result(), printed, *op.next(), op.location());
  for (Use *use = op.result()->first_use(), *next = nullptr; use != nullptr; use = next) {
    next = use->next();
    if (use->user() != view->defining_op())
      recovery.rewriter.set_operand(*use->user(), use->index(), view);
  }
  recovery.rewriter.set_attributes(*view, op.result()->attributes());
  recovery.note(op, LossEntry::Source::kAssumed, "type of result 0", std::string(given.spelling()));
  recovery.note(op, LossEntry::Source::kDerived, "view of result 0",
                std::string(printed.spelling()));
  recovery.rewriter.set_type(*op.result(), &given);
}

}  // namespace

/// Upstream prints neither the indices nor, where a tensor holds them, that tensor: a table of
/// positions is picked from by the one integer input of the graph that nothing reads.
void index_by_tensor(Recovery& recovery, Op& op) {
  const std::string_view lost =
      "upstream prints neither the indices nor the tensor that holds them";
  const PieceShape table = shape_of(*op.operand(0)), picked = shape_of(*op.result());
  const Attr* granted = op.attribute(key::kIndices);
  if (granted != nullptr && !lacks_operand(op, *granted)) return;
  Value* positions = find_positions(op);
  if (positions == nullptr || op.operand_count() != 1 || table.empty() || picked.empty()) {
    return recovery.refuse_grantable(op, key::kIndices, lost);
  }
  Value* operands[] = {op.operand(0), positions};
  recovery.rewriter.set_operands(op, operands);
  recovery.note(op, LossEntry::Source::kAssumed, "operand 1",
                std::string(positions->type()->spelling()));
  if (granted != nullptr) return;
  for (const OptionCandidate& candidate : picks(recovery.context(), table.size())) {
    const auto types = inferred(recovery, op, candidate);
    const auto* given = types.empty() ? nullptr : dyn_cast<TensorType>(types.front());
    if (given == nullptr || given->element_count() != element_count(picked)) continue;
    recovery.assume(op, key::kIndices, candidate.front().second);
    if (!compatible_shapes(*given, *op.result()->tensor_type())) view_result(recovery, op, *given);
    return;
  }
  recovery.refuse_grantable(op, key::kIndices, lost);
}

}  // namespace mir
