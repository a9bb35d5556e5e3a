#include "weights/formats/npy.hpp"

#include <doctest/doctest.h>

#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "temporary.hpp"

using namespace mir;
using namespace mir::test;

namespace {

std::string npy(std::string_view dict, std::string_view data, char major = 1) {
  const auto text = std::string(dict) + "\n";
  return std::string("\x93NUMPY") + major + '\0' + little(text.size(), major == 1 ? 2 : 4) + text +
         std::string(data);
}

Result<Tensor> parsed(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return parse_npy(std::as_bytes(std::span(*owner)), owner, "memory");
}

}  // namespace

TEST_CASE("tensors of every NPY type survive writing and reading") {
  const TemporaryDirectory directory;
  const auto path = directory.file("x.npy");
  const DType types[] = {DType::kBool,        DType::kInt8,       DType::kInt16,   DType::kInt32,
                         DType::kInt64,       DType::kUInt8,      DType::kUInt16,  DType::kUInt32,
                         DType::kUInt64,      DType::kFloat16,    DType::kFloat32, DType::kFloat64,
                         DType::kComplexFP32, DType::kComplexFP64};
  for (const auto dtype : types) {
    for (const auto& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 7}}) {
      CAPTURE(static_cast<int>(dtype));
      auto tensor = *Tensor::allocate(dtype, shape);
      for (std::size_t i = 0; i < tensor.bytes().size(); ++i)
        tensor.mutable_bytes()[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i);
      REQUIRE(write_npy(path, tensor));
      const auto read = read_npy(path);
      REQUIRE(read);
      CHECK(read->dtype() == dtype);
      CHECK(read->shape() == shape);
      CHECK(bytes_of(*read) == bytes_of(tensor));
    }
  }
}

TEST_CASE("an NPY file is written as NumPy writes it") {
  const TemporaryDirectory directory;
  const auto path = directory.file("x.npy");
  REQUIRE(write_npy(path, tensor_of<float>(DType::kFloat32, {2}, {1, 2})));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(128 - 10 - 1, ' ');
  const auto bytes = contents(path);
  CHECK(bytes.substr(0, 128) == std::string("\x93NUMPY\1\0v\0", 10) + header + "\n");
  CHECK(bytes.size() == 136);
}

TEST_CASE("Fortran order becomes row-major order") {
  // NumPy: np.asfortranarray(np.arange(24).reshape(2, 3, 4)) holds element (i, j, k) at i + 2j +
  // 6k.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += little(static_cast<std::uint64_t>(12 * i + 4 * j + k), 2);
  const auto tensor =
      parsed(npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4)}", data));
  REQUIRE(tensor);
  for (std::size_t i = 0; i < 24; ++i) CHECK(tensor->as<std::int16_t>()[i] == static_cast<int>(i));
}

TEST_CASE("big-endian data are swapped, complex parts one by one") {
  const auto integers = parsed(npy("{'descr': '>u4', 'fortran_order': False, 'shape': (2,)}",
                                   std::string("\0\0\1\2\0\0\0\3", 8)));
  REQUIRE(integers);
  CHECK(integers->as<std::uint32_t>()[0] == 258);
  CHECK(integers->as<std::uint32_t>()[1] == 3);
  const auto complex = parsed(npy("{'descr': '>c8', 'fortran_order': True, 'shape': (1, 1)}",
                                  std::string("\x3F\x80\0\0\x40\0\0\0", 8)));
  REQUIRE(complex);
  CHECK(complex->as<float>()[0] == 1.0f);
  CHECK(complex->as<float>()[1] == 2.0f);
}

TEST_CASE("headers of other versions and writers are understood") {
  const std::string_view headers[] = {
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }",
      "{\"shape\": (2L,), \"descr\": \"<u1\", \"fortran_order\": False}",
      "{'fortran_order':True,'shape':(2 ,),'descr':'=u1'}          ",
  };
  for (const auto header : headers) {
    for (const char version : {'\1', '\2', '\3'}) {
      const auto tensor = parsed(npy(header, "ab", version));
      REQUIRE(tensor);
      CHECK(tensor->dtype() == DType::kUInt8);
      CHECK(bytes_of(*tensor) == "ab");
    }
  }
}

TEST_CASE("a type that NPY has no name for is not written") {
  const TemporaryDirectory directory;
  const auto written = write_npy(directory.file("x.npy"), *Tensor::allocate(DType::kBFloat16, {2}));
  REQUIRE_FALSE(written);
  CHECK(written.error().code == diag::kTensorDtypeUnsupported);
  const auto ranked =
      write_npy(directory.file("x.npy"), *Tensor::allocate(DType::kInt8, Shape(33, 1)));
  REQUIRE_FALSE(ranked);
  CHECK(ranked.error().code == diag::kLimitExceeded);
  CHECK_FALSE(std::filesystem::exists(directory.file("x.npy")));
}
