// Differences between two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace mir::tools {

/// A unified diff with three lines of context, empty when the texts are equal. Correct for any two
/// texts and shortest for ordinary ones; time is proportional to their lines even if every line
/// differs.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name, bool colour);

}  // namespace mir::tools
