// The table of element types: spellings, storage types, sizes and conversions from names.
#include <algorithm>
#include <array>
#include <limits>

#include "mir/tensor.hpp"

namespace mir {

namespace {

using enum DTypeClass;

constexpr DTypeInfo kTable[] = {
    {DType::kFloat32, "Float32", kFloat, 1, 4},
    {DType::kFloat16, "Float16", kFloat, 1, 2},
    {DType::kBFloat16, "BFloat16", kFloat, 1, 2},
    {DType::kFloat64, "Float64", kFloat, 1, 8},
    {DType::kInt8, "Int8", kSignedInt, 1, 1},
    {DType::kInt16, "Int16", kSignedInt, 1, 2},
    {DType::kInt32, "Int32", kSignedInt, 1, 4},
    {DType::kInt64, "Int64", kSignedInt, 1, 8},
    {DType::kUInt8, "UInt8", kUnsignedInt, 1, 1},
    {DType::kUInt16, "UInt16", kUnsignedInt, 1, 2},
    {DType::kUInt32, "UInt32", kUnsignedInt, 1, 4},
    {DType::kUInt64, "UInt64", kUnsignedInt, 1, 8},
    {DType::kBool, "Bool", kBool, 1, 1},
    {DType::kInt4, "Int4", kSignedInt, 1, 1},
    {DType::kUInt4, "UInt4", kUnsignedInt, 1, 1},
    {DType::kFloat8E4M3, "Float8E4M3", kFloat, 1, 1},
    {DType::kFloat8E5M2, "Float8E5M2", kFloat, 1, 1},
    {DType::kMXFP4, "MXFP4", kBlock, 32, 17},
    {DType::kComplexFP32, "ComplexFP32", kComplex, 1, 8},
    {DType::kComplexFP64, "ComplexFP64", kComplex, 1, 16},
    {DType::kByte, "Byte", kBytes, 1, 1},
    {DType::kInt8PerTensor, "Int8PerTensor", kQuantised, 1, 1},
    {DType::kInt8PerChannel, "Int8PerChannel", kQuantised, 1, 1},
    {DType::kUInt8PerTensor, "UInt8PerTensor", kQuantised, 1, 1},
    {DType::kUInt8PerChannel, "UInt8PerChannel", kQuantised, 1, 1},
    {DType::kInt16PerTensor, "Int16PerTensor", kQuantised, 1, 2},
    {DType::kInt16PerChannel, "Int16PerChannel", kQuantised, 1, 2},
    {DType::kUInt16PerTensor, "UInt16PerTensor", kQuantised, 1, 2},
    {DType::kUInt16PerTensorAsym, "UInt16PerTensorAsym", kQuantised, 1, 2},
    {DType::kUInt16PerChannel, "UInt16PerChannel", kQuantised, 1, 2},
    {DType::kGgufQ4_0, "GGUF_Q4_0", kBlock, 32, 18},
    {DType::kGgufQ4_1, "GGUF_Q4_1", kBlock, 32, 20},
    {DType::kGgufQ5_0, "GGUF_Q5_0", kBlock, 32, 22},
    {DType::kGgufQ5_1, "GGUF_Q5_1", kBlock, 32, 24},
    {DType::kGgufQ8_0, "GGUF_Q8_0", kBlock, 32, 34},
    {DType::kGgufQ8PerTensor, "GGUF_Q8_Per_Tensor", kBlock, 32, 32},
    {DType::kGgufQ2K, "GGUF_Q2_K", kBlock, 256, 84},
    {DType::kGgufQ3K, "GGUF_Q3_K", kBlock, 256, 110},
    {DType::kGgufQ4K, "GGUF_Q4_K", kBlock, 256, 144},
    {DType::kGgufQ5K, "GGUF_Q5_K", kBlock, 256, 176},
    {DType::kGgufQ6K, "GGUF_Q6_K", kBlock, 256, 210},
    {DType::kGgufQ8K, "GGUF_Q8_K", kBlock, 256, 292},
    {DType::kGgufIQ2XXS, "GGUF_IQ2_XXS", kBlock, 256, 66},
    {DType::kGgufQ4_0x4, "GGUF_Q4_0x4", kBlock, 128, 72},
    {DType::kGgufQ4_0x8, "GGUF_Q4_0x8", kBlock, 256, 144},
    {DType::kGgufQ8_0x4, "GGUF_Q8_0x4", kBlock, 128, 136},
    {DType::kMirQ4A32, "MIR_Q4_A32", kBlock, 32, 24},
};

struct Spelling {
  std::string_view text;
  DType dtype;
};

/// Enumerators whose text after the `k` is not the portable spelling.
constexpr Spelling kAliases[] = {
    {"kFp16", DType::kFloat16},
    {"kFp32", DType::kFloat32},
    {"kFp64", DType::kFloat64},
    {"kComplexFloat32", DType::kComplexFP32},
    {"kComplexFloat64", DType::kComplexFP64},
    {"kInt8PerTensorSym", DType::kInt8PerTensor},
    {"kInt8PerChannelSym", DType::kInt8PerChannel},
    {"kUInt8PerTensorSym", DType::kUInt8PerTensor},
    {"kUInt8PerChannelSym", DType::kUInt8PerChannel},
    {"kInt16PerTensorSym", DType::kInt16PerTensor},
    {"kInt16PerChannelSym", DType::kInt16PerChannel},
    {"kUInt16PerTensorSym", DType::kUInt16PerTensor},
    {"kUInt16PerTensorAsy", DType::kUInt16PerTensorAsym},
    {"kUInt16PerChannelSym", DType::kUInt16PerChannel},
    {"kGGUF_Q8_Pertensor", DType::kGgufQ8PerTensor},
    {"kGGUF_Q4_0_4_4", DType::kGgufQ4_0x4},
    {"kGGUF_Q4_0_4_8", DType::kGgufQ4_0x8},
    {"kGGUF_Q8_0_4_4", DType::kGgufQ8_0x4},
};

constexpr auto kSpellings = [] {
  std::array<Spelling, std::size(kTable) + std::size(kAliases)> all{};
  auto* next = all.data();
  for (const DTypeInfo& row : kTable) *next++ = {row.name, row.dtype};
  for (const Spelling& alias : kAliases) *next++ = alias;
  std::ranges::sort(all, {}, &Spelling::text);
  return all;
}();

static_assert(std::ranges::adjacent_find(kSpellings, {}, &Spelling::text) == kSpellings.end(),
              "each spelling names one type");

constexpr bool kInEnumeratorOrder = [] {
  for (std::size_t i = 0; i < std::size(kTable); ++i) {
    if (static_cast<std::size_t>(kTable[i].dtype) != i) return false;
  }
  return true;
}();
static_assert(kInEnumeratorOrder, "info() indexes the table by enumerator");

std::optional<DType> exact(std::string_view text) {
  const auto at = std::ranges::lower_bound(kSpellings, text, {}, &Spelling::text);
  if (at == kSpellings.end() || at->text != text) return std::nullopt;
  return at->dtype;
}

}  // namespace

std::span<const DTypeInfo> dtype_table() {
  return kTable;
}

const DTypeInfo& info(DType dtype) {
  return kTable[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  if (const auto dtype = exact(name)) return dtype;
  return name.starts_with('k') && !name.starts_with("kk") ? exact(name.substr(1)) : std::nullopt;
}

DType storage_type(DType dtype) {
  switch (dtype) {
    case DType::kByte:
    case DType::kUInt8PerTensor:
    case DType::kUInt8PerChannel:
      return DType::kUInt8;
    case DType::kInt8PerTensor:
    case DType::kInt8PerChannel:
      return DType::kInt8;
    case DType::kInt16PerTensor:
    case DType::kInt16PerChannel:
      return DType::kInt16;
    case DType::kUInt16PerTensor:
    case DType::kUInt16PerTensorAsym:
    case DType::kUInt16PerChannel:
      return DType::kUInt16;
    default:
      return dtype;
  }
}

bool is_upstream_type(DType dtype) {
  return dtype < DType::kMirQ4A32;
}

std::optional<std::uint64_t> storage_bytes(DType dtype, std::uint64_t elements) {
  const DTypeInfo& row = info(dtype);
  if (elements % row.lanes != 0) return std::nullopt;
  const std::uint64_t units = elements / row.lanes;
  if (units > std::numeric_limits<std::uint64_t>::max() / row.unit_bytes) return std::nullopt;
  return units * row.unit_bytes;
}

}  // namespace mir
