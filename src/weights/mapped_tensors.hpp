// Tensors that lie in a mapped file as they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/file_bytes.hpp"

namespace mir {

/// One tensor of a file.
struct StoredTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string unread_type = {};  ///< the file's name of a type without a DType; else empty
  std::uint64_t begin = 0;       ///< of the data, counted from the start of the file
  std::uint64_t end = 0;
};

/// Rules of a format for the data of its files.
struct DataRules {
  std::uint64_t data_begin = 0;  ///< no tensor starts before this byte of the file
  std::uint64_t padding = 0;     ///< most bytes that may follow the last tensor
  DiagCode malformed{};          ///< of what breaks a rule
};

/// A checked index of tensors: names that can name a tensor, each once; ranges that lie between
/// `data_begin` and the end of the file, do not overlap, and have the size that type and shape
/// give. Tensors of types that are not read count for names and ranges alone. Copies share the
/// file; reading from several threads is safe.
class MappedTensors {
 public:
  static Result<MappedTensors> index(FileBytes file, std::vector<StoredTensor> tensors,
                                     const DataRules& rules);

  /// Keeps the file's bytes where they are.
  const FileBytes& file() const { return file_; }
  /// In the order given.
  const std::vector<StoredTensor>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  /// Returns null if there is no tensor of that name.
  const StoredTensor* entry(std::string_view name) const;
  bool contains(std::string_view name) const { return entry(name) != nullptr; }

  /// Returns the tensor of that name; no value if there is none. It borrows the file's bytes, or
  /// holds a copy if they are not aligned for its elements. A Bool other than 0 or 1 is an error,
  /// and so is a type that is not read.
  Result<std::optional<Tensor>> find(std::string_view name) const;
  /// Like find(), for tensors of at most `most` elements. Of larger ones, it returns runs of
  /// elements at equal distances, copied into a tensor of rank 1.
  Result<std::optional<Tensor>> sample(std::string_view name, std::int64_t most) const;

 private:
  MappedTensors() = default;

  FileBytes file_;
  std::vector<StoredTensor> entries_;
  std::vector<std::uint32_t> by_name_;  // indices into entries_, sorted by name
};

}  // namespace mir
