// Modules without control flow between blocks, the only ones that dumps and programs have.
#pragma once

#include <string_view>

#include "mir/upgrade.hpp"

namespace mir {

/// True if no region of the module has several blocks. Otherwise reports each that has: control
/// flow is lost in `form` ("dump form").
bool refuse_several_blocks(const Module& module, std::string_view form, LossReport& report,
                           Diagnostics& diagnostics);

/// True if the region has exactly one block; false after reporting one that has not.
bool require_one_block(const Region& region, std::string_view form, LossReport& report,
                       Diagnostics& diagnostics);

}  // namespace mir
