#include "kernels/ref/softmax.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

/// The mask of one head: 1 kept, 0 overwritten.
Values kept(std::int64_t queries, std::int64_t keys, std::optional<std::int64_t> window,
            bool masks_one_query = false) {
  const auto count = static_cast<std::size_t>(queries * keys);
  const Array scores(DType::kFloat32, {1, 1, queries, keys}, Values(count, 5.0));
  Array out(DType::kFloat32, {1, 1, queries, keys});
  REQUIRE(causal_mask(scores, window, masks_one_query, out));
  CHECK(out.guards_intact());
  Values result;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK((out[i] == 5.0 || out[i] == -1e10));
    result.push_back(out[i] == 5.0);
  }
  return result;
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("softmax is within its bound along any axis and in every type") {
  for (const DType dtype : kFloatingTypes) {
    const Array x = random_array(dtype, {3, 17, 5}, 16, 20.0);
    Array out(dtype, {3, 17, 5});
    REQUIRE(softmax(x, -2, out));
    CHECK(out.guards_intact());
    Values want;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = i / 85 * 85 + i % 5;
      Exact sum = 0;
      for (std::size_t k = 0; k < 17; ++k) sum += std::exp(Exact{x[first + 5 * k]} - x[i]);
      want.push_back(static_cast<double>(1 / sum));
    }
    CHECK(beyond_ulps(dtype == DType::kFloat64 ? 100 : 0.501, dtype, out, want) == "");
  }
}

TEST_CASE("equal scores share equally, huge scores do not overflow, -inf gets nothing") {
  Array x(DType::kFloat32, {3, 2}, {1e10, 1e10, 3e38, -3e38, 0, -kInf});
  REQUIRE(softmax(x, 1, x));
  CHECK(x.values() == Values{0.5, 0.5, 1, 0, 1, 0});
}

TEST_CASE("a row with NaN or +inf or nothing but -inf is all NaN") {
  const Array x(DType::kFloat32, {4, 2}, {1, kNaN, kNaN, 1, 0, kInf, -kInf, -kInf});
  Array out(DType::kFloat32, {4, 2});
  REQUIRE(softmax(x, -1, out));
  for (const double v : out.values()) CHECK(v != v);
}

TEST_CASE("softmax of one element is one, of none nothing; bad axes are refused") {
  Array one(DType::kBFloat16, {1}, {-7});
  REQUIRE(softmax(one, 0, one));
  CHECK(one[0] == 1);
  Array none(DType::kFloat32, {0, 4});
  CHECK(softmax(none, 0, none));
  CHECK(softmax(none, 2, none).error().code == diag::kKernelAttribute);
  CHECK(softmax(none, -3, none).error().code == diag::kKernelAttribute);
  Array scalar(DType::kFloat32, {});
  CHECK_FALSE(softmax(scalar, 0, scalar));
}

TEST_CASE("the causal mask keeps the past, counted from the last key") {
  CHECK(kept(3, 3, {}) == Values{1, 0, 0, 1, 1, 0, 1, 1, 1});
  CHECK(kept(2, 4, {}) == Values{1, 1, 1, 0, 1, 1, 1, 1});
}

TEST_CASE("a window keeps the latest keys only, offset for cached ones") {
  CHECK(kept(3, 3, 2) == Values{1, 0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(kept(2, 4, 1) == Values{0, 0, 1, 0, 0, 0, 0, 1});
}

TEST_CASE("a single query is masked by a window if that is asked for") {
  CHECK(kept(1, 4, {}) == Values{1, 1, 1, 1});
  CHECK(kept(1, 4, 2) == Values{1, 1, 1, 1});
  CHECK(kept(1, 4, 2, true) == Values{0, 0, 1, 1});
  CHECK(kept(1, 4, {}, true) == Values{1, 1, 1, 1});
  CHECK(kept(1, 2, 3, true) == Values{1, 1});
}

TEST_CASE("the masking constant fits the element type and kept bits stay") {
  Array half(DType::kFloat16, {2, 2}, {1, 2, 3, 4});
  REQUIRE(causal_mask(half, {}, false, half));
  CHECK(half.values() == Values{1, -65504, 3, 4});
  Array brain(DType::kBFloat16, {2, 2}, {1, 2, 3, 4});
  brain.as<std::uint16_t>()[0] = 0xffc1;
  REQUIRE(causal_mask(brain, {}, false, brain));
  CHECK(brain.as<std::uint16_t>()[0] == 0xffc1);
  CHECK(ulp_distance(DType::kBFloat16, brain[1], -1e10) <= 0.5);
}

TEST_CASE("the causal mask refuses vectors, integers and empty windows") {
  Array vector(DType::kFloat32, {3});
  Array x(DType::kFloat32, {3, 3});
  Array integers(DType::kInt32, {3, 3});
  CHECK(causal_mask(vector, {}, false, vector).error().code == diag::kKernelShape);
  CHECK(causal_mask(x, 0, false, x).error().code == diag::kKernelAttribute);
  CHECK(causal_mask(integers, {}, false, integers).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
