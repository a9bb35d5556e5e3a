// Reads and atomically writes whole files.
#include "support/file_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/files.hpp"
#include "support/memory_size.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/input_file.hpp"
#include "support/platform/memory.hpp"

namespace mir {

namespace {

Error size_error(const std::string& path, std::uint64_t limit) {
  return {diag::kFileTooLarge,
          fmt::format("'{}' is larger than the limit of {} bytes", path, limit)};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  auto file = InputFile::open(path);
  if (!file) return std::move(file).error();
  const std::uint64_t expected = file->size().value_or(0);
  if (expected > limit) return size_error(path, limit);
  std::string text;
  // One byte more than expected, so that the last read finds the end.
  text.reserve(memory_size(expected + 1));
  prefer_huge_pages(text.data(), text.capacity());
  // The string clears its bytes before the file fills them. Pieces stay in the processor's cache
  // meanwhile. Reads to the end, whatever size the file was said to have.
  constexpr std::uint64_t kPiece = std::uint64_t{64} << 10;
  std::uint64_t used = 0;
  for (;;) {
    const std::uint64_t room = text.capacity() - used;
    const std::uint64_t piece = expected == 0 || room == 0 ? kPiece : std::min(room, kPiece);
    // One byte more than allowed, so that the excess is found.
    text.resize(memory_size(std::min(used + piece, limit + 1)));
    const auto count = file->read(std::span(text).subspan(memory_size(used)));
    if (!count) return count.error();
    if (*count == 0) break;
    used += *count;
    if (used > limit) return size_error(path, limit);
  }
  text.resize(memory_size(used));
  return text;
}

Result<void> write_file_atomically(const std::string& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  if (auto written = file->write(std::as_bytes(std::span(text))); !written) return written;
  return file->commit();
}

}  // namespace mir
