// Reads files by the standard library.
#include "support/platform/input_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "support/platform/file_errors.hpp"

namespace mir {

struct InputFile::State {
  std::string path;
  std::FILE* file = nullptr;
  std::optional<std::uint64_t> size = {};

  ~State() {
    if (file != nullptr && file != stdin) std::fclose(file);
  }
};

Result<InputFile> InputFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (path == "-") {
    state->file = stdin;
    return InputFile(std::move(state));
  }
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  if (std::filesystem::is_directory(status)) return read_error(path, EISDIR);
  state->file = std::fopen(path.c_str(), "rb");
  if (state->file == nullptr) return read_error(path, errno);
  if (std::filesystem::is_regular_file(status)) {
    const auto size = std::filesystem::file_size(path, none);
    if (!none) state->size = size;
  }
  return InputFile(std::move(state));
}

InputFile::InputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputFile::InputFile(InputFile&& other) noexcept = default;
InputFile::~InputFile() = default;

std::optional<std::uint64_t> InputFile::size() const {
  return state_->size;
}

Result<std::size_t> InputFile::read(std::span<char> into) {
  const std::size_t count = std::fread(into.data(), 1, into.size(), state_->file);
  if (count == 0 && std::ferror(state_->file) != 0) return read_error(state_->path, errno);
  return count;
}

}  // namespace mir
