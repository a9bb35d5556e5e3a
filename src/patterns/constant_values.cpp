// Checks lists of numbers as elements of constants.
#include "patterns/constant_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "weights/elements.hpp"

namespace mir::patterns {

namespace {

bool is_element(const Attr& value) {
  constexpr std::array<std::string_view, 4> kWords = {"inf", "-inf", "nan", "-nan"};
  if (value.kind() == AttrKind::kString) {
    return std::ranges::find(kWords, value.text()) != kWords.end();
  }
  return value.kind() == AttrKind::kInt || value.kind() == AttrKind::kFloat ||
         value.kind() == AttrKind::kBool;
}

/// Explains why a number cannot be an element of the type; empty if it can.
std::string breach_of_element(DType dtype, const Attr& value) {
  const std::string_view spelling = value.spelling();
  if (!is_element(value)) return fmt::format("'{}' is no number", spelling);
  if (encode_element(dtype, spelling)) return {};
  const bool has_digits = spelling.find_first_of("0123456789") != spelling.npos;
  if (has_digits && is_float(storage_type(dtype))) {
    return fmt::format("'{}' is beyond the largest number; infinity is written inf", spelling);
  }
  return fmt::format("'{}' is not a value of type {}", spelling, name_of(dtype));
}

}  // namespace

std::string breach_of_values(const TensorType& type, const Attr& values) {
  if (values.kind() != AttrKind::kArray) return "a constant needs a list of values";
  const auto stated = static_cast<std::int64_t>(values.elements().size());
  const auto count = type.element_count();
  if (!count) return "the extents of a constant must be numbers";
  if (stated != 1 && stated != *count) {
    return fmt::format("{} values are stated, expected 1 or {}", stated, *count);
  }
  if (!type.dtype()) return {};  // which is reported
  if (!is_real(storage_type(*type.dtype()))) {
    return fmt::format("elements of type {} are no numbers", name_of(*type.dtype()));
  }
  for (const Attr* value : values.elements()) {
    if (std::string breach = breach_of_element(*type.dtype(), *value); !breach.empty())
      return breach;
  }
  return {};
}

}  // namespace mir::patterns
