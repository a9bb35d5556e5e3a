// Pairs of equal steps of two schedules.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "mir/diagnostic.hpp"
#include "plan/schedule.hpp"

namespace mir {

inline constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

/// For each step of `a` the step of `b` that does its work, kNoStep for none; pairs keep the order.
/// Schedules with as many steps, each with as many results, are paired step by step, whatever the
/// ops. Otherwise the longest sequence of steps is found that agree in op, graph and number of
/// results; refused where the parts that differ are too long to compare.
Result<std::vector<std::size_t>> pair_steps(const Schedule& a, const Schedule& b);

}  // namespace mir
