#include "kernels/ref/matmul.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

/// |got - want| against K 2^-53 sum|a b| + half a unit of the stored value.
void check_sum(DType dtype, double got, double want, double magnitude, std::int64_t depth) {
  const double slack = static_cast<double>(depth) * 0x1p-53 * magnitude;
  const double shift = std::max(0.0, std::fabs(got - want) - slack);
  CHECK(ulp_distance(dtype, want + shift, want) <= 0.51);
}

/// a [G, M, K] against b [H, K, N] with H dividing G, by definition.
void check_matmul(DType dtype, std::int64_t groups, std::int64_t shared, std::int64_t m,
                  std::int64_t k, std::int64_t n) {
  const Array a = random_array(dtype, {groups, m, k}, 5);
  const Array b = random_array(dtype, {shared, k, n}, 6);
  Array out(dtype, {groups, m, n});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out.guards_intact());
  std::size_t at = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j, ++at) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          const double product =
              a[static_cast<std::size_t>((g * m + i) * k + p)] *
              b[static_cast<std::size_t>((g / (groups / shared) * k + p) * n + j)];
          sum += product;
          magnitude += std::fabs(product);
        }
        check_sum(dtype, out[at], sum, magnitude, k);
      }
    }
  }
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("a product of small matrices is the product") {
  const Array a(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Array b(DType::kFloat32, {3, 2}, {7, 8, 9, 10, 11, 12});
  Array out(DType::kFloat32, {2, 2});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out.values() == Values{58, 64, 139, 154});
}

TEST_CASE("products agree with their definition for awkward extents") {
  for (const DType dtype : kFloatingTypes) {
    check_matmul(dtype, 1, 1, 1, 1, 1);
    check_matmul(dtype, 1, 1, 7, 13, 3);
    check_matmul(dtype, 2, 2, 8, 17, 5);
    check_matmul(dtype, 2, 1, 17, 31, 2);
    check_matmul(dtype, 6, 2, 9, 5, 3);
  }
}

TEST_CASE("rows give the same bits alone as among any number of others") {
  constexpr std::int64_t kMost = 35, kDepth = 6, kWidth = 3;
  const Array a = random_array(DType::kFloat32, {kMost, kDepth}, 7);
  const Array b = random_array(DType::kFloat32, {kDepth, kWidth}, 8);
  Array whole(DType::kFloat32, {kMost, kWidth});
  REQUIRE(matmul(a, b, {}, whole));
  for (std::int64_t rows = 1; rows < kMost; ++rows) {
    CAPTURE(rows);
    const Values all = a.values();
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(rows * kDepth);
    const Array first(DType::kFloat32, {rows, kDepth}, Values(all.begin(), end));
    Array out(DType::kFloat32, {rows, kWidth});
    REQUIRE(matmul(first, b, {}, out));
    CHECK(out.guards_intact());
    const Values start = whole.values();
    CHECK(not_within(0, out, Values(start.begin(), start.begin() + rows * kWidth)) == "");
  }
  check_matmul(DType::kFloat32, 2, 1, kMost, kDepth, kWidth);
}

TEST_CASE("transposed operands give the same bits") {
  const Array a = random_array(DType::kFloat32, {3, 5, 7}, 7);
  const Array b = random_array(DType::kFloat32, {3, 7, 4}, 8);
  Array plain(DType::kFloat32, {3, 5, 4});
  REQUIRE(matmul(a, b, {}, plain));
  Array at = a;
  Array bt = b;
  at.transpose(1, 2);
  bt.transpose(1, 2);
  Array out(DType::kFloat32, {3, 5, 4});
  REQUIRE(matmul(at, bt, {.transpose_a = true, .transpose_b = true}, out));
  CHECK(out.values() == plain.values());
}

TEST_CASE("a matrix of rank two is shared by the whole batch") {
  const Array a(DType::kFloat32, {2, 1, 2}, {1, 2, 3, 4});
  const Array b(DType::kFloat32, {2, 1}, {10, 1});
  Array out(DType::kFloat32, {2, 1, 1});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out.values() == Values{12, 34});
}

TEST_CASE("grouped queries read consecutive heads from one shared head") {
  const Array a(DType::kFloat32, {1, 4, 1, 1}, {1, 1, 1, 1});
  const Array b(DType::kFloat32, {1, 2, 1, 1}, {5, 7});
  Array out(DType::kFloat32, {1, 4, 1, 1});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out.values() == Values{5, 5, 7, 7});
}

TEST_CASE("an empty sum is zero and an empty result is left alone") {
  const Array a(DType::kFloat32, {2, 0});
  const Array b(DType::kFloat32, {0, 2});
  Array out(DType::kFloat32, {2, 2}, {1, 1, 1, 1});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out.values() == Values{0, 0, 0, 0});
  const Array none(DType::kFloat32, {0, 3, 2});
  const Array right(DType::kFloat32, {2, 2});
  Array nothing(DType::kFloat32, {0, 3, 2});
  CHECK(matmul(none, right, {}, nothing));
}

TEST_CASE("a zero does not hide a NaN or an infinity") {
  const Array a(DType::kFloat32, {1, 2}, {0, 1});
  const Array b(DType::kFloat32, {2, 2}, {kInf, kNaN, 1, 1});
  Array out(DType::kFloat32, {1, 2});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out[0] != out[0]);
  CHECK(out[1] != out[1]);
}

TEST_CASE("the sum does not overflow before its end") {
  const Array a(DType::kFloat16, {1, 3}, {60000, 60000, -60000});
  const Array b(DType::kFloat16, {3, 1}, {1, 1, 1});
  Array out(DType::kFloat16, {1, 1});
  REQUIRE(matmul(a, b, {}, out));
  CHECK(out[0] == 60000);
}

TEST_CASE("matmul refuses operands that do not fit") {
  const Array a(DType::kFloat32, {4, 2, 3});
  Array out(DType::kFloat32, {4, 2, 2});
  const Array wrong_k(DType::kFloat32, {4, 2, 2});
  const Array wrong_batch(DType::kFloat32, {3, 3, 2});
  const Array no_batch(DType::kFloat32, {0, 3, 2});
  const Array vector(DType::kFloat32, {3});
  const Array integers(DType::kInt32, {4, 3, 2});
  for (const Array* b : {&wrong_k, &wrong_batch, &no_batch, &vector}) {
    CHECK(matmul(a, *b, {}, out).error().code == diag::kKernelShape);
  }
  CHECK(matmul(a, integers, {}, out).error().code == diag::kKernelDType);
}

TEST_CASE("linear multiplies by rows of the weight and adds the bias last") {
  const Array x(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const Array weight(DType::kFloat32, {3, 2}, {1, 0, 0, 1, 1, 1});
  const Array bias(DType::kFloat32, {3}, {0.5, 0, -1});
  Array out(DType::kFloat32, {2, 3});
  const View b = bias;
  REQUIRE(linear(x, weight, &b, out));
  CHECK(out.values() == Values{1.5, 2, 2, 3.5, 4, 6});
  REQUIRE(linear(x, weight, nullptr, out));
  CHECK(out.values() == Values{1, 2, 3, 3, 4, 7});
}

TEST_CASE("linear takes any rank and weights of another type, row by row the same") {
  for (const DType weight_type : kFloatingTypes) {
    const Array x = random_array(DType::kFloat32, {2, 11, 19}, 9);
    const Array weight = random_array(weight_type, {23, 19}, 10);
    Array out(DType::kFloat32, {2, 11, 23});
    REQUIRE(linear(x, weight, nullptr, out));
    CHECK(out.guards_intact());
    for (std::int64_t row = 0; row < 22; ++row) {
      const Dims in_extents = {19};
      const Dims out_extents = {23};
      const Dims unit = {1};
      Array one(DType::kFloat32, out_extents);
      const auto* data = static_cast<const float*>(x.view().data) + row * 19;
      REQUIRE(linear({DType::kFloat32, data, in_extents, unit}, weight, nullptr, one));
      for (std::size_t n = 0; n < 23; ++n) {
        double sum = 0;
        double magnitude = 0;
        for (std::size_t k = 0; k < 19; ++k) {
          const double product = static_cast<double>(data[k]) * weight[n * 19 + k];
          sum += product;
          magnitude += std::fabs(product);
        }
        check_sum(DType::kFloat32, one[n], sum, magnitude, 19);
        CHECK(one[n] == out[static_cast<std::size_t>(row) * 23 + n]);
      }
    }
  }
}

TEST_CASE("linear refuses operands that do not fit") {
  const Array x(DType::kFloat32, {2, 3});
  const Array weight(DType::kFloat32, {4, 3});
  const Array flat(DType::kFloat32, {12});
  Array out(DType::kFloat32, {2, 4});
  Array short_out(DType::kFloat32, {2, 3});
  CHECK_FALSE(linear(x, flat, nullptr, out));
  CHECK_FALSE(linear(x, weight, nullptr, short_out));
  const View bias = x;
  CHECK_FALSE(linear(x, weight, &bias, out));
  const Array scalar(DType::kFloat32, {});
  CHECK_FALSE(linear(scalar, weight, nullptr, out));
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
