#include "kernels/ref/scatter.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;
using enum ScatterReduction;

Values scattered(DType dtype, const Values& x, const Values& indices, const Values& source,
                 ScatterReduction reduction) {
  const auto length = [](const Values& values) { return static_cast<std::int64_t>(values.size()); };
  const Array in(dtype, {length(x)}, x), at(DType::kInt32, {length(indices)}, indices);
  const Array from(dtype, {length(source)}, source);
  Array out(dtype, {length(x)});
  REQUIRE(scatter(in, at, from, 0, reduction, out));
  CHECK(out.guards_intact());
  return out.values();
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("values replace elements, the last one counts") {
  CHECK(scattered(DType::kFloat32, {1, 2, 3}, {2, -3, 2}, {7, 8, 9}, kNone) == Values{8, 2, 9});
  CHECK(scattered(DType::kBool, {1, 0}, {0, 1}, {0, 1}, kNone) == Values{0, 1});
  CHECK(scattered(DType::kInt8, {1, 2}, {}, {}, kAdd) == Values{1, 2});
}

TEST_CASE("values combine with the element and with each other") {
  const Values x = {1, 2, 3}, at = {0, 0, 2}, from = {5, -7, 4};
  CHECK(scattered(DType::kFloat32, x, at, from, kAdd) == Values{-1, 2, 7});
  CHECK(scattered(DType::kFloat32, x, at, from, kMul) == Values{-35, 2, 12});
  CHECK(scattered(DType::kFloat32, x, at, from, kMax) == Values{5, 2, 4});
  CHECK(scattered(DType::kFloat32, x, at, from, kMin) == Values{-7, 2, 3});
  CHECK(scattered(DType::kInt8, {100}, {0, 0}, {100, 1}, kAdd) == Values{-55});
  CHECK(scattered(DType::kUInt8, {100}, {0}, {3}, kMul) == Values{44});
  // Not rounded in between.
  CHECK(scattered(DType::kFloat16, {60000}, {0, 0}, {60000, -60000}, kAdd) == Values{60000});
}

TEST_CASE("a NaN wins and zeros are ordered by sign") {
  for (const ScatterReduction reduction : {kMax, kMin}) {
    CHECK(std::isnan(scattered(DType::kFloat32, {1}, {0, 0}, {kNaN, 2}, reduction)[0]));
    CHECK(std::isnan(scattered(DType::kFloat32, {kNaN}, {0}, {2}, reduction)[0]));
  }
  CHECK_FALSE(std::signbit(scattered(DType::kFloat32, {-0.0}, {0}, {0.0}, kMax)[0]));
  CHECK(std::signbit(scattered(DType::kFloat32, {0.0}, {0}, {-0.0}, kMin)[0]));
}

TEST_CASE("elements that are not met keep all bits") {
  Array x(DType::kFloat32, {2});
  x.as<std::uint32_t>()[1] = 0xffc12345;
  const Array at(DType::kInt64, {1}, {0}), from(DType::kFloat32, {1}, {1});
  Array out(DType::kFloat32, {2});
  REQUIRE(scatter(x, at, from, 0, kAdd, out));
  CHECK(out[0] == 1);
  CHECK(out.as<std::uint32_t>()[1] == 0xffc12345);
}

TEST_CASE("any dimension is scattered into, within its bound, with any strides") {
  for (const DType dtype : kFloatingTypes) {
    const Array x = random_array(dtype, {3, 5, 2}, 1);
    Array source = random_array(dtype, {1, 3, 11}, 2);
    Array at(DType::kInt32, {1, 3, 11});
    for (std::size_t i = 0; i < 33; ++i) at.set(i, static_cast<double>(i * 7 % 10) - 5);
    source.transpose(1, 2), source.transpose(0, 2);  // [3, 11, 1]
    at.transpose(1, 2), at.transpose(0, 2);
    Array out(dtype, {3, 5, 2});
    REQUIRE(scatter(x, at, source, -2, kAdd, out));
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t row = 0; row < 5; ++row) {
        Exact sum = x[(i * 5 + row) * 2], magnitude = std::fabs(sum);
        for (std::size_t k = 0; k < 11; ++k) {
          const double index = at[i * 11 + k];
          if ((index < 0 ? index + 5 : index) != static_cast<double>(row)) continue;
          sum += source[i * 11 + k];
          magnitude += std::fabs(source[i * 11 + k]);
        }
        const double want = static_cast<double>(sum), got = out[(i * 5 + row) * 2];
        const double slack = 12 * 0x1p-53 * static_cast<double>(magnitude);
        const double beyond = std::max(0.0, std::fabs(got - want) - slack);
        CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
        CHECK(out[(i * 5 + row) * 2 + 1] == x[(i * 5 + row) * 2 + 1]);
      }
    }
  }
}

TEST_CASE("scatter refuses what does not fit and writes nothing then") {
  const Array x(DType::kFloat32, {2, 3}), at(DType::kInt32, {1, 3}, {0, 1, 2});
  const Array from(DType::kFloat32, {1, 3}), flat(DType::kFloat32, {3}),
      real(DType::kFloat32, {1, 3});
  const Array wide(DType::kInt32, {1, 4}), wide_from(DType::kFloat32, {1, 4});
  const Array whole(DType::kInt32, {1, 3}), good(DType::kInt32, {1, 3});
  Array out(DType::kFloat32, {2, 3}, Values(6, 9));
  const auto bad = scatter(x, at, from, 0, kAdd, out);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == diag::kIndexOutOfRange);
  CHECK(bad.error().message == mir::test::Part{"index 2 at position 2"});
  CHECK(out.values() == Values(6, 9));
  CHECK(scatter(x, at, from, 2, kAdd, out).error().code == diag::kKernelAttribute);
  CHECK(scatter(x, at, flat, 1, kAdd, out).error().code == diag::kKernelShape);
  CHECK(scatter(x, wide, wide_from, 0, kAdd, out).error().code == diag::kKernelShape);
  CHECK(scatter(x, real, from, 1, kAdd, out).error().code == diag::kKernelDType);
  CHECK(scatter(x, good, whole, 1, kAdd, out).error().code == diag::kKernelDType);
  const Array truth(DType::kBool, {2}), one(DType::kInt32, {1}), value(DType::kBool, {1});
  Array truth_out(DType::kBool, {2});
  CHECK(scatter(truth, one, value, 0, kMax, truth_out).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
