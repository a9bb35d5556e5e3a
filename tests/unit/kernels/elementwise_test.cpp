#include "kernels/ref/elementwise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../seeds.hpp"
#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;
using Binary = Result<void> (*)(const View&, const View&, const MutableView&);

Values pairwise(Binary kernel, DType dtype, const Values& a, const Values& b) {
  const auto n = static_cast<std::int64_t>(a.size());
  const Array left(dtype, {n}, a);
  const Array right(dtype, {n}, b);
  Array out(dtype, {n});
  REQUIRE(kernel(left, right, out));
  CHECK(out.guards_intact());
  return out.values();
}

Values relation(Binary kernel, DType dtype, const Values& a, const Values& b) {
  const auto n = static_cast<std::int64_t>(a.size());
  Array out(DType::kBool, {n});
  REQUIRE(kernel(Array(dtype, {n}, a), Array(dtype, {n}, b), out));
  CHECK(out.guards_intact());
  return out.values();
}

TEST_SUITE_BEGIN("kernels");

TEST_CASE("floating arithmetic is correctly rounded in every type") {
  for (const DType dtype : kFloatingTypes) {
    const Array a = random_array(dtype, {211}, 1);
    const Array b = random_array(dtype, {211}, 2);
    Array out(dtype, {211});
    Array nearest(dtype, {211});
    CAPTURE(name_of(dtype));
    REQUIRE(div(a, b, out));
    for (std::size_t i = 0; i < a.size(); ++i) nearest.set(i, a[i] / b[i]);
    CHECK(out.values() == nearest.values());
    REQUIRE(mul(a, b, out));
    for (std::size_t i = 0; i < a.size(); ++i) nearest.set(i, a[i] * b[i]);
    CHECK(out.values() == nearest.values());
  }
}

/// All numbers of a type of eight bits.
template <class T>
Values all_values() {
  Values values;
  for (int bits = 0; bits < 256; ++bits)
    values.push_back(widen(T{static_cast<std::uint8_t>(bits)}));
  return values;
}

/// The nearest of `values`, of two as near the one with even bits; where nothing is as large, the
/// largest, or the infinity that `values` has.
double nearest_of(const Values& values, double exact) {
  double best = kNaN;
  bool is_even = false;
  for (std::size_t bits = 0; bits < values.size(); ++bits) {
    const double distance = std::fabs(values[bits] - exact), least = std::fabs(best - exact);
    const bool tie = distance == least && bits % 2 == 0 && !is_even;
    if (!std::isfinite(values[bits]) || !(best != best || distance < least || tie)) continue;
    best = values[bits];
    is_even = bits % 2 == 0;
  }
  return best;
}

TEST_CASE("sums and products of all pairs of 8-bit floats are correctly rounded") {
  const auto check = [](DType dtype, const Values& values, double overflow) {
    for (std::size_t place = 0; place < values.size(); place += mir::test::kCaseStride) {
      const double a = values[place];
      const Values left(values.size(), a);
      const Values sums = pairwise(add, dtype, left, values);
      const Values products = pairwise(mul, dtype, left, values);
      for (std::size_t i = 0; i < values.size(); i += 3) {
        const auto right = [&](double got, double exact) {
          if (exact != exact) return got != got;
          if (std::fabs(exact) >= overflow)
            return got == std::copysign(overflow == 464 ? 448 : kInf, exact);
          return got == nearest_of(values, exact);
        };
        CAPTURE(a);
        CAPTURE(values[i]);
        REQUIRE(right(sums[i], a + values[i]));
        REQUIRE(right(products[i], a * values[i]));
      }
    }
  };
  check(DType::kFloat8E4M3, all_values<Float8E4M3>(), 464);
  check(DType::kFloat8E5M2, all_values<Float8E5M2>(), 61440);
}

TEST_CASE("operands broadcast into the result by NumPy's rule") {
  const Array column(DType::kFloat32, {2, 1}, {10, 20});
  const Array row(DType::kFloat32, {3}, {1, 2, 3});
  Array out(DType::kFloat32, {2, 3});
  REQUIRE(add(column, row, out));
  CHECK(out.values() == Values{11, 12, 13, 21, 22, 23});
  REQUIRE(sub(row, column, out));
  CHECK(out.values() == Values{-9, -8, -7, -19, -18, -17});

  const Array longer(DType::kFloat32, {4});
  CHECK(add(column, longer, out).error().code == diag::kKernelShape);
  const Array deeper(DType::kFloat32, {1, 2, 3});
  CHECK(add(deeper, row, out).error().code == diag::kKernelShape);
}

TEST_CASE("an extent of one broadcasts to an extent of zero") {
  const Array a(DType::kFloat32, {0, 3});
  const Array b(DType::kFloat32, {1, 1});
  Array out(DType::kFloat32, {0, 3});
  CHECK(mul(a, b, out));
}

TEST_CASE("integers wrap in every width") {
  CHECK(pairwise(add, DType::kInt8, {127, -128}, {1, -1}) == Values{-128, 127});
  CHECK(pairwise(mul, DType::kUInt16, {65535}, {65535}) == Values{1});
  CHECK(pairwise(sub, DType::kUInt32, {0}, {1}) == Values{4294967295.0});
  Array a(DType::kInt64, {1});
  *a.as<std::int64_t>() = INT64_MAX;
  const Array one(DType::kInt64, {1}, {1});
  REQUIRE(add(a, one, a));
  CHECK(*a.as<std::int64_t>() == INT64_MIN);
}

TEST_CASE("integer division truncates and never traps") {
  CHECK(pairwise(div, DType::kInt32, {7, -7, 7, 5}, {2, 2, -2, 0}) == Values{3, -3, -3, 0});
  CHECK(pairwise(div, DType::kInt8, {-128}, {-1}) == Values{-128});
  CHECK(pairwise(div, DType::kUInt8, {200}, {255}) == Values{0});
  Array lowest(DType::kInt64, {1});
  *lowest.as<std::int64_t>() = INT64_MIN;
  const Array minus_one(DType::kInt64, {1}, {-1});
  REQUIRE(div(lowest, minus_one, lowest));
  CHECK(*lowest.as<std::int64_t>() == INT64_MIN);
}

TEST_CASE("floating division follows IEEE at zero, infinity and NaN") {
  const Values got = pairwise(div, DType::kFloat16, {1, -1, 0, 1e-4, kNaN}, {0, 0, 0, kInf, 1});
  CHECK(got[0] == kInf);
  CHECK(got[1] == -kInf);
  CHECK(got[2] != got[2]);
  CHECK(got[3] == 0);
  CHECK(got[4] != got[4]);
}

TEST_CASE("a NaN is stored the same whichever operand brings it") {
  Array a(DType::kFloat32, {1});
  const Array b(DType::kFloat32, {1}, {1});
  Array out(DType::kFloat32, {1});
  *a.as<std::uint32_t>() = 0xffc00123;
  REQUIRE(add(a, b, out));
  CHECK(*out.as<std::uint32_t>() == 0x7fc00000);
}

TEST_CASE("arithmetic may run in place and refuses mixed or opaque types") {
  Array a(DType::kFloat32, {2}, {1, 2});
  const Array b(DType::kFloat32, {2}, {3, 4});
  REQUIRE(add(a, b, a));
  CHECK(a.values() == Values{4, 6});
  const Array half(DType::kFloat16, {2});
  CHECK(add(a, half, a).error().code == diag::kKernelDType);
  Array truth(DType::kBool, {2});
  CHECK(add(truth, truth, truth).error().code == diag::kKernelDType);
}

TEST_CASE("equal compares values, not bits") {
  const Array a(DType::kFloat32, {2, 3}, {1, kNaN, -0.0, 2, 3, kInf});
  const Array b(DType::kFloat32, {2, 3}, {1, kNaN, 0.0, 3, 3, kInf});
  Array out(DType::kBool, {2, 3});
  REQUIRE(equal(a, b, out));
  CHECK(out.values() == Values{1, 0, 1, 0, 1, 1});
  const Array one(DType::kFloat32, {1}, {3});
  Array bytes(DType::kUInt8, {2, 3});
  REQUIRE(equal(b, one, bytes));
  CHECK(bytes.values() == Values{0, 0, 0, 1, 1, 0});
  Array wide(DType::kInt32, {2, 3});
  CHECK(equal(a, b, wide).error().code == diag::kKernelDType);
}

TEST_CASE("equal tells neighbouring 64-bit integers apart") {
  Array a(DType::kUInt64, {1});
  Array b(DType::kUInt64, {1});
  *a.as<std::uint64_t>() = UINT64_MAX;
  *b.as<std::uint64_t>() = UINT64_MAX - 1;
  Array out(DType::kBool, {1});
  REQUIRE(equal(a, b, out));
  CHECK(out[0] == 0);
}

TEST_CASE("comparisons are IEEE's: a NaN is neither equal to, below nor above anything") {
  const Values a{1, 2, 2, kNaN, kNaN, -0.0, kInf, -kInf}, b{2, 1, 2, kNaN, 1, 0.0, kInf, kInf};
  CHECK(relation(equal, DType::kFloat32, a, b) == Values{0, 0, 1, 0, 0, 1, 1, 0});
  CHECK(relation(not_equal, DType::kFloat32, a, b) == Values{1, 1, 0, 1, 1, 0, 0, 1});
  CHECK(relation(less, DType::kFloat32, a, b) == Values{1, 0, 0, 0, 0, 0, 0, 1});
  CHECK(relation(less_equal, DType::kFloat32, a, b) == Values{1, 0, 1, 0, 0, 1, 1, 1});
  CHECK(relation(greater, DType::kFloat32, a, b) == Values{0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(relation(greater_equal, DType::kFloat32, a, b) == Values{0, 1, 1, 0, 0, 1, 1, 0});
}

TEST_CASE("comparisons take every integer type and Bool, false below true") {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    CHECK(relation(less, dtype, {-3, 3, 3}, {3, -3, 3}) == Values{1, 0, 0});
    CHECK(relation(greater_equal, dtype, {-3, 3, 3}, {3, -3, 3}) == Values{0, 1, 1});
  }
  CHECK(relation(greater, DType::kUInt8, {255, 1}, {1, 255}) == Values{1, 0});
  CHECK(relation(less, DType::kBool, {0, 1, 0, 1}, {1, 0, 0, 1}) == Values{1, 0, 0, 0});
  Array large(DType::kUInt64, {1}), one(DType::kUInt64, {1}, {1}), out(DType::kBool, {1});
  *large.as<std::uint64_t>() = UINT64_MAX;
  REQUIRE(less(one, large, out));
  CHECK(out[0] == 1);
}

TEST_CASE("logic takes any byte that is not zero for true, and Bool only") {
  Array a(DType::kBool, {4}, {0, 0, 1, 1});
  const Array b(DType::kBool, {4}, {0, 1, 0, 1});
  a.as<std::uint8_t>()[3] = 0x80;
  Array out(DType::kBool, {4});
  REQUIRE(logical_and(a, b, out));
  CHECK(out.values() == Values{0, 0, 0, 1});
  REQUIRE(logical_or(a, b, out));
  CHECK(out.values() == Values{0, 1, 1, 1});
  REQUIRE(logical_xor(a, b, out));
  CHECK(out.values() == Values{0, 1, 1, 0});
  REQUIRE(logical_not(a, out));
  CHECK(out.values() == Values{1, 1, 0, 0});
  Array bytes(DType::kUInt8, {4});
  CHECK(logical_and(bytes, bytes, out).error().code == diag::kKernelDType);
  CHECK(logical_not(bytes, out).error().code == diag::kKernelDType);
}

TEST_CASE("the larger and the smaller element: a NaN wins, -0 is below +0") {
  const Values a{1, -0.0, 0.0, kNaN, 1, -kInf}, b{2, 0.0, -0.0, 1, kNaN, 3};
  const auto agree = [](const Values& got, const Values& want) {
    return std::ranges::equal(got, want, [](double x, double y) {
      return (x != x && y != y) || (x == y && std::signbit(x) == std::signbit(y));
    });
  };
  for (const DType dtype : kFloatingTypes) {
    if (dtype == DType::kFloat8E4M3) continue;  // it has no infinity
    CAPTURE(name_of(dtype));
    CHECK(agree(pairwise(maximum, dtype, a, b), {2, 0.0, 0.0, kNaN, kNaN, 3}));
    CHECK(agree(pairwise(minimum, dtype, a, b), {1, -0.0, -0.0, kNaN, kNaN, -kInf}));
  }
  CHECK(pairwise(maximum, DType::kInt8, {-128, 5}, {127, 5}) == Values{127, 5});
  CHECK(pairwise(minimum, DType::kUInt16, {65535, 0}, {1, 7}) == Values{1, 0});
}

TEST_CASE("remainders are exact and have the sign of the first operand") {
  const Values got = pairwise(rem, DType::kFloat32, {7.5, -7.5, 7.5, -6, 1e30, 5, kInf, 5, -0.0},
                              {2, 2, -2, 3, 3, kInf, 2, 0, 2});
  CHECK(got[0] == 1.5);
  CHECK(got[1] == -1.5);
  CHECK(got[2] == 1.5);
  CHECK(got[3] == 0);
  CHECK(std::signbit(got[3]));
  CHECK(got[4] == std::fmod(static_cast<double>(1e30F), 3.0));
  CHECK(got[5] == 5);
  CHECK(got[6] != got[6]);
  CHECK(got[7] != got[7]);
  CHECK(std::signbit(got[8]));
  CHECK(pairwise(rem, DType::kInt32, {7, -7, 7, 5}, {2, 2, -2, 0}) == Values{1, -1, 1, 5});
  CHECK(pairwise(rem, DType::kInt8, {-128, -128}, {-1, 100}) == Values{0, -28});
  CHECK(pairwise(rem, DType::kUInt8, {200}, {255}) == Values{200});
  Array lowest(DType::kInt64, {1});
  *lowest.as<std::int64_t>() = INT64_MIN;
  const Array minus_one(DType::kInt64, {1}, {-1});
  REQUIRE(rem(lowest, minus_one, lowest));
  CHECK(*lowest.as<std::int64_t>() == 0);
}

TEST_CASE("quotient and remainder make the dividend again in every integer type") {
  for (const DType dtype : {DType::kInt8, DType::kInt64, DType::kUInt8, DType::kUInt32}) {
    const Array a = random_array(dtype, {301}, 5, 90.0), b = random_array(dtype, {301}, 6, 9.0);
    Array quotient(dtype, {301}), rest(dtype, {301});
    REQUIRE(div(a, b, quotient));
    REQUIRE(rem(a, b, rest));
    REQUIRE(mul(quotient, b, quotient));
    REQUIRE(add(quotient, rest, rest));
    CHECK(rest.values() == a.values());
  }
}

TEST_CASE("where selects with broadcast condition and alternative") {
  const Array cond(DType::kBool, {2, 1}, {1, 0});
  const Array a(DType::kBFloat16, {2, 2}, {1, 2, 3, 4});
  const Array b(DType::kBFloat16, {1}, {-1});
  Array out(DType::kBFloat16, {2, 2});
  REQUIRE(where(cond, a, b, out));
  CHECK(out.values() == Values{1, 2, -1, -1});
  CHECK(where(a, a, b, out).error().code == diag::kKernelDType);
  const Array wrong(DType::kBool, {3});
  CHECK(where(wrong, a, b, out).error().code == diag::kKernelShape);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
