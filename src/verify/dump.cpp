// Findings about facts that a dump has lost.
#include "verify/dump.hpp"

#include <algorithm>

#include "dialects/rules.hpp"
#include "ir/computed_op.hpp"
#include "ir/mention.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

using enum ConstraintId;

void LatestValues::enter() {
  region_ = static_cast<std::uint32_t>(is_open_.size());
  is_open_.push_back(1);
  open_.push_back({region_, hidden_.size()});
}

void LatestValues::leave() {
  for (std::size_t i = hidden_.size(); i-- > open_.back().hidden;) {
    table_[hidden_[i].name] = hidden_[i].entry;
  }
  hidden_.resize(open_.back().hidden);
  is_open_[region_] = 0;
  open_.pop_back();
  region_ = open_.empty() ? 0 : open_.back().number;
}

DumpFindings::DumpFindings(Reporter& reporter)
    : reporter_(reporter),
      context_(reporter.module().context()),
      is_wanted_(!reporter.module().is_portable() &&
                 reporter.wants_any(dump_c1, dump_c2, dump_c3, dump_c4, dump_c5)) {}

void DumpFindings::enter(const Region& region) {
  if (!is_wanted_) return;
  names_.enter();
  check_free_values(region);
}

void DumpFindings::check_mention(const Use& use, const StatedMention& other, const Op& op) {
  const Value& value = *use.value();
  const auto report = [&](std::string_view printed, std::string_view defined) {
    Diagnostic* kept = reporter_.report_at(dump_c5, op, MentionPlace{use.index()}, [&] {
      return compiled(
          FMT_COMPILE("operand {} of '{}' is printed as {}, its latest definition has {}"),
          use.index(), op.name(), printed, defined);
    });
    if (const Op* definition = value.defining_op()) note(kept, *definition, "defined here");
  };
  if (other.type != nullptr && other.type != value.type()) {
    return report(other.type->spelling(),
                  value.type() == nullptr ? "no type" : value.type()->spelling());
  }
  const Attr* const constant = find_attribute(other.attributes, key::kConstant);
  const Attr* const defined = value.attribute(key::kConstant);
  if (constant != nullptr && constant != defined) {
    return report(fmt::format("constant {}", constant->spelling()),
                  defined == nullptr ? "no constant" : defined->spelling());
  }
  if (other.has_symbol && (!value.has_symbol() || other.symbol != value.symbol())) {
    report(fmt::format("'@{}'", context_.text(other.symbol)),
           value.has_symbol() ? fmt::format("'@{}'", context_.text(value.symbol())) : "no symbol");
  }
}

/// A slot that code further up only reads: jumps run the code below before it.
bool DumpFindings::is_filled_later(const Op& op, const Value& earlier) const {
  if (!earlier.is_free() || !op.parent_op()->is(OpId::kProgFragment)) return false;
  return std::ranges::none_of(op.operand_uses(),
                              [&](const Use& use) { return use.value() == &earlier; });
}

namespace {

bool is_part(const Op& op) {
  const OpId computed = computed_op(op);
  return computed == OpId::kLinalgSlice || computed == OpId::kLinalgSplit;
}

}  // namespace

void DumpFindings::check_reuse(const Op& op, const Value& result, const Value& earlier) {
  if (is_filled_later(op, earlier)) return;
  const bool same_op = earlier.defining_op() == &op;
  if (!same_op && is_part(op) && op.operand_count() != 0 &&
      result.name() == op.operand(0)->name() &&
      result.type() == mentioned_type(op.operand_uses()[0])) {
    reporter_.report_at(dump_c2, op, MentionPlace{result.index(), true}, [&] {
      return compiled(
          FMT_COMPILE("result {} repeats the type of its operand: what part it is, is lost"),
          spelling_of(reporter_.module(), result.name()));
    });
  }
  Diagnostic* kept = reporter_.report_at(dump_c1, op, MentionPlace{result.index(), true}, [&] {
    return compiled(FMT_COMPILE("result {} takes over the storage id of an earlier value"),
                    spelling_of(reporter_.module(), result.name()));
  });
  if (const Op* definition = earlier.defining_op()) note(kept, *definition, "first named here");
}

/// `SiLU` with its three operands is VisionRoPE, which prints the type name of the other.
void DumpFindings::check_kernel(const Op& op) {
  const bool is_launched =
      op.is(OpId::kProgKernelLaunch) && computed_op(op) == OpId::kLinalgVisionRoPE;
  if (!op.is(OpId::kLinalgSiLU) && !is_launched) return;
  reporter_.report(dump_c4, op, [&] {
    return fmt::format("'{}' of type SiLU has three operands: it is VisionRoPE", op.name());
  });
}

namespace {

/// The first op in the text that uses the value.
const Op& first_user(const Value& value) {
  const Op* first = value.first_use()->user();
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    if (use->user()->id() < first->id()) first = use->user();
  }
  return *first;
}

bool is_scalar_operand(const Value& value, const Op& user) {
  const auto* type = value.tensor_type();
  return type != nullptr && type->element_count() == 1 && user.operand_count() == 2 &&
         user.row() != nullptr &&
         (user.row()->infer == rules::binary || user.row()->infer == rules::equal) &&
         user.operand(1) == &value;
}

}  // namespace

/// Free values of a graph are constants that lost their value, or tensors of the host; those of
/// the module itself are its inputs, unless an op takes them for a scalar.
void DumpFindings::check_free_values(const Region& region) {
  const Op& owner = *region.parent();
  if (owner.is(OpId::kProgFragment) || !reporter_.wants(dump_c3)) return;
  const bool is_top = &owner == reporter_.module().top();
  for (const Value* value : region.free_values()) {
    if (value->has_symbol() || !value->has_uses()) continue;
    if (value->attribute(key::kConstant) != nullptr) continue;
    const Op& user = first_user(*value);
    if (is_top && !is_scalar_operand(*value, user)) continue;
    reporter_.report_at(dump_c3, user, NamePlace{value->name()}, [&] {
      return fmt::format("value {} of type {} is used and nothing defines it",
                         spelling_of(reporter_.module(), value->name()),
                         value->type() == nullptr ? "?" : value->type()->spelling());
    });
  }
}

}  // namespace mir::checks
