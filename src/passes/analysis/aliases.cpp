// Finds the value in whose storage a view lies.
#include "mir/analysis.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

/// True if the op's only result is, or may be, in the storage of its first operand.
bool is_view(const Op& op) {
  return (op.has(Trait::kView) || op.has(Trait::kSameBytes)) && op.result_count() == 1 &&
         op.operand_count() != 0;
}

}  // namespace

Aliases::Aliases(const Region& graph) {
  // In text order a view of a view comes after it, but where blocks stand in another order; the
  // origin of such a view is found when it is asked for.
  for_each_op(graph, [&](const Op& op) {
    if (is_view(op)) origins_[op.result()] = op.operand(0);
  });
  for_each_op(graph, [&](const Op& op) {
    if (is_view(op)) views_[&origin(*op.result())].push_back(op.result());
  });
}

const Value& Aliases::origin(const Value& value) const {
  const Value* at = &value;
  // A cycle, which only unreachable code can have, has no end.
  for (std::size_t steps = 0; steps <= origins_.size(); ++steps) {
    const auto viewed = origins_.find(at);
    if (viewed == origins_.end()) break;
    at = viewed->second;
  }
  return *at;
}

std::span<const Value* const> Aliases::views(const Value& origin) const {
  const auto found = views_.find(&origin);
  return found == views_.end() ? std::span<const Value* const>() : found->second;
}

}  // namespace mir
