// Values that blocks read from around them.
#pragma once

#include <span>
#include <vector>

#include "mir/op.hpp"

namespace mir {

/// True for a constant or a parameter, which no run of a graph makes.
bool is_global(const Value& value);

/// The values from around blocks that the ops in them, nested ones too, read, each once, in the
/// order of the text. Global values are left out.
std::vector<const Value*> captured_by(std::span<const Block* const> blocks);

}  // namespace mir
