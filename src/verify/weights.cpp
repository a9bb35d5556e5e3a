#include "checks.hpp"
#include "suggestions.hpp"

namespace mir::checks {

namespace {

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
}

/// Elements of a parameter; none where bytes are packed in a form that the type does not tell.
std::optional<std::int64_t> elements_of(const TensorType* type) {
  if (type == nullptr || !type->dtype()) return std::nullopt;
  const DTypeClass kind = info(*type->dtype()).type_class;
  const bool packed = kind == DTypeClass::kBytes || type->dtype() == DType::kUInt8;
  return packed ? std::nullopt : type->element_count();
}

/// Extents an op's parameter must hold, where operand types and attributes tell; none otherwise.
std::optional<std::int64_t> expected_elements(const Op& op, std::string_view suffix) {
  // With a destination the result has its type, not the op's.
  if (op.operand_count() != 1) return std::nullopt;
  const auto* in = op.operand(0)->tensor_type();
  const auto* out = op.result_count() == 0 ? nullptr : op.result(0)->tensor_type();
  if (in == nullptr || out == nullptr || in->rank() == 0 || out->rank() == 0) return std::nullopt;
  const auto last = [](const TensorType& type) -> std::optional<std::int64_t> {
    const Dim dim = type.dims().back();
    return dim.is_constant() ? std::optional(dim.constant()) : std::nullopt;
  };
  if (op.is("linalg.LinearOp")) {
    const auto rows = last(*out), columns = last(*in);
    if (!rows || !columns) return std::nullopt;
    return suffix == ".weight" ? product(*rows, *columns) : *rows;
  }
  if (op.is("linalg.RMSNormOp")) return last(*in);
  if (op.is("linalg.EmbeddingOp")) {
    const Attr* rows = op.attribute("vocab_size");
    const auto columns = last(*out);
    if (rows == nullptr || rows->kind() != AttrKind::kInt || !columns) return std::nullopt;
    return product(rows->integer(), *columns);
  }
  if (op.is("linalg.LayerNormOp")) {
    const Attr* shape = op.attribute("normalized_shape");
    if (shape == nullptr || shape->kind() != AttrKind::kArray) return std::nullopt;
    std::int64_t count = 1;
    for (const Attr* extent : shape->elements()) {
      if (extent->kind() != AttrKind::kInt ||
          __builtin_mul_overflow(count, extent->integer(), &count)) {
        return std::nullopt;
      }
    }
    return count;
  }
  return std::nullopt;
}

bool is_present(const Op& op, const WeightRow& weight) {
  if (weight.present_if.empty()) return true;
  if (const Attr* flag = op.attribute(weight.present_if)) {
    return flag->kind() == AttrKind::kBool && flag->boolean();
  }
  for (const AttrRow& row : op.row()->attributes) {
    if (row.name == weight.present_if) return row.default_text == "true";
  }
  return true;
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
    if (!is_present(op, weight)) continue;
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
    const auto expected = expected_elements(op, weight.suffix);
    if (!stated || !expected || *stated == *expected) continue;
    Diagnostic* kept = reporter.report(weight_c3, op, [&] {
      return fmt::format("parameter '@{}' is {} with {} elements, '{}' needs {}", symbol,
                         type->spelling(), *stated, op.name(), *expected);
    });
    if (const Op* place = parameter->defining_op()) note(kept, *place, "registered here");
  }
}

}  // namespace mir::checks
