#include "regular_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "support/file_io.hpp"

namespace mir::tools {

Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return Error{DiagCode::kFileNotReadable,
                 fmt::format("cannot read '{}': expected a regular file", path)};
  }
  return read_file(path, limit);
}

}  // namespace mir::tools
