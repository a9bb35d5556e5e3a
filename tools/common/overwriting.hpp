// Outputs that would replace inputs.
#pragma once

#include <span>
#include <string>

#include "option_pages.hpp"

namespace mir::tools {

/// Returns an error if an option names a file to write that the same command reads, as an operand
/// or by another option, or that two options write. Links are followed. Devices and pipes need no
/// protection.
Result<void> refuse_overwriting(const ToolInfo& tool, const OptionSet& options,
                                std::span<const std::string> operands);

}  // namespace mir::tools
