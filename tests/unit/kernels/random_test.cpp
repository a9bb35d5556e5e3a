#include "kernels/ref/random.hpp"

#include <doctest/doctest.h>

#include "array.hpp"
#include "mir/codes/kernels.hpp"

namespace mir::ref {
namespace {

using namespace test;

TEST_SUITE_BEGIN("kernels");

TEST_CASE("random: Philox has the words that its authors publish") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: numbers go on where the state says, and use a counter for four of them") {
  for (const double start : {0.0, 5.0, -2.0, 4294967295.0}) {
    const Array state(DType::kInt64, {2}, {77, start});
    Array all(DType::kFloat32, {2, 5}), after(DType::kInt64, {2});
    REQUIRE(random_uniform(state, all, after));
    CHECK(after.values() == std::vector<double>{77, start + 3});
    for (const double value : all.values()) CHECK((value >= 0 && value < 1));
    Array four(DType::kFloat32, {4}), next(DType::kInt64, {2});
    REQUIRE(random_uniform(state, four, next));
    CHECK(next.values() == std::vector<double>{77, start + 1});
    Array six(DType::kFloat32, {6}), last(DType::kInt64, {2});
    REQUIRE(random_uniform(next, six, last));
    auto joined = four.values();
    for (const double value : six.values()) joined.push_back(value);
    CHECK(joined == all.values());
    CHECK(last.values() == after.values());
    CHECK(all.guards_intact());
    CHECK(after.guards_intact());
    Array none(DType::kFloat32, {0, 3}), same(DType::kInt64, {2});
    REQUIRE(random_uniform(state, none, same));
    CHECK(same.values() == state.values());
  }
}

TEST_CASE("random: other types and extents are refused") {
  const Array state(DType::kInt64, {2}), three(DType::kInt64, {3}), narrow(DType::kInt32, {2});
  Array out(DType::kFloat32, {2}), next(DType::kInt64, {2}), wrong(DType::kInt64, {1});
  Array wide(DType::kFloat64, {2});
  CHECK(random_uniform(three, out, next).error().code == diag::kKernelShape);
  CHECK(random_uniform(narrow, out, next).error().code == diag::kKernelShape);
  CHECK(random_uniform(state, out, wrong).error().code == diag::kKernelShape);
  CHECK(random_uniform(state, wide, next).error().code == diag::kKernelDType);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mir::ref
