// Cause: Another program truncated a file of weights or inputs during the run. Files are mapped,
// not copied, so the results of the run are invalid and are not returned.
//
// Fix: Do not write to the file during a run. Replace a file by renaming a new one over it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "weights/formats/npy.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/tensor_file.hpp"

using namespace mir;

namespace {

std::string weights() {
  const auto path = std::filesystem::temp_directory_path() /
                    ("mir-shortened-" + std::to_string(::getpid()) + ".safetensors");
  const NamedTensor tensors[] = {{"w", *Tensor::allocate(DType::kFloat32, {10'000})}};
  REQUIRE(write_safetensors(path.string(), tensors));
  return path.string();
}

}  // namespace

TEST_CASE("MIR0006: refused") {
  const std::string path = weights();
  const auto file = TensorFile::open(path);
  REQUIRE(file);
  REQUIRE(::truncate(path.c_str(), 100) == 0);
  const auto tensor = file->find("w");
  std::filesystem::remove(path);
  REQUIRE_FALSE(tensor);
  CHECK(spelling(tensor.error().code) == "MIR0006");
  CHECK(tensor.error().message ==
        "'" + path + "': tensor 'w': the file was shortened while it was read");
}

TEST_CASE("MIR0006: accepted") {
  const std::string path = weights();
  const auto file = TensorFile::open(path);
  REQUIRE(file);
  std::filesystem::remove(path);  // what is mapped stays
  const auto tensor = file->find("w");
  REQUIRE(tensor);
  CHECK((*tensor)->elements() == 10'000);
}
