// A file or standard input, read in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir {

/// A file that is open for reading; "-" is standard input. Folders are refused.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  /// Bytes of a regular file when it was opened; no value for pipes, devices and standard input.
  std::optional<std::uint64_t> size() const;
  /// Reads at most as many bytes as fit and returns their number, which is 0 at the end only.
  Result<std::size_t> read(std::span<char> into);

 private:
  struct State;
  explicit InputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir
