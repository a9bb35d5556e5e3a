// Parses rules that map tensor names to element types, and applies them.
#include "weights/type_rules.hpp"

#include <fmt/format.h>

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

/// Explains why a tensor of these extents cannot be stored in a type; empty if it can.
std::string_view why_unfit(DType dtype, std::span<const std::int64_t> shape) {
  if (is_float(dtype)) return "";
  if (shape.size() < 2) return "with fewer than two dimensions";
  return shape.back() % info(dtype).lanes == 0 ? "" : "with rows that are not whole blocks";
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
  const std::string_view types = has_pattern ? text.substr(equals + 1) : text;
  const auto slash = types.find('/');
  const auto dtype = target_type(types.substr(0, slash));
  if (!dtype) return std::nullopt;
  TypeRule rule{NamePattern(has_pattern ? text.substr(0, equals) : "*"), *dtype};
  if (slash != types.npos) {
    rule.other = target_type(types.substr(slash + 1));
    if (!rule.other) return std::nullopt;
  }
  return rule;
}

ChosenType chosen_type(std::span<const TypeRule> rules, std::string_view name, DType dtype,
                       std::span<const std::int64_t> shape) {
  const auto rule = std::find_if(rules.rbegin(), rules.rend(),
                                 [&](const TypeRule& each) { return each.pattern.matches(name); });
  if (rule == rules.rend()) return {dtype};
  const bool has_values = is_decodable_block(dtype) && check_blocks_fit(dtype, shape).ok();
  if (!is_float(dtype) && !has_values) return {dtype, "with values that cannot be rounded"};
  const std::string_view obstacle = why_unfit(rule->dtype, shape);
  if (obstacle.empty()) return {rule->dtype};
  if (rule->other && why_unfit(*rule->other, shape).empty()) return {*rule->other};
  return {dtype, obstacle};
}

void KeptTypes::add(std::string_view name, std::string_view reason) {
  auto group = std::ranges::find(groups_, reason, &Group::reason);
  if (group == groups_.end()) group = groups_.insert(group, {reason, 0, std::string(name)});
  ++group->count;
}

std::string KeptTypes::text(std::string_view noun) const {
  if (groups_.size() == 1) {
    const Group& all = groups_.front();
    return all.count == 1 ? fmt::format("{} '{}' {} keeps its type", noun, all.first, all.reason)
                          : fmt::format("{} {}s {} keep their types, such as '{}'", all.count, noun,
                                        all.reason, all.first);
  }
  std::size_t count = 0;
  std::string reasons;
  for (const Group& each : groups_) {
    count += each.count;
    reasons += reasons.empty() ? ": " : "; ";
    reasons += each.count == 1
                   ? fmt::format("'{}' {}", each.first, each.reason)
                   : fmt::format("{} {}, such as '{}'", each.count, each.reason, each.first);
  }
  return fmt::format("{} {}s keep their types{}", count, noun, reasons);
}

}  // namespace mir
