// Trials of families with random configs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "tools/import/family.hpp"

namespace mir::tools {

/// Results of a trial.
struct FamilyTrial {
  std::size_t accepted = 0;               ///< configs whose model verifies, for each signature
  std::size_t refused = 0;                ///< configs that a condition refuses
  std::vector<std::string> not_varied{};  ///< keys of the config that kept their defaults
};

/// Verifies the model of a family with its defaults and with random configs, until `count` configs
/// verify. Attributes have values in their ranges, or one of their choices. A config that no
/// condition of the family refuses must verify: otherwise reports the error of the model and the
/// fewest keys that lead to it, and returns no value.
std::optional<FamilyTrial> try_configs(const Family& family, std::size_t count, IRContext& context,
                                       Diagnostics& diagnostics);

}  // namespace mir::tools
