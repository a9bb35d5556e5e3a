// Every operation that the toolkit knows, and what it can do with it.
#pragma once

#include <string>

#include "dialects/listing.hpp"

namespace mir::tools {

/// `list(context, support)` of the built-in dialects.
std::string known_ops(std::string (*list)(const IRContext& context, const OpSupport& support));

}  // namespace mir::tools
