// Graphs that upstream never calls.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "mir/module.hpp"

namespace mir {

/// Whether a graph declares parameters, what is left over, or names of kernels: it is there without
/// any call.
inline bool is_declaration(const Op& graph) {
  constexpr std::array<std::string_view, 3> kDeclarations = {"init", "deinit", "op_symbol_table"};
  const std::string_view name = graph.module().context().text(graph.symbol());
  return std::ranges::find(kDeclarations, name) != kDeclarations.end();
}

}  // namespace mir
