// Diagnostics about ops that run inside calls.
#pragma once

#include <span>
#include <string>

#include "mir/diagnostic.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// Reports an error at `op`, with the innermost calls around it as notes: first inlined calls, then
/// those around activation `call`.
Diagnostic& report(Diagnostics& diagnostics, const Op& op, std::span<const Call> calls,
                   std::uint32_t call, DiagCode code, std::string message);

}  // namespace mir
