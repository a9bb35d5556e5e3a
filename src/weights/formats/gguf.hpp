// GGUF: the model files of ggml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/mapped_tensors.hpp"

namespace mir {

/// Types of metadata values, by their numbers in a file.
enum class GgufValueType : std::uint32_t {
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUInt64,
  kInt64,
  kFloat64
};

/// One pair of the metadata; its value was checked and is left as it is stored.
struct GgufMetadata {
  std::string key;
  GgufValueType type{};
  std::span<const std::byte> value;  ///< without the type, in the file's bytes

  /// Numbers in decimal, strings in quotes, arrays as their element type and count.
  std::string text() const;
  /// The value where it is a string.
  std::optional<std::string_view> string() const;
  /// The value where it is an integer of 63 bits or less.
  std::optional<std::int64_t> integer() const;
};

/// Converts between element types and their numbers in GGUF files; no value if the other side does
/// not know one. Types that only mllm has, or that ggml lays out differently (MXFP4), have no
/// number.
std::optional<DType> dtype_from_gguf(std::uint32_t id);
std::optional<std::uint32_t> gguf_dtype_id(DType dtype);
/// Names a type for which dtype_from_gguf has no value: `IQ4_XS`, or `number 99`.
std::string unread_gguf_type(std::uint32_t id);

/// A file whose header was checked completely: see MappedTensors. Versions 2 and 3, little-endian,
/// are read. Extents are in row-major order, the opposite of the file's.
class GgufFile {
 public:
  /// Maps the file. Violations of the format are refused with kGgufMalformed.
  static Result<GgufFile> open(const std::string& path);
  /// Like open(), for bytes in memory.
  static Result<GgufFile> parse(FileBytes file);

  /// In the order of the header.
  const MappedTensors& tensors() const { return tensors_; }
  /// In the order of the header; valid as long as this file or a tensor of it is kept.
  const std::vector<GgufMetadata>& metadata() const { return metadata_; }

 private:
  GgufFile(MappedTensors tensors, std::vector<GgufMetadata> metadata)
      : tensors_(std::move(tensors)), metadata_(std::move(metadata)) {}

  MappedTensors tensors_;
  std::vector<GgufMetadata> metadata_;
};

}  // namespace mir
