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

/// Replaces an op by its body. A body has the tensors that hold values of declared types, so there
/// are casts around it. Returns false and changes nothing after reporting why the body does not
/// fit.
bool replace_by_body(Rewriter& rewriter, Op& op, Diagnostics& diagnostics);

/// Adds a graph to a module that computes the op from its operands. Null after reporting why the
/// body does not fit.
Op* add_body_graph(Module& into, const Op& op, std::string_view symbol, Diagnostics& diagnostics);

}  // namespace mir
