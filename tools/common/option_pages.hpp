// What installs beside a tool, made from its option table.
#pragma once

#include <string>
#include <string_view>

#include "options.hpp"

namespace mir::tools {

/// Section 1 of the manual, as roff. `version` stands in its footer.
std::string manual_page(const ToolInfo& tool, std::string_view version);

/// Completion of option names, of choices and of files where an option or operand takes one.
std::string bash_completion(const ToolInfo& tool);
std::string zsh_completion(const ToolInfo& tool);

}  // namespace mir::tools
