// Every operation that the toolkit knows, with what it can do with it, and every type.
#pragma once

#include <string>

#include "dialects/listing.hpp"

namespace mir::tools {

/// `list(context, support)` of the built-in dialects.
std::string known_ops(std::string (*list)(const IRContext& context, const OpSupport& support));
/// list_types() of the built-in dialects.
std::string known_types();

}  // namespace mir::tools
