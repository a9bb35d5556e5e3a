// Reads types as MLIR spells them, for hints.
#include "support/foreign_types.hpp"

#include <algorithm>
#include <utility>

#include "support/characters.hpp"

namespace mir {

namespace {

constexpr std::pair<std::string_view, DType> kNames[] = {
    {"f16", DType::kFloat16}, {"bf16", DType::kBFloat16}, {"f32", DType::kFloat32},
    {"f64", DType::kFloat64}, {"i1", DType::kBool},       {"i8", DType::kInt8},
    {"i16", DType::kInt16},   {"i32", DType::kInt32},     {"i64", DType::kInt64},
    {"si8", DType::kInt8},    {"si16", DType::kInt16},    {"si32", DType::kInt32},
    {"si64", DType::kInt64},  {"ui8", DType::kUInt8},     {"ui16", DType::kUInt16},
    {"ui32", DType::kUInt32}, {"ui64", DType::kUInt64},
};

bool is_part(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '?';
}

}  // namespace

std::optional<DType> dtype_from_mlir(std::string_view name) {
  const auto* const found =
      std::ranges::find(kNames, name, &std::pair<std::string_view, DType>::first);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->second);
}

std::optional<ForeignShape> shape_from_mlir(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  text = text.substr(0, kLongest);
  const auto* const end = std::ranges::find_if_not(text, is_part);
  ForeignShape shape{text.substr(0, static_cast<std::size_t>(end - text.begin())), "["};
  std::string_view rest = shape.found;
  while (!rest.empty() && (is_digit(rest.front()) || rest.front() == '?')) {
    const std::size_t at = rest.find('x');
    if (at == rest.npos) return std::nullopt;
    const std::string_view extent = rest.substr(0, at);
    if (extent != "?" && !std::ranges::all_of(extent, is_digit)) return std::nullopt;
    if (shape.spelling.size() > 1) shape.spelling += ", ";
    shape.spelling += extent;
    rest.remove_prefix(at + 1);
  }
  const auto dtype = dtype_from_mlir(rest);
  if (!dtype) return std::nullopt;
  shape.spelling += "], ";
  shape.spelling += name_of(*dtype);
  return shape;
}

}  // namespace mir
