// Temporary folders.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "mir/diagnostic.hpp"

namespace mir {

/// An empty folder for temporary files, which is removed with the object.
class ScratchFolder {
 public:
  /// The name begins with `prefix`. The path has no links.
  static Result<ScratchFolder> create(std::string_view prefix);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace mir
