// Refuses files that are not regular before reading them.
#include "regular_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "mir/codes/files.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

Result<void> expect_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{diag::kFileNotReadable,
                 fmt::format("cannot read '{}': expected a regular file", path)};
  }
  return {};
}

Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit) {
  if (auto regular = expect_regular_file(path); !regular) return std::move(regular).error();
  return read_file(path, limit);
}

}  // namespace mir::tools
