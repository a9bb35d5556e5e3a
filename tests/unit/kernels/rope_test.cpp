#include "kernels/ref/rope.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

struct Tables {
  Array sin;
  Array cos;
};

Tables random_tables(Dims extents) {
  return {random_array(DType::kFloat32, extents, 17, 1.0),
          random_array(DType::kFloat32, extents, 18, 1.0)};
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("a quarter turn exchanges the halves of a row") {
  const Array x(DType::kFloat32, {1, 1, 1, 4}, {1, 2, 3, 4});
  const Array sin(DType::kFloat32, {1, 2}, {1, 1});
  const Array cos(DType::kFloat32, {1, 2}, {0, 0});
  Array out(DType::kFloat32, {1, 1, 1, 4});
  REQUIRE(rope(x, sin, cos, {}, out));
  CHECK(out.values() == Values{-3, -4, 1, 2});
}

TEST_CASE("each row of every layout agrees with the formula") {
  for (const DType dtype : kFloatingTypes) {
    for (const RopeLayout layout : {RopeLayout::kBHSD, RopeLayout::kBSHD}) {
      const bool heads_first = layout == RopeLayout::kBHSD;
      const Dims extents = heads_first ? Dims{2, 3, 5, 6} : Dims{2, 5, 3, 6};
      const Array x = random_array(dtype, extents, 19);
      const Tables t = random_tables({2, 5, 6});
      Array out(dtype, extents);
      REQUIRE(rope(x, t.sin, t.cos, {.layout = layout}, out));
      CHECK(out.guards_intact());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t d = i % 6;
        const std::size_t s = heads_first ? i / 6 % 5 : i / 18 % 5;
        const std::size_t at = ((i / 90) * 5 + s) * 6 + d % 3;
        const double want = d < 3 ? x[i] * t.cos[at] - x[i + 3] * t.sin[at]
                                  : x[i - 3] * t.sin[at] + x[i] * t.cos[at];
        Array nearest(dtype, {1}, {want});
        CHECK(out[i] == nearest[0]);
      }
    }
  }
}

TEST_CASE("exchanging heads and positions is the same in both layouts") {
  Array x = random_array(DType::kFloat32, {1, 4, 3, 8}, 20);
  const Tables t = random_tables({3, 4});
  Array heads_first(DType::kFloat32, {1, 4, 3, 8});
  REQUIRE(rope(x, t.sin, t.cos, {.layout = RopeLayout::kBHSD}, heads_first));
  Array positions_first(DType::kFloat32, {1, 4, 3, 8});
  x.transpose(1, 2);
  positions_first.transpose(1, 2);
  REQUIRE(rope(x, t.sin, t.cos, {.layout = RopeLayout::kBSHD}, positions_first));
  CHECK(positions_first.values() == heads_first.values());
}

TEST_CASE("a shared table, a table of one batch and a repeated table agree") {
  const Array x = random_array(DType::kFloat32, {2, 1, 3, 4}, 21);
  const Tables shared = random_tables({3, 2});
  Array first(DType::kFloat32, {2, 1, 3, 4});
  REQUIRE(rope(x, shared.sin, shared.cos, {}, first));

  const Tables one_batch = random_tables({1, 3, 2});
  Array second(DType::kFloat32, {2, 1, 3, 4});
  REQUIRE(rope(x, one_batch.sin, one_batch.cos, {}, second));
  CHECK(second.values() == first.values());
}

TEST_CASE("dims beyond the partial ones are copied") {
  Array x(DType::kFloat32, {1, 1, 1, 5}, {1, 2, 3, 4, 5});
  const Array sin(DType::kFloat32, {1, 1}, {1});
  const Array cos(DType::kFloat32, {1, 1}, {0});
  REQUIRE(rope(x, sin, cos, {.partial_dim = 2}, x));
  CHECK(x.values() == Values{-2, 1, 3, 4, 5});
  REQUIRE(rope(x, sin, cos, {.partial_dim = 0}, x));
  CHECK(x.values() == Values{-2, 1, 3, 4, 5});
}

TEST_CASE("rope refuses odd, oversized and misshapen operands; no positions are fine") {
  Array x(DType::kFloat32, {1, 2, 3, 4});
  Array flat(DType::kFloat32, {2, 3, 4});
  const Tables good = random_tables({3, 4});
  const Tables narrow = random_tables({3, 1});
  const Tables few = random_tables({2, 4});
  const Tables batches = random_tables({2, 3, 4});
  CHECK(rope(x, good.sin, good.cos, {.partial_dim = 3}, x).error().code == diag::kKernelAttribute);
  CHECK(rope(x, good.sin, good.cos, {.partial_dim = 6}, x).error().code == diag::kKernelAttribute);
  CHECK(rope(flat, good.sin, good.cos, {}, flat).error().code == diag::kKernelShape);
  for (const Tables* bad : {&narrow, &few, &batches}) {
    CHECK(rope(x, bad->sin, good.cos, {}, x).error().code == diag::kKernelShape);
    CHECK(rope(x, good.sin, bad->cos, {}, x).error().code == diag::kKernelShape);
  }
  Array none(DType::kFloat32, {1, 2, 0, 4});
  const Array no_rows(DType::kFloat32, {0, 4});
  CHECK(rope(none, no_rows, no_rows, {}, none));
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
