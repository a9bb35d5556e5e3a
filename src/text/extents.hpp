// The extents in a text, apart from the IR that it describes.
#pragma once

#include "mir/parse.hpp"

namespace mir {

/// Reports every extent of a tensor type that cannot be read (MIR0301), as reading modules does.
void check_extents(const SyntaxTree& tree, Diagnostics& diagnostics);

}  // namespace mir
