// A part of a graph as a module that runs alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

struct ExtractedPart {
  std::unique_ptr<Module> module{};  ///< portable; its context does not list it
  std::vector<Value*> inputs{};      ///< what the inputs of the module stand for, by position
};

/// Copies `ops`, which are in one block and in its order, into a module `@main` that returns the
/// copies of `results`. These are results of the ops, or values that the ops may use. A value that
/// no op of the part defines becomes an input, after `inputs` and in the order of its first use.
/// Constants and parameters come along, and from `whole` the registers and graphs that the part
/// needs.
ExtractedPart extract_part(std::span<Op* const> ops, std::span<Value* const> results,
                           const Module& whole, std::span<Value* const> inputs = {});

/// False after reporting that a graph takes symbols from around its calls, so that nothing would
/// bind them in a module of its own.
bool binds_its_symbols(const Op& graph, Diagnostics& diagnostics);

}  // namespace mir
