#include "checks.hpp"
#include "mir/dialects/parameters.hpp"
#include "suggestions.hpp"

namespace mir::checks {

namespace {

/// Elements of a parameter; none where bytes are packed in a form that the type does not tell.
std::optional<std::int64_t> elements_of(const TensorType* type) {
  if (type == nullptr || !type->dtype()) return std::nullopt;
  const DTypeClass kind = info(*type->dtype()).type_class;
  const bool packed = kind == DTypeClass::kBytes || type->dtype() == DType::kUInt8;
  return packed ? std::nullopt : type->element_count();
}

/// Elements that an op's parameter must hold, where types and attributes tell; none otherwise.
std::optional<std::int64_t> expected_elements(const Op& op, const WeightRow& weight) {
  // With a destination the result has its type, not the op's.
  if (op.operand_count() != 1 || op.result_count() == 0) return std::nullopt;
  const auto extents =
      parameter_extents(weight, op.module().context(), op.operand(0)->tensor_type(),
                        op.result(0)->tensor_type(), op.attributes());
  if (!extents) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t extent : *extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

}  // namespace

void weights(const Op& op, Reporter& reporter) {
  const OpRow* row = op.row();
  using enum ConstraintId;
  if (row == nullptr || row->weights.empty() ||
      !reporter.wants_any(weight_c1, weight_c2, weight_c3))
    return;
  if (!op.has_path()) {
    reporter.report(weight_c1, op, [&] {
      return fmt::format("'{}' owns parameters and needs <name=\"...\"> to find them", op.name());
    });
    return;
  }
  for (const WeightRow& weight : row->weights) {
    if (!owns_parameter(*row, weight, op.module().context(), op.attributes())) continue;
    const std::string symbol = fmt::format("{}{}", text(op, op.path()), weight.suffix);
    const Value* parameter = op.module().lookupSymbol(symbol).value;
    if (parameter == nullptr) {
      suggest_parameter(
          reporter.report(weight_c2, op,
                          [&] { return fmt::format("no parameter '@{}' is registered", symbol); }),
          op, symbol, weight.suffix);
      continue;
    }
    const auto* type = parameter->tensor_type();
    const auto stated = elements_of(type);
    const auto expected = expected_elements(op, weight);
    if (!stated || !expected || *stated == *expected) continue;
    Diagnostic* kept = reporter.report(weight_c3, op, [&] {
      return fmt::format("parameter '@{}' is {} with {} elements, '{}' needs {}", symbol,
                         type->spelling(), *stated, op.name(), *expected);
    });
    if (const Op* place = parameter->defining_op()) note(kept, *place, "registered here");
  }
}

}  // namespace mir::checks
