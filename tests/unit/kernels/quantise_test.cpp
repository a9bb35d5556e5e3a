#include "kernels/ref/quantise.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "array.hpp"
#include "kernels/ref/mxfp4.hpp"

namespace mir::ref::quantise_test {
namespace {

using namespace test;
using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Quantisation per_tensor(std::int64_t low, std::int64_t high, double scale, std::int64_t zero) {
  return {.low = low, .high = high, .scales = {scale}, .zero_points = {zero}};
}

Values codes_of(const Values& x, const Quantisation& by, DType stored) {
  const Array from(DType::kFloat64, {static_cast<std::int64_t>(x.size())}, x);
  Array to(stored, from.extents());
  REQUIRE(quantise(from, by, to));
  Values codes;
  for (std::size_t i = 0; i < x.size(); ++i) codes.push_back(to[i]);
  return codes;
}

std::array<double, kMxfp4Lanes> decoded(const std::array<std::byte, kMxfp4Bytes>& block) {
  std::array<double, kMxfp4Lanes> values{};
  decode_mxfp4(block, values);
  return values;
}

std::array<std::byte, kMxfp4Bytes> encoded(const std::array<double, kMxfp4Lanes>& values) {
  std::array<std::byte, kMxfp4Bytes> block{};
  encode_mxfp4(values, block);
  return block;
}

}  // namespace

TEST_CASE("codes are nearest with ties to even, saturate, and take a NaN for zero") {
  CHECK(codes_of({0.25, 0.75, 1.25, -0.25, -0.75, 100, -100, kInfinity, -kInfinity, kNaN},
                 per_tensor(-8, 7, 0.5, 1),
                 DType::kInt8) == Values{1, 3, 3, 1, -1, 7, -8, 7, -8, 1});
  CHECK(codes_of({-1, 0, kNaN}, per_tensor(0, 255, 1, 300), DType::kUInt8) ==
        Values{255, 255, 255});
}

TEST_CASE("activations are rounded to 8 bits, each run of 32 elements of a row by itself") {
  // A whole run and one of three elements, twice; strides of a transposed matrix.
  const std::int64_t width = 35;
  Array x(DType::kFloat32, {2, width}), out(DType::kFloat64, {2, width});
  Values first(32), second = {63.5, -127, 62.5};
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<double>(i) - 12.5;
  for (std::size_t i = 0; i < first.size(); ++i) {
    x.set(i, first[i]);
    x.set(i + 35, i == 7 ? kInfinity : 1);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    x.set(i + 32, second[i]);
    x.set(i + 67, 0x1p-149);
  }
  REQUIRE(round_activations(x, out));
  const auto step = static_cast<double>(18.5F / 127);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(out[i] == step * std::nearbyint(first[i] / step));
    CHECK(std::isnan(out[i + 35]));
  }
  CHECK(out[32] == 64);  // ties go to the even neighbour
  CHECK(out[33] == -127);
  CHECK(out[34] == 62);
  CHECK(out[67] == 0);  // the step is 0
  // 191 units: the step is 2 units; 100 units: it is 1, and codes end at 127.
  Array tiny(DType::kFloat32, {1, 2}, {0x1p-149 * 191, 0x1p-149 * 3}),
      codes(DType::kFloat64, {1, 2});
  REQUIRE(round_activations(tiny, codes));
  CHECK(codes[0] == 0x1p-148 * 96);
  CHECK(codes[1] == 0x1p-148 * 2);
  tiny.set(0, 0x1p-149 * 190);
  REQUIRE(round_activations(tiny, codes));
  CHECK(codes[0] == 0x1p-149 * 127);
  Array wrong(DType::kFloat64, {2, 34});
  CHECK_FALSE(round_activations(x, wrong));
}

TEST_CASE("every 16-bit code is its own after one way there and back") {
  Values all;
  for (int code = 0; code < 65536; ++code) all.push_back(code);
  const Array codes(DType::kUInt16, {256, 256}, all);
  for (const double scale : {1.0, 0.1, 3e-5, 7.25e20}) {
    const Quantisation by = per_tensor(0, 65535, static_cast<float>(scale), 12345);
    Array real(DType::kFloat64, {256, 256}), again(DType::kUInt16, {256, 256});
    REQUIRE(dequantise(codes, by, real));
    REQUIRE(quantise(real, by, again));
    bool same = true;
    for (std::size_t i = 0; i < all.size(); ++i) same = same && again[i] == all[i];
    CHECK(same);
    CHECK(real[12345] == 0);
  }
}

TEST_CASE("groups are blocks within channels, codes may be low bits") {
  Quantisation by{.axis = 1, .block = 2, .low = -7, .high = 7, .code_bits = 4};
  by.scales = {1, 10, 100, 1000};
  const Array codes(DType::kInt8, {4, 2}, {1, 0x0f, 2, 7, -1, 0x19, 3, 0});
  Array real(DType::kFloat64, {4, 2});
  REQUIRE(dequantise(codes, by, real));
  const Values wanted = {1, -100, 2, 700, -10, -7000, 30, 0};
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(real[i] == wanted[i]);
  Array stored(DType::kInt8, {4, 2});
  REQUIRE(quantise(real, by, stored));
  CHECK(stored[1] == 15);
  by.scales.pop_back();
  CHECK_FALSE(dequantise(codes, by, real));
  by.scales = {1, 10, 100, 0};
  CHECK_FALSE(dequantise(codes, by, real));
  by = {.axis = 2, .low = 0, .high = 1, .scales = {1}};
  CHECK_FALSE(group_count(by, codes.extents()));
  by = {.axis = 1, .block = 3, .low = 0, .high = 1, .scales = {1}};
  CHECK_FALSE(group_count(by, codes.extents()));
  CHECK_FALSE(quantise(codes, per_tensor(0, 1, 1, 0), stored));
}

TEST_CASE("every MXFP4 code at every scale is exact, and finite blocks keep their values") {
  const Values magnitudes = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned scale = 0; scale < 256; ++scale) {
    for (unsigned code = 0; code < 16; ++code) {
      std::array<std::byte, kMxfp4Bytes> block{};
      block[3] = static_cast<std::byte>(code | (15 - code) << 4);
      block[16] = static_cast<std::byte>(scale);
      const auto values = decoded(block);
      if (scale == 255) {
        CHECK(std::isnan(values[0]));
        continue;
      }
      const double unit = std::ldexp(1.0, static_cast<int>(scale) - 127);
      const auto value = [&](unsigned c) { return (c < 8 ? 1 : -1) * magnitudes[c % 8] * unit; };
      CHECK(values[3] == value(code));
      CHECK(std::signbit(values[3]) == (code >= 8));
      CHECK(values[19] == value(15 - code));
      CHECK(decoded(encoded(values)) == values);
    }
  }
}

TEST_CASE("MXFP4 rounds to the nearest code with ties to even and saturates") {
  std::array<double, kMxfp4Lanes> x{};
  const Values given = {4, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.5, 7.9, -0.3, -0.0, 0.2500001};
  const Values wanted = {4, 0, 1, 1, 2, 2, 4, 4, 6, 6, -0.5, -0.0, 0.5};
  for (std::size_t i = 0; i < given.size(); ++i) x[i] = given[i];
  const auto values = decoded(encoded(x));
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(values[i] == wanted[i]);
  CHECK(std::signbit(values[11]));
  x[31] = kNaN;
  CHECK(std::isnan(decoded(encoded(x))[0]));
  x[31] = -kInfinity;
  CHECK(decoded(encoded(x))[31] == std::ldexp(-6.0, 127));
  x.fill(0x1p-1000);
  CHECK(decoded(encoded(x))[0] == 0);
  x.fill(1e300);
  CHECK(decoded(encoded(x))[0] == std::ldexp(6.0, 127));
}

}  // namespace mir::ref::quantise_test
