// Refuses to load shared libraries.
#include "support/platform/plugin.hpp"

#include "mir/codes/files.hpp"

namespace mir {

Result<LoadedFunction> load_function(const std::string&, const char*) {
  return Error{diag::kFileNotReadable, "this build loads no libraries"};
}

}  // namespace mir
