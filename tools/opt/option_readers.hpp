// Options of mllm-opt that only some passes read.
#pragma once

#include <string_view>
#include <vector>

#include "settings.hpp"

namespace mir::tools {

/// True if a fact of --assume applies to the text before it is parsed.
bool is_of_text(std::string_view fact);

/// The passes that read the option. Empty if it is not for passes alone, as are facts of the text.
std::vector<std::string_view> readers_of(const OptSettings& settings, const OptionRow& row);

}  // namespace mir::tools
