// Checks what the text of a module says.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// Prints a module, reads the text and verifies what it gives. Returns false after reporting
/// (MIR0921) if it cannot be read, does not verify, has other ports, or prints as another text. The
/// module itself must verify. A module that declares a dialect is not checked: its context has the
/// dialect already.
bool verify_text(const Module& module, Diagnostics& diagnostics);

}  // namespace mir
