// Opens GGUF files, and maps their type numbers and metadata values.
#include "weights/formats/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "mir/codes/weights.hpp"
#include "weights/byte_cursor.hpp"
#include "weights/checks.hpp"
#include "weights/formats/gguf_header.hpp"

namespace mir {
namespace {

struct GgufType {
  std::uint32_t id;
  DType dtype;
};

constexpr GgufType kGgufTypes[] = {
    {0, DType::kFloat32},  {1, DType::kFloat16},     {2, DType::kGgufQ4_0}, {3, DType::kGgufQ4_1},
    {6, DType::kGgufQ5_0}, {7, DType::kGgufQ5_1},    {8, DType::kGgufQ8_0}, {10, DType::kGgufQ2K},
    {11, DType::kGgufQ3K}, {12, DType::kGgufQ4K},    {13, DType::kGgufQ5K}, {14, DType::kGgufQ6K},
    {15, DType::kGgufQ8K}, {16, DType::kGgufIQ2XXS}, {24, DType::kInt8},    {25, DType::kInt16},
    {26, DType::kInt32},   {27, DType::kInt64},      {28, DType::kFloat64}, {30, DType::kBFloat16},
};

std::string_view name_of(GgufValueType type) {
  static constexpr std::string_view kNames[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                                "int32",  "float32", "bool",   "string", "array",
                                                "uint64", "int64",   "float64"};
  return kNames[static_cast<std::size_t>(type)];
}

}  // namespace

std::optional<DType> dtype_from_gguf(std::uint32_t id) {
  for (const auto& row : kGgufTypes) {
    if (row.id == id) return row.dtype;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> gguf_dtype_id(DType dtype) {
  for (const auto& row : kGgufTypes) {
    if (row.dtype == dtype) return row.id;
  }
  return std::nullopt;
}

std::string unread_gguf_type(std::uint32_t id) {
  struct Name {
    std::uint32_t id;
    std::string_view text;
  };
  static constexpr Name kNames[] = {
      {9, "Q8_1"},   {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},
      {22, "IQ2_S"}, {23, "IQ4_XS"}, {29, "IQ1_M"},   {34, "TQ1_0"}, {35, "TQ2_0"},  {39, "MXFP4"},
  };
  const auto* const found = std::ranges::find(kNames, id, &Name::id);
  return found == std::end(kNames) ? fmt::format("number {}", id) : std::string(found->text);
}

std::string GgufMetadata::text() const {
  ByteCursor cursor(value);
  switch (type) {
    case GgufValueType::kUInt8:
      return fmt::format("{}", cursor.read<std::uint8_t>());
    case GgufValueType::kInt8:
      return fmt::format("{}", cursor.read<std::int8_t>());
    case GgufValueType::kUInt16:
      return fmt::format("{}", cursor.read<std::uint16_t>());
    case GgufValueType::kInt16:
      return fmt::format("{}", cursor.read<std::int16_t>());
    case GgufValueType::kUInt32:
      return fmt::format("{}", cursor.read<std::uint32_t>());
    case GgufValueType::kInt32:
      return fmt::format("{}", cursor.read<std::int32_t>());
    case GgufValueType::kFloat32:
      return fmt::format("{}", cursor.read<float>());
    case GgufValueType::kBool:
      return cursor.read<std::uint8_t>() != 0 ? "true" : "false";
    case GgufValueType::kString:
      return quoted_text(*string());
    case GgufValueType::kArray: {
      const auto element = static_cast<GgufValueType>(cursor.read<std::uint32_t>());
      return fmt::format("{}[{}]", name_of(element), cursor.read<std::uint64_t>());
    }
    case GgufValueType::kUInt64:
      return fmt::format("{}", cursor.read<std::uint64_t>());
    case GgufValueType::kInt64:
      return fmt::format("{}", cursor.read<std::int64_t>());
    case GgufValueType::kFloat64:
      return fmt::format("{}", cursor.read<double>());
  }
  return {};
}

std::optional<std::string_view> GgufMetadata::string() const {
  if (type != GgufValueType::kString) return std::nullopt;
  ByteCursor cursor(value);
  return cursor.text(cursor.read<std::uint64_t>());
}

std::optional<std::int64_t> GgufMetadata::integer() const {
  ByteCursor cursor(value);
  switch (type) {
    case GgufValueType::kUInt8:
      return cursor.read<std::uint8_t>();
    case GgufValueType::kInt8:
      return cursor.read<std::int8_t>();
    case GgufValueType::kUInt16:
      return cursor.read<std::uint16_t>();
    case GgufValueType::kInt16:
      return cursor.read<std::int16_t>();
    case GgufValueType::kUInt32:
      return cursor.read<std::uint32_t>();
    case GgufValueType::kInt32:
      return cursor.read<std::int32_t>();
    case GgufValueType::kInt64:
      return cursor.read<std::int64_t>();
    case GgufValueType::kUInt64: {
      const auto number = cursor.read<std::uint64_t>();
      if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Result<GgufFile> GgufFile::open(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  return parse(*std::move(file));
}

Result<GgufFile> GgufFile::parse(FileBytes file) {
  const auto refuse = [&](std::string_view text) {
    return Error{diag::kGgufMalformed, fmt::format("'{}': {}", file.origin, text)};
  };
  if (ByteCursor(file.bytes).text(4) != "GGUF")
    return refuse("the first four bytes are not 'GGUF'");
  auto header = parse_gguf_header(file.bytes);
  if (!header) return refuse(header.error().message);
  // Some writers fill up the last tensor as they do the others.
  auto tensors = MappedTensors::index(std::move(file), std::move(header->tensors),
                                      {.data_begin = header->data_begin,
                                       .padding = header->alignment - 1,
                                       .malformed = diag::kGgufMalformed});
  if (!tensors) return std::move(tensors).error();
  return GgufFile(*std::move(tensors), std::move(header->metadata));
}

}  // namespace mir
