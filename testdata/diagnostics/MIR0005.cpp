// Cause: The shape of a tensor and its memory do not fit each other: another number of bytes,
// memory that is not aligned for the elements, a negative extent, or blocks that are not full.
//
// Fix: Compute the extents and the memory from the same source.
#include <doctest/doctest.h>

#include <utility>

#include "mir/tensor.hpp"

using namespace mir;

TEST_CASE("MIR0005: refused") {
  const auto tensor = Tensor::allocate(DType::kFloat32, {2, 3});
  REQUIRE(tensor);
  const auto viewed = tensor->reshaped({4});
  REQUIRE_FALSE(viewed);
  CHECK(spelling(viewed.error().code) == "MIR0005");
  CHECK(viewed.error().message == "shape [4] has 4 elements, expected 6");
}

TEST_CASE("MIR0005: accepted") {
  const auto tensor = Tensor::allocate(DType::kFloat32, {2, 3});
  REQUIRE(tensor);
  CHECK(tensor->reshaped({6}));
}
