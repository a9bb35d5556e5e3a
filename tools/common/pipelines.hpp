// Pipelines of passes as options of tools.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/pass.hpp"
#include "option.hpp"

namespace mir::tools {

/// The names of passes and of pipelines.
std::vector<std::string_view> names_of_passes(const PassRegistry& registry);
/// "; did you mean 'cse'?" for a name that the registry does not have; else nothing.
std::string did_you_mean_pass(std::string_view name, std::span<const std::string_view> known);
/// Completion for lists of these names.
Completion complete_passes(const PassRegistry& registry);

/// A pipeline, which is read later, with the names of passes for completion.
Argument<std::string> pipeline_text(const PassRegistry& registry);

/// Reads the pipelines of an option, one after the other; a text that begins with `@` names a file.
/// If none is given, the pipeline is `otherwise`, names of passes. No value after reporting.
std::optional<Pipeline> read_pipelines(const OptionList<std::string>& texts,
                                       std::span<const std::string> otherwise,
                                       const PassRegistry& registry, SourceManager& sources,
                                       Diagnostics& diagnostics);

}  // namespace mir::tools
