// A plan as a lowered program.
#pragma once

#include "graph_plan.hpp"

namespace mir::test {

/// Fragments as upstream's lowering leaves them: inputs bound, graphs as labelled bodies that are
/// jumped to, every slot freed after its last use but for the outputs and the constants.
std::string program_text(IRContext& context, const Plan& plan);

}  // namespace mir::test
