// The formats of tensor files: all that the library and the tools know of each is its row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/formats/gguf.hpp"
#include "weights/formats/npz.hpp"
#include "weights/mapped_tensors.hpp"

namespace mir {

enum class TensorFormat : std::uint8_t { kSafetensors, kNpz, kMllm1, kMllm2, kGguf };

class ShardedTensors;
struct TensorPlan;
struct WriteOptions;

/// Result of a reader. It keeps the file's bytes.
struct ReadTensors {
  std::variant<MappedTensors, NpzFile, std::shared_ptr<const ShardedTensors>> tensors;
  std::map<std::string, std::string> metadata{};
  std::vector<GgufMetadata> gguf_metadata{};
};

struct TensorFormatRow {
  TensorFormat format;
  std::string_view name;    ///< in messages
  std::string_view ending;  ///< of the names of its files, and what `--format` calls it
  /// True if a file begins like one of this format. At most one format accepts a file.
  bool (*is_start)(std::span<const std::byte> bytes);
  Result<ReadTensors> (*read)(FileBytes file);
  bool (*has_type)(DType dtype);
  /// Null if files of this format are only read.
  Result<void> (*write)(const std::string& path, std::span<const TensorPlan> plans,
                        const WriteOptions& options);
};

/// In the order of TensorFormat.
std::span<const TensorFormatRow> tensor_formats();
inline const TensorFormatRow& row_of(TensorFormat format) {
  return tensor_formats()[static_cast<std::size_t>(format)];
}
/// `safetensors`, `npz`, `mllm v1`, `mllm v2`, `gguf`
inline std::string_view name_of(TensorFormat format) {
  return row_of(format).name;
}

/// The endings of all formats, which a test compares with the rows: options name them, too.
inline constexpr std::string_view kTensorFileEndings = "safetensors npz mllm gguf";

}  // namespace mir
