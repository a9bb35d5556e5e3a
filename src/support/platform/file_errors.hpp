// Errors of files by the number that the system gives.
#pragma once

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "mir/codes/files.hpp"
#include "mir/diagnostic.hpp"

namespace mir {

inline Error read_error(const std::string& path, int number) {
  return {diag::kFileNotReadable,
          fmt::format("cannot read '{}': {}", path, std::generic_category().message(number))};
}

inline Error write_error(const std::string& path, int number) {
  return {diag::kFileNotWritable,
          fmt::format("cannot write '{}': {}", path, std::generic_category().message(number))};
}

}  // namespace mir
