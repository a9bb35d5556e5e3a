// A file written in pieces that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "mir/diagnostic.hpp"

namespace mir {

/// A temporary file beside `path` that commit() synchronises and renames over it. Mode and a
/// symbolic link at `path` are kept. Without a successful commit the temporary file is removed and
/// `path` is untouched. The file has no name before commit(), so that nothing is left of it when
/// the program is ended while it writes. commit() lets interrupts (SIGHUP, SIGINT, SIGTERM) wait in
/// the calling thread and leaves no temporary name to them. Where the file system has no files
/// without a name (NFS), the name is removed as soon as the file is open, and commit() writes a
/// copy, which only SIGKILL can leave there; an interrupt that comes meanwhile ends the copying
/// with an error. A device or pipe at `path` is written directly; "-" is standard output.
class AtomicFile {
 public:
  /// Treatment of a symbolic link, a device or a pipe at `path`: use it as described above, or
  /// replace it like a file.
  enum class Existing { kUse, kReplace };
  static Result<AtomicFile> create(const std::string& path, Existing existing = Existing::kUse);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Appends all of `bytes`.
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  /// Bytes written so far.
  std::uint64_t size() const { return size_; }
  /// Puts the file in place. Nothing may be written after it.
  Result<void> commit();

 private:
  AtomicFile() = default;
  void discard() noexcept;

  std::string path_;       // as given, for messages
  std::string target_;     // what the rename replaces; empty when written directly
  std::string temporary_;  // the name of the temporary file while it has one
  bool unlinked_ = false;  // the file had a name once and can be unnamed again
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace mir
