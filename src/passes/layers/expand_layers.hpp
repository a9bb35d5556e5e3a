// Layers: ops of declared dialects whose bodies keep state or own parameters.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"

namespace mir {

/// True if the op is of a declared dialect, and ops of its body keep state or own parameters that
/// the declaration does not list.
inline bool is_layer(const Op& op) {
  return op.row() != nullptr && op.row()->is_layer;
}

/// Replaces each layer by its body, those in bodies included, and registers the parameters of the
/// new ops that the module lacks, as Float32 if the result of the op has no floating type. With
/// `as_graphs`, a layer that has a name becomes a graph of this name and a call of it. Returns
/// false after reporting a body that does not fit its op; the module then has been changed in part.
bool expand_layers(Module& module, bool as_graphs, Diagnostics& diagnostics);

/// Registers the parameters of an op that neither the module of the builder nor `around` has, at
/// the insertion point. An op without a name, or with unknown extents, is left to verification.
void register_parameters_of(const Op& op, Builder& into, const Module& around);

}  // namespace mir
