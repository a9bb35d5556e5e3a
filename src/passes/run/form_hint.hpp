// The hint for modules in the wrong form.
#pragma once

#include <string_view>

namespace mir {

/// For what takes portable modules and found a dump.
inline constexpr std::string_view kUpgradeFirst =
    "pass 'upgrade' makes a dump portable; put it first, as in --passes=upgrade,cse";

}  // namespace mir
