// Cause: A program calls a kernel with an element type that the kernel does not support. In a
// module, verification refuses the type first (MIR0502).
//
// Fix: Convert the tensor first.
#include <doctest/doctest.h>

#include <cstdint>

#include "kernels/ref/movement.hpp"

using namespace mir;

TEST_CASE("MIR0800: refused") {
  const float x[2] = {1, -2};
  std::int32_t y[2] = {};
  const std::int64_t two[1] = {2}, stride[1] = {1};
  const auto done = ref::copy({DType::kFloat32, x, two, stride}, {DType::kInt32, y, two, stride});
  REQUIRE_FALSE(done);
  CHECK(spelling(done.error().code) == "MIR0800");
  CHECK(done.error().message == "copy: element types 'Float32' and 'Int32' differ");
}

TEST_CASE("MIR0800: accepted") {
  const float x[2] = {1, -2};
  std::int32_t y[2] = {};
  const std::int64_t two[1] = {2}, stride[1] = {1};
  CHECK(ref::cast({DType::kFloat32, x, two, stride}, {DType::kInt32, y, two, stride}));
}
