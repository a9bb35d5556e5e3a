#include "kernels/ref/sort.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

Values argsort_of(DType dtype, const Values& values, bool descending = false) {
  const Array x(dtype, {static_cast<std::int64_t>(values.size())}, values);
  Array indices(DType::kInt32, x.extents());
  REQUIRE(argsort(x, 0, descending, indices));
  CHECK(indices.guards_intact());
  return indices.values();
}

/// Place of element i of a row: how many come before it by value, or equal to it by index.
std::size_t rank_of(const Values& row, std::size_t i, bool descending) {
  const auto key = [&](std::size_t k) { return row[k] != row[k] ? kInf : row[k]; };
  std::size_t before = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const bool nan_first = row[k] != row[k] && row[i] == kInf;
    const bool nan_later = row[i] != row[i] && row[k] == kInf;
    const bool less = key(k) < key(i) || nan_later, more = key(k) > key(i) || nan_first;
    before += (descending ? more : less) || (!less && !more && k < i) ? 1 : 0;
  }
  return before;
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("a NaN is above every number and equal elements keep their order") {
  const Values x = {2, kNaN, -kInf, kInf, -0.0, 0.0, kNaN, 2};
  CHECK(argsort_of(DType::kFloat32, x) == Values{2, 4, 5, 0, 7, 3, 1, 6});
  CHECK(argsort_of(DType::kFloat32, x, true) == Values{1, 6, 3, 0, 7, 4, 5, 2});
  CHECK(argsort_of(DType::kFloat16, {}).empty());
  CHECK(argsort_of(DType::kInt8, {5}) == Values{0});
}

TEST_CASE("each element is as many places from the start as elements precede it") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8, DType::kUInt64}) {
    Array x = random_array(dtype, {101}, 7, 60);
    for (std::size_t i = 0; i < 101; ++i) x.set(i, std::fabs(std::trunc(x[i] / 4)));
    if (dtype == DType::kFloat32) x.set(17, kNaN), x.set(50, kInf), x.set(60, kNaN);
    for (const bool descending : {false, true}) {
      const Values order = argsort_of(dtype, x.values(), descending);
      for (std::size_t i = 0; i < 101; ++i) {
        CHECK(order[rank_of(x.values(), i, descending)] == static_cast<double>(i));
      }
    }
  }
}

TEST_CASE("large integers are told apart") {
  Array x(DType::kInt64, {3});
  x.as<std::int64_t>()[0] = INT64_MAX;
  x.as<std::int64_t>()[1] = INT64_MAX - 1;
  x.as<std::int64_t>()[2] = INT64_MIN;
  Array indices(DType::kInt32, {3});
  REQUIRE(argsort(x, -1, false, indices));
  CHECK(indices.values() == Values{2, 1, 0});
}

TEST_CASE("any dimension of any strides is sorted") {
  Array x(DType::kFloat32, {2, 3, 2}, {3, 9, 1, 7, 2, 8, 6, 4, 5, 5, 4, 6});
  Array indices(DType::kInt32, {2, 3, 2});
  REQUIRE(argsort(x, 1, false, indices));
  CHECK(indices.values() == Values{1, 1, 2, 2, 0, 0, 2, 0, 1, 1, 0, 2});
  x.transpose(0, 2);
  Array turned(DType::kInt32, {2, 3, 2});
  turned.transpose(0, 2);
  REQUIRE(argsort(x, -2, false, turned));
  CHECK(turned.values() == indices.values());
  const View row = x;
  const Dims extents{3}, strides{-2};
  const View reversed{row.dtype, static_cast<const float*>(row.data) + 4, extents, strides};
  Array back(DType::kInt32, {3});
  REQUIRE(argsort(reversed, 0, false, back));
  CHECK(back.values() == Values{1, 0, 2});
}

TEST_CASE("top k takes the first of the sort, by value or by index") {
  const Array x(DType::kFloat16, {1, 6}, {2, 5, 5, kNaN, -1, 2});
  Array values(DType::kFloat16, {1, 3}), indices(DType::kInt32, {1, 3});
  REQUIRE(top_k(x, -1, {}, values, indices));
  CHECK(indices.values() == Values{3, 1, 2});
  CHECK(values[0] != values[0]);
  CHECK(values[1] == 5);
  REQUIRE(top_k(x, 1, {.largest = true, .sorted = false}, values, indices));
  CHECK(indices.values() == Values{1, 2, 3});
  REQUIRE(top_k(x, 1, {.largest = false, .sorted = true}, values, indices));
  CHECK(indices.values() == Values{4, 0, 5});
  CHECK(values.values() == Values{-1, 2, 2});
  CHECK(values.guards_intact());
  CHECK(indices.guards_intact());
}

TEST_CASE("of equal elements at the cut the earlier ones are taken") {
  const Array x(DType::kInt32, {5}, {7, 7, 7, 7, 7});
  for (const bool largest : {true, false}) {
    Array values(DType::kInt32, {2}), indices(DType::kInt32, {2});
    REQUIRE(top_k(x, 0, {.largest = largest, .sorted = true}, values, indices));
    CHECK(indices.values() == Values{0, 1});
  }
}

TEST_CASE("k may be nothing or everything") {
  const Array x(DType::kFloat32, {2, 3}, {1, 2, 3, 6, 5, 4});
  Array none(DType::kFloat32, {2, 0}), no_indices(DType::kInt32, {2, 0});
  CHECK(top_k(x, 1, {}, none, no_indices));
  Array all(DType::kFloat32, {2, 3}), indices(DType::kInt32, {2, 3});
  REQUIRE(top_k(x, 1, {}, all, indices));
  CHECK(all.values() == Values{3, 2, 1, 6, 5, 4});
}

TEST_CASE("sorts refuse bad axes, extents and types") {
  const Array x(DType::kFloat32, {2, 3});
  const Array truth(DType::kBool, {2, 3});
  Array indices(DType::kInt32, {2, 3}), wide(DType::kInt64, {2, 3}), four(DType::kInt32, {2, 4});
  Array values(DType::kFloat32, {2, 3}), more(DType::kFloat32, {2, 4});
  CHECK(argsort(x, 2, false, indices).error().code == diag::kKernelAttribute);
  CHECK(argsort(x, 1, false, four).error().code == diag::kKernelShape);
  CHECK(argsort(x, 1, false, wide).error().code == diag::kKernelDType);
  CHECK(argsort(truth, 1, false, indices).error().code == diag::kKernelDType);
  CHECK(top_k(x, 1, {}, more, four).error().code == diag::kKernelShape);
  CHECK(top_k(x, 0, {}, more, four).error().code == diag::kKernelShape);
  CHECK(top_k(x, 1, {}, values, wide).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
