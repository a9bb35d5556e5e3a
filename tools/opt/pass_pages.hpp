// Documentation pages of passes in mllm-opt.
#pragma once

#include <string>
#include <string_view>

#include "known_passes.hpp"
#include "mir/pass.hpp"
#include "option_pages.hpp"

namespace mir::tools {

/// A line for each pass and each pipeline with a name.
std::string list_passes(const PassRegistry& registry);

/// Returns the page of a pass or a named pipeline: purpose, options and results. Includes the
/// passes that the options load; an error suggests the nearest name.
Result<std::string> pass_page(std::string_view name, const OptionSet& options);

/// docs/passes.md: a section for each pass, with its example before and after.
std::string passes_page(const PassRegistry& registry);

/// `--help=PASS`
extern const ToolInfo::Topics kPassTopics;

}  // namespace mir::tools
