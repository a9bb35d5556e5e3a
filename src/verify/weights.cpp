// Checks parameters against the ops that own or name them.
#include "verify/weights.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "dialects/parameters.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

/// Elements of a parameter; none where bytes are packed in a form that the type does not tell.
std::optional<std::int64_t> elements_of(const TensorType* type) {
  if (type == nullptr || !type->dtype()) return std::nullopt;
  const DTypeClass kind = info(*type->dtype()).type_class;
  const bool packed = kind == DTypeClass::kBytes || type->dtype() == DType::kUInt8;
  return packed ? std::nullopt : type->element_count();
}

/// Extents that an op's parameter must have, unknown where types and attributes do not tell.
std::vector<Dim> expected_extents(const Op& op, std::span<const Type* const> operands,
                                  const WeightRow& weight) {
  const OpRow& row = *op.row();
  // With a destination the result has its type, not the op's.
  const bool has_destination = operands.size() != 1 && !row.weight_dims;
  if (has_destination || op.result_count() == 0) return {};
  if (std::ranges::find(operands, nullptr) != operands.end()) return {};
  return parameter_dims({.context = op.module().context(),
                         .row = row,
                         .operands = operands,
                         .attributes = op.attributes(),
                         .result_count = op.result_count()},
                        weight, op.result(0)->tensor_type())
      .value_or(std::vector<Dim>());
}

/// No value if an extent is unknown.
std::optional<std::int64_t> count_of(std::span<const Dim> extents) {
  if (extents.empty()) return std::nullopt;
  std::int64_t count = 1;
  for (const Dim extent : extents) {
    if (!extent.is_constant() || __builtin_mul_overflow(count, extent.constant(), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

/// True if `shape` has these extents, or none.
bool fits_shape(const Attr* shape, const TensorType& type) {
  if (shape == nullptr || shape->kind() != AttrKind::kArray || shape->elements().empty()) {
    return true;
  }
  return std::ranges::equal(shape->elements(), type.dims(), [](const Attr* extent, Dim dim) {
    return extent->kind() != AttrKind::kInt || compatible(dim, Dim(extent->integer()));
  });
}

}  // namespace

using enum ConstraintId;

void check_named_parameter(const Op& op, Reporter& reporter) {
  if (!reporter.wants(param_c1) || op.result_count() != 1) return;
  const auto* type = op.result()->tensor_type();
  if (type == nullptr) return;
  const Attr* shape = op.attribute(key::kShape);
  if (!fits_shape(shape, *type)) {
    reporter.report_at(param_c1, op, {key::kShape}, [&] {
      return fmt::format("result 0 of '{}' is stated as {}, 'shape' gives {}", op.name(),
                         type->spelling(), shape->spelling());
    });
    return;
  }
  const std::optional<Symbol> name = named_parameter(op);
  if (!name) return;
  const Value* parameter = op.module().lookup_value(*name);
  if (parameter == nullptr || compatible(type, parameter->type())) return;
  Diagnostic* kept = reporter.report(param_c1, op, [&] {
    return fmt::format("result 0 of '{}' is stated as {}, parameter '@{}' is {}", op.name(),
                       type->spelling(), op.module().context().text(*name),
                       parameter->type() == nullptr ? "?" : parameter->type()->spelling());
  });
  if (const Op* place = parameter->defining_op()) note(kept, *place, "registered here");
}

void report_parameter(const Op& op, const TensorType& type, Reporter& reporter) {
  reporter.report(type_c9, op, [&] {
    return fmt::format("parameter '@{}' is {}, expected numbers as extents",
                       text(op, op.result()->symbol()), type.spelling());
  });
}

void check_parameter(const Op& op, Reporter& reporter) {
  if (!reporter.wants(type_c9) || op.result_count() != 1) return;
  const auto* type = op.result()->tensor_type();
  if (type == nullptr || std::ranges::none_of(type->dims(), &Dim::is_unknown)) return;
  report_parameter(op, *type, reporter);
}

WeightChecks::WeightChecks(Reporter& reporter)
    : reporter_(reporter),
      // Sizes can differ only where something is registered.
      is_wanted_(
          reporter.wants_any(weight_c1, weight_c2) ||
          (reporter.wants_any(weight_c3, weight_c4) && reporter.module().declares_values())) {}

std::vector<OwnedParameter> WeightChecks::owned_by(const Op& op,
                                                   std::span<const Type* const> operands) const {
  std::vector<OwnedParameter> owned;
  const OpRow* row = op.row();
  if (row == nullptr || !is_wanted_) return owned;
  for (const WeightRow& weight : row->weights) {
    if (!owns_parameter(*row, weight, op.module().context(), op.attributes())) continue;
    const std::vector<Dim> extents = expected_extents(op, operands, weight);
    OwnedParameter& parameter = owned.emplace_back();
    parameter.suffix = weight.suffix;
    parameter.elements = count_of(extents);
    if (extents.size() > parameter.extents.size()) continue;
    parameter.rank = extents.size();
    std::ranges::copy(extents, parameter.extents.begin());
  }
  return owned;
}

void WeightChecks::check(const Op& op, std::span<const OwnedParameter> parameters) {
  if (parameters.empty()) return;
  if (op.has_path()) {
    for (const OwnedParameter& parameter : parameters) check(op, parameter);
    return;
  }
  reporter_.report(weight_c1, op, [&] {
    return fmt::format("'{}' owns parameters and needs <name=\"...\"> to find them", op.name());
  });
}

namespace {

/// The name of the op's layer, `<name="q">`; the op if its text has none.
Span place_of_layer(const Op& op) {
  const auto source = text_of(op);
  const Span name = source ? source->first(TokenKind::kNameAngle) : Span{};
  return name.known() ? name : op.span();
}

}  // namespace

void WeightChecks::check(const Op& op, const OwnedParameter& owned) {
  symbol_ = text(op, op.path());
  symbol_ += owned.suffix;
  const Symbol name = op.module().context().strings().find(symbol_);
  const Value* parameter = name ? op.module().lookup_value(name) : nullptr;
  if (parameter == nullptr) {
    Diagnostic* const missing = reporter_.report(
        weight_c2, op, [&] { return fmt::format("no parameter '@{}' is registered", symbol_); });
    if (missing != nullptr) missing->at = place_of_layer(op);
    suggest_parameter(reporter_.to_suggest(missing), op, symbol_, owned.suffix);
    return;
  }
  const auto* type = parameter->tensor_type();
  check_numbers(op, *parameter);
  const auto stated = elements_of(type);
  if (!stated) return;
  Diagnostic* kept = nullptr;
  if (owned.elements && *stated != *owned.elements) {
    kept = reporter_.report(weight_c3, op, [&] {
      return fmt::format("parameter '@{}' is {} with {} elements, '{}' needs {}", symbol_,
                         type->spelling(), *stated, op.name(), *owned.elements);
    });
  } else if (!owned.elements && !fits_extents(type->dims(), owned)) {
    kept = reporter_.report(weight_c3, op, [&] {
      return fmt::format("parameter '@{}' is {}, '{}' needs {}", symbol_, type->spelling(),
                         op.name(), show(op, owned));
    });
  }
  if (const Op* place = parameter->defining_op()) note(kept, *place, "registered here");
}

/// Where not all extents are expected, those that are. Dumps flatten parameters.
bool WeightChecks::fits_extents(std::span<const Dim> stated, const OwnedParameter& owned) {
  const std::span<const Dim> expected(owned.extents.data(), owned.rank);
  return stated.size() != expected.size() ||
         std::ranges::equal(stated, expected, [](Dim a, Dim b) { return compatible(a, b); });
}

std::string WeightChecks::show(const Op& op, const OwnedParameter& owned) {
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < owned.rank; ++i) {
    extents.push_back(op.module().context().dims().print(owned.extents[i]));
  }
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

void WeightChecks::check_numbers(const Op& op, const Value& parameter) {
  const auto* type = parameter.tensor_type();
  const auto dtype = type == nullptr ? std::nullopt : type->dtype();
  const bool moves = op.is(OpId::kLinalgEmbedding);
  if (!dtype || info(*dtype).type_class != DTypeClass::kComplex || moves) return;
  Diagnostic* kept = reporter_.report(weight_c4, op, [&] {
    return fmt::format("parameter '@{}' is {}, '{}' takes real numbers", symbol_, type->spelling(),
                       op.name());
  });
  if (const Op* place = parameter.defining_op()) note(kept, *place, "registered here");
}

}  // namespace mir::checks
