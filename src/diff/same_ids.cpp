// Pairs ids of storages and quantisation specs as they are first met, and compares attributes.
#include "diff/same_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

constexpr std::string_view kUuid = "uuid=";
constexpr std::string_view kConstant = "constant_";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns the number of `constant_<n>`; no value for another symbol.
std::optional<std::string_view> constant_id(std::string_view symbol) {
  if (!symbol.starts_with(kConstant)) return std::nullopt;
  symbol.remove_prefix(kConstant.size());
  return is_number(symbol) ? std::optional(symbol) : std::nullopt;
}

bool holds_specs(const Attr& attribute) {
  return attribute.kind() == AttrKind::kQuantSpec || attribute.kind() == AttrKind::kQuantAnnotation;
}

struct SplitSpec {
  std::string rest;
  std::vector<std::string_view> ids;
};

/// A specification or annotation and the uuids that were in it.
SplitSpec split(std::string_view spelling) {
  SplitSpec split;
  for (;;) {
    const std::size_t at = spelling.find(kUuid);
    if (at == spelling.npos) break;
    const std::size_t begin = at + kUuid.size();
    split.rest += spelling.substr(0, begin);
    spelling.remove_prefix(begin);
    const auto end = std::min(spelling.find_first_not_of("0123456789"), spelling.size());
    split.ids.push_back(spelling.substr(0, end));
    spelling.remove_prefix(end);
  }
  split.rest += spelling;
  return split;
}

}  // namespace

bool PairedIds::pair(std::string_view before, std::string_view after) {
  const Symbol one = ids_.intern(before), other = ids_.intern(after);
  auto &to = forth_.of(one), &from = back_.of(other);
  if (to || from) return to == other;
  to = other;
  from = one;
  return true;
}

void PairedIds::pair_anew(std::string_view before, std::string_view after) {
  const Symbol one = ids_.intern(before), other = ids_.intern(after);
  auto &to = forth_.of(one), &from = back_.of(other);
  if (to) back_.of(*to).reset();
  if (from) forth_.of(*from).reset();
  forth_.of(one) = other;
  back_.of(other) = one;
}

bool SameIds::may_hold_ids(const NamedAttr& attribute) const {
  if (attribute.value == nullptr) return true;
  return holds_specs(*attribute.value) || attribute.key == key::kProgramUuid ||
         (dumps_ && attribute.key == key::kSymbol);
}

/// Words apart from numbers.
std::string SameIds::id_of(ValueName name) const {
  return name.is_number() ? fmt::to_string(name.number())
                          : fmt::format("%{}", context_.text(name.symbol()));
}

bool SameIds::pair_storages(ValueName before, ValueName after) {
  if (!dumps_ || before.is_none() || after.is_none()) return true;
  const std::string one = id_of(before), other = id_of(after);
  if (storages_.pair(one, other)) return true;
  storages_.pair_anew(one, other);
  return false;
}

bool SameIds::pair_symbols(std::string_view before, std::string_view after) {
  const auto one = constant_id(before), other = constant_id(after);
  return dumps_ && one && other ? storages_.pair(*one, *other) : before == after;
}

bool SameIds::are_alike(std::string_view key, const Attr& before, const Attr& after) {
  if (key == key::kProgramUuid && is_number(before.spelling()) && is_number(after.spelling())) {
    return storages_.pair(before.spelling(), after.spelling());
  }
  if (before.kind() != after.kind()) return false;
  if (key == key::kSymbol && before.kind() == AttrKind::kString) {
    const bool quoted = before.is_quoted() || after.is_quoted();
    return quoted ? &before == &after : pair_symbols(before.text(), after.text());
  }
  if (!holds_specs(before)) return &before == &after;
  const SplitSpec one = split(before.spelling()), other = split(after.spelling());
  bool alike = one.rest == other.rest;
  for (std::size_t i = 0; alike && i < one.ids.size(); ++i) {
    alike = specs_.pair(one.ids[i], other.ids[i]);
  }
  return alike;
}

std::string without_id(std::string_view symbol) {
  return std::string(constant_id(symbol) ? kConstant : symbol);
}

std::string without_ids(const Attr* attribute) {
  if (attribute->kind() == AttrKind::kString) return without_id(attribute->text());
  return holds_specs(*attribute) ? split(attribute->spelling()).rest
                                 : std::string(attribute->spelling());
}

}  // namespace mir
