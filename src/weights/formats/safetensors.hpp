// safetensors: a JSON header and one buffer of little-endian, row-major tensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "mir/diagnostic.hpp"
#include "weights/mapped_tensors.hpp"
#include "weights/named_tensor.hpp"

namespace mir {

/// Largest header accepted, in bytes.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// A safetensors file whose header was checked completely: every range lies in the buffer, has the
/// size that type and shape give, and the ranges fill the buffer without hole or overlap.
/// Copies share the mapping; reading from several threads is safe.
class SafetensorsFile {
 public:
  /// Maps the file. Violations of the format are refused with kSafetensorsMalformed.
  static Result<SafetensorsFile> open(const std::string& path);
  /// Like open(), for bytes in memory.
  static Result<SafetensorsFile> parse(FileBytes file);

  /// In the order of their data.
  const MappedTensors& tensors() const { return tensors_; }
  /// The text pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  explicit SafetensorsFile(MappedTensors tensors) : tensors_(std::move(tensors)) {}

  MappedTensors tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Writes a file atomically, piece by piece. Data lie in the given order, wider element types
/// first, and start at a multiple of 64 bytes. Quantised and opaque types are written as their
/// storage type; a type that the format does not know is refused.
Result<void> write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace mir
