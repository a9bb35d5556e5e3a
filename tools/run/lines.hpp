// Lines of standard input as they arrive.
#pragma once

#include <optional>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir::tools {

class LineReader {
 public:
  /// The next line without its end; no value at the end of the input. Lines of over 1 MiB are an
  /// error.
  Result<std::optional<std::string>> next();

 private:
  std::string held_;
  bool has_ended_ = false;
};

}  // namespace mir::tools
