// Graphs that upstream never calls.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "mir/module.hpp"

namespace mir {

/// True for the names of graphs that declare parameters, release them, or list names of kernels.
inline bool is_declaration_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> kDeclarations = {"init", "deinit", "op_symbol_table"};
  return std::ranges::find(kDeclarations, name) != kDeclarations.end();
}

/// True for such a graph: it is there without any call.
inline bool is_declaration(const Op& graph) {
  return is_declaration_name(graph.module().context().text(graph.symbol()));
}

}  // namespace mir
