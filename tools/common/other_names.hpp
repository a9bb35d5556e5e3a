// Names that options do not have: those of earlier states, and those of other toolkits.
#pragma once

#include <string>
#include <string_view>

namespace mir::tools {

/// Returns "; use --passes" for an option, given without its dashes, that a tool calls otherwise.
/// `argument` is what follows it, if anything. Empty if nothing is known of it.
std::string use_instead(std::string_view tool, std::string_view option, std::string_view argument);

}  // namespace mir::tools
