// Rows rotated by tables against products and sums one by one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "fast_problem.hpp"
#include "kernels/fast/rope.hpp"

namespace mir::fast::rotate_half_test {
namespace {

using namespace mir::fast::test;

/// x and the result are [outer, inner, width]; a table has rows of its own for the dimensions that
/// it does not repeat over.
struct Shape {
  std::int64_t outer, inner, width;
  bool repeats_outer, repeats_inner;
};

constexpr Shape kShapes[] = {{1, 1, 2, false, false},   {3, 4, 2, true, false},
                             {2, 3, 6, false, true},    {2, 5, 30, true, true},
                             {3, 2, 32, false, false},  {2, 3, 34, true, false},
                             {4, 37, 128, true, false}, {1, 3, 16400, false, true},
                             {0, 3, 8, true, false},    {3, 0, 8, false, false}};

RotateHalfOperands operands_of(const Shape& s, const FloatValues& cos, const FloatValues& sin) {
  RotateHalfOperands operands{
      .cos = cos.data(), .sin = sin.data(), .rank = 2, .width = s.width, .extents = {}};
  operands.extents = {s.outer, s.inner};
  operands.x_strides = {s.inner * s.width, s.width};
  operands.out_strides = operands.x_strides;
  operands.cos_strides = {s.repeats_outer ? 0 : s.inner * s.width, s.repeats_inner ? 0 : s.width};
  operands.sin_strides = operands.cos_strides;
  return operands;
}

/// The ops one by one, each result rounded to float.
FloatValues one_by_one(const Shape& s, const FloatValues& x, const RotateHalfOperands& tables) {
  FloatValues out(x.size());
  const std::int64_t half = s.width / 2;
  for (std::int64_t row = 0; row < s.outer * s.inner; ++row) {
    const std::int64_t table = row / std::max<std::int64_t>(s.inner, 1) * tables.cos_strides[0] +
                               row % std::max<std::int64_t>(s.inner, 1) * tables.cos_strides[1];
    for (std::int64_t i = 0; i < s.width; ++i) {
      const float own = x[static_cast<std::size_t>(row * s.width + i)];
      const float other = i < half ? -x[static_cast<std::size_t>(row * s.width + i + half)]
                                   : x[static_cast<std::size_t>(row * s.width + i - half)];
      const float plain = own * tables.cos[table + i], rotated = other * tables.sin[table + i];
      out[static_cast<std::size_t>(row * s.width + i)] = plain + rotated;
    }
  }
  return out;
}

bool same_bits(const FloatValues& a, const FloatValues& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

TEST_SUITE_BEGIN("fast kernels");

TEST_CASE("rotated rows have the bits of products and sums one by one") {
  on_each_isa([](Context& context) {
    for (const Shape& s : kShapes) {
      CAPTURE(fmt::format("{} x {} x {}", s.outer, s.inner, s.width));
      FloatValues x = random_floats(s.outer * s.inner * s.width, 1);
      if (x.size() > 3) x[1] = -0.0F, x[3] = HUGE_VALF;
      const FloatValues cos = random_floats(s.outer * s.inner * s.width, 2, 1.0);
      const FloatValues sin = random_floats(s.outer * s.inner * s.width, 3, 1.0);
      RotateHalfOperands operands = operands_of(s, cos, sin);
      const FloatValues want = one_by_one(s, x, operands);

      FloatValues got(x.size(), -7.0F);
      operands.x = x.data();
      operands.out = got.data();
      rotate_half(operands, context);
      CHECK(same_bits(got, want));

      FloatValues in_place = x;
      operands.x = operands.out = in_place.data();
      rotate_half(operands, context);
      CHECK(same_bits(in_place, want));
    }
  });
}

TEST_CASE("rows of x and of the result lie in any order") {
  on_each_isa([](Context& context) {
    const Shape s = {3, 5, 12, false, false};
    const FloatValues x = random_floats(3 * 5 * 12, 4), cos = random_floats(3 * 5 * 12, 5),
                      sin = random_floats(3 * 5 * 12, 6);
    RotateHalfOperands operands = operands_of(s, cos, sin);
    const FloatValues want = one_by_one(s, x, operands);
    // Both are [inner, outer, width] in memory.
    FloatValues turned(x.size()), got(x.size());
    const auto place = [](std::size_t outer, std::size_t inner) {
      return (inner * 3 + outer) * 12;
    };
    for (std::size_t row = 0; row < 15; ++row) {
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(row * 12), 12,
                  turned.begin() + static_cast<std::ptrdiff_t>(place(row / 5, row % 5)));
    }
    operands.x = turned.data();
    operands.out = got.data();
    operands.x_strides = operands.out_strides = {12, 3 * 12};
    rotate_half(operands, context);
    FloatValues back(x.size());
    for (std::size_t row = 0; row < 15; ++row) {
      std::copy_n(got.begin() + static_cast<std::ptrdiff_t>(place(row / 5, row % 5)), 12,
                  back.begin() + static_cast<std::ptrdiff_t>(row * 12));
    }
    CHECK(same_bits(back, want));
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::fast::rotate_half_test
