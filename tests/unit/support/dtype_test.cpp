#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "mir/tensor.hpp"

using mir::DType;
using mir::dtype_from_name;
using mir::storage_bytes;

TEST_CASE("every portable spelling and its k-alias name exactly their type") {
  for (const auto& row : mir::dtype_table()) {
    CAPTURE(row.name);
    CHECK(dtype_from_name(row.name) == row.dtype);
    CHECK(dtype_from_name("k" + std::string(row.name)) == row.dtype);
    CHECK(&mir::info(row.dtype) == &row);
  }
}

TEST_CASE("enumerators whose spelling differs are understood") {
  CHECK(dtype_from_name("kFp32") == DType::kFloat32);
  CHECK(dtype_from_name("kFp16") == DType::kFloat16);
  CHECK(dtype_from_name("kUInt16PerTensorAsy") == DType::kUInt16PerTensorAsym);
  CHECK(dtype_from_name("kComplexFloat32") == DType::kComplexFP32);
  CHECK(dtype_from_name("kGGUF_Q4_0_4_8") == DType::kGgufQ4_0x8);
}

TEST_CASE("every type but those of this toolkit alone is upstream's") {
  for (const auto& row : mir::dtype_table())
    CHECK(mir::is_upstream_type(row.dtype) == !row.name.starts_with("MIR_"));
  CHECK(dtype_from_name("MIR_Q4_A32") == DType::kMirQ4A32);
}

TEST_CASE("no other text names a type") {
  for (const char* text : {"", "k", "float32", "Float", "Float320", "kkFp32", "kkFloat32", "Fp32",
                           "Int8PerTensorSym", "GGUF_Q1_K", "Unknow"}) {
    CAPTURE(text);
    CHECK_FALSE(dtype_from_name(text));
  }
}

TEST_CASE("storage is whole units") {
  CHECK(storage_bytes(DType::kFloat32, 3) == 12);
  CHECK(storage_bytes(DType::kInt4, 3) == 3);
  CHECK(storage_bytes(DType::kComplexFP64, 2) == 32);
  CHECK(storage_bytes(DType::kMXFP4, 64) == 34);
  CHECK(storage_bytes(DType::kGgufQ6K, 512) == 420);
  CHECK(storage_bytes(DType::kGgufQ4K, 0) == 0);
  CHECK_FALSE(storage_bytes(DType::kGgufQ4K, 255));
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(storage_bytes(DType::kFloat64, kMost / 8) == kMost / 8 * 8);
  CHECK_FALSE(storage_bytes(DType::kFloat64, kMost / 8 + 1));
}
