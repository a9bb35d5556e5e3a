// Packs that show what a rewrite changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/validate.hpp"

namespace mir::tools {

/// Writes FOLDER/NAME.mirz, a pack of the second module that expects the outputs of the first one;
/// characters that a file's name should not have become `_`. `title` describes the difference.
/// `weights` are those of both runs.
Result<void> write_counterexample(const std::string& folder, std::string_view name,
                                  std::string_view title, const Counterexample& found,
                                  std::optional<std::string> weights = std::nullopt);

}  // namespace mir::tools
