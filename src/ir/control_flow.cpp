// Region edges, calls and conflicts of ops, from their rows.
#include "mir/control_flow.hpp"

#include <algorithm>

#include "mir/module.hpp"

namespace mir {

// -- regions --------------------------------------------------------------------------------------

std::optional<std::vector<RegionEdge>> region_edges(const Op& op) {
  if (op.first_region() == nullptr || is_graph(op)) return std::vector<RegionEdge>();
  const OpRow* row = op.row();
  if (row == nullptr || !row->region_flow) return std::nullopt;
  return row->region_flow(op);
}

namespace {

using Edges = std::vector<RegionEdge>;

/// True if edges connect `from` with `to` without entering `avoided`.
bool has_path(const Edges& edges, std::uint32_t from, std::uint32_t to, std::uint32_t avoided) {
  std::vector<std::uint32_t> open{from}, seen;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const RegionEdge& edge : edges) {
      if (edge.from != at) continue;
      if (edge.to == to) return true;
      const bool ends = edge.to == RegionEdge::kOp || edge.to == avoided;
      if (ends || std::ranges::find(seen, edge.to) != seen.end()) continue;
      seen.push_back(edge.to);
      open.push_back(edge.to);
    }
  }
  return false;
}

constexpr std::uint32_t kNothing = RegionEdge::kOp - 1;

}  // namespace

RegionRuns runs_of(const Region& region) {
  const Op& op = *region.parent();
  const auto edges = region_edges(op);
  if (!edges) return {};
  if (is_graph(op)) return {.at_least_once = false, .at_most_once = true};
  const std::uint32_t number = region.index();
  return {.at_least_once = !has_path(*edges, RegionEdge::kOp, RegionEdge::kOp, number),
          .at_most_once = !has_path(*edges, number, number, kNothing)};
}

bool is_loop(const Op& op) {
  const auto edges = region_edges(op);
  if (!edges) return false;
  for (const RegionEdge& edge : *edges) {
    const bool is_region = edge.from != RegionEdge::kOp;
    if (is_region && has_path(*edges, edge.from, edge.from, kNothing)) return true;
  }
  return false;
}

// -- calls ----------------------------------------------------------------------------------------

std::optional<Symbol> callee_of(const Op& op) {
  const OpRow* row = op.row();
  return row == nullptr || !row->callee ? std::nullopt : row->callee(op);
}

Op* called_graph(const Op& op) {
  const std::optional<Symbol> symbol = callee_of(op);
  Op* graph = symbol && !op.module().works_on_graphs() ? op.module().lookup_op(*symbol) : nullptr;
  return graph != nullptr && is_graph(*graph) ? graph : nullptr;
}

const Op* first_return(const Region& region) {
  for (const Block* block : region.blocks()) {
    const Op* const last = block->back();
    if (last != nullptr && leaves_region(*last)) return last;
  }
  return nullptr;
}

// -- effects --------------------------------------------------------------------------------------

Symbol resource_of(const Op& op) {
  const OpRow* row = op.row();
  return row == nullptr || !row->resource ? Symbol() : row->resource(op);
}

bool may_conflict(const Op& a, const Op& b) {
  const auto left = effects_of(a), right = effects_of(b);
  if (!left || !right) return true;
  constexpr Effect kState = Effect::kReadsState | Effect::kWritesState;
  const bool writes = has(*left | *right, Effect::kWritesState);
  if (!writes || !has(*left, kState) || !has(*right, kState)) return false;
  const Symbol first = resource_of(a), second = resource_of(b);
  return !first || !second || first == second;
}

}  // namespace mir
