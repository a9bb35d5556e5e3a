// Modules whose graphs others call.
#pragma once

#include <algorithm>

#include "mir/module.hpp"
#include "mir/ops.hpp"

namespace mir {

/// True if the body does nothing: all graphs are meant to be called from elsewhere.
inline bool is_library(const Module& module) {
  const auto does_nothing = [](const Op* op) {
    return isa<SubGraphOp>(op) || isa<RegisterOp>(op) || isa<ReturnOp>(op);
  };
  const Region& body = module.body();
  return body.empty() ||
         (!body.has_several_blocks() && std::ranges::all_of(body.entry()->ops(), does_nothing));
}

}  // namespace mir
