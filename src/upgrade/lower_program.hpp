// Portable form to a program of upstream's machine.
#pragma once

#include "mir/conversion.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// Turns a portable module into the program that upstream lowers a module to, in place: graphs
/// become bodies after labels, calls jumps, ops launches with their options as JSON, parameters
/// and constants symbols; inputs and outputs are bound, storage is freed after its last reader,
/// inputs without one before the exit, and instructions are numbered. Unlike upstream, every value
/// has a storage of its own, so no mention has two meanings, and all options are stated. Notes on
/// quantisation have no place in programs and are reported as dropped.
///
/// False after reporting a module that has no program: symbolic extents, control flow between
/// blocks, a graph that is called twice, ops without a kernel.
bool lower_program(Module& module, LossReport& report, Diagnostics& diagnostics,
                   const ExplainConversion& explain = {});

}  // namespace mir
