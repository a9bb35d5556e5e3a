#include "upgrade/same_ids.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "ir/program_fields.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

constexpr std::string_view kUuid = "uuid=";
constexpr std::string_view kConstant = "constant_";

/// The number of `constant_<n>`; none for another symbol.
std::optional<std::int64_t> constant_id(std::string_view symbol) {
  if (!symbol.starts_with(kConstant)) return std::nullopt;
  symbol.remove_prefix(kConstant.size());
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), id);
  const bool whole = error == std::errc() && end == symbol.data() + symbol.size();
  return whole ? std::optional(id) : std::nullopt;
}

bool holds_specs(const Attr& attribute) {
  return attribute.kind() == AttrKind::kQuantSpec || attribute.kind() == AttrKind::kQuantAnnotation;
}

}  // namespace

std::string without_id(std::string_view symbol) {
  return std::string(constant_id(symbol) ? kConstant : symbol);
}

bool SameIds::pair_symbols(std::string_view before, std::string_view after) {
  const auto one = constant_id(before), other = constant_id(after);
  return one && other ? storages_.pair(*one, *other) : before == after;
}

std::string without_ids(const Attr* attribute) {
  if (attribute->kind() == AttrKind::kString) return without_id(attribute->text());
  std::string text(attribute->spelling());
  if (!holds_specs(*attribute)) return text;
  for (auto at = text.find(kUuid); at != text.npos; at = text.find(kUuid, at)) {
    at += kUuid.size();
    const auto end = text.find_first_not_of("0123456789", at);
    text.erase(at, std::min(end, text.size()) - at);
  }
  return text;
}

bool SameIds::pair_storages(ValueName before, ValueName after) {
  if (before.is_none() || after.is_none()) return true;
  if (!before.is_number() || !after.is_number()) return true;
  return storages_.pair(before.number(), after.number());
}

bool SameIds::are_alike(std::string_view key, const Attr& before, const Attr& after) {
  if (&before == &after && key != program_field::kProgramUuid) return true;
  const bool number = before.kind() == AttrKind::kInt && after.kind() == AttrKind::kInt;
  if (key == program_field::kProgramUuid && number)
    return storages_.pair(before.integer(), after.integer());
  if (before.kind() == AttrKind::kString && after.kind() == AttrKind::kString) {
    return before.is_quoted() == after.is_quoted() && pair_symbols(before.text(), after.text());
  }
  if (!holds_specs(before) || before.kind() != after.kind()) return false;
  return without_ids(&before) == without_ids(&after) && are_alike(before, after);
}

bool SameIds::are_alike(const Attr& before, const Attr& after) {
  if (before.kind() == AttrKind::kQuantSpec) {
    const auto one = read_quant_spec(before).uuid, other = read_quant_spec(after).uuid;
    return one && other ? specs_.pair(*one, *other) : one == other;
  }
  if (before.kind() != AttrKind::kQuantAnnotation) return &before == &after;
  for (std::size_t i = 0; i < before.entries().size(); ++i) {
    const Attr *one = before.entries()[i].value, *other = after.entries()[i].value;
    if (one != nullptr && other != nullptr && !are_alike(*one, *other)) return false;
  }
  return true;
}

}  // namespace mir
