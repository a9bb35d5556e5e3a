// Reads files by their descriptors.
#include "support/platform/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/platform/file_errors.hpp"
#include "support/platform/posix/descriptor.hpp"

namespace mir {

struct InputFile::State {
  std::string path;
  Descriptor file;
  std::optional<std::uint64_t> size = {};
};

Result<InputFile> InputFile::open(const std::string& path) {
  const bool is_standard = path == "-";
  auto state = std::make_unique<State>(State{
      .path = path,
      .file = Descriptor(is_standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
                         !is_standard)});
  struct stat status {};
  if (state->file.number() < 0 || ::fstat(state->file.number(), &status) != 0)
    return read_error(path, errno);
  if (S_ISDIR(status.st_mode)) return read_error(path, EISDIR);
  if (S_ISREG(status.st_mode) && !is_standard)
    state->size = static_cast<std::uint64_t>(status.st_size);
  return InputFile(std::move(state));
}

InputFile::InputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputFile::InputFile(InputFile&& other) noexcept = default;
InputFile::~InputFile() = default;

std::optional<std::uint64_t> InputFile::size() const {
  return state_->size;
}

Result<std::size_t> InputFile::read(std::span<char> into) {
  for (;;) {
    const ssize_t count = ::read(state_->file.number(), into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return read_error(state_->path, errno);
  }
}

}  // namespace mir
