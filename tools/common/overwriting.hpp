// Outputs that would replace inputs.
#pragma once

#include <span>
#include <string>

#include "option_pages.hpp"

namespace mir::tools {

/// An error where an option names a file to write that the same command reads, as an operand or by
/// another option, or that two options write. Links lead to one file. Devices and pipes are no
/// files to protect.
Result<void> refuse_overwriting(const ToolInfo& tool, const OptionSet& options,
                                std::span<const std::string> operands);

}  // namespace mir::tools
