#include "kernels/ref/einsum.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "kernels/ref/matmul.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/reduce.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

Values sum_of(const std::vector<View>& inputs, const std::vector<IndexNumbers>& operands,
              const IndexNumbers& result, Array out) {
  const auto done = einsum(inputs, operands, result, out);
  if (!done) MESSAGE(done.error().message);
  REQUIRE(done);
  CHECK(out.guards_intact());
  return out.values();
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("a product over one index is that of matrices, bit for bit") {
  for (const DType dtype : kFloatingTypes) {
    const Array a = random_array(dtype, {2, 5, 7}, 1), b = random_array(dtype, {2, 7, 3}, 2);
    Array product(dtype, {2, 5, 3});
    REQUIRE(matmul(a, b, {}, product));
    CHECK(sum_of({a, b}, {{0, 1, 2}, {0, 2, 3}}, {0, 1, 3}, Array(dtype, {2, 5, 3})) ==
          product.values());
  }
}

TEST_CASE("products of three factors are within their bound") {
  for (const DType dtype : kFloatingTypes) {
    const Array a = random_array(dtype, {3, 4}, 3), b = random_array(dtype, {4, 5, 2}, 4);
    const Array c = random_array(dtype, {5, 1}, 5);  // index 0 broadcasts
    const Values got = sum_of({a, b, c}, {{0, 1}, {1, 2, 3}, {2, 0}}, {3, 0}, Array(dtype, {2, 3}));
    for (std::size_t l = 0; l < 2; ++l) {
      for (std::size_t i = 0; i < 3; ++i) {
        Exact sum = 0, magnitude = 0;
        for (std::size_t k = 0; k < 5; ++k) {
          for (std::size_t j = 0; j < 4; ++j) {
            const Exact term = static_cast<Exact>(a[i * 4 + j]) * b[(j * 5 + k) * 2 + l] * c[k];
            sum += term;
            magnitude += std::fabs(term);
          }
        }
        const double want = static_cast<double>(sum);
        const double slack = 23 * 0x1p-53 * static_cast<double>(magnitude);
        const double beyond = std::max(0.0, std::fabs(got[l * 3 + i] - want) - slack);
        CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
      }
    }
  }
}

TEST_CASE("indices transpose, sum up and read diagonals") {
  const Array x = random_array(DType::kFloat32, {3, 3}, 6);
  Array total(DType::kFloat32, {1});
  REQUIRE(reduce_sum(x, {}, total));
  CHECK(sum_of({x}, {{0, 1}}, {}, Array(DType::kFloat32, {})) == total.values());
  CHECK(sum_of({x}, {{0, 0}}, {0}, Array(DType::kFloat32, {3})) == Values{x[0], x[4], x[8]});
  CHECK(sum_of({x}, {{0, 1}}, {1, 0}, Array(DType::kFloat32, {3, 3})) ==
        Values{x[0], x[3], x[6], x[1], x[4], x[7], x[2], x[5], x[8]});
  const Array two(DType::kFloat32, {2}, {2, 10}), three(DType::kFloat32, {3}, {1, 2, 3});
  CHECK(sum_of({two, three}, {{0}, {1}}, {0, 1}, Array(DType::kFloat32, {2, 3})) ==
        Values{2, 4, 6, 10, 20, 30});
  Array turned = random_array(DType::kFloat32, {2, 3}, 7);
  const Values as_stored = turned.values();
  turned.transpose(0, 1);
  CHECK(sum_of({turned}, {{0, 1}}, {1, 0}, Array(DType::kFloat32, {2, 3})) == as_stored);
}

TEST_CASE("sums of nothing are zero and NaN spreads") {
  const Array none(DType::kFloat32, {2, 0});
  CHECK(sum_of({none}, {{0, 1}}, {0}, Array(DType::kFloat32, {2})) == Values{0, 0});
  CHECK(sum_of({none}, {{0, 1}}, {0, 1}, Array(DType::kFloat32, {2, 0})).empty());
  const Array x(DType::kFloat32, {2}, {0, kInf}), y(DType::kFloat32, {2}, {kNaN, 2});
  const Values got = sum_of({x, y}, {{0}, {0}}, {0}, Array(DType::kFloat32, {2}));
  CHECK(std::isnan(got[0]));
  CHECK(got[1] == kInf);
  const Array negative(DType::kFloat32, {1}, {-0.0});
  CHECK_FALSE(std::signbit(sum_of({negative}, {{0}}, {0}, Array(DType::kFloat32, {1}))[0]));
}

TEST_CASE("integers wrap") {
  const Array x(DType::kInt8, {2}, {100, 100}), y(DType::kUInt8, {2}, {200, 2});
  CHECK(sum_of({x, x}, {{0}, {0}}, {}, Array(DType::kInt8, {})) == Values{32});
  CHECK(sum_of({y}, {{0}}, {}, Array(DType::kUInt8, {})) == Values{202});
  CHECK(sum_of({y, y}, {{0}, {0}}, {0}, Array(DType::kUInt8, {2})) == Values{64, 4});
}

TEST_CASE("einsum refuses what does not fit") {
  const Array x(DType::kFloat32, {2, 3}), half(DType::kFloat16, {2, 3}), truth(DType::kBool, {2});
  Array out(DType::kFloat32, {2}), truth_out(DType::kBool, {2});
  const auto code = [&](const std::vector<View>& inputs, const std::vector<IndexNumbers>& operands,
                        const IndexNumbers& result) {
    const auto done = einsum(inputs, operands, result, out);
    REQUIRE_FALSE(done);
    return done.error().code;
  };
  CHECK(code({}, {}, {0}) == diag::kKernelShape);
  CHECK(code({x}, {{0}}, {0}) == diag::kKernelShape);
  CHECK(code({x}, {{0, 99}}, {0}) == diag::kKernelShape);
  CHECK(code({x}, {{0, 1}}, {1}) == diag::kKernelShape);
  CHECK(code({x}, {{0, 1}}, {2}) == diag::kKernelShape);
  CHECK(code({x}, {{0, 1}}, {0, 1}) == diag::kKernelShape);
  CHECK(code({x, x}, {{0, 1}, {1, 0}}, {0}) == diag::kKernelShape);
  CHECK(code({x, half}, {{0, 1}, {0, 1}}, {0}) == diag::kKernelDType);
  const std::vector<View> inputs{truth};
  const std::vector<IndexNumbers> operands{{0}};
  CHECK(einsum(inputs, operands, IndexNumbers{0}, truth_out).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
