// Validating one rewrite by running both sides.
#pragma once

#include "mir/validate.hpp"

namespace mir::validate {

/// As validate_change, where results keep what a rewrite claims and inputs are in its domain.
ChangeVerdict validate_claim(const Module& before, const Module& after, const RewriteClaim& claim,
                             const ValidationOptions& options);

}  // namespace mir::validate
