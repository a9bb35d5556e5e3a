#include "kernels/ref/norm.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Exact = long double;
using Values = std::vector<double>;

double exact_rms(const Array& x, const Array& weight, std::size_t row, std::size_t i,
                 double epsilon, double unit) {
  const std::size_t width = weight.size();
  Exact squares = 0;
  for (std::size_t k = 0; k < width; ++k) squares += Exact{x[row * width + k]} * x[row * width + k];
  const Exact root = std::sqrt(squares / static_cast<Exact>(width) + epsilon);
  return static_cast<double>(x[row * width + i] * (Exact{weight[i]} + unit) / root);
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("rms_norm of a small row is the hand-computed one") {
  const Array x(DType::kFloat32, {2}, {3, 4});
  const Array weight(DType::kFloat32, {2}, {1, 2});
  const View w = weight;
  Array out(DType::kFloat32, {2});
  REQUIRE(rms_norm(x, &w, {.epsilon = 12.5}, out));
  CHECK(out[0] == static_cast<double>(3.0f / 5.0f));
  CHECK(out[1] == static_cast<double>(8.0f / 5.0f));
  REQUIRE(rms_norm(x, &w, {.epsilon = 12.5, .add_unit_offset = true}, out));
  CHECK(out[0] == static_cast<double>(6.0f / 5.0f));
  REQUIRE(rms_norm(x, nullptr, {.epsilon = 12.5}, out));
  CHECK(out[1] == static_cast<double>(4.0f / 5.0f));
}

TEST_CASE("rms_norm is within its bound for every type, in place too") {
  for (const DType dtype : kFloatingTypes) {
    for (const std::int64_t width : {1, 2, 31, 127}) {
      const Array x = random_array(dtype, {2, 3, width}, 11);
      const Array weight = random_array(DType::kFloat32, {width}, 12);
      const View w = weight;
      Array out = x;
      REQUIRE(rms_norm(out, &w, {.epsilon = 1e-5, .add_unit_offset = true}, out));
      CHECK(out.guards_intact());
      Values want;
      for (std::size_t i = 0; i < x.size(); ++i) {
        want.push_back(exact_rms(x, weight, i / weight.size(), i % weight.size(), 1e-5, 1));
      }
      CHECK(beyond_ulps(dtype == DType::kFloat64 ? 100 : 0.501, dtype, out, want) == "");
    }
  }
}

TEST_CASE("rms_norm neither overflows nor underflows on extreme floats") {
  const Array x(DType::kFloat32, {2}, {3e38, -3e38});
  Array out(DType::kFloat32, {2});
  REQUIRE(rms_norm(x, nullptr, {}, out));
  CHECK(out.values() == Values{1, -1});
  const Array tiny(DType::kFloat32, {2}, {1e-40, 1e-40});
  REQUIRE(rms_norm(tiny, nullptr, {}, out));
  CHECK(out.values() == Values{1, 1});
}

TEST_CASE("rms_norm keeps NaN and infinity within their row") {
  const Array x(DType::kFloat32, {3, 2}, {1, kNaN, 2, kInf, 1, 1});
  Array out(DType::kFloat32, {3, 2});
  REQUIRE(rms_norm(x, nullptr, {}, out));
  CHECK(out[0] != out[0]);
  CHECK(out[1] != out[1]);
  CHECK(out[2] == 0);
  CHECK(out[3] != out[3]);
  CHECK(out[4] == 1);
}

TEST_CASE("rms_norm refuses scalars, short weights and integers; an empty row is fine") {
  Array scalar(DType::kFloat32, {});
  Array x(DType::kFloat32, {2, 3});
  Array integers(DType::kInt32, {2, 3});
  Array empty(DType::kFloat32, {2, 0});
  const Array weight(DType::kFloat32, {2});
  const View w = weight;
  CHECK_FALSE(rms_norm(scalar, nullptr, {}, scalar));
  CHECK_FALSE(rms_norm(x, &w, {}, x));
  CHECK(rms_norm(integers, nullptr, {}, integers).error().code == diag::kKernelDType);
  CHECK(rms_norm(empty, nullptr, {}, empty));
}

TEST_CASE("layer_norm of a small row is the hand-computed one") {
  const Array x(DType::kFloat32, {1, 2}, {1, 5});
  const Array weight(DType::kFloat32, {2}, {10, 20});
  const Array bias(DType::kFloat32, {2}, {1, 2});
  const View w = weight;
  const View b = bias;
  Array out(DType::kFloat32, {1, 2});
  REQUIRE(layer_norm(x, &w, &b, {}, out));
  CHECK(out.values() == Values{-9, 22});
  REQUIRE(layer_norm(x, nullptr, &b, {}, out));
  CHECK(out.values() == Values{0, 3});
  REQUIRE(layer_norm(x, &w, nullptr, {}, out));
  CHECK(out.values() == Values{-10, 20});
}

TEST_CASE("layer_norm over several trailing dimensions treats them as one row") {
  const Array x = random_array(DType::kFloat32, {3, 5, 7}, 13);
  const Array weight = random_array(DType::kFloat32, {5, 7}, 14);
  const Array bias = random_array(DType::kFloat32, {5, 7}, 15);
  const View w = weight;
  const View b = bias;
  Array out(DType::kFloat32, {3, 5, 7});
  REQUIRE(layer_norm(x, &w, &b, {.epsilon = 1e-6, .normalised_dims = 2}, out));
  CHECK(out.guards_intact());
  for (std::size_t row = 0; row < 3; ++row) {
    Exact sum = 0;
    Exact squares = 0;
    for (std::size_t i = 0; i < 35; ++i) sum += x[row * 35 + i];
    const Exact mean = sum / 35;
    for (std::size_t i = 0; i < 35; ++i)
      squares += (x[row * 35 + i] - mean) * (x[row * 35 + i] - mean);
    const Exact root = std::sqrt(squares / 35 + Exact{1e-6});
    for (std::size_t i = 0; i < 35; ++i) {
      const Exact want = (x[row * 35 + i] - mean) / root * weight[i] + bias[i];
      CHECK(std::fabs(out[row * 35 + i] - static_cast<double>(want)) <=
            0.501 * 0x1p-24 * std::max(1.0, 2 * std::fabs(static_cast<double>(want))));
    }
  }
}

TEST_CASE("layer_norm without a spread gives the bias, and NaN stays in its row") {
  const Array x(DType::kFloat16, {2, 3}, {7, 7, 7, 1, kNaN, 2});
  Array out(DType::kFloat16, {2, 3});
  REQUIRE(layer_norm(x, nullptr, nullptr, {.epsilon = 1e-6}, out));
  CHECK(out[0] == 0);
  CHECK(out[2] == 0);
  CHECK(out[3] != out[3]);
}

TEST_CASE("layer_norm refuses dimensions and parameters that do not fit") {
  Array x(DType::kFloat32, {2, 3});
  const Array weight(DType::kFloat32, {2});
  const View w = weight;
  CHECK(layer_norm(x, nullptr, nullptr, {.normalised_dims = 3}, x).error().code ==
        diag::kKernelAttribute);
  CHECK(layer_norm(x, nullptr, nullptr, {.normalised_dims = -1}, x).error().code ==
        diag::kKernelAttribute);
  CHECK(layer_norm(x, &w, nullptr, {}, x).error().code == diag::kKernelShape);
  CHECK(layer_norm(x, nullptr, &w, {}, x).error().code == diag::kKernelShape);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
