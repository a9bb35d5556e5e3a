// Views of IR for other programs and for people: JSON, counts, quantisations, a drawing.
#pragma once

#include <span>
#include <string>

#include "mir/module.hpp"
#include "text/emit/picture.hpp"

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

/// Render a picture as a Graphviz document, and as a flowchart in Mermaid.
std::string emit_dot(const Picture& picture);
std::string emit_mermaid(const Picture& picture);

}  // namespace mir
