#include "kernels/ref/pad.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

using Values = std::vector<double>;

Values padded(const Values& values, std::int64_t before, std::int64_t after, PadMode mode) {
  const auto n = static_cast<std::int64_t>(values.size());
  const Array x(DType::kFloat32, {n}, values);
  Array out(DType::kFloat32, {before + n + after});
  const Array value(DType::kFloat32, {}, {9});
  REQUIRE(pad(x, Dims{before}, mode, value, out));
  CHECK(out.guards_intact());
  return out.values();
}

/// A position walked step by step from the edge of [0, n).
std::int64_t walked(PadMode mode, std::int64_t i, std::int64_t n) {
  if (mode == PadMode::kConstant) return i >= 0 && i < n ? i : -1;
  std::int64_t at = 0, step = i < 0 ? -1 : 1;
  for (std::int64_t left = i < 0 ? -i : i; left > 0 && n > 1; --left) {
    const bool leaves = at + step < 0 || at + step >= n;
    if (leaves && mode == PadMode::kReplicate) return at;
    if (leaves && mode == PadMode::kReflect) step = -step;
    at = leaves && mode == PadMode::kCircular ? (step > 0 ? 0 : n - 1) : at + step;
  }
  return at;
}

constexpr PadMode kModes[] = {PadMode::kConstant, PadMode::kReflect, PadMode::kReplicate,
                              PadMode::kCircular};

TEST_SUITE_BEGIN("kernels");

TEST_CASE("margins repeat the tensor by their mode") {
  const Values x = {1, 2, 3};
  CHECK(padded(x, 2, 1, PadMode::kConstant) == Values{9, 9, 1, 2, 3, 9});
  CHECK(padded(x, 2, 1, PadMode::kReflect) == Values{3, 2, 1, 2, 3, 2});
  CHECK(padded(x, 2, 1, PadMode::kReplicate) == Values{1, 1, 1, 2, 3, 3});
  CHECK(padded(x, 2, 1, PadMode::kCircular) == Values{2, 3, 1, 2, 3, 1});
  CHECK(padded({7}, 2, 1, PadMode::kReflect) == Values{7, 7, 7, 7});
  CHECK(padded(x, 0, 0, PadMode::kReflect) == x);
  CHECK(padded({}, 1, 1, PadMode::kConstant) == Values{9, 9});
}

TEST_CASE("margins wider than the tensor go back and forth or round and round") {
  for (const PadMode mode : kModes) {
    for (std::int64_t n = 1; n < 6; ++n) {
      for (std::int64_t i = -17; i < 17; ++i) {
        CAPTURE(n);
        CAPTURE(i);
        CHECK(margin_index(mode, i, n) == walked(mode, i, n));
      }
    }
  }
}

TEST_CASE("every dimension has its own margin and only the outside is constant") {
  const Array x(DType::kInt16, {1, 2}, {1, 2});
  const Array value(DType::kInt16, {1}, {-3});
  Array out(DType::kInt16, {3, 3});
  REQUIRE(pad(x, Dims{1, 0}, PadMode::kConstant, value, out));
  CHECK(out.values() == Values{-3, -3, -3, 1, 2, -3, -3, -3, -3});
  REQUIRE(pad(x, Dims{1, 1}, PadMode::kCircular, value, out));
  CHECK(out.values() == Values{2, 1, 2, 2, 1, 2, 2, 1, 2});
}

TEST_CASE("strides of any sign are followed and all bits are kept") {
  Array x(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  x.as<std::uint32_t>()[0] = 0xffc12345;
  x.transpose(0, 1);
  const Array value(DType::kFloat32, {});
  Array out(DType::kFloat32, {2, 3});
  REQUIRE(pad(x, Dims{0, 0}, PadMode::kReplicate, value, out));
  CHECK(out.as<std::uint32_t>()[0] == 0xffc12345);
  CHECK(Values{out[1], out[2], out[3], out[4], out[5]} == Values{3, 3, 2, 4, 4});
  const Dims extents{3}, strides{-1};
  const Array row(DType::kFloat32, {3}, {1, 2, 3});
  const View turned{row.dtype(), static_cast<const float*>(row.view().data) + 2, extents, strides};
  Array four(DType::kFloat32, {4});
  REQUIRE(pad(turned, Dims{1}, PadMode::kReplicate, value, four));
  CHECK(four.values() == Values{3, 3, 2, 1});
}

TEST_CASE("a margin needs elements, unless the result has none either") {
  const Array x(DType::kFloat32, {0, 2});
  const Array value(DType::kFloat32, {});
  Array out(DType::kFloat32, {1, 2}), empty(DType::kFloat32, {0, 3});
  CHECK(pad(x, Dims{1, 0}, PadMode::kReflect, value, out).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{0, 1}, PadMode::kReflect, value, empty));
  CHECK(pad(x, Dims{1, 0}, PadMode::kConstant, value, out));
}

TEST_CASE("pad refuses margins, values and types that do not fit") {
  const Array x(DType::kFloat32, {2});
  const Array value(DType::kFloat32, {}), two(DType::kFloat32, {2}), whole(DType::kInt32, {});
  Array out(DType::kFloat32, {3}), less(DType::kFloat32, {1}), packed(DType::kMXFP4, {0});
  CHECK(pad(x, Dims{2}, PadMode::kReflect, value, out).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{-1}, PadMode::kReflect, value, out).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{}, PadMode::kReflect, value, out).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{0}, PadMode::kReflect, value, less).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{1}, PadMode::kConstant, two, out).error().code == diag::kKernelShape);
  CHECK(pad(x, Dims{1}, PadMode::kConstant, whole, out).error().code == diag::kKernelDType);
  CHECK(pad(packed, Dims{0}, PadMode::kReflect, packed, packed).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
