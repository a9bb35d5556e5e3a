#include "mir/tensor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"

namespace diag = mir::diag;
using mir::DType;
using mir::element_count;
using mir::Shape;
using mir::Tensor;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("the element count is the product of the extents") {
  CHECK(*element_count(Shape{}) == 1);
  CHECK(*element_count(Shape{2, 3, 4}) == 24);
  CHECK(*element_count(Shape{kMost, 1}) == kMost);
  CHECK(*element_count(Shape{kMost, 0, kMost}) == 0);
}

TEST_CASE("negative extents and products over 2^63 - 1 are refused") {
  CHECK(element_count(Shape{2, -1}).error().code == diag::kTensorStorage);
  CHECK(element_count(Shape{0, -1}).error().code == diag::kTensorStorage);
  CHECK(element_count(Shape{kMost, 2}).error().code == diag::kLimitExceeded);
  CHECK(element_count(Shape{std::int64_t{1} << 32, std::int64_t{1} << 31}).error().code ==
        diag::kLimitExceeded);
}

TEST_CASE("allocated storage is aligned, zero and writable") {
  auto tensor = Tensor::allocate(DType::kInt32, {3, 5});
  REQUIRE(tensor);
  CHECK(tensor->defined());
  CHECK(tensor->elements() == 15);
  CHECK(tensor->bytes().size() == 60);
  CHECK(reinterpret_cast<std::uintptr_t>(tensor->bytes().data()) % 64 == 0);
  CHECK(std::ranges::count(tensor->as<std::int32_t>(), 0) == 15);
  tensor->as_mutable<std::int32_t>()[14] = 7;
  const Tensor alias = *tensor;
  CHECK(alias.as<std::int32_t>()[14] == 7);
}

TEST_CASE("a scalar has one element and an empty extent none") {
  CHECK(Tensor::allocate(DType::kFloat64, {})->bytes().size() == 8);
  auto empty = Tensor::allocate(DType::kFloat32, {4, 0});
  REQUIRE(empty);
  CHECK(empty->defined());
  CHECK(empty->bytes().empty());
  CHECK_FALSE(Tensor().defined());
}

TEST_CASE("storage that cannot be had is an error") {
  CHECK(Tensor::allocate(DType::kFloat32, {kMost}).error().code == diag::kLimitExceeded);
  CHECK(Tensor::allocate(DType::kInt8, {kMost}).error().code == diag::kLimitExceeded);
  CHECK(Tensor::allocate(DType::kGgufQ4_0, {33}).error().code == diag::kTensorStorage);
  CHECK(Tensor::allocate(DType::kFloat32, {-1}).error().code == diag::kTensorStorage);
}

TEST_CASE("a borrowed tensor reads the bytes and keeps their owner") {
  auto owner = std::make_shared<std::array<float, 4>>(std::array{1.f, 2.f, 3.f, 4.f});
  auto tensor = Tensor::borrow(DType::kFloat32, {2, 2}, std::as_bytes(std::span(*owner)), owner);
  REQUIRE(tensor);
  CHECK(owner.use_count() == 2);
  CHECK(tensor->as<float>()[3] == 4.f);
  CHECK(tensor->mutable_bytes() == nullptr);
}

TEST_CASE("borrowing refuses another size and an odd address") {
  alignas(8) const std::array<std::byte, 16> bytes{};
  const std::span<const std::byte> all(bytes);
  CHECK_FALSE(Tensor::borrow(DType::kFloat32, {3}, all, nullptr));
  CHECK_FALSE(Tensor::borrow(DType::kFloat32, {2}, all.subspan(1, 8), nullptr));
  CHECK(Tensor::borrow(DType::kComplexFP32, {1}, all.subspan(4, 8), nullptr));
  CHECK(Tensor::borrow(DType::kUInt8, {8}, all.subspan(1, 8), nullptr));
  CHECK(Tensor::borrow(DType::kFloat32, {0}, {}, nullptr)->defined());
}

TEST_CASE("reshaping keeps the bytes and the number of elements") {
  auto tensor = Tensor::allocate(DType::kInt16, {2, 6});
  auto reshaped = tensor->reshaped({3, 4});
  REQUIRE(reshaped);
  CHECK(reshaped->shape() == Shape{3, 4});
  CHECK(reshaped->bytes().data() == tensor->bytes().data());
  CHECK(tensor->reshaped({5}).error().code == diag::kTensorStorage);
}
