// The passes of register_eliminations, each in a source of its name.
#pragma once

#include "mir/pass.hpp"

namespace mir {

PassResult eliminate_dead_ops(PassRun& run);
PassResult eliminate_debug(PassRun& run);
PassResult eliminate_unused_graphs(PassRun& run);
PassResult eliminate_unused_parameters(PassRun& run);

}  // namespace mir
