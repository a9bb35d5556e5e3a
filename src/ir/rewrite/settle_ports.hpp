// Ports that a signature states.
#pragma once

#include "ir/ports.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Leaves only the ports that are not the names of their values: the others follow these names.
void forget_implied_ports(Rewriter& rewriter, Region& signature);

/// States the ports of a portable module, which edits keep then. Gives the module kPortsVersion if
/// its text needs it for those that are stated. Does nothing to a dump.
void settle_ports(Module& module);

}  // namespace mir
