// Scales of quantised values, from the sources that docs/ops/quantisation.md lists.
#pragma once

#include <unordered_map>

#include "eval/quantisation.hpp"
#include "mir/diagnostic.hpp"
#include "mir/weights.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Returns the QuantSpecs of the parameters of a schedule: those of their values, or else those in
/// the annotation of the op that owns them.
std::unordered_map<const Value*, const Attr*> parameter_specs(const Schedule& schedule);

/// Codes of a quantised parameter from a source that invents them, uniform in the recipe's range.
Result<Weight> codes_from(const WeightSource& source, WeightRequest request,
                          const QuantRecipe& recipe);

/// Adds every quantised value and parameter of the schedule with its scales. Reports those without,
/// tensors that two values of one quantisation each share, and as a remark how many scales a random
/// source made up.
void resolve_quantisations(const Schedule& schedule, const WeightSet* weights,
                           QuantisationTable& table, Diagnostics& diagnostics);

}  // namespace mir
