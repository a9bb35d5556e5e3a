// Ports of values that a pass names.
#pragma once

#include "ir/ports.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Gives ports that are numbers, which only tell values apart, the new names of their values.
void rename_ports(Rewriter& rewriter, Region& signature);

}  // namespace mir
