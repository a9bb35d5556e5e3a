// Loads shared libraries by the dynamic linker.
#include "support/platform/plugin.hpp"

#include <dlfcn.h>

#include <string_view>

#include "mir/codes/files.hpp"

namespace mir {

namespace {

/// The last error of the dynamic linker, without the path that most of them begin with.
std::string linker_error(const std::string& path) {
  const char* text = ::dlerror();
  std::string_view error = text == nullptr ? "unknown error" : text;
  if (const std::string prefix = path + ": "; error.starts_with(prefix)) {
    error.remove_prefix(prefix.size());
  }
  return std::string(error);
}

}  // namespace

Result<LoadedFunction> load_function(const std::string& path, const char* name) {
  // The linker searches its own folders for a name without a slash.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error{diag::kFileNotReadable, linker_error(file)};
  return LoadedFunction{reinterpret_cast<void (*)()>(::dlsym(library, name))};
}

}  // namespace mir
