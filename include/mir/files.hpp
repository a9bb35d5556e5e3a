// The bytes of files, wherever they lie.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "mir/result.hpp"

namespace mir {

/// The bytes of a file.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps them alive
  std::string origin;                 ///< names them in messages
};

/// Gives the file that an argument names, such as a member of a pack. An empty one stands for the
/// file system.
using FileOpener = std::function<Result<FileBytes>(const std::string& name)>;

}  // namespace mir
