// Bodies of ops: what their rows make of simpler ones.
#pragma once

#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// True if the op's row has a body.
inline bool has_body(const Op& op) {
  return op.row() != nullptr && op.row()->body;
}

/// The region of `op` that a dialect.RunOp of its body runs; null if the op lacks it.
const Region* region_of_run(const Op& run, const Op& op);

/// Replaces an op by its body. A body has the tensors that hold values of declared types, so there
/// are casts around it. Regions that the body runs are copied. Returns false and changes nothing
/// after reporting why the body does not fit, or why a region cannot be copied.
bool replace_by_body(Rewriter& rewriter, Op& op, Diagnostics& diagnostics);

/// Adds a graph to a module that computes the op from its operands. Null after reporting why the
/// body does not fit.
Op* add_body_graph(Module& into, const Op& op, std::string_view symbol, Diagnostics& diagnostics);

}  // namespace mir
