// The module that a file of the command line holds.
#pragma once

#include <string>

#include "mir/module.hpp"
#include "settings.hpp"

namespace mir::tools {

/// The module of --module in a text, or its only one, portable (but for the program machine) and
/// verified as the options of verification ask, which are known to be good; null after reporting.
Module* load_module(const Run& run, const SourceFile& file, const InterpSettings& settings,
                    IRContext& context, Diagnostics& diagnostics);

}  // namespace mir::tools
