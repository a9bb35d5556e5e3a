// Parses rules that map tensor names to element types, and applies them.
#include "weights/type_rules.hpp"

#include <algorithm>
#include <string>

#include "support/characters.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

constexpr TargetType kTargetTypes[] = {{"f64", DType::kFloat64},   {"f32", DType::kFloat32},
                                       {"f16", DType::kFloat16},   {"bf16", DType::kBFloat16},
                                       {"q8_0", DType::kGgufQ8_0}, {"q4_0", DType::kGgufQ4_0},
                                       {"q4_k", DType::kGgufQ4K},  {"q4_a32", DType::kMirQ4A32}};

/// Explains why a tensor of these extents cannot be stored in blocks; empty if it can.
std::string_view why_no_blocks(DType dtype, std::span<const std::int64_t> shape) {
  if (shape.size() < 2) return "it has fewer than two dimensions";
  return shape.back() % info(dtype).lanes == 0 ? "" : "its rows are not whole blocks";
}

}  // namespace

std::span<const TargetType> target_types() {
  return kTargetTypes;
}

std::optional<DType> target_type(std::string_view text) {
  const auto* const known = std::ranges::find(kTargetTypes, lower_case(text), &TargetType::word);
  if (known != std::end(kTargetTypes)) return known->dtype;
  const auto dtype = dtype_from_name(text);
  return dtype && is_target_type(*dtype) ? dtype : std::nullopt;
}

bool is_target_type(DType dtype) {
  return is_float(dtype) || is_encodable_block(dtype);
}

std::optional<TypeRule> TypeRule::parse(std::string_view text) {
  const auto equals = text.rfind('=');
  const bool has_pattern = equals != text.npos;
  const auto dtype = target_type(has_pattern ? text.substr(equals + 1) : text);
  if (!dtype) return std::nullopt;
  return TypeRule{NamePattern(has_pattern ? text.substr(0, equals) : "*"), *dtype};
}

ChosenType chosen_type(std::span<const TypeRule> rules, std::string_view name, DType dtype,
                       std::span<const std::int64_t> shape) {
  const auto rule = std::find_if(rules.rbegin(), rules.rend(),
                                 [&](const TypeRule& each) { return each.pattern.matches(name); });
  if (rule == rules.rend()) return {dtype};
  const bool has_values = is_decodable_block(dtype) && check_blocks_fit(dtype, shape).ok();
  if (!is_float(dtype) && !has_values) return {dtype, "it has no numbers that can be rounded"};
  if (is_float(rule->dtype)) return {rule->dtype};
  const std::string_view obstacle = why_no_blocks(rule->dtype, shape);
  return {obstacle.empty() ? rule->dtype : dtype, obstacle};
}

}  // namespace mir
