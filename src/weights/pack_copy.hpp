// Going through the bytes of files in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "mir/diagnostic.hpp"
#include "support/platform/atomic_file.hpp"

namespace mir {

struct ContentHashes {
  std::uint64_t xxh64 = 0;  ///< seed 0
  std::uint32_t crc = 0;    ///< CRC-32
  friend bool operator==(const ContentHashes&, const ContentHashes&) = default;
};

/// Called with the number of bytes of each piece that is done.
using PieceDone = std::function<void(std::uint64_t bytes)>;

/// The hashes of `bytes`.
ContentHashes hash_content(std::span<const std::byte> bytes, const PieceDone& done = {});

/// Appends `bytes` to a file and returns the hashes of the bytes written, even if `bytes` change
/// meanwhile. A file that is shortened is refused.
Result<ContentHashes> copy_content(std::span<const std::byte> bytes, AtomicFile& file,
                                   const PieceDone& done = {});

}  // namespace mir
