// Runs the rule of an op on its operand types and attributes.
#include "mir/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/context/element_count.hpp"
#include "ir/extent_prover.hpp"
#include "ir/op_places.hpp"
#include "ir/told_attributes.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/module.hpp"
#include "support/diagnostic_catalogue.hpp"

namespace mir {

// -- asking ---------------------------------------------------------------------------------------

InferContext::InferContext(const InferRequest& request, Diagnostics& diagnostics)
    : context_(request.context),
      row_(request.row),
      op_(request.op),
      extents_(request.context.dims()),
      op_name_(request.op_name.empty() ? request.row.name : request.op_name),
      device_(request.device ? request.device : request.context.intern("CPU")),
      operands_(request.operands),
      attributes_(request.attributes),
      result_count_(request.result_count),
      prover_(request.prover),
      at_(request.at),
      diagnostics_(diagnostics) {}

std::optional<std::vector<const Type*>> infer(const InferRequest& request,
                                              Diagnostics& diagnostics) {
  return InferContext(request, diagnostics).run();
}

std::optional<std::vector<const Type*>> InferContext::run() {
  if (row_.infer && !row_.infer(*this)) return std::nullopt;
  if (!has_held_extents()) return std::nullopt;
  return std::move(results_);
}

namespace {

bool is_countable(const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  return tensor == nullptr || mir::is_countable(*tensor);
}

}  // namespace

/// True if the extents of the results are representable; reports others.
bool InferContext::has_held_extents() {
  if (extents_.has_overflowed()) {
    return fail(diag::kExtentOverflow,
                fmt::format("an extent of the result of '{}' does not fit 64 bits", op_name_));
  }
  const auto found =
      std::ranges::find_if_not(results_, [](const Type* type) { return is_countable(type); });
  if (found == results_.end()) return true;
  return fail(diag::kExtentOverflow,
              fmt::format("the element count of {}, the result of '{}', does not fit 63 bits",
                          (*found)->spelling(), op_name_));
}

std::optional<std::vector<const Type*>> infer(const Op& op, std::span<const Type* const> operands,
                                              std::span<const NamedAttr> attributes,
                                              Diagnostics& diagnostics) {
  std::optional<ExtentProver> prover = ExtentProver::of(op.module());
  const ToldAttributes told(op.module(), *op.row(), op.path(), attributes);
  const InferRequest request{.context = op.module().context(),
                             .row = *op.row(),
                             .operands = operands,
                             .attributes = told.all(),
                             .result_count = op.result_count(),
                             .at = op.span(),
                             .op_name = op.name(),
                             .device = op.op_name().device,
                             .prover = prover ? &*prover : nullptr};
  return infer(request, diagnostics);
}

std::vector<const Type*> operand_types(const Op& op) {
  std::vector<const Type*> types;
  for (const Use& use : op.plain_operands()) types.push_back(use.value()->type());
  return types;
}

// -- what a rule sees -----------------------------------------------------------------------------

const TensorType* InferContext::operand(std::size_t index) {
  const auto* tensor = dyn_cast<TensorType>(operands_[index]);
  if (tensor == nullptr) {
    fail(diag::kNotATensor,
         fmt::format("operand {} of '{}' has type {}, expected a tensor", index, op_name_,
                     operands_[index] ? operands_[index]->spelling() : "none"));
  }
  return tensor;
}

const Attr* InferContext::attribute(KeyRef key) const {
  return find_attribute(context_, attributes_, key);
}

namespace {

bool wrong_kind(InferContext& context, KeyRef key, const Attr& found, std::string_view wanted) {
  return context.fail_at(key, diag::kAttributeKind,
                         fmt::format("attribute '{}' of '{}' is {}, expected {}", key.text,
                                     context.op_name(), found.spelling(), wanted));
}

}  // namespace

std::optional<std::int64_t> InferContext::integer(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind() == AttrKind::kInt) return found->integer();
  wrong_kind(*this, key, *found, "an integer");
  return std::nullopt;
}

std::optional<double> InferContext::number(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind() == AttrKind::kInt || found->kind() == AttrKind::kFloat) return found->number();
  wrong_kind(*this, key, *found, "a number");
  return std::nullopt;
}

std::optional<bool> InferContext::boolean(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind() == AttrKind::kBool) return found->boolean();
  wrong_kind(*this, key, *found, "'true' or 'false'");
  return std::nullopt;
}

std::optional<std::string_view> InferContext::string(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind() == AttrKind::kString) return found->text();
  wrong_kind(*this, key, *found, "a string");
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> InferContext::integers(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  std::vector<std::int64_t> values;
  bool good = found->kind() == AttrKind::kArray;
  if (good) {
    for (const Attr* element : found->elements()) {
      good = good && element->kind() == AttrKind::kInt;
      values.push_back(good ? element->integer() : 0);
    }
  }
  if (good) return values;
  wrong_kind(*this, key, *found, "an array of integers");
  return std::nullopt;
}

std::optional<std::vector<Dim>> InferContext::dims(KeyRef key) {
  const Attr* found = attribute(key);
  if (found == nullptr) return std::nullopt;
  std::vector<Dim> values;
  bool good = found->kind() == AttrKind::kArray;
  if (good) {
    for (const Attr* element : found->elements()) {
      if (element->kind() == AttrKind::kInt) {
        values.emplace_back(element->integer());
      } else if (element->kind() == AttrKind::kDim) {
        values.push_back(element->dim());
      } else {
        good = false;
      }
    }
  }
  if (good) return values;
  wrong_kind(*this, key, *found, "an array of extents");
  return std::nullopt;
}

void InferContext::result(std::vector<Dim> dims, const TensorType& like) {
  result(context_.tensor(dims, like.dtype_name(), like.device(), like.encoding()));
}

// -- relations of extents -------------------------------------------------------------------------

/// Keeps the counterexample of a refuted relation for the report.
bool InferContext::is_proved(ExtentRelation relation, Dim a, Dim b) {
  counterexample_.clear();
  if (prover_ == nullptr || a.is_unknown() || b.is_unknown()) return false;
  const ExtentProof& proof = prover_->prove(relation, a, b);
  if (proof.verdict == ExtentVerdict::kRefuted) {
    counterexample_ = prover_->counterexample_text(proof, a, b);
  }
  return proof.verdict == ExtentVerdict::kProved;
}

/// Notes what the run must check.
bool InferContext::may_hold(ExtentRelation relation, Dim a, Dim b) {
  counterexample_.clear();
  if (prover_ == nullptr || a.is_unknown() || b.is_unknown()) return is_assumed();
  if (is_proved(relation, a, b)) return true;
  if (!counterexample_.empty()) return false;
  prover_->note_undecided(prover_->text(relation, a, b));
  return is_assumed();
}

bool InferContext::agree(Dim a, Dim b) {
  return compatible(a, b) ? is_assumed_of(a, b) : is_proved(ExtentRelation::kEqual, a, b);
}

std::optional<Dim> InferContext::broadcast(Dim a, Dim b) {
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  // An unknown extent may be 1, so it says nothing about an expression that may be 1 as well.
  if (compatible(a, b)) is_assumed_of(a, b);
  if (a.is_unknown() && b.is_symbolic()) return a;
  if (b.is_unknown() && a.is_symbolic()) return b;
  if (compatible(a, b)) return a.is_unknown() ? b : a;
  if (is_proved(ExtentRelation::kEqualOrOne, a, b)) return b;
  if (is_proved(ExtentRelation::kEqualOrOne, b, a)) return a;
  // For the counterexample.
  return is_proved(ExtentRelation::kBroadcasts, a, b) ? std::optional(Dim::unknown())
                                                      : std::nullopt;
}

bool InferContext::broadcasts_to(Dim from, Dim to) {
  if (from == Dim(1)) return true;
  return compatible(from, to) ? is_assumed_of(from, to)
                              : is_proved(ExtentRelation::kEqualOrOne, from, to);
}

bool InferContext::divides(Dim divisor, Dim extent) {
  if (prover_ == nullptr || (divisor.is_constant() && extent.is_constant())) {
    DimTable& dims = context_.dims();
    is_open_ = is_open_ || !divisor.is_constant();  // it may be 0
    return dims.multiply(dims.floor_divide(extent, divisor), divisor) == extent;
  }
  return is_proved(ExtentRelation::kDivides, extent, divisor);
}

bool InferContext::may_divide(Dim divisor, Dim extent) {
  return may_hold(ExtentRelation::kDivides, extent, divisor);
}

bool InferContext::may_be_at_least(Dim extent, Dim least) {
  const Dim difference = context_.dims().subtract(extent, least);
  if (difference.is_constant()) return !difference.is_negative();
  return may_hold(ExtentRelation::kAtLeast, extent, least);
}

// -- conditions that only a run checks ------------------------------------------------------------

void InferContext::run_needs_at_least(Dim extent, Dim least) {
  if (op_ == nullptr) return;  // nobody asks
  const Dim difference = context_.dims().subtract(extent, least);
  if (difference.is_constant() ? !difference.is_negative()
                               : is_proved(ExtentRelation::kAtLeast, extent, least)) {
    return;
  }
  leave_open();
}

void InferContext::run_needs_equal(Dim a, Dim b) {
  states_checks_ = true;
  if (op_ == nullptr) return;
  if (a.is_unknown() || (a != b && !is_proved(ExtentRelation::kEqual, a, b))) leave_open();
}

void InferContext::run_needs_indices(std::size_t index, Dim extent, bool from_end) {
  states_checks_ = true;
  if (op_ == nullptr || is_open_) return;
  const Attr* const constant = op_->operand(index)->attribute(key::kConstant);
  if (constant == nullptr || constant->kind() != AttrKind::kArray) return leave_open();
  std::int64_t least = 0, most = -1;
  for (const Attr* each : constant->elements()) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    const bool is_index = each->kind() == AttrKind::kInt && each->integer() > -kMost &&
                          each->integer() < kMost && (from_end || each->integer() >= 0);
    if (!is_index) return leave_open();
    least = std::min(least, each->integer());
    most = std::max(most, each->integer());
  }
  run_needs_at_least(extent, Dim(std::max(most + 1, -least)));
}

bool InferContext::fail(DiagCode code, std::string message) {
  return fail_in(at_, code, std::move(message));
}

bool InferContext::fail_at(KeyRef key, DiagCode code, std::string message) {
  return fail_in(value_span(context_.sources(), at_, key.text), code, std::move(message));
}

bool InferContext::fail_in(Span at, DiagCode code, std::string message) {
  if (!counterexample_.empty()) message += fmt::format("; {}", counterexample_);
  Diagnostic& diagnostic = diagnostics_.error(code, at, std::move(message));
  // These are held for every op alike.
  const bool general = code == diag::kAttributeKind || code == diag::kAttributeMissing ||
                       code == diag::kNotATensor || code == diag::kExtentOverflow;
  if (!constraint_.empty() && !general) {
    diagnostic.constraint = cite_constraint(constraint_);
  }
  return false;
}

std::optional<std::size_t> InferContext::axis(std::int64_t value, std::size_t rank, KeyRef key) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (value >= -signed_rank && value < signed_rank) {
    return static_cast<std::size_t>(value < 0 ? value + signed_rank : value);
  }
  fail_at(key, diag::kAxisOutOfRange,
          fmt::format("'{}' of '{}' is {}, expected an axis of rank {}", key.text, op_name_, value,
                      rank));
  return std::nullopt;
}

// -- constraints of ops and types -----------------------------------------------------------------

VerifyContext::VerifyContext(const Op& op, Diagnostics& diagnostics)
    : op_(op), diagnostics_(diagnostics) {}

IRContext& VerifyContext::context() const {
  return op_.module().context();
}

bool VerifyContext::fail(DiagCode code, std::string message) {
  diagnostics_.error(code, op_.span(), std::move(message));
  return false;
}

Diagnostic& VerifyContext::report(DiagCode code, Span at, std::string message) {
  return diagnostics_.error(code, at, std::move(message));
}

bool verify_by_row(const Op& op, Diagnostics& diagnostics) {
  const OpRow* row = op.row();
  if (row == nullptr || !row->verify) return true;
  VerifyContext context(op, diagnostics);
  return row->verify(context);
}

}  // namespace mir
