// Views of IR for other programs and for people: JSON, counts, a drawing.
#pragma once

#include <span>
#include <string>

#include "mir/ir/module.hpp"

namespace mir {

/// One JSON document of all modules; schema in docs/ir-json.md, `"schema": 1`.
std::string emit_json(std::span<Module* const> modules);

/// Counts per module: ops by kind, graphs, calls, values, types, parameters and their bytes.
std::string emit_stats(std::span<Module* const> modules);

/// A Graphviz document: one cluster a graph, one node an op, edges along values and calls.
std::string emit_dot(std::span<Module* const> modules);

}  // namespace mir
