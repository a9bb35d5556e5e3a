// Element types: one row each, with the spelling that text uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mir {

/// Known element types. Portable text spells each one differently; a name that is not known stays
/// a name (see TensorType) and is never guessed.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
  kInt4,
  kUInt4,
  kFloat8E4M3,
  kFloat8E5M2,
  kMXFP4,
  kComplexFP32,
  kComplexFP64,
  kByte,  ///< opaque packed bytes; dumps print it as UInt8
  kInt8PerTensor,
  kInt8PerChannel,
  kUInt8PerTensor,
  kUInt8PerChannel,
  kInt16PerTensor,
  kInt16PerChannel,
  kUInt16PerTensor,      ///< symmetric
  kUInt16PerTensorAsym,  ///< dumps print it as UInt16PerTensor too
  kUInt16PerChannel,
  kGgufQ4_0,
  kGgufQ4_1,
  kGgufQ5_0,
  kGgufQ5_1,
  kGgufQ8_0,
  kGgufQ8PerTensor,
  kGgufQ2K,
  kGgufQ3K,
  kGgufQ4K,
  kGgufQ5K,
  kGgufQ6K,
  kGgufQ8K,
  kGgufIQ2XXS,
  kGgufQ4_0x4,
  kGgufQ4_0x8,
  kGgufQ8_0x4,
  kMirQ4A32,  ///< no type of upstream's: dumps and programs cannot state it
};

enum class DTypeClass : std::uint8_t {
  kFloat,
  kSignedInt,
  kUnsignedInt,
  kBool,
  kComplex,
  kBytes,
  kQuantised,
  kBlock
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< portable spelling
  DTypeClass type_class;
  std::uint16_t lanes;       ///< elements of one storage unit along the last axis
  std::uint16_t unit_bytes;  ///< bytes of one storage unit, little-endian
};

/// Every row, in enumerator order.
std::span<const DTypeInfo> dtype_table();
const DTypeInfo& info(DType dtype);
inline std::string_view name_of(DType dtype) {
  return info(dtype).name;
}

/// The type a portable spelling, a dump spelling or a `k...` enumerator alias (`kFp32`, `kInt64`)
/// names; none for any other text.
std::optional<DType> dtype_from_name(std::string_view name);

/// The plain type whose bytes an opaque or per-tensor/per-channel quantised type uses (`UInt8` for
/// packed bytes, `Int16` for Int16PerChannel); any other type is its own storage type. File formats
/// without quantised types store this one.
DType storage_type(DType dtype);

/// False for types that are this toolkit's own: no dump, program or parameter file of upstream's
/// has them.
bool is_upstream_type(DType dtype);

/// Storage of `elements` consecutive elements; none when they do not fill whole units or the
/// product overflows.
std::optional<std::uint64_t> storage_bytes(DType dtype, std::uint64_t elements);

}  // namespace mir
