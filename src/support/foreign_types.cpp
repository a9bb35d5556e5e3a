// Reads types as MLIR and other tools spell them, for hints.
#include "support/foreign_types.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "support/characters.hpp"

namespace mir {

namespace {

using Name = std::pair<std::string_view, DType>;

constexpr Name kNamesOfMlir[] = {
    {"f16", DType::kFloat16}, {"bf16", DType::kBFloat16}, {"f32", DType::kFloat32},
    {"f64", DType::kFloat64}, {"i1", DType::kBool},       {"i8", DType::kInt8},
    {"i16", DType::kInt16},   {"i32", DType::kInt32},     {"i64", DType::kInt64},
    {"si8", DType::kInt8},    {"si16", DType::kInt16},    {"si32", DType::kInt32},
    {"si64", DType::kInt64},  {"ui8", DType::kUInt8},     {"ui16", DType::kUInt16},
    {"ui32", DType::kUInt32}, {"ui64", DType::kUInt64},
};

constexpr Name kOtherNames[] = {
    {"fp16", DType::kFloat16},
    {"half", DType::kFloat16},
    {"fp32", DType::kFloat32},
    {"float", DType::kFloat32},
    {"single", DType::kFloat32},
    {"fp64", DType::kFloat64},
    {"double", DType::kFloat64},
    {"bfloat", DType::kBFloat16},
    {"u8", DType::kUInt8},
    {"u16", DType::kUInt16},
    {"u32", DType::kUInt32},
    {"u64", DType::kUInt64},
    {"i4", DType::kInt4},
    {"u4", DType::kUInt4},
    {"short", DType::kInt16},
    {"int", DType::kInt32},
    {"long", DType::kInt64},
    {"boolean", DType::kBool},
    {"f8e4m3", DType::kFloat8E4M3},
    {"f8e4m3fn", DType::kFloat8E4M3},
    {"f8e5m2", DType::kFloat8E5M2},
    {"float8_e4m3fn", DType::kFloat8E4M3},
    {"f8_e4m3", DType::kFloat8E4M3},
    {"f8_e5m2", DType::kFloat8E5M2},
};

std::optional<DType> find_name(std::span<const Name> names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &Name::first);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

bool is_part(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '?';
}

}  // namespace

std::optional<DType> dtype_from_other_tools(std::string_view name) {
  const std::string lower = lower_case(name);
  const auto found = find_name(kNamesOfMlir, lower);
  return found ? found : find_name(kOtherNames, lower);
}

std::optional<ForeignShape> shape_from_mlir(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  for (const std::string_view word : {"memref<", "vector<", "tensor<"}) {
    if (text.starts_with(word)) text.remove_prefix(word.size());
  }
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
  const auto dtype = find_name(kNamesOfMlir, rest);
  if (!dtype) return std::nullopt;
  shape.spelling += "], ";
  shape.spelling += name_of(*dtype);
  return shape;
}

}  // namespace mir
