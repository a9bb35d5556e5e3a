#include "kernels/ref/convolution.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "kernels/ref/matmul.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

struct Case {
  Dims x;       ///< [B, C, n..]
  Dims weight;  ///< [O, C / groups, kernel..]
  ConvOptions options;
};

const Case kCases[] = {
    {{2, 3, 7}, {5, 3, 3}, {{1}, {1}, {1}, 1}},
    {{1, 4, 11}, {6, 2, 3}, {{2}, {0}, {3}, 2}},
    {{1, 3, 5}, {3, 1, 5}, {{1}, {4}, {1}, 3}},
    {{1, 1, 1}, {1, 1, 1}, {{1}, {0}, {1}, 1}},
    {{1, 2, 6, 5}, {3, 2, 3, 2}, {{2, 1}, {1, 0}, {1, 2}, 1}},
    {{2, 3, 2, 4, 4}, {2, 3, 2, 2, 3}, {{2, 2, 1}, {0, 0, 0}, {1, 1, 1}, 1}},
    {{1, 0, 4}, {2, 0, 3}, {{1}, {1}, {1}, 1}},
    {{0, 2, 4}, {2, 2, 3}, {{1}, {1}, {1}, 1}},
};

Dims result_extents(const Case& c) {
  Dims extents{c.x[0], c.weight[0]};
  for (std::size_t i = 2; i < c.x.size(); ++i) {
    const std::int64_t reach = c.options.dilation[i - 2] * (c.weight[i] - 1) + 1;
    extents.push_back((c.x[i] + 2 * c.options.padding[i - 2] - reach) / c.options.stride[i - 2] +
                      1);
  }
  return extents;
}

/// Row-major index of element number `i`.
Dims unravel(std::size_t i, const Dims& extents) {
  Dims index(extents.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t dim = extents.size(); dim-- > 0;) {
    index[dim] = rest % extents[dim];
    rest /= extents[dim];
  }
  return index;
}

struct Sum {
  Exact value = 0;
  Exact magnitude = 0;
};

/// By scattering: every product of an input element and a weight goes where it belongs.
std::vector<Sum> scattered(const Case& c, const Array& x, const Array& weight) {
  const Dims extents = result_extents(c), strides = row_major_strides(extents);
  std::vector<Sum> sums(static_cast<std::size_t>(Array(DType::kInt8, extents).size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Dims from = unravel(i, c.x);
    for (std::size_t w = 0; w < weight.size(); ++w) {
      const Dims tap = unravel(w, c.weight);
      const std::int64_t group = tap[0] / (c.weight[0] / c.options.groups);
      bool meets = from[1] == group * c.weight[1] + tap[1];
      std::int64_t at = from[0] * strides[0] + tap[0] * strides[1];
      for (std::size_t d = 2; d < from.size(); ++d) {
        const std::int64_t start =
            from[d] + c.options.padding[d - 2] - tap[d] * c.options.dilation[d - 2];
        meets = meets && start >= 0 && start % c.options.stride[d - 2] == 0 &&
                start / c.options.stride[d - 2] < extents[d];
        at += start / c.options.stride[d - 2] * strides[d];
      }
      if (!meets) continue;
      const Exact product = static_cast<Exact>(x[i]) * weight[w];
      sums[static_cast<std::size_t>(at)].value += product;
      sums[static_cast<std::size_t>(at)].magnitude += std::fabs(product);
    }
  }
  return sums;
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("convolutions are within their bound of the scattered products") {
  for (const DType dtype : kFloatingTypes) {
    for (const Case& c : kCases) {
      const Array x = random_array(dtype, c.x, 1), weight = random_array(dtype, c.weight, 2);
      const Array bias = random_array(dtype, {c.weight[0]}, 3);
      Array out(dtype, result_extents(c));
      const View offsets = bias;
      REQUIRE(conv(x, weight, &offsets, c.options, out));
      CHECK(out.guards_intact());
      const auto sums = scattered(c, x, weight);
      const auto terms = static_cast<double>(weight.size()) / static_cast<double>(c.weight[0]) + 1;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double offset = bias[static_cast<std::size_t>(unravel(i, out.extents())[1])];
        const double want = static_cast<double>(sums[i].value + offset);
        const double slack =
            terms * 0x1p-52 * static_cast<double>(sums[i].magnitude + std::fabs(offset));
        const double beyond = std::max(0.0, std::fabs(out[i] - want) - slack);
        CHECK(ulp_distance(dtype, want + beyond, want) <= 0.501);
      }
    }
  }
}

TEST_CASE("a kernel of one tap is a matrix product") {
  const Array x = random_array(DType::kFloat32, {1, 5, 7}, 4);
  const Array weight = random_array(DType::kFloat32, {3, 5, 1}, 5);
  Array out(DType::kFloat32, {1, 3, 7}), product(DType::kFloat32, {3, 7});
  REQUIRE(conv(x, weight, nullptr, {{1}, {0}, {1}, 1}, out));
  const Dims left{3, 5}, left_strides{5, 1}, right{5, 7}, right_strides{7, 1};
  REQUIRE(matmul({DType::kFloat32, weight.view().data, left, left_strides},
                 {DType::kFloat32, x.view().data, right, right_strides}, {}, product));
  CHECK(out.values() == product.values());
}

TEST_CASE("strides of the operands are followed") {
  Array x = random_array(DType::kFloat32, {2, 4, 3}, 6);
  const Array weight = random_array(DType::kFloat32, {2, 3, 2}, 7);
  Array flat(DType::kFloat32, {2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) flat.set(i / 12 * 12 + i % 3 * 4 + i % 12 / 3, x[i]);
  x.transpose(1, 2);
  Array a(DType::kFloat32, {2, 2, 3}), b(DType::kFloat32, {2, 3, 2});
  b.transpose(1, 2);
  REQUIRE(conv(flat, weight, nullptr, {{1}, {0}, {1}, 1}, a));
  REQUIRE(conv(x, weight, nullptr, {{1}, {0}, {1}, 1}, b));
  for (std::size_t i = 0; i < 12; ++i) CHECK(b[i / 6 * 6 + i % 3 * 2 + i % 6 / 3] == a[i]);
}

TEST_CASE("taps beyond the edges add nothing, a NaN under a tap spreads") {
  const Array x(DType::kFloat32, {1, 1, 3}, {1, kNaN, 4});
  const Array weight(DType::kFloat32, {1, 1, 3}, {kInf, 1, 0});
  Array out(DType::kFloat32, {1, 1, 5});
  REQUIRE(conv(x, weight, nullptr, {{1}, {2}, {1}, 1}, out));
  CHECK(out[0] == 0);       // 0 * 1 alone: the taps of infinity and 1 lie outside
  CHECK(out[1] != out[1]);  // 1 * 1 + NaN * 0
  CHECK(out[3] != out[3]);  // NaN * inf + 4
  CHECK(out[4] == kInf);    // 4 * inf
  const Array zeros(DType::kFloat32, {1, 1, 1}, {-0.0}), one(DType::kFloat32, {1, 1, 1}, {1});
  Array zero(DType::kFloat32, {1, 1, 1});
  REQUIRE(conv(zeros, one, nullptr, {{1}, {0}, {1}, 1}, zero));
  CHECK_FALSE(std::signbit(zero[0]));
}

TEST_CASE("convolutions refuse what does not fit") {
  const Array x(DType::kFloat32, {1, 4, 5}), weight(DType::kFloat32, {6, 4, 3});
  const Array bias(DType::kFloat32, {5}), whole(DType::kInt32, {1, 4, 5});
  Array out(DType::kFloat32, {1, 6, 3});
  const View five = bias;
  const auto code = [&](const View& input, const View* offset, const ConvOptions& options) {
    const auto result = conv(input, weight, offset, options, out);
    REQUIRE_FALSE(result);
    return result.error().code;
  };
  CHECK(code(x, &five, {{1}, {0}, {1}, 1}) == diag::kKernelShape);
  CHECK(code(x, nullptr, {{1}, {1}, {1}, 1}) == diag::kKernelShape);
  CHECK(code(x, nullptr, {{1}, {0}, {3}, 1}) == diag::kKernelShape);
  CHECK(code(x, nullptr, {{1}, {0}, {1}, 2}) == diag::kKernelShape);
  CHECK(code(x, nullptr, {{0}, {0}, {1}, 1}) == diag::kKernelAttribute);
  CHECK(code(x, nullptr, {{1}, {0}, {INT64_MAX}, 1}) == diag::kKernelAttribute);
  CHECK(code(x, nullptr, {{1, 1}, {0}, {1}, 1}) == diag::kKernelAttribute);
  CHECK(code(whole, nullptr, {{1}, {0}, {1}, 1}) == diag::kKernelDType);
  CHECK(conv(x, weight, nullptr, {{1}, {0}, {1}, 1}, out));
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
