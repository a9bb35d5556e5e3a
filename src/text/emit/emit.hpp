// Views of IR for other programs and for people: JSON, counts, quantisations, a drawing.
#pragma once

#include <span>
#include <string>

#include "mir/module.hpp"

namespace mir {

/// One JSON document of all modules; schema in docs/ir-json.md, `"schema": 1`.
std::string emit_json(std::span<Module* const> modules);

/// Counts per module: ops by kind, graphs, calls, values, types, parameters and their bytes.
std::string emit_stats(std::span<Module* const> modules);

/// Lists quantisations: one line for each value with a QuantSpec and each parameter that an
/// annotation describes, in the order of the text. As an aligned table, or as comma-separated
/// values (RFC 4180, LF) under the same head.
std::string emit_quant(std::span<Module* const> modules);
std::string emit_quant_csv(std::span<Module* const> modules);

/// A Graphviz document: one cluster a graph, one node an op, edges along values and calls.
std::string emit_dot(std::span<Module* const> modules);

}  // namespace mir
