// Smallest and largest values of the integer types of at most 32 bits.
#include "support/integer_range.hpp"

namespace mir {

std::optional<IntegerRange> integer_range(DType dtype) {
  const DTypeInfo& row = info(dtype);
  const bool is_signed = row.type_class == DTypeClass::kSignedInt;
  if ((!is_signed && row.type_class != DTypeClass::kUnsignedInt) || row.unit_bytes > 4)
    return std::nullopt;
  const int bits = dtype == DType::kInt4 || dtype == DType::kUInt4 ? 4 : row.unit_bytes * 8;
  const std::int64_t count = std::int64_t{1} << bits;
  return is_signed ? IntegerRange{-count / 2, count / 2 - 1} : IntegerRange{0, count - 1};
}

}  // namespace mir
