// Reads arrays of GGUF metadata, whose bytes were checked when the header was read.
#include "weights/formats/gguf_values.hpp"

#include "support/memory_size.hpp"
#include "weights/byte_cursor.hpp"

namespace mir {
namespace {

struct GgufArray {
  GgufValueType type{};
  std::uint64_t count = 0;
  ByteCursor items;
};

std::optional<GgufArray> array_of(const GgufMetadata& pair) {
  if (pair.type != GgufValueType::kArray) return std::nullopt;
  ByteCursor cursor(pair.value);
  const auto type = static_cast<GgufValueType>(cursor.read<std::uint32_t>());
  const auto count = cursor.read<std::uint64_t>();
  return GgufArray{type, count, cursor};
}

template <class T>
std::vector<double> numbers_of(GgufArray& array) {
  std::vector<double> numbers;
  numbers.reserve(memory_size(array.count));
  for (std::uint64_t i = 0; i < array.count; ++i)
    numbers.push_back(static_cast<double>(array.items.read<T>()));
  return numbers;
}

}  // namespace

std::optional<std::vector<std::string_view>> gguf_strings(const GgufMetadata& pair) {
  auto array = array_of(pair);
  if (!array || array->type != GgufValueType::kString) return std::nullopt;
  std::vector<std::string_view> strings;
  for (std::uint64_t i = 0; i < array->count; ++i)
    strings.push_back(array->items.text(array->items.read<std::uint64_t>()));
  return strings;
}

std::optional<std::vector<double>> gguf_numbers(const GgufMetadata& pair) {
  auto array = array_of(pair);
  if (!array) return std::nullopt;
  switch (array->type) {
    case GgufValueType::kUInt8:
      return numbers_of<std::uint8_t>(*array);
    case GgufValueType::kInt8:
      return numbers_of<std::int8_t>(*array);
    case GgufValueType::kUInt16:
      return numbers_of<std::uint16_t>(*array);
    case GgufValueType::kInt16:
      return numbers_of<std::int16_t>(*array);
    case GgufValueType::kUInt32:
      return numbers_of<std::uint32_t>(*array);
    case GgufValueType::kInt32:
      return numbers_of<std::int32_t>(*array);
    case GgufValueType::kUInt64:
      return numbers_of<std::uint64_t>(*array);
    case GgufValueType::kInt64:
      return numbers_of<std::int64_t>(*array);
    case GgufValueType::kFloat32:
      return numbers_of<float>(*array);
    case GgufValueType::kFloat64:
      return numbers_of<double>(*array);
    default:
      return std::nullopt;
  }
}

std::optional<bool> gguf_bool(const GgufMetadata& pair) {
  if (pair.type != GgufValueType::kBool) return std::nullopt;
  return ByteCursor(pair.value).read<std::uint8_t>() != 0;
}

std::optional<std::string_view> gguf_bytes(const GgufMetadata& pair) {
  auto array = array_of(pair);
  const bool is_bytes =
      array && (array->type == GgufValueType::kUInt8 || array->type == GgufValueType::kInt8);
  if (!is_bytes) return std::nullopt;
  return array->items.text(array->count);
}

}  // namespace mir
