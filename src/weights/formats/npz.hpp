// NPZ: a ZIP archive of NPY files.
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
#include "weights/named_tensor.hpp"

namespace mir {

struct NpzLimits {
  std::uint64_t member_bytes = std::uint64_t{16} << 30;  ///< one member, inflated
  std::uint64_t total_bytes = std::uint64_t{64} << 30;   ///< all members, inflated
};

/// An archive whose directory was checked: known methods, sane and unique names, ranges inside the
/// file that do not overlap, sizes within the limits and within what deflate can reach. Members
/// are inflated when read. Copies share the mapping; reading from several threads is safe.
class NpzFile {
 public:
  static Result<NpzFile> open(const std::string& path, const NpzLimits& limits = {},
                              const FileOpener& files = {});
  /// Like open(), for bytes in memory, which `owner` keeps alive; `origin` names them in messages.
  static Result<NpzFile> parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string origin, const NpzLimits& limits = {});

  /// Names without `.npy`, in the order of the archive.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;

  /// Returns the member `name` (without `.npy`); no value if there is none. The size inflated and
  /// the checksum must be those that the archive states.
  Result<std::optional<Tensor>> find(std::string_view name) const;

 private:
  struct Directory;

  NpzFile() = default;

  std::shared_ptr<const Directory> directory_;
};

/// Writes an archive of stored (not deflated) members atomically; equal input gives equal bytes.
/// Names must be unique and must not contain '/', '\' or control characters.
Result<void> write_npz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace mir
