// The passes of register_eliminations, each in a source of its name.
#pragma once

namespace mir {

class Diagnostics;
class Module;

bool eliminate_dead_ops(Module& module, Diagnostics& diagnostics);
bool eliminate_debug(Module& module, Diagnostics& diagnostics);
bool eliminate_unused_graphs(Module& module, Diagnostics& diagnostics);

}  // namespace mir
