// From a command line to what a pack holds.
#pragma once

#include "tools/interp/invocation.hpp"
#include "weights/pack.hpp"

namespace mir::tools {

/// `path`, or where it has `{run}` one path for each run.
std::vector<std::string> paths_of_runs(const std::string& path, std::size_t runs);

/// Plans a pack: the options of a run, with each file that they name as a member. A member is named
/// by the end of its path, with a number if two files have one name, without characters that
/// arguments use. The parts of an index are members, too, under their own names.
Result<PackPlan> plan_pack(const Invocation& invocation);

}  // namespace mir::tools
