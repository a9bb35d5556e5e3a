// The options of verification.
#pragma once

#include "mir/verify/verify.hpp"
#include "tool.hpp"

namespace mir::tools {

/// What --level, --deny, --allow and --max-errors ask for; --deny wins over --allow.
Result<VerifyOptions> verify_options(const Run& run);

}  // namespace mir::tools
