// Cause: A program calls a kernel with an axis that the tensor does not have, or with an option
// outside its range. In a module, verification refuses the attribute first (MIR0503, MIR0504).
//
// Fix: Pass an axis of the tensor.
#include <doctest/doctest.h>

#include <cstdint>

#include "kernels/ref/movement.hpp"

using namespace mir;

TEST_CASE("MIR0802: refused") {
  const float x[2] = {1, -2};
  float y[4] = {};
  const std::int64_t two[1] = {2}, four[1] = {4}, stride[1] = {1};
  const auto done =
      ref::repeat({DType::kFloat32, x, two, stride}, 1, 2, {DType::kFloat32, y, four, stride});
  REQUIRE_FALSE(done);
  CHECK(spelling(done.error().code) == "MIR0802");
  CHECK(done.error().message == "axis 1 of a tensor of rank 1");
}

TEST_CASE("MIR0802: accepted") {
  const float x[2] = {1, -2};
  float y[4] = {};
  const std::int64_t two[1] = {2}, four[1] = {4}, stride[1] = {1};
  CHECK(ref::repeat({DType::kFloat32, x, two, stride}, 0, 2, {DType::kFloat32, y, four, stride}));
}
