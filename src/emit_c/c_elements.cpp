// Writes element types, conversions and literals of C.
#include "emit_c/c_elements.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace mir::c {

namespace {

struct TypeRow {
  DType dtype;
  std::string_view storage;
  std::string_view widen;  ///< function from storage to double; empty: a cast, or nothing
  std::string_view store;  ///< function from double to storage
};
constexpr TypeRow kRows[] = {
    {DType::kFloat32, "float", "(double)", "mir_to_float32"},
    {DType::kFloat16, "uint16_t", "mir_of_float16", "mir_to_float16"},
    {DType::kBFloat16, "uint16_t", "mir_of_bfloat16", "mir_to_bfloat16"},
    {DType::kFloat64, "double", "", "mir_to_float64"},
    {DType::kFloat8E4M3, "uint8_t", "mir_of_float8_e4m3", "mir_to_float8_e4m3"},
    {DType::kFloat8E5M2, "uint8_t", "mir_of_float8_e5m2", "mir_to_float8_e5m2"},
    {DType::kInt8, "int8_t", "", ""},
    {DType::kInt16, "int16_t", "", ""},
    {DType::kInt32, "int32_t", "", ""},
    {DType::kInt64, "int64_t", "", ""},
    {DType::kUInt8, "uint8_t", "", ""},
    {DType::kUInt16, "uint16_t", "", ""},
    {DType::kUInt32, "uint32_t", "", ""},
    {DType::kUInt64, "uint64_t", "", ""},
    {DType::kBool, "uint8_t", "", ""},
};

const TypeRow* row_of(DType dtype) {
  for (const TypeRow& each : kRows) {
    if (each.dtype == dtype) return &each;
  }
  return nullptr;
}

template <class T>
T element(const Tensor& tensor, std::size_t at) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + at * sizeof(T), sizeof(T));
  return value;
}

std::string literal(double value, std::string_view suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return fmt::format("{:a}{}", value, suffix);
}

}  // namespace

std::optional<std::string_view> storage_type_of(DType dtype) {
  const TypeRow* row = row_of(dtype);
  return row == nullptr ? std::nullopt : std::optional(row->storage);
}

bool is_floating(DType dtype) {
  return info(dtype).type_class == DTypeClass::kFloat;
}

bool is_signed(DType dtype) {
  return info(dtype).type_class == DTypeClass::kSignedInt;
}

std::string_view number_type_of(DType dtype) {
  return is_floating(dtype) ? "double" : row_of(dtype)->storage;
}

std::string widened(DType dtype, std::string_view element) {
  if (dtype == DType::kBool) return fmt::format("(uint8_t)({} != 0)", element);
  const TypeRow& row = *row_of(dtype);
  if (row.widen.empty()) return std::string(element);
  return row.widen.ends_with(')') ? fmt::format("{}{}", row.widen, element)
                                  : fmt::format("{}({})", row.widen, element);
}

std::string stored(DType dtype, std::string_view number) {
  if (dtype == DType::kBool) return fmt::format("(uint8_t)(({}) != 0)", number);
  const TypeRow& row = *row_of(dtype);
  return row.store.empty() ? fmt::format("({})({})", row.storage, number)
                           : fmt::format("{}({})", row.store, number);
}

std::string join_text(LoopSum sum, bool is_float, std::string_view type, std::string_view a,
                      std::string_view b) {
  switch (sum) {
    case LoopSum::kAdd:
      return is_float ? fmt::format("{} + {}", a, b)
                      : fmt::format("({})((uint64_t){} + (uint64_t){})", type, a, b);
    case LoopSum::kMul:
      return is_float ? fmt::format("{} * {}", a, b)
                      : fmt::format("({})((uint64_t){} * (uint64_t){})", type, a, b);
    case LoopSum::kMax:
      return is_float ? fmt::format("mir_max({}, {})", a, b)
                      : fmt::format("{1} > {0} ? {1} : {0}", a, b);
    case LoopSum::kMin:
      return is_float ? fmt::format("mir_min({}, {})", a, b)
                      : fmt::format("{1} < {0} ? {1} : {0}", a, b);
    case LoopSum::kAnd:
      return fmt::format("{} != 0 && {} != 0", a, b);
    case LoopSum::kOr:
      return fmt::format("{} != 0 || {} != 0", a, b);
  }
  return "";
}

std::string element_literal(const Tensor& tensor, std::size_t at) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return literal(element<float>(tensor, at), "f");
    case DType::kFloat64:
      return literal(element<double>(tensor, at), "");
    case DType::kInt8:
      return fmt::to_string(int{element<std::int8_t>(tensor, at)});
    case DType::kInt16:
      return fmt::to_string(element<std::int16_t>(tensor, at));
    case DType::kInt32: {
      const std::int32_t value = element<std::int32_t>(tensor, at);
      return value == INT32_MIN ? "INT32_MIN" : fmt::to_string(value);
    }
    case DType::kInt64: {
      const std::int64_t value = element<std::int64_t>(tensor, at);
      return value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", value);
    }
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kUInt16:
      return fmt::to_string(element<std::uint16_t>(tensor, at));
    case DType::kUInt32:
      return fmt::format("{}u", element<std::uint32_t>(tensor, at));
    case DType::kUInt64:
      return fmt::format("UINT64_C({})", element<std::uint64_t>(tensor, at));
    default:
      return fmt::to_string(unsigned{element<std::uint8_t>(tensor, at)});
  }
}

std::string number_literal(const Tensor& tensor, std::size_t at) {
  const std::string text = element_literal(tensor, at);
  const std::string number =
      widened(tensor.dtype(), tensor.dtype() == DType::kFloat64 || !is_floating(tensor.dtype())
                                  ? text
                                  : fmt::format("({})", text));
  const bool is_plain = text.front() != '-' && tensor.dtype() == DType::kFloat64;
  return is_plain ? number : fmt::format("({})", number);
}

}  // namespace mir::c
