// Tests types that are spelt as in other tools.
#include "support/foreign_types.hpp"

#include <doctest/doctest.h>

namespace mir {

TEST_CASE("element types of MLIR, PyTorch, safetensors and C are recognised in any case") {
  CHECK(dtype_from_other_tools("f32") == DType::kFloat32);
  CHECK(dtype_from_other_tools("F32") == DType::kFloat32);
  CHECK(dtype_from_other_tools("fp16") == DType::kFloat16);
  CHECK(dtype_from_other_tools("BF16") == DType::kBFloat16);
  CHECK(dtype_from_other_tools("F8_E4M3") == DType::kFloat8E4M3);
  CHECK(dtype_from_other_tools("long") == DType::kInt64);
  CHECK(dtype_from_other_tools("i1") == DType::kBool);
  CHECK(dtype_from_other_tools("f33") == std::nullopt);
  CHECK(dtype_from_other_tools("") == std::nullopt);
}

TEST_CASE("a shape of MLIR is found alone and in its type") {
  const auto spelling = [](std::string_view text) {
    const auto shape = shape_from_mlir(text);
    return shape ? std::string(shape->found) + " = " + shape->spelling : "";
  };
  CHECK(spelling("2x?xf32>") == "2x?xf32 = [2, ?], Float32");
  CHECK(spelling("f32") == "f32 = [], Float32");
  CHECK(spelling("memref<2xf32, 1>") == "2xf32 = [2], Float32");
  CHECK(spelling("vector<4x8xi8>") == "4x8xi8 = [4, 8], Int8");
  CHECK(spelling("float") == "");
  CHECK(spelling("2x") == "");
  CHECK(spelling("tensor<[2], Float32, CPU>") == "");
}

}  // namespace mir
