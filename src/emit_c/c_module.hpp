// Modules as C11.
#pragma once

#include <optional>
#include <string>

#include "mir/module.hpp"

namespace mir {

struct CText {
  std::string source;  ///< a whole file, which does not include the header
  std::string header;  ///< declares the function of the module
};

/// The body of a portable module as a function of C, which calls functions for its graphs. Generic
/// ops, calls, parameters and constants have a form in C; no value after reporting others. The
/// module must verify.
std::optional<CText> emit_c(const Module& module, Diagnostics& diagnostics);

}  // namespace mir
