// Graphs that upstream never calls.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "mir/module.hpp"

namespace mir {

/// True if graphs of this name declare parameters, what is left over, or names of kernels.
inline bool is_declaration_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> kDeclarations = {"init", "deinit", "op_symbol_table"};
  return std::ranges::find(kDeclarations, name) != kDeclarations.end();
}

/// Whether a graph declares parameters, what is left over, or names of kernels: it is there without
/// any call.
inline bool is_declaration(const Op& graph) {
  return is_declaration_name(graph.module().context().text(graph.symbol()));
}

}  // namespace mir
