// Writes the elementwise ops of a region in C, with the bits of the reference kernels.
#include "emit_c/c_region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "dialects/generic_form.hpp"
#include "emit_c/c_elements.hpp"
#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "mir/codes/passes.hpp"
#include "mir/op_attributes.hpp"
#include "weights/elements.hpp"

namespace mir::c {

namespace {

/// Expressions of an op: `$0` is operand 0 as a number, `$T` the type of the result. Empty: no op
/// on such numbers.
struct OpText {
  OpId op;
  std::string_view floating;
  std::string_view integer{};
  std::string_view unsigned_integer = integer;
};

constexpr std::string_view kNegated = "($T)(0 - (uint64_t)$0)";
constexpr OpText kOpTexts[] = {
    {OpId::kLinalgAbs, "fabs($0)", "($T)($0 < 0 ? 0 - (uint64_t)$0 : (uint64_t)$0)", "$0"},
    {OpId::kLinalgAdd, "$0 + $1", "($T)((uint64_t)$0 + (uint64_t)$1)"},
    {OpId::kLinalgAnd, "", "($T)($0 != 0 && $1 != 0)"},
    {OpId::kLinalgCeil, "ceil($0)"},
    {OpId::kLinalgCos, "mir_cos($0)"},
    {OpId::kLinalgDiv, "$0 / $1",
     "($T)($1 == 0 ? 0 : $1 == -1 ? ($T)(0 - (uint64_t)$0) : ($T)($0 / $1))",
     "($T)($1 == 0 ? 0 : $0 / $1)"},
    {OpId::kLinalgEqual, "(uint8_t)($0 == $1)", "(uint8_t)($0 == $1)"},
    {OpId::kLinalgErf, "mir_erf($0)"},
    {OpId::kLinalgExp, "mir_exp($0)"},
    {OpId::kLinalgFloor, "floor($0)"},
    {OpId::kLinalgGELU, "mir_gelu($0)"},
    {OpId::kLinalgGreaterEqual, "(uint8_t)($0 >= $1)", "(uint8_t)($0 >= $1)"},
    {OpId::kLinalgGreater, "(uint8_t)($0 > $1)", "(uint8_t)($0 > $1)"},
    {OpId::kLinalgLessEqual, "(uint8_t)($0 <= $1)", "(uint8_t)($0 <= $1)"},
    {OpId::kLinalgLess, "(uint8_t)($0 < $1)", "(uint8_t)($0 < $1)"},
    {OpId::kLinalgLog, "mir_log($0)"},
    {OpId::kLinalgMaximum, "mir_max($0, $1)", "($1 > $0 ? $1 : $0)"},
    {OpId::kLinalgMinimum, "mir_min($0, $1)", "($1 < $0 ? $1 : $0)"},
    {OpId::kLinalgMul, "$0 * $1", "($T)((uint64_t)$0 * (uint64_t)$1)"},
    {OpId::kLinalgNeg, "-$0", kNegated},
    {OpId::kLinalgNotEqual, "(uint8_t)($0 != $1)", "(uint8_t)($0 != $1)"},
    {OpId::kLinalgNot, "", "($T)($0 == 0)"},
    {OpId::kLinalgOr, "", "($T)($0 != 0 || $1 != 0)"},
    {OpId::kLinalgQuickGELU, "mir_quick_gelu($0)"},
    {OpId::kLinalgReLU, "mir_relu($0)", "($0 < 0 ? ($T)0 : $0)", "$0"},
    {OpId::kLinalgRem, "fmod($0, $1)", "($T)($1 == 0 ? $0 : $1 == -1 ? 0 : ($T)($0 % $1))",
     "($T)($1 == 0 ? $0 : $0 % $1)"},
    {OpId::kLinalgRound, "mir_round($0)"},
    {OpId::kLinalgRsqrt, "mir_rsqrt($0)"},
    {OpId::kLinalgSigmoid, "mir_sigmoid($0)"},
    {OpId::kLinalgSign, "mir_sign($0)", "($T)(($0 > 0) - ($0 < 0))", "($T)($0 > 0)"},
    {OpId::kLinalgSiLU, "mir_silu($0)"},
    {OpId::kLinalgSin, "mir_sin($0)"},
    {OpId::kLinalgSqrt, "sqrt($0)"},
    {OpId::kLinalgSub, "$0 - $1", "($T)((uint64_t)$0 - (uint64_t)$1)"},
    {OpId::kLinalgTanh, "mir_tanh($0)"},
    {OpId::kLinalgTrunc, "trunc($0)"},
    {OpId::kLinalgXor, "", "($T)(($0 != 0) != ($1 != 0))"},
};
constexpr OpTable kTable(kOpTexts);

std::string fill(std::string_view pattern, std::span<const std::string> operands,
                 std::string_view type) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
    } else if (pattern[++i] == 'T') {
      text += type;
    } else {
      text += operands[static_cast<std::size_t>(pattern[i] - '0')];
    }
  }
  return text;
}

DType dtype_in(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type == nullptr || !type->dtype() ? DType::kByte : *type->dtype();
}

Error unsupported(const Op& op, std::string_view why) {
  return {diag::kNoC, fmt::format("'{}' in the region of a generic op {}", op.name(), why)};
}

/// A number of a region rounded to a floating type. Which NaN it is does not matter: an element
/// that is stored gets the usual one.
std::string rounded(DType dtype, std::string_view number) {
  if (dtype == DType::kFloat64) return std::string(number);
  return dtype == DType::kFloat32 ? fmt::format("(float)({})", number) : stored(dtype, number);
}

/// Converts a number to an element of another type, as CastType does.
Result<std::string> cast_text(const Op& op, DType from, DType to, const std::string& number) {
  const std::string_view type = *storage_type_of(to);
  if (is_floating(to)) {
    if (is_floating(from)) return rounded(to, number);
    const bool is_wide = from == DType::kInt64 || from == DType::kUInt64;
    if (to == DType::kFloat32 || to == DType::kFloat64) {
      return fmt::format("({}){}", type, number);
    }
    if (is_wide) return unsupported(op, "rounds integers of 64 bits to a narrow type");
    return stored(to, fmt::format("(double){}", number));
  }
  if (to == DType::kBool) return fmt::format("(uint8_t)({} != 0)", number);
  if (!is_floating(from)) return fmt::format("({}){}", type, number);
  // Toward zero; beyond the range the nearest end of it; a NaN is 0.
  const int bits = 8 * info(to).unit_bytes;
  const std::string end = fmt::format("0x1p{}", is_signed(to) ? bits - 1 : bits);
  const std::string name = fmt::format("{}INT{}", is_signed(to) ? "" : "U", bits);
  return fmt::format("({0} >= {1} ? {2}_MAX : {0} <= {3} ? {4} : {0} == {0} ? ({5}){0} : 0)",
                     number, end, name, is_signed(to) ? "-" + end : "0.0",
                     is_signed(to) ? name + "_MIN" : "0", type);
}

/// Limits are variables: compilers warn of comparisons with the least number of a type.
Result<std::string> clip_text(const Op& op, DType dtype, const std::string& number,
                              std::vector<std::string>& statements, CNames& names) {
  std::string limits[2];
  const AttrKey keys[] = {key::kMinVal, key::kMaxVal};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto limit = element_of(dtype, OpAttributes(op).number_text(keys[i]));
    if (!limit) return limit.error();
    limits[i] = names.fresh(i == 0 ? "least" : "most");
    statements.push_back(fmt::format("const {} {} = {};", number_type_of(dtype), limits[i],
                                     number_literal(*limit, 0)));
  }
  // Comparisons keep a NaN.
  return fmt::format("({0} < {1} ? ({1} > {2} ? {2} : {1}) : {0} > {2} ? {2} : {0})", number,
                     limits[0], limits[1]);
}

}  // namespace

Result<void> add_statements(const Op& op, std::span<const std::string> elements,
                            const std::string& name, std::vector<std::string>& statements,
                            CNames& names) {
  for (const Use& each : op.operand_uses()) {
    if (!storage_type_of(dtype_in(*each.value()))) return unsupported(op, "has another type");
  }
  const DType to = dtype_in(*op.result());
  if (!storage_type_of(to) || op.operand_count() == 0) return unsupported(op, "has another type");
  const DType from = dtype_in(*op.operand(op.operand_count() - 1));
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::string number = widened(dtype_in(*op.operand(i)), elements[i]);
    numbers.push_back(number == elements[i] ? number : fmt::format("({})", number));
  }
  const bool keeps_bits = op.is(OpId::kLinalgWhere, OpId::kLinalgCastType);
  Result<std::string> text = std::string();
  if (op.is(OpId::kLinalgWhere)) {
    text = fmt::format("{} != 0 ? {} : {}", elements[0], elements[1], elements[2]);
  } else if (op.is(OpId::kLinalgCastType)) {
    text = cast_text(op, from, to, numbers[0]);
  } else if (op.is(OpId::kLinalgClip)) {
    text = clip_text(op, from, numbers[0], statements, names);
  } else {
    const OpText* row = kTable.find(op);
    const bool is_unsigned = !is_floating(from) && !is_signed(from);
    const std::string_view pattern = row == nullptr      ? std::string_view()
                                     : is_floating(from) ? row->floating
                                     : is_unsigned       ? row->unsigned_integer
                                                         : row->integer;
    if (pattern.empty()) return unsupported(op, "has no form in C");
    // Compilers warn if a number is compared with itself.
    if (numbers.size() == 2 && numbers[0] == numbers[1] &&
        pattern.find_first_of("<>=") != pattern.npos) {
      const std::string same = names.fresh("same");
      statements.push_back(
          fmt::format("const {} {} = {};", number_type_of(from), same, numbers[1]));
      numbers[1] = same;
    }
    text = fill(pattern, numbers, number_type_of(to));
  }
  if (!text) return text.error();
  const bool rounds = is_floating(to) && to != DType::kFloat64 && !keeps_bits;
  statements.push_back(fmt::format("const {} {} = {};", *storage_type_of(to), name,
                                   rounds ? rounded(to, *text) : *text));
  return {};
}

std::string_view why_no_region(const Op& op) {
  const Region* region = op.first_region();
  const bool is_block = region != nullptr && !region->empty() && !region->has_several_blocks();
  const Op* end = is_block ? region->only_block().back() : nullptr;
  if (end == nullptr || end->operand_count() != op.result_count() ||
      region->entry_arguments().size() != op.operand_count()) {
    return "the region does not fit operands and results";
  }
  const auto fits = [](const Value& number, const Value& value) {
    const TensorType* type = number.held_type();
    return type != nullptr && type->rank() == 0 && type->dtype() &&
           type->dtype() == accumulation_type(*value.tensor_type()->dtype());
  };
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    if (!fits(region->entry_arguments()[i], *op.operand(i))) return "an argument has another type";
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    if (!fits(*end->operand(i), *op.result(i))) return "the region passes another type";
  }
  return "";
}

Result<CRegion> CRegion::create(const Op& op, std::uint32_t result, CNames& names) {
  const Block& block = op.first_region()->only_block();
  IRContext& context = op.module().context();
  const auto wanted_name = [&](const Value& value, std::string_view otherwise) {
    const bool is_word = !value.name().is_none() && !value.name().is_number();
    return names.fresh(is_word ? context.text(value.name().symbol()) : otherwise);
  };
  CRegion region;
  region.arguments_.resize(block.arguments().size());
  std::unordered_map<const Value*, std::string> texts;
  std::vector<const Op*> steps;
  std::vector<const Value*> needed = {block.back()->operand(result)};
  std::unordered_set<const Value*> are_needed(needed.begin(), needed.end());
  const auto is_needed = [&](const Value& value) { return are_needed.contains(&value); };
  for (const Op* each : block.reversed()) {
    if (each == block.back() || std::ranges::none_of(each->results(), is_needed)) continue;
    if (each->result_count() != 1) return unsupported(*each, "has several results");
    steps.push_back(each);
    for (const Use& use : each->operand_uses()) {
      if (are_needed.insert(use.value()).second) needed.push_back(use.value());
    }
  }
  std::ranges::reverse(steps);
  for (const Value* value : needed) {
    if (texts.contains(value)) continue;
    if (value->is_argument()) {
      texts[value] = region.arguments_[value->index()] = wanted_name(*value, "a");
    } else if (value->is_free()) {
      const auto constant = constant_tensor(*value);
      if (!constant) return constant.error();
      if (!storage_type_of(constant->dtype())) return unsupported(op, "has another constant");
      // Compilers warn of comparisons with a literal at an end of its type, and of divisions by a
      // const variable that is 0, also where they are not reached.
      const std::string& name = texts[value] = names.fresh("c");
      region.statements_.push_back(fmt::format("{} {} = {};", *storage_type_of(constant->dtype()),
                                               name, element_literal(*constant, 0)));
    }
  }
  for (const Op* each : steps) {
    std::vector<std::string> elements;
    for (const Use& use : each->operand_uses()) elements.push_back(texts[use.value()]);
    const std::string name = texts[each->result()] = wanted_name(*each->result(), "t");
    auto added = add_statements(*each, elements, name, region.statements_, names);
    if (!added) return added.error();
  }
  const Value& passed = *block.back()->operand(result);
  region.passed_ = texts[&passed];
  const Op* product = steps.size() == 1 && steps[0]->is(OpId::kLinalgMul) ? steps[0] : nullptr;
  if (passed.is_argument()) {
    region.factors_ = {passed.index()};
  } else if (product != nullptr && product->operand(0)->is_argument() &&
             product->operand(1)->is_argument()) {
    region.factors_ = {product->operand(0)->index(), product->operand(1)->index()};
  }
  return region;
}

}  // namespace mir::c
