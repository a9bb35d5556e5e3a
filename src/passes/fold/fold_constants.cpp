// Computes operations on constants by the reference kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "dialects/quantisation.hpp"
#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/equivalence.hpp"
#include "mir/tensor.hpp"
#include "passes/standard_passes.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

/// A number that encodes as this element of a tensor; null if there is none.
const Attr* number_at(const Tensor& tensor, std::int64_t index, IRContext& context) {
  const DType dtype = tensor.dtype();
  const double value = element_as_double(tensor, index);
  if (is_integer(dtype)) {
    constexpr double kInexact = 9007199254740992.0;  // 2^53, which the next integer rounds to
    if (std::abs(value) >= kInexact) return nullptr;
    return context.integer(static_cast<std::int64_t>(value));
  }
  if (!std::isfinite(value)) return context.number(value);
  // The shortest text that rounds to the same element.
  const double shortest =
      std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr);
  const auto exact = encode_element(dtype, value), rounded = encode_element(dtype, shortest);
  const bool is_same = exact && rounded && *exact == *rounded;
  return context.number(is_same ? shortest : value);
}

/// The numbers of a constant with these elements, one if they are all the same.
const Attr* numbers_of(const Tensor& tensor, IRContext& context) {
  std::vector<const Attr*> numbers;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    numbers.push_back(number_at(tensor, i, context));
    if (numbers.back() == nullptr) return nullptr;
  }
  if (numbers.empty()) return nullptr;
  const auto is_first = [&](const Attr* each) { return each == numbers.front(); };
  if (std::ranges::all_of(numbers, is_first)) numbers.resize(1);
  return context.array(numbers);
}

bool has_codes(const Op& op) {
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    const TensorType* type = op.operand(i)->tensor_type();
    if (type == nullptr || holds_codes(*type, operand_quant_spec(op, i))) return true;
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    const TensorType* type = op.results()[i].tensor_type();
    if (type == nullptr || holds_codes(*type, result_quant_spec(op, i))) return true;
  }
  return false;
}

/// Explains why an op is not computed here; empty if it is.
std::string_view why_not(const Op& op, std::int64_t most) {
  if (!is_pure(op) || !is_executable(op) || op.row() == nullptr || !op.row()->weights.empty() ||
      op.first_region() != nullptr || op.result_count() == 0) {
    return "the op is not a function of its operands alone";
  }
  const auto is_constant = [](const Use& use) {
    return use.value()->is_free() && !use.value()->has_symbol();
  };
  if (!std::ranges::all_of(op.operand_uses(), is_constant)) return "an operand is no constant";
  if (has_codes(op)) return "a value holds codes";
  // One number may stand for any number of elements.
  constexpr std::int64_t kMostOfOperand = 1 << 16;
  const auto is_large = [](const Use& use) {
    return use.value()->tensor_type()->element_count().value_or(kMostOfOperand + 1) >
           kMostOfOperand;
  };
  if (std::ranges::any_of(op.operand_uses(), is_large)) {
    return "an operand has too many elements";
  }
  for (const Value& result : op.results()) {
    const TensorType& type = *result.tensor_type();
    const auto elements = type.element_count();
    if (!elements || !type.dtype() || !is_real(*type.dtype()))
      return "a result has no such constant";
    if (*elements > most) return "a result has too many elements";
    if (!result.attributes().empty() || result.has_symbol()) return "a result has attributes";
  }
  return "";
}

using Numbers = std::vector<const Attr*>;  // of the constant for each result

PatternMatch match_constants(Op& op, std::int64_t most) {
  if (const std::string_view reason = why_not(op, most); !reason.empty()) {
    return PatternMatch::failed(reason, op);
  }
  IRContext& context = op.module().context();
  std::vector<Tensor> operands;
  for (const Use& use : op.operand_uses()) {
    auto tensor = constant_tensor(*use.value());
    if (!tensor) return PatternMatch::failed("an operand is no constant", op);
    operands.push_back(*std::move(tensor));
  }
  const auto results = evaluate(op, operands, {});
  if (!results) return PatternMatch::failed("the op cannot be computed", op);
  auto numbers = std::make_shared<Numbers>();
  for (std::size_t i = 0; i < results->size(); ++i) {
    const TensorType& type = *op.results()[i].tensor_type();
    const Attr* list =
        (*results)[i].dtype() == *type.dtype() ? numbers_of((*results)[i], context) : nullptr;
    if (list == nullptr) return PatternMatch::failed("a result has no such constant", op);
    numbers->push_back(list);
  }
  return PatternMatch::of({&op}, {}, std::move(numbers));
}

void replace_by_constants(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  std::vector<Value*> values;
  for (const Attr* numbers : match.plan<Numbers>()) {
    const NamedAttr constant{key::kConstant, numbers};
    values.push_back(rewriter.constant(
        *op.parent_region(),
        {.type = op.result(values.size())->type(), .attributes = std::span(&constant, 1)}));
  }
  rewriter.replace(op, values);
}

}  // namespace

Pass fold_constants_pass() {
  return pattern_pass({.name = "fold-constants",
                       .summary = "computes operations whose operands are constants",
                       .anchor = Anchor::kGraph,
                       .takes = PassForm::kPortable,
                       .is_idempotent = true,
                       .options = {{.name = "most",
                                    .kind = PassOption::Kind::kInteger,
                                    .by_default = "256",
                                    .summary = "the largest number of elements of a result",
                                    .least = 0}},
                       .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
                       .patterns = [](IRContext&, const PassOptions& options) {
                         PatternSet set;
                         set.add({.name = "fold-constants",
                                  .roots = {.traits = Trait::kPure},
                                  .definitions = {.first = OperandDefinitions::kConstant},
                                  .claim = {.kind = RewriteClaim::Kind::kValue},
                                  .match = [most = options.integer("most")](
                                               Op& op) { return match_constants(op, most); },
                                  .rewrite = replace_by_constants});
                         return set;
                       }});
}

}  // namespace mir
