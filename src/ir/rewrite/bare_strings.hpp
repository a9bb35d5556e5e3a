// Strings of dumps.
#pragma once

#include "mir/rewriter.hpp"

namespace mir {

/// Takes the quotes off strings that are attributes of the ops inside `op` and of their results and
/// free values, as upstream prints them. A text that would then be read as something else keeps
/// them. The module must be a dump.
void take_quotes_off(Rewriter& rewriter, const Op& op);

}  // namespace mir
