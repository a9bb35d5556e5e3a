// A file written in pieces that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// A temporary file beside `path` that commit() synchronises and renames over it. Mode and a
/// symbolic link at `path` are kept. Without a successful commit the temporary file is removed and
/// `path` is untouched. The file has no name before commit(), so that nothing is left of it when
/// the program is ended while it writes. commit() lets interrupts (SIGHUP, SIGINT, SIGTERM) wait in
/// the calling thread and leaves no temporary name to them. Where the file system has no files
/// without a name (NFS), the name is removed as soon as the file is open, and commit() writes a
/// copy, which only SIGKILL can leave there; an interrupt that comes meanwhile ends the copying
/// with an error. A device or pipe at `path` is written directly; "-" is standard output. Without
/// POSIX the temporary file has a name all the time, which remains if the program is ended.
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
  std::uint64_t size() const;
  /// Sets the time of the last modification, in nanoseconds since 1970, after the last write. False
  /// if the system cannot; commit() may set another time, too.
  bool set_modified(std::int64_t time);
  /// Puts the file in place. Nothing may be written after it.
  Result<void> commit();

 private:
  struct State;
  explicit AtomicFile(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace mir
