// Modules as C11.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit_c/c_caches.hpp"
#include "emit_c/c_program.hpp"
#include "mir/module.hpp"

namespace mir {

struct CText {
  std::string source;  ///< a whole file, which does not include the header
  std::string header;  ///< declares the function of the module
  // Arrays and memory of the function, for callers of `mir_call`.
  std::vector<c::CPort> inputs, weights, outputs;
  std::vector<c::CCache> caches;
  std::int64_t caches_bytes = 0;
  std::int64_t workspace_bytes = 0;
};

/// The body of a portable module as a function of C, which calls functions for its graphs. Generic
/// ops, calls, parameters and constants have a form in C; no value after reporting others. The
/// module must verify.
///
/// With `calls_blocks`, each parallel loop that no iteration may end calls a function of its index,
/// which has the shape of a kernel of a GPU.
std::optional<CText> emit_c(const Module& module, Diagnostics& diagnostics,
                            bool calls_blocks = false);

}  // namespace mir
