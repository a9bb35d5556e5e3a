// Extents that take a new symbol because several branches pass different ones.
#include "ir/joined_extents.hpp"

#include <algorithm>

#include "ir/type_extents.hpp"
#include "mir/control_flow.hpp"
#include "mir/op.hpp"

namespace mir {

namespace {

/// Calls `visit(symbol, extent)` where `taken` has a symbol alone and `passed` another extent.
template <class Visit>
void for_each_difference(const Value& taken, const Value& passed, const Visit& visit) {
  const TensorType *wanted = taken.tensor_type(), *given = passed.tensor_type();
  if (wanted == nullptr || given == nullptr || wanted->rank() != given->rank()) return;
  for (std::size_t dim = 0; dim < wanted->rank(); ++dim) {
    const Symbol symbol = symbol_alone(wanted->dims()[dim]);
    if (symbol && wanted->dims()[dim] != given->dims()[dim]) visit(symbol, given->dims()[dim]);
  }
}

/// Like the above, for the values that an edge from a region passes to the results.
template <class Visit>
void for_each_difference(const Op& op, const Op& end, const RegionEdge& edge, const Visit& visit) {
  const auto passed = end.plain_operands();
  for (std::uint32_t i = 0; i < edge.operand_count; ++i) {
    if (edge.first_operand + i >= passed.size() || edge.first_target + i >= op.result_count()) {
      return;
    }
    for_each_difference(*op.result(edge.first_target + i), *passed[edge.first_operand + i].value(),
                        visit);
  }
}

/// Like the above, for the values that the end of a block passes to the arguments of another one.
template <class Visit>
void for_each_difference(const Op& end, const OpExtra::Successor& successor, const Visit& visit) {
  const auto arguments = successor.block->arguments();
  for (std::uint32_t i = 0; i < std::min<std::size_t>(successor.operand_count, arguments.size());
       ++i) {
    for_each_difference(arguments[i], *end.operand(successor.first_operand + i), visit);
  }
}

/// The edges from regions to the results, if at least two regions have one and none is a loop's.
std::vector<RegionEdge> joined_edges(const Op& op) {
  auto edges = region_edges(op);
  if (!edges || is_loop(op)) return {};
  std::erase_if(*edges, [&](const RegionEdge& edge) {
    return edge.to != RegionEdge::kOp || edge.from >= op.region_count();
  });
  const bool is_join = std::ranges::any_of(
      *edges, [&](const RegionEdge& edge) { return edge.from != edges->front().from; });
  return is_join ? *std::move(edges) : std::vector<RegionEdge>();
}

bool has_symbol(const Value& value, Symbol symbol, const DimTable& dims) {
  bool has = false;
  for_each_symbol_of(value.type(), dims, [&](Symbol each) { has = has || each == symbol; });
  return has;
}

/// True if an argument of the region, or of a block around it in its graph, has the symbol.
bool is_of_argument(Symbol symbol, const Region& innermost) {
  DimTable& dims = innermost.parent()->module().context().dims();
  const auto has = [&](const Value& argument) { return has_symbol(argument, symbol, dims); };
  for (const Region* region = &innermost; region != nullptr;) {
    if (std::ranges::any_of(region->entry_arguments(), has)) return true;
    const Op* around = region->parent();
    if (around == nullptr || around->has(Trait::kIsolated) || around->block() == nullptr) break;
    if (std::ranges::any_of(around->block()->arguments(), has)) return true;
    region = around->block()->parent();
  }
  return false;
}

}  // namespace

std::vector<Symbol> symbols_joined_by(const Op& op) {
  std::vector<Symbol> found;
  const bool is_symbolic = std::ranges::any_of(op.results(), [](const Value& result) {
    const TensorType* type = result.tensor_type();
    return type != nullptr && std::ranges::any_of(type->dims(), &Dim::is_symbolic);
  });
  if (!is_symbolic || op.region_count() < 2 || op.block() == nullptr) return found;
  for (const RegionEdge& edge : joined_edges(op)) {
    for (const Block* block : op.region(edge.from)->blocks()) {
      const Op* end = block->terminator();
      if (end == nullptr || !leaves_region(*end)) continue;
      for_each_difference(op, *end, edge, [&](Symbol symbol, Dim) {
        if (std::ranges::find(found, symbol) == found.end()) found.push_back(symbol);
      });
    }
  }
  DimTable& dims = op.module().context().dims();
  std::erase_if(found, [&](Symbol symbol) {
    const auto has = [&](const Value& argument) { return has_symbol(argument, symbol, dims); };
    return is_of_argument(symbol, *op.block()->parent()) ||
           std::ranges::any_of(op.block()->arguments(), has);
  });
  return found;
}

void for_each_symbol_joined_by(const Block& block, const std::function<void(Symbol)>& visit) {
  const Region& region = *block.parent();
  if (region.entry() == &block) return;
  std::vector<Symbol> open;
  for (const Value& argument : block.arguments()) {
    if (argument.tensor_type() == nullptr) continue;
    for (const Dim extent : argument.tensor_type()->dims()) {
      const Symbol symbol = symbol_alone(extent);
      if (symbol && !is_of_argument(symbol, region)) open.push_back(symbol);
    }
  }
  if (open.empty()) return;
  const std::vector<Block*> sources = block.predecessors();
  if (sources.empty()) std::ranges::for_each(open, visit);
  for (const Block* source : sources) {
    const Op* end = source->terminator();
    if (end == nullptr) continue;  // the last op is not a known terminator
    for (const auto& successor : source->successors()) {
      if (successor.block != &block) continue;
      for_each_difference(*end, successor, [&](Symbol symbol, Dim) {
        if (std::erase(open, symbol) != 0) visit(symbol);
      });
    }
  }
}

void JoinedExtents::add(Symbol symbol, Dim passed) {
  const auto is_same = [&](const auto& each) { return each.first == symbol; };
  if (std::ranges::none_of(extents_, is_same)) extents_.emplace_back(symbol, passed);
}

JoinedExtents JoinedExtents::at_results(const Op& op, const Op& end, const RegionEdge& edge) {
  JoinedExtents joined(op.module().context());
  bool differs = false;
  for_each_difference(op, end, edge, [&](Symbol, Dim) { differs = true; });
  if (!differs) return joined;
  const std::vector<Symbol> symbols = symbols_joined_by(op);
  for_each_difference(op, end, edge, [&](Symbol symbol, Dim passed) {
    if (std::ranges::find(symbols, symbol) != symbols.end()) joined.add(symbol, passed);
  });
  return joined;
}

JoinedExtents JoinedExtents::at_block(const Op& end, const OpExtra::Successor& successor) {
  JoinedExtents joined(end.module().context());
  const Block& block = *successor.block;
  if (block.parent()->entry() == &block) return joined;
  for_each_difference(end, successor, [&](Symbol symbol, Dim passed) {
    if (!is_of_argument(symbol, *block.parent())) joined.add(symbol, passed);
  });
  return joined;
}

const Type* JoinedExtents::as_passed(const Type* type) const {
  if (extents_.empty()) return type;
  const auto passed = [&](Symbol symbol) -> std::optional<Dim> {
    const auto found =
        std::ranges::find(extents_, symbol, [](const auto& each) { return each.first; });
    return found == extents_.end() ? std::optional<Dim>() : std::optional(found->second);
  };
  return with_extents(type, context_, [&](Dim extent) {
    const bool is_kept = !extent.is_symbolic() || extent.is_pack();
    return is_kept ? extent : context_.dims().substitute(extent, passed);
  });
}

}  // namespace mir
