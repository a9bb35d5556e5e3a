// Graphs of a module as modules that run alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// The graphs of a module that can become modules, in text order. Declarations of parameters are no
/// graphs here. The module body is the graph with the module's name.
std::vector<Op*> graphs_to_split(const Module& module);

/// Returns a module for each graph whose name a selector matches (`*`: any text, `?`: one
/// character), in text order. The module has the name of the graph, its inputs and outputs, its ops
/// as its body, and copies of the graphs and parameters that these need. The context does not list
/// the new modules. No value after reporting a selector that matches nothing, a graph with
/// several blocks, or one that takes symbols from around its calls.
std::optional<std::vector<std::unique_ptr<Module>>> split_module(
    const Module& module, std::span<const std::string> selectors, Diagnostics& diagnostics);

}  // namespace mir
