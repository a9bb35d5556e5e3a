// The version of the language that a module needs.
#pragma once

#include <cstdint>

#include "mir/module.hpp"

namespace mir {

/// Returns the lowest `mir_version` whose language has all that the portable `module` uses, at most
/// its own. Short forms of its text are not counted; see ir/text/short_forms.hpp.
std::int64_t lowest_version(const Module& module);

}  // namespace mir
