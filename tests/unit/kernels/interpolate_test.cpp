#include <doctest/doctest.h>

#include "array.hpp"
#include "kernels/ref/convolution.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

Values resampled(const Values& values, std::int64_t count, const InterpolateOptions& options) {
  const Array x(DType::kFloat64, {1, 1, static_cast<std::int64_t>(values.size())}, values);
  Array out(DType::kFloat64, {1, 1, count});
  REQUIRE(interpolate(x, options, out));
  CHECK(out.guards_intact());
  return out.values();
}

/// The kernel of a spline as a function of distance: triangle and Catmull-Rom.
Exact spline(Sampling sampling, Exact d) {
  d = std::fabs(d);
  if (sampling == Sampling::kLinear) return d < 1 ? 1 - d : 0;
  if (d < 1) return 1.5L * d * d * d - 2.5L * d * d + 1;
  return d < 2 ? -0.5L * d * d * d + 2.5L * d * d - 4 * d + 2 : 0;
}

Exact coordinate(std::size_t o, std::size_t in, std::size_t out, bool align) {
  if (out == 1) return align ? 0 : -0.5L;
  if (align)
    return static_cast<Exact>(o) * (static_cast<Exact>(in) - 1) / static_cast<Exact>(out - 1);
  return (static_cast<Exact>(o) + 0.5L) * static_cast<Exact>(in) / static_cast<Exact>(out) - 0.5L;
}

/// Every element of a row, edge continued, weighted by its distance from the coordinate.
Exact by_distance(const std::vector<Exact>& row, Exact at, Sampling sampling) {
  Exact sum = 0;
  const auto n = static_cast<std::int64_t>(row.size());
  if (sampling == Sampling::kNearest) {
    return row[static_cast<std::size_t>(std::clamp<std::int64_t>(std::llround(at), 0, n - 1))];
  }
  for (std::int64_t i = -4; i < n + 4; ++i) {
    sum += spline(sampling, at - static_cast<Exact>(i)) *
           row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n - 1))];
  }
  return sum;
}

constexpr Sampling kAll[] = {Sampling::kNearest, Sampling::kLinear, Sampling::kCubic};

TEST_SUITE_BEGIN("kernels");

TEST_CASE("one dimension is weighted by distance in every type") {
  for (const DType dtype : kFloatingTypes) {
    for (const Sampling sampling : kAll) {
      for (const bool align : {false, true}) {
        for (const auto& [in, out] : {std::pair{5, 13}, {13, 5}, {1, 4}, {7, 1}, {6, 6}, {2, 3}}) {
          const Array x = random_array(dtype, {1, 1, in}, 11);
          Array got(dtype, {1, 1, out});
          REQUIRE(interpolate(x, {.sampling = sampling, .align_corners = align}, got));
          const Values all = x.values();
          const std::vector<Exact> row(all.begin(), all.end());
          for (std::size_t o = 0; o < got.size(); ++o) {
            const Exact at = coordinate(o, row.size(), got.size(), align);
            const double want = static_cast<double>(by_distance(row, at, sampling));
            const double beyond = std::max(0.0, std::fabs(got[o] - want) - 0x1p-48 * 2);
            CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
          }
        }
      }
    }
  }
}

TEST_CASE("dimensions are resampled one after the other") {
  for (const Sampling sampling : kAll) {
    const Array x = random_array(DType::kFloat64, {2, 3, 4, 5}, 12);
    Array half(DType::kFloat64, {2, 3, 4, 7}), whole(DType::kFloat64, {2, 3, 9, 7});
    Array turned(DType::kFloat64, {2, 3, 7, 9});
    REQUIRE(interpolate(x, {.sampling = sampling}, half));
    Array columns(DType::kFloat64, {2, 3, 7, 4});
    half.transpose(2, 3);
    columns.transpose(2, 3);
    for (std::size_t i = 0; i < half.size(); ++i) {
      columns.set(i / 28 * 28 + i % 7 * 4 + i % 28 / 7, half[i]);
    }
    columns.transpose(2, 3);
    REQUIRE(interpolate(columns, {.sampling = sampling}, turned));
    REQUIRE(interpolate(x, {.sampling = sampling}, whole));
    Values other;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      other.push_back(turned[i / 63 * 63 + i % 7 * 9 + i % 63 / 7]);
    }
    CHECK(not_within(0x1p-48 * 2, whole, other) == "");
  }
}

TEST_CASE("nearest rounds halves away from zero and keeps -0 and NaN") {
  // Coordinates 0.5 and 2.5 of four; -0.5 + 0.75 o of three into four.
  CHECK(resampled({1, 2, 3, 4}, 2, {}) == Values{2, 4});
  CHECK(std::signbit(resampled({-0.0}, 2, {})[1]));
  CHECK(std::isnan(resampled({1, kNaN}, 2, {})[1]));
  CHECK(resampled({1, 2, 3}, 1, {}) == Values{1});
  CHECK(resampled({1, 2, 3}, 1, {.align_corners = true}) == Values{1});
}

TEST_CASE("what has weight 0 has no say") {
  for (const Sampling sampling : {Sampling::kLinear, Sampling::kCubic}) {
    CHECK(resampled({1, kNaN, 3}, 3, {.sampling = sampling, .align_corners = true})[0] == 1);
    CHECK(resampled({1, kInf, 3}, 3, {.sampling = sampling})[2] == 3);
  }
}

TEST_CASE("three dimensions mix eight corners") {
  const Array x(DType::kFloat32, {1, 1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  Array out(DType::kFloat32, {1, 1, 3, 3, 3});
  REQUIRE(interpolate(x, {.sampling = Sampling::kLinear, .align_corners = true}, out));
  CHECK(out[0] == 0);
  CHECK(out[13] == 3.5);
  CHECK(out[26] == 7);
  CHECK(out[5] == 2);
}

TEST_CASE("shrinking with antialias blurs first, growing does not") {
  const InterpolateOptions plain{.sampling = Sampling::kLinear};
  const InterpolateOptions smooth{.sampling = Sampling::kLinear, .antialias = true};
  const Values x = {0, 0, 0, 9, 0, 0, 0, 0, 3};
  CHECK(resampled(x, 12, smooth) == resampled(x, 12, plain));
  // Scale 3: sigma 1.5, radius 5.
  Values blurred(9, 0.0);
  Exact total = 0;
  for (int i = -5; i <= 5; ++i) total += std::exp(-i * i / 4.5L);
  for (int at = 0; at < 9; ++at) {
    Exact sum = 0;
    for (int i = -5; i <= 5; ++i) {
      sum += std::exp(-i * i / 4.5L) * x[static_cast<std::size_t>(std::clamp(at + i, 0, 8))];
    }
    blurred[static_cast<std::size_t>(at)] = static_cast<double>(sum / total);
  }
  const Values got = resampled(x, 3, smooth), want = resampled(blurred, 3, plain);
  CHECK(not_within(0x1p-48 * 9, got, want) == "");
}

TEST_CASE("interpolation refuses what does not fit") {
  const Array x(DType::kFloat32, {1, 2, 3}), empty(DType::kFloat32, {1, 2, 0});
  const Array whole(DType::kInt32, {1, 2, 3});
  Array out(DType::kFloat32, {1, 2, 4}), other(DType::kFloat32, {1, 3, 4});
  Array half(DType::kFloat16, {1, 2, 4}), whole_out(DType::kInt32, {1, 2, 4});
  Array none(DType::kFloat32, {1, 2, 0}), flat(DType::kFloat32, {2, 4});
  CHECK(interpolate(x, {}, other).error().code == diag::kKernelShape);
  CHECK(interpolate(x, {}, flat).error().code == diag::kKernelShape);
  CHECK(interpolate(x, {}, half).error().code == diag::kKernelDType);
  CHECK(interpolate(whole, {}, whole_out).error().code == diag::kKernelDType);
  CHECK(interpolate(empty, {}, out).error().code == diag::kKernelShape);
  CHECK(interpolate(x, {}, none));
  CHECK(interpolate(empty, {}, none));
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
