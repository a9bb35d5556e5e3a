// An instruction of a lowered program, in one line.
#pragma once

#include <string>

#include "interp/program_trace.hpp"

namespace mir::tools {

/// `pc 9 depth 1: prog.kernel_launch Linear 'foo_net.linear_0' (%8) -> (%9)`
std::string text_of(const ProgramStep& step);

}  // namespace mir::tools
