#include "checks.hpp"

namespace mir::checks {

namespace {

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t value = 0;
  return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
}

/// Extents an op's parameter must hold, where operand types and attributes tell; none otherwise.
std::optional<std::int64_t> expected_elements(const Op& op, std::string_view suffix) {
  const auto* in = op.operand_count() == 0 ? nullptr : op.operand(0)->tensor_type();
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

void weights(const Op& op, Diagnostics& diagnostics) {
  const OpRow* row = op.row();
  if (row == nullptr || row->weights.empty()) return;
  if (!op.has_path()) {
    report(diagnostics, op, DiagCode::kMissingPath,
           fmt::format("'{}' owns parameters and needs <name=\"...\"> to find them", op.name()));
    return;
  }
  for (const WeightRow& weight : row->weights) {
    if (!is_present(op, weight)) continue;
    const std::string symbol = fmt::format("{}{}", text(op, op.path()), weight.suffix);
    const Value* parameter = op.module().lookupSymbol(symbol).value;
    if (parameter == nullptr) {
      report(diagnostics, op, DiagCode::kUnknownParameter,
             fmt::format("no parameter '@{}' is registered", symbol));
      continue;
    }
    const auto* type = parameter->tensor_type();
    const auto stated = type == nullptr ? std::nullopt : type->element_count();
    const auto expected = expected_elements(op, weight.suffix);
    if (!stated || !expected || *stated == *expected) continue;
    report(diagnostics, op, DiagCode::kParameterSize,
           fmt::format("parameter '@{}' is {} with {} elements, '{}' needs {}", symbol,
                       type->spelling(), *stated, op.name(), *expected));
  }
}

}  // namespace mir::checks
