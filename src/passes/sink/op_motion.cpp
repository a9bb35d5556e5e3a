// Tells if an op can move past another one, and recreates it with other operands.
#include "passes/sink/op_motion.hpp"

#include "dialects/quantisation.hpp"
#include "mir/equivalence.hpp"
#include "mir/infer.hpp"

namespace mir {

std::string_view why_fixed(const Op& op) {
  if (!is_pure(op) || op.row() == nullptr || op.first_region() != nullptr ||
      op.result_count() != 1) {
    return "an op has effects, or not one result";
  }
  if (!states_only_row_attributes(op)) return "an op has marks";
  const Value& result = *op.result();
  if (!result.attributes().empty() || result.has_symbol()) return "a result has attributes";
  const auto holds = [](const Value& value, const Attr* spec) {
    const TensorType* type = value.tensor_type();
    return type == nullptr || holds_codes(*type, spec);
  };
  bool has_codes = holds(result, result_quant_spec(op, 0));
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    has_codes = has_codes || holds(*op.operand(i), operand_quant_spec(op, i));
  }
  return has_codes ? "a value has no plain numbers" : "";
}

const Type* type_with(const Op& op, std::span<const Type* const> operands) {
  Diagnostics ignored(1);
  const auto types = infer(op, operands, op.attributes(), ignored);
  return types && types->size() == 1 ? types->front() : nullptr;
}

Op* create_with(Rewriter& rewriter, const Op& op, std::span<Value* const> operands,
                const Type* type) {
  Op* made = rewriter.create({.name = op.op_name(),
                              .operands = operands,
                              .result_types = std::span(&type, 1),
                              .attributes = op.attributes()});
  if (op.has_path()) rewriter.set_path(*made, op.path());
  return made;
}

}  // namespace mir
