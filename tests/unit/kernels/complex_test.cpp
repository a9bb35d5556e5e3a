#include <doctest/doctest.h>

#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "kernels/ref/elementwise.hpp"

namespace mir::ref::complex_test {
namespace {

using Exact = std::complex<long double>;
using Kernel = Result<void> (*)(const View&, const View&, const MutableView&);

template <class Part>
constexpr DType kComplex = sizeof(Part) == 4 ? DType::kComplexFP32 : DType::kComplexFP64;

/// The largest distance from the exact results, in units of the last place of their magnitude.
template <class Part>
double distance(Kernel kernel, Exact (*exact)(Exact, Exact), double range) {
  constexpr std::int64_t kCount = 4000;
  std::mt19937_64 bits(3);
  const auto draw = [&] {
    const double unit = static_cast<double>(bits() >> 11) * 0x1p-52 - 1;
    return static_cast<Part>(std::ldexp(unit, static_cast<int>(bits() % 16) - 8) * range);
  };
  std::vector<std::complex<Part>> a, b, out(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    a.emplace_back(draw(), draw());
    b.emplace_back(draw(), draw());
  }
  const std::int64_t extents[] = {kCount}, strides[] = {1};
  const auto view = [&](const auto& values) {
    return View{kComplex<Part>, values.data(), extents, strides};
  };
  REQUIRE(kernel(view(a), view(b), {kComplex<Part>, out.data(), extents, strides}));
  long double worst = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Exact want = exact(Exact(a[i]), Exact(b[i]));
    worst = std::max(worst, std::abs(Exact(out[i]) - want) / std::abs(want));
  }
  return static_cast<double>(worst) / std::numeric_limits<Part>::epsilon();
}

}  // namespace

TEST_CASE("complex sums, differences, products and quotients are near the exact ones") {
  const std::pair<Kernel, Exact (*)(Exact, Exact)> cases[] = {
      {add, [](Exact x, Exact y) { return x + y; }},
      {sub, [](Exact x, Exact y) { return x - y; }},
      {mul, [](Exact x, Exact y) { return x * y; }},
      {div, [](Exact x, Exact y) { return x / y; }},
  };
  for (const auto& [kernel, exact] : cases) {
    CHECK(distance<float>(kernel, exact, 1) < 0.7072);
    CHECK(distance<double>(kernel, exact, 1) < 4);
  }
  CHECK(distance<float>(cases[3].first, cases[3].second, 1e-30) < 0.7072);
  CHECK(distance<double>(cases[3].first, cases[3].second, 1e-250) < 4);
}

TEST_CASE("a real operand is a complex number without an imaginary part") {
  const std::int64_t two[] = {2}, one[] = {1}, strides[] = {1};
  const std::complex<float> x[] = {{1, 2}, {-3, 0.5F}};
  const double real[] = {2};
  const std::int32_t whole[] = {3, -1};
  std::complex<float> out[2];
  const View left{DType::kComplexFP32, x, two, strides};
  const MutableView to{DType::kComplexFP32, out, two, strides};
  REQUIRE(mul(left, {DType::kFloat64, real, one, strides}, to));
  CHECK(out[1] == std::complex<float>(-6, 1));
  REQUIRE(sub({DType::kInt32, whole, two, strides}, left, to));
  CHECK(out[0] == std::complex<float>(2, -2));
  CHECK_FALSE(add(left, {DType::kComplexFP64, real, one, strides}, to));
  CHECK_FALSE(add(left, {DType::kMXFP4, real, one, strides}, to));
}

}  // namespace mir::ref::complex_test
