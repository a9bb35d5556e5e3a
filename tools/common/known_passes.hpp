// The passes of mllm-opt.
#pragma once

#include "mir/pass.hpp"
#include "mir/upgrade.hpp"

namespace mir::tools {

/// Every pass.
struct KnownPasses {
  KnownPasses() {
    register_standard_passes(registry);
    register_conversions(registry);
  }
  KnownPasses(const KnownPasses&) = delete;
  KnownPasses& operator=(const KnownPasses&) = delete;

  PassRegistry registry;
};

}  // namespace mir::tools
