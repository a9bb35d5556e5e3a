// Cause: The shape of a tensor does not match its memory: the number of bytes differs, the memory
// is not aligned for the elements, an extent is negative, or a block is incomplete.
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
