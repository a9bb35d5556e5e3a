// A directory that goes away with the test, and byte strings as files.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/tensor.hpp"

namespace mir::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto name = (std::filesystem::temp_directory_path() / "mir-files-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(std::string_view name) const { return (path_ / name).string(); }
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The low `width` bytes of `value`, little-endian.
inline std::string little(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
  return bytes;
}

template <class T>
Tensor tensor_of(DType dtype, Shape shape, std::initializer_list<T> values) {
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  std::copy(values.begin(), values.end(), tensor->template as_mutable<T>().begin());
  return *tensor;
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

inline std::string bytes_of(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace mir::test
