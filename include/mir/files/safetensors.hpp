// safetensors: a JSON header and one buffer of little-endian, row-major tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/files/named_tensor.hpp"
#include "mir/support/dtype.hpp"
#include "mir/support/result.hpp"
#include "mir/support/tensor.hpp"

namespace mir {

/// Largest header accepted, in bytes.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t begin = 0;  ///< of the data, counted from the start of the file
  std::uint64_t end = 0;
};

/// A safetensors file whose header was checked completely: every range lies in the buffer, has the
/// size that type and shape give, and the ranges fill the buffer without hole or overlap.
/// Copies share the mapping; reading from several threads is safe.
class SafetensorsFile {
 public:
  /// Maps the file. What breaks a rule of the format is refused with kSafetensorsMalformed.
  static Result<SafetensorsFile> open(const std::string& path);
  /// The same for bytes in memory, which `owner` keeps alive; `origin` names them in messages.
  static Result<SafetensorsFile> parse(std::span<const std::byte> bytes,
                                       std::shared_ptr<const void> owner, std::string origin);

  /// In the order of their data.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  /// Null when the file has no tensor of that name.
  const SafetensorsEntry* entry(std::string_view name) const;
  bool contains(std::string_view name) const { return entry(name) != nullptr; }
  /// The text pairs of `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// The tensor of that name, none when the file has none. It borrows the file's bytes, or holds a
  /// copy when they are not aligned for its elements. A Bool other than 0 or 1 is an error.
  Result<std::optional<Tensor>> find(std::string_view name) const;

 private:
  SafetensorsFile() = default;

  std::string origin_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<std::uint32_t> by_name_;  // indices into entries_, sorted by name
  std::map<std::string, std::string> metadata_;
};

/// Writes a file atomically, piece by piece. Data lie in the given order, wider element types
/// first, and start at a multiple of 64 bytes. Quantised and opaque types are written as their
/// storage type; a type that the format does not know is refused.
Result<void> write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace mir
