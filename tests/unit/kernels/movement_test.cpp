#include "kernels/ref/movement.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

TEST_SUITE_BEGIN("kernels");

TEST_CASE("copying an exchanged view transposes, between intact guards") {
  Array x(DType::kInt16, {2, 3}, {1, 2, 3, 4, 5, 6});
  Array out(DType::kInt16, {3, 2});
  x.transpose(0, 1);
  REQUIRE(copy(x, out));
  CHECK(out.values() == Values{1, 4, 2, 5, 3, 6});
  CHECK(out.guards_intact());
}

TEST_CASE("copying broadcasts and follows negative strides") {
  const Array x(DType::kFloat32, {3, 1}, {1, 2, 3});
  Array out(DType::kFloat32, {3, 2});
  REQUIRE(copy(x, out));
  CHECK(out.values() == Values{1, 1, 2, 2, 3, 3});

  const Dims extents = {3};
  const Dims backwards = {-1};
  Array source(DType::kFloat32, {3}, {1, 2, 3});
  Array reversed(DType::kFloat32, {3});
  REQUIRE(copy({DType::kFloat32, source.as<float>() + 2, extents, backwards}, reversed));
  CHECK(reversed.values() == Values{3, 2, 1});
}

TEST_CASE("copying keeps the bits of a NaN and takes types it does not compute with") {
  Array x(DType::kFloat32, {1});
  Array out(DType::kFloat32, {1});
  *x.as<std::uint32_t>() = 0xffa12345;
  REQUIRE(copy(x, out));
  CHECK(*out.as<std::uint32_t>() == 0xffa12345);

  const Array complex(DType::kComplexFP64, {5});
  Array same(DType::kComplexFP64, {5});
  CHECK(copy(complex, same));
}

TEST_CASE("copying nothing and copying a scalar work") {
  const Array empty(DType::kInt8, {3, 0});
  Array none(DType::kInt8, {3, 0});
  CHECK(copy(empty, none));
  const Array x(DType::kInt8, {}, {7});
  Array out(DType::kInt8, {});
  REQUIRE(copy(x, out));
  CHECK(out[0] == 7);
}

TEST_CASE("copy refuses other types, extents that do not broadcast and packed elements") {
  const Array x(DType::kFloat32, {2});
  Array other(DType::kInt32, {2});
  Array longer(DType::kFloat32, {3});
  CHECK(copy(x, other).error().code == diag::kKernelDType);
  CHECK(copy(x, longer).error().code == diag::kKernelShape);
  const Array packed(DType::kMXFP4, {2});
  Array same(DType::kMXFP4, {2});
  CHECK(copy(packed, same).error().code == diag::kKernelDType);
}

TEST_CASE("malformed views are refused") {
  Array out(DType::kFloat32, {2});
  const Dims negative = {-2};
  const Dims one = {1};
  const Dims many(kMaxRank + 1, 1);
  float data[2] = {};
  CHECK_FALSE(cast({DType::kFloat32, data, negative, one}, out));
  CHECK_FALSE(cast({DType::kFloat32, data, one, {}}, out));
  CHECK_FALSE(copy({DType::kFloat32, data, many, many}, out));
}

TEST_CASE("concat joins along any axis, empty pieces too") {
  const Array a(DType::kFloat16, {2, 1}, {1, 2});
  const Array b(DType::kFloat16, {2, 0});
  const Array c(DType::kFloat16, {2, 2}, {3, 4, 5, 6});
  Array out(DType::kFloat16, {2, 3});
  const View columns[] = {a, b, c};
  REQUIRE(concat(columns, -1, out));
  CHECK(out.values() == Values{1, 3, 4, 2, 5, 6});
  CHECK(out.guards_intact());

  const Array d(DType::kFloat16, {1, 2}, {8, 9});
  Array tall(DType::kFloat16, {3, 2});
  const View rows[] = {d, c};
  REQUIRE(concat(rows, 0, tall));
  CHECK(tall.values() == Values{8, 9, 3, 4, 5, 6});
}

TEST_CASE("concat refuses pieces that do not fit") {
  const Array a(DType::kFloat32, {2, 1});
  const Array b(DType::kFloat32, {3, 1});
  Array out(DType::kFloat32, {2, 2});
  const View uneven[] = {a, b};
  const View one[] = {a};
  CHECK(concat(uneven, 1, out).error().code == diag::kKernelShape);
  CHECK(concat(one, 1, out).error().code == diag::kKernelShape);
  CHECK(concat({}, 1, out).error().code == diag::kKernelShape);
  CHECK(concat(one, 2, out).error().code == diag::kKernelAttribute);
}

TEST_CASE("stack inserts the new dimension where the axis says") {
  const Array a(DType::kInt32, {2}, {1, 2});
  const Array b(DType::kInt32, {2}, {3, 4});
  const View inputs[] = {a, b, a};
  Array rows(DType::kInt32, {3, 2});
  REQUIRE(stack(inputs, 0, rows));
  CHECK(rows.values() == Values{1, 2, 3, 4, 1, 2});
  Array columns(DType::kInt32, {2, 3});
  REQUIRE(stack(inputs, -1, columns));
  CHECK(columns.values() == Values{1, 3, 1, 2, 4, 2});
  CHECK_FALSE(stack(inputs, 2, columns));
  CHECK_FALSE(stack(std::span(inputs).first(2), 0, rows));
}

TEST_CASE("repeat interleaves") {
  const Array x(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  Array rows(DType::kFloat32, {4, 2});
  REQUIRE(repeat(x, 0, 2, rows));
  CHECK(rows.values() == Values{1, 2, 1, 2, 3, 4, 3, 4});
  Array columns(DType::kFloat32, {2, 6});
  REQUIRE(repeat(x, -1, 3, columns));
  CHECK(columns.values() == Values{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4});
  Array none(DType::kFloat32, {0, 2});
  CHECK(repeat(x, 0, 0, none));
  CHECK(repeat(x, 0, -1, none).error().code == diag::kKernelAttribute);
  CHECK(repeat(x, 0, 3, rows).error().code == diag::kKernelShape);
}

Values cast_values(DType from, const Values& values, DType to) {
  const auto n = static_cast<std::int64_t>(values.size());
  const Array x(from, {n}, values);
  Array out(to, {n});
  REQUIRE(cast(x, out));
  CHECK(out.guards_intact());
  return out.values();
}

TEST_CASE("casts from floating to integer truncate and saturate") {
  const Values x = {1.9, -1.9, 300, -300, kInf, -kInf, kNaN, -0.0};
  CHECK(cast_values(DType::kFloat32, x, DType::kInt8) == Values{1, -1, 127, -128, 127, -128, 0, 0});
  CHECK(cast_values(DType::kFloat64, x, DType::kUInt8) == Values{1, 0, 255, 0, 255, 0, 0, 0});
}

TEST_CASE("casts between integers wrap") {
  CHECK(cast_values(DType::kInt32, {257, -1, -129}, DType::kInt8) == Values{1, -1, 127});
  CHECK(cast_values(DType::kInt8, {-1}, DType::kUInt16) == Values{65535});
  CHECK(cast_values(DType::kUInt32, {4294967295.0}, DType::kInt32) == Values{-1});
}

TEST_CASE("casts to and from Bool are zero tests") {
  CHECK(cast_values(DType::kFloat32, {0, -0.0, 0.25, kNaN}, DType::kBool) == Values{0, 0, 1, 1});
  Array x(DType::kBool, {2});
  x.as<std::uint8_t>()[1] = 0xff;
  Array out(DType::kFloat16, {2});
  REQUIRE(cast(x, out));
  CHECK(out.values() == Values{0, 1});
}

TEST_CASE("casts to floating types round to nearest even") {
  CHECK(cast_values(DType::kFloat32, {2049, 2051, 1e6, -0.0}, DType::kFloat16) ==
        Values{2048, 2052, kInf, 0});
  CHECK(cast_values(DType::kInt32, {16777217, 16777219}, DType::kFloat32) ==
        Values{16777216, 16777220});
}

TEST_CASE("a large integer is rounded once on its way to a narrow type") {
  // 2^62 + 2^54 is a tie of bfloat16; the last 1 decides it and is lost in a double.
  Array x(DType::kInt64, {2});
  x.as<std::int64_t>()[0] = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  x.as<std::int64_t>()[1] = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  Array out(DType::kBFloat16, {2});
  REQUIRE(cast(x, out));
  CHECK(out.values() == Values{0x1.02p62, 0x1p62});
  x.as<std::int64_t>()[0] = INT64_MIN;
  REQUIRE(cast(x, out));
  CHECK(out[0] == -0x1p63);
}

TEST_CASE("cast refuses types it has no meaning for") {
  const Array x(DType::kFloat32, {1});
  Array packed(DType::kUInt8PerTensor, {1});
  CHECK(cast(x, packed).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
