#include "kernels/ref/gather.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

TEST_SUITE_BEGIN("kernels");

TEST_CASE("embedding copies one row per id") {
  const Array weight(DType::kFloat16, {3, 2}, {1, 2, 3, 4, 5, 6});
  for (const DType dtype : {DType::kInt32, DType::kInt64}) {
    const Array ids(dtype, {2, 2}, {2, 0, 0, 1});
    Array out(DType::kFloat16, {2, 2, 2});
    REQUIRE(embedding(ids, weight, out));
    CHECK(out.values() == Values{5, 6, 1, 2, 1, 2, 3, 4});
    CHECK(out.guards_intact());
  }
}

TEST_CASE("an id outside the vocabulary is an error that names it, and nothing is written") {
  const Array weight(DType::kFloat32, {3, 1}, {1, 2, 3});
  for (const double bad : {-1.0, 3.0, 2147483647.0}) {
    const Array ids(DType::kInt32, {3}, {0, bad, 1});
    Array out(DType::kFloat32, {3, 1}, {9, 9, 9});
    const auto result = embedding(ids, weight, out);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == diag::kIndexOutOfRange);
    CHECK(result.error().message == mir::test::Part{"at position 1"});
    CHECK(out.values() == Values{9, 9, 9});
  }
}

TEST_CASE("embedding without ids or without a vocabulary is defined") {
  const Array weight(DType::kFloat32, {0, 4});
  const Array none(DType::kInt64, {0});
  Array nothing(DType::kFloat32, {0, 4});
  CHECK(embedding(none, weight, nothing));
  const Array id(DType::kInt64, {1}, {0});
  Array out(DType::kFloat32, {1, 4});
  CHECK(embedding(id, weight, out).error().code == diag::kIndexOutOfRange);
}

TEST_CASE("embedding refuses other types and extents") {
  const Array weight(DType::kFloat32, {3, 2});
  const Array ids(DType::kInt32, {2});
  const Array floats(DType::kFloat32, {2});
  const Array flat(DType::kFloat32, {6});
  Array out(DType::kFloat32, {2, 2});
  Array wrong(DType::kFloat32, {2, 3});
  Array half(DType::kFloat16, {2, 2});
  CHECK(embedding(floats, weight, out).error().code == diag::kKernelDType);
  CHECK(embedding(ids, flat, out).error().code == diag::kKernelShape);
  CHECK(embedding(ids, weight, wrong).error().code == diag::kKernelShape);
  CHECK(embedding(ids, weight, half).error().code == diag::kKernelDType);
}

TEST_CASE("gather replaces the axis by the extents of the indices") {
  const Array table(DType::kInt32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Array indices(DType::kInt32, {2, 2}, {2, 0, -1, 1});
  Array columns(DType::kInt32, {2, 2, 2});
  REQUIRE(gather(table, indices, -1, columns));
  CHECK(columns.values() == Values{3, 1, 3, 2, 6, 4, 6, 5});
  CHECK(columns.guards_intact());

  const Array row(DType::kInt64, {1}, {-2});
  Array first(DType::kInt32, {1, 3});
  REQUIRE(gather(table, row, 0, first));
  CHECK(first.values() == Values{1, 2, 3});

  const Array scalar(DType::kInt64, {}, {1});
  Array second(DType::kInt32, {3});
  REQUIRE(gather(table, scalar, 0, second));
  CHECK(second.values() == Values{4, 5, 6});
}

TEST_CASE("gather truncates Float32 indices and wraps negative ones once") {
  const Array table(DType::kFloat32, {3}, {10, 20, 30});
  const Array indices(DType::kFloat32, {3}, {1.9, -0.5, -1.0});
  Array out(DType::kFloat32, {3});
  REQUIRE(gather(table, indices, 0, out));
  CHECK(out.values() == Values{20, 10, 30});
  for (const double bad : {3.0, -4.0, 1e30, -kInf, kInf, std::nan("")}) {
    const Array index(DType::kFloat32, {1}, {bad});
    Array one(DType::kFloat32, {1});
    CHECK(gather(table, index, 0, one).error().code == diag::kIndexOutOfRange);
  }
  const Array odd(DType::kFloat32, {2}, {1, std::nan("")});
  Array two(DType::kFloat32, {2}, {9, 9});
  CHECK(gather(table, odd, 0, two).error().message ==
        "gather: index NaN at position 1 is outside [-3, 3)");
  CHECK(two.values() == Values{9, 9});
}

TEST_CASE("gather refuses bad axes and index types") {
  const Array table(DType::kFloat32, {3});
  const Array indices(DType::kInt16, {1});
  const Array good(DType::kInt32, {1});
  Array out(DType::kFloat32, {1});
  CHECK(gather(table, indices, 0, out).error().code == diag::kKernelDType);
  CHECK(gather(table, good, 1, out).error().code == diag::kKernelAttribute);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
