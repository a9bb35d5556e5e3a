// Functions of shared libraries that are loaded at run time.
#pragma once

#include <string>

#include "mir/diagnostic.hpp"

namespace mir {

/// A function, which the caller casts to its type.
struct LoadedFunction {
  void (*address)() = nullptr;
};

/// Loads a shared library, which stays loaded until the process ends, and returns one of its
/// functions; null if it does not define that one. The message of an error is the reason alone.
Result<LoadedFunction> load_function(const std::string& path, const char* name);

}  // namespace mir
