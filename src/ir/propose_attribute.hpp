// The edit that adds an attribute to an op.
#pragma once

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "syntax/op_text.hpp"

namespace mir {

struct AttrRow;

/// Adds the edit that gives an op of kind `op` an attribute that it lacks to the proposals, with
/// the first of the row's choices, or the value that it has in the example of the op.
void propose_attribute(Diagnostic& diagnostic, const OpText& source, const OpKindInfo& op,
                       const AttrRow& row);

}  // namespace mir
