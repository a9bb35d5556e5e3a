// Writes a temporary file by the standard library, and renames it over the target when it is whole.
#include "support/platform/atomic_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/platform/file_errors.hpp"

namespace mir {
namespace {

namespace fs = std::filesystem;

/// The name at the end of a chain of symbolic links, which need not exist.
Result<std::string> end_of_links(const std::string& path) {
  constexpr int kMaxLinks = 40;
  fs::path at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code none;
    const auto next = fs::read_symlink(at, none);
    if (none) return at.string();
    at = at.parent_path() / next;  // an absolute link replaces the whole path
  }
  return write_error(path, ELOOP);
}

struct Named {
  std::string name;
  std::FILE* file = nullptr;
};

/// A new file beside the target; none, with errno set, if there can be none.
Named open_beside(const std::string& target) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name =
        (fs::path(target).parent_path() / fmt::format(".mir-{}.tmp", attempt)).string();
    if (std::FILE* const file = std::fopen(name.c_str(), "wbx")) return {name, file};
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

struct AtomicFile::State {
  std::string path;       // as given, for messages
  std::string target;     // what the rename replaces; empty when written directly
  std::string temporary;  // the name of the temporary file while it has one
  std::FILE* file = nullptr;
  std::uint64_t size = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { discard(); }

  /// False, with errno set, if bytes were lost.
  bool close() {
    std::FILE* const open = std::exchange(file, nullptr);
    return open == stdout ? std::fflush(open) == 0 : std::fclose(open) == 0;
  }
  void discard() noexcept {
    if (file != nullptr && file != stdout) std::fclose(file);
    file = nullptr;
    if (!temporary.empty()) std::remove(temporary.c_str());
    temporary.clear();
  }
};

Result<AtomicFile> AtomicFile::create(const std::string& path, Existing existing) {
  auto file = std::make_unique<State>();
  file->path = path;
  const bool replaces = existing == Existing::kReplace;
  if (path == "-" && !replaces) {
    file->file = stdout;
    return AtomicFile(std::move(file));
  }
  std::error_code none;
  const auto found = replaces ? fs::symlink_status(path, none) : fs::status(path, none);
  const bool exists = fs::exists(found), is_file = fs::is_regular_file(found);
  if (fs::is_directory(found)) return write_error(path, EISDIR);
  if (exists && !is_file && !replaces) {
    file->file = std::fopen(path.c_str(), "wb");
    if (file->file == nullptr) return write_error(path, errno);
    return AtomicFile(std::move(file));
  }
  auto target = replaces ? Result<std::string>(path) : end_of_links(path);
  if (!target) return std::move(target).error();
  file->target = *std::move(target);
  const Named opened = open_beside(file->target);
  if (opened.file == nullptr) return write_error(path, errno);
  file->temporary = opened.name;
  file->file = opened.file;
  std::error_code refused;
  if (is_file) fs::permissions(file->temporary, found.permissions(), refused);
  if (refused) return write_error(path, refused.value());
  return AtomicFile(std::move(file));
}

AtomicFile::AtomicFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
AtomicFile::AtomicFile(AtomicFile&& other) noexcept = default;
AtomicFile::~AtomicFile() = default;

std::uint64_t AtomicFile::size() const {
  return state_->size;
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  const std::size_t written = std::fwrite(bytes.data(), 1, bytes.size(), state_->file);
  state_->size += written;
  return written == bytes.size() ? Result<void>() : write_error(state_->path, errno);
}

bool AtomicFile::set_modified(std::int64_t) {
  return false;
}

Result<void> AtomicFile::commit() {
  const auto fail = [&](int number) {
    state_->discard();
    return write_error(state_->path, number);
  };
  if (!state_->close()) return fail(errno);
  if (state_->target.empty()) return {};
  std::error_code refused;
  std::filesystem::rename(state_->temporary, state_->target, refused);
  if (refused) return fail(refused.value());
  state_->temporary.clear();
  return {};
}

}  // namespace mir
