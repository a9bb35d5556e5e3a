// Names of passes in other compilers.
#pragma once

#include <string_view>

namespace mir {

/// Returns the pass or pipeline that does what a pass of this name does in MLIR or LLVM, or the
/// present name of a pass that was renamed. Empty if there is none.
std::string_view pass_called_elsewhere(std::string_view name);

}  // namespace mir
