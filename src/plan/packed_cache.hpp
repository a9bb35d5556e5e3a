// Packed weights in a file, so that the next start packs nothing.
//
// note [packed caches]: a file begins with the eight bytes kMagic, the length of a header, that
// many bytes of JSON and the hash of these; after them lie the matrices, each at a multiple of 64.
// The header states for each matrix what it was packed from (the hash of the stored bytes, their
// type and the type asked for), how (extents, activations, the hash of a small matrix that this
// build packs in the same way on this instruction set) and the hash of what came out. A matrix is
// used when all of that is what would be packed now, so a cache that is old, of another machine,
// of another model or damaged costs time and nothing else. Hashes are taken from the header if the
// files that they are of have not changed since: the header has a stamp of each weight (device,
// inode, size and times of its file, and its place there), and the time that the cache is given
// when it is written has the hash of its header for nanoseconds, as no later time has. Files are
// replaced whole: who has the one before open keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/fast/matrix/linear.hpp"
#include "mir/diagnostic.hpp"
#include "plan/content_hash.hpp"
#include "support/file_io.hpp"

namespace mir {

/// Key of a packed matrix: everything that determines its bytes.
struct PackedKey {
  std::string name;  ///< of the parameter: where to look, no more
  DType stored = DType::kFloat32;
  DType dtype = DType::kFloat32;
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  Activations activations = Activations::kFloat32;
  ContentHash source;  ///< of the stored bytes
  ContentHash layout;  ///< PackedCache::layout_hash()
  friend bool operator==(const PackedKey&, const PackedKey&) = default;
};

class PackedCache {
 public:
  /// A matrix of the file; its bytes are as they are and may be damaged.
  struct Entry {
    PackedKey key;
    std::span<const std::byte> bytes;
    ContentHash packed;  ///< expected hash of the packed bytes
    ContentHash stamp;   ///< stamp_of() the stored bytes; zeros if there is none
  };

  /// Hash of the stamp of a file and of the place of `bytes` in it. Zeros if they lie in no file,
  /// or if it changed so recently that a later change could have the same time.
  static ContentHash stamp_of(std::span<const std::byte> bytes);

  /// Opens the cache at `path`; an empty one if there is no file. A file of another kind is an
  /// error: it belongs to someone and must not be replaced.
  static Result<PackedCache> open(const std::string& path);
  /// Writes all of it or nothing; hashes of `packed` are made.
  static Result<void> write(const std::string& path, std::vector<Entry> entries,
                            fast::ThreadPool& pool);

  /// Hash of a matrix of arbitrary elements, as deep as the current one, that is packed now.
  /// Instruction sets with equal packed matrices have equal hashes.
  ContentHash layout_hash(DType dtype, std::int64_t outputs, std::int64_t depth,
                          Activations activations, fast::Context& context);

  /// Returns null if the file has no entry of this name.
  const Entry* find(std::string_view name) const;
  /// Explains why expected entries of the file are missing; empty if none is.
  const std::string& problem() const { return problem_; }
  /// True if nothing has changed the file since write() wrote it, by the time of its last change.
  bool is_as_written() const;
  /// All bytes of the file.
  std::span<const std::byte> mapping() const;

 private:
  Result<void> read_header();
  std::string read_entries(std::string_view json);

  std::shared_ptr<const MappedFile> file_;
  std::vector<Entry> entries_;  // by name
  std::string problem_;
  std::int64_t nanoseconds_ = -1;  // of the time that write() gave the file
  std::map<std::tuple<DType, std::int64_t, std::int64_t, Activations>, ContentHash> layouts_;
};

}  // namespace mir
