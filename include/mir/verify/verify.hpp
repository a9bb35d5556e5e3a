// Whether a module means something: the checks before anything runs.
#pragma once

#include "mir/ir/module.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir {

/// Checks a module and reports every problem found; true when there is no error. Never changes the
/// module, never stops at the first problem.
///
/// A portable module is held to all of:
/// - structure: arity, regions and `@symbol`s as the op's row says; bodies of graphs end with
///   cf.ReturnOp; the module's and every graph's signature states what its return hands over;
/// - attributes: no unknown or missing key, values of the kind and range the row says;
/// - types: each result type is what the row's rule infers; unknown extents fit anything;
/// - order: a value is seen where it is used, and defined above;
/// - calls: the callee exists, takes and gives what the call states, and no graph reaches itself;
/// - weights: each parameter an op owns is registered with the element count the op needs.
///
/// A dump is only held to what upstream can print: its calls name graphs that exist.
bool verify(const Module& module, Diagnostics& diagnostics);

}  // namespace mir
