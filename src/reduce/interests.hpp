// Interests that need no command.
#pragma once

#include <optional>

#include "mir/validate.hpp"
#include "reduce/reduce.hpp"

namespace mir::reduce {

/// Passes that run on the modules of a text. The pipeline must outlive what uses it. With several
/// jobs, several threads run it at once.
struct Passes {
  Surroundings surroundings;
  const Pipeline& pipeline;
};

/// Options for comparing results before and after passes.
struct Comparison {
  ValidationOptions validation{};
  std::optional<double> bound{};  ///< see validate_change()
};

/// Interested in changes after which the results of the module differ.
Answer compare(const Module& before, const Module& after, const Comparison& how);

/// Interested in texts for which reading, verification or the passes report the code.
Interest reports_code(DiagCode code, Passes passes);

/// Interested in texts with a portable module whose results the passes change.
Interest changes_results(Passes passes, Comparison how);

}  // namespace mir::reduce
