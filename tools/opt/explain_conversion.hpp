// --explain-conversion: what a conversion does with each illegal op.
#pragma once

#include <string>

#include "mir/conversion.hpp"

namespace mir::tools {

/// Lines: the op and the pattern that replaces it, or that it stays illegal; the patterns that do
/// not match, each with its reason.
std::string describe_step(const ConversionStep& step);

}  // namespace mir::tools
