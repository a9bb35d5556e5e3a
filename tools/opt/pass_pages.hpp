// What mllm-opt says of passes.
#pragma once

#include <string>
#include <string_view>

#include "known_passes.hpp"
#include "mir/pass.hpp"
#include "option_pages.hpp"

namespace mir::tools {

/// A line for each pass and each pipeline with a name.
std::string list_passes(const PassRegistry& registry);

/// What a pass or a named pipeline does, takes and gives, among them the passes that the options
/// load; an error names what was probably meant.
Result<std::string> pass_page(std::string_view name, const OptionSet& options);

/// docs/passes.md: a section for each pass, with its example before and after.
std::string passes_page(const PassRegistry& registry);

/// `--help=PASS`
extern const ToolInfo::Topics kPassTopics;

}  // namespace mir::tools
