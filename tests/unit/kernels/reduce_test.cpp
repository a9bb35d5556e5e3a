#include "kernels/ref/reduce.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;
using Reduction = Result<void> (*)(const View&, std::optional<std::int64_t>, const MutableView&);

double reduce_all(Reduction kernel, DType dtype, const Values& values) {
  const Array x(dtype, {static_cast<std::int64_t>(values.size())}, values);
  Array out(dtype, {1});
  REQUIRE(kernel(x, {}, out));
  CHECK(out.guards_intact());
  return out[0];
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("each axis reduces, kept or dropped") {
  const Array x(DType::kFloat32, {2, 3}, {1, 5, 3, 4, 2, 6});
  Array rows(DType::kFloat32, {2});
  REQUIRE(reduce_max(x, -1, rows));
  CHECK(rows.values() == Values{5, 6});
  Array kept(DType::kFloat32, {2, 1});
  REQUIRE(reduce_min(x, 1, kept));
  CHECK(kept.values() == Values{1, 2});
  Array columns(DType::kFloat32, {3});
  REQUIRE(reduce_sum(x, 0, columns));
  CHECK(columns.values() == Values{5, 7, 9});
  Array kept_columns(DType::kFloat32, {1, 3});
  REQUIRE(mean(x, 0, kept_columns));
  CHECK(kept_columns.values() == Values{2.5, 3.5, 4.5});
  Array all(DType::kFloat32, {1, 1});
  REQUIRE(reduce_sum(x, {}, all));
  CHECK(all[0] == 21);
}

Values running_sums(DType dtype, const Values& values, const CumSum& how) {
  Array x(dtype, {static_cast<std::int64_t>(values.size())}, values);
  REQUIRE(cum_sum(x, how, x));
  CHECK(x.guards_intact());
  return x.values();
}

TEST_CASE("running sums go both ways, with the element itself or without, in place too") {
  const Values x{1, 2, 3, 4};
  CHECK(running_sums(DType::kFloat32, x, {}) == Values{1, 3, 6, 10});
  CHECK(running_sums(DType::kFloat32, x, {.exclusive = true}) == Values{0, 1, 3, 6});
  CHECK(running_sums(DType::kInt16, x, {.reverse = true}) == Values{10, 9, 7, 4});
  CHECK(running_sums(DType::kUInt8, x, {.axis = -1, .exclusive = true, .reverse = true}) ==
        Values{9, 7, 4, 0});
  CHECK(running_sums(DType::kInt8, {100, 100, 100}, {}) == Values{100, -56, 44});
  const Values zeros = running_sums(DType::kFloat32, {-0.0}, {});
  CHECK_FALSE(std::signbit(zeros[0]));
  // In Float16 2049 is no number; sums are rounded when they are stored, not before.
  CHECK(running_sums(DType::kFloat16, {2048, 1, 1}, {}) == Values{2048, 2048, 2050});

  const Array table(DType::kFloat32, {2, 3}, {1, 2, 3, 10, 20, 30});
  Array out(DType::kFloat32, {2, 3});
  REQUIRE(cum_sum(table, {.axis = 0}, out));
  CHECK(out.values() == Values{1, 2, 3, 11, 22, 33});
  CHECK(cum_sum(table, {.axis = 2}, out).error().code == diag::kKernelAttribute);
  Array shorter(DType::kFloat32, {2, 2});
  CHECK(cum_sum(table, {}, shorter).error().code == diag::kKernelShape);
}

TEST_CASE("the last running sum is the sum of all, bit by bit in every type") {
  for (const DType dtype : kFloatingTypes) {
    const Array x = random_array(dtype, {211}, 23);
    Array sums(dtype, {211}), sum(dtype, {});
    REQUIRE(cum_sum(x, {}, sums));
    REQUIRE(reduce_sum(x, 0, sum));
    CHECK(sums[210] == sum[0]);
  }
}

TEST_CASE("a vector reduces to a scalar") {
  const Array x(DType::kInt8, {3}, {3, -7, 2});
  Array out(DType::kInt8, {});
  REQUIRE(reduce_min(x, 0, out));
  CHECK(out[0] == -7);
}

TEST_CASE("sums and means are within their bound in every type") {
  for (const DType dtype : kFloatingTypes) {
    const Array x = random_array(dtype, {5, 211, 3}, 22);
    Array sums(dtype, {5, 3});
    Array means(dtype, {5, 3});
    REQUIRE(reduce_sum(x, 1, sums));
    REQUIRE(mean(x, 1, means));
    for (std::size_t i = 0; i < 15; ++i) {
      Exact sum = 0;
      for (std::size_t k = 0; k < 211; ++k) sum += x[i / 3 * 633 + k * 3 + i % 3];
      const double slack = 211 * 0x1p-53 * 422;
      for (const auto& [got, exact] : {std::pair{sums[i], sum}, std::pair{means[i], sum / 211}}) {
        const double want = static_cast<double>(exact);
        const double beyond = std::max(0.0, std::fabs(got - want) - slack);
        CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
      }
    }
  }
}

TEST_CASE("a NaN wins over every element and zeros are ordered by sign") {
  for (const Values& order : {Values{1, kNaN, 2}, Values{kNaN, 1, 2}, Values{1, 2, kNaN}}) {
    const double largest = reduce_all(reduce_max, DType::kFloat32, order);
    const double smallest = reduce_all(reduce_min, DType::kFloat32, order);
    CHECK(largest != largest);
    CHECK(smallest != smallest);
  }
  for (const Values& order : {Values{0.0, -0.0}, Values{-0.0, 0.0}}) {
    CHECK_FALSE(std::signbit(reduce_all(reduce_max, DType::kFloat16, order)));
    CHECK(std::signbit(reduce_all(reduce_min, DType::kFloat16, order)));
  }
  CHECK(reduce_all(reduce_max, DType::kFloat32, {-kInf, -kInf}) == -kInf);
}

TEST_CASE("integer sums wrap and integer means truncate toward zero") {
  CHECK(reduce_all(reduce_sum, DType::kInt8, {127, 1}) == -128);
  CHECK(reduce_all(reduce_sum, DType::kUInt16, {65535, 2}) == 1);
  CHECK(reduce_all(mean, DType::kInt8, {127, 127, 127}) == 127);
  CHECK(reduce_all(mean, DType::kInt32, {-3, -4}) == -3);
  CHECK(reduce_all(reduce_max, DType::kUInt8, {200, 100}) == 200);
  CHECK(reduce_all(reduce_min, DType::kInt64, {5, -5}) == -5);
}

TEST_CASE("large integers are compared exactly") {
  Array x(DType::kInt64, {2});
  x.as<std::int64_t>()[0] = INT64_MAX - 1;
  x.as<std::int64_t>()[1] = INT64_MAX;
  Array out(DType::kInt64, {1});
  REQUIRE(reduce_max(x, {}, out));
  CHECK(*out.as<std::int64_t>() == INT64_MAX);
}

TEST_CASE("a sum does not overflow before its end") {
  CHECK(reduce_all(reduce_sum, DType::kFloat16, {60000, 60000, -60000}) == 60000);
  CHECK(reduce_all(mean, DType::kFloat16, {60000, 60000}) == 60000);
}

TEST_CASE("reducing nothing gives zero, NaN or an error") {
  CHECK(reduce_all(reduce_sum, DType::kFloat32, {}) == 0);
  CHECK(reduce_all(mean, DType::kInt32, {}) == 0);
  const double average = reduce_all(mean, DType::kFloat32, {});
  CHECK(average != average);
  const Array x(DType::kFloat32, {2, 0});
  Array out(DType::kFloat32, {2});
  CHECK(reduce_max(x, 1, out).error().code == diag::kKernelShape);
  Array nothing(DType::kFloat32, {0});
  CHECK(reduce_max(x, 0, nothing));
}

TEST_CASE("reductions refuse bad axes, results and types") {
  const Array x(DType::kFloat32, {2, 3});
  Array out(DType::kFloat32, {3});
  Array half(DType::kFloat16, {2});
  Array truth(DType::kBool, {1});
  CHECK(reduce_sum(x, 2, out).error().code == diag::kKernelAttribute);
  CHECK(reduce_sum(x, 1, out).error().code == diag::kKernelShape);
  CHECK(reduce_sum(x, {}, out).error().code == diag::kKernelShape);
  CHECK(reduce_sum(x, 1, half).error().code == diag::kKernelDType);
  CHECK(reduce_sum(truth, {}, truth).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
