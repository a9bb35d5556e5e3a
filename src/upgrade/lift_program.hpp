// Program form back to graph form.
#pragma once

#include <span>

#include "mir/conversion.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// True if a module has instructions of the program machine.
bool has_program(const Module& module);

/// Turns the instructions of a dump into graph form, in place: each body of the code fragment
/// becomes a `graph.SubGraphOp` that takes what it reads first and gives what is read after it,
/// each launch a `linalg` op with the options that it states, each jump a call, each symbol of a
/// parameter a register in `@init`. Modules in which only the ops are lowered are lifted as well.
///
/// A program states the order in which it runs, so nothing is assumed but one thing: storage that
/// is read and that nothing binds or writes becomes an input after the bound ones. An input that
/// no instruction mentions has the type that the options grant.
///
/// False after reporting code that is no call tree; the module must then not be used further. A
/// module without instructions is left as it is.
bool lift_program(Module& module, const UpgradeOptions& options, LossReport& report,
                  Diagnostics& diagnostics, const ExplainConversion& explain = {});

}  // namespace mir
