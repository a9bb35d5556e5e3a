// The passes of mllm-opt.
#pragma once

#include "mir/pass.hpp"
#include "mir/upgrade.hpp"

namespace mir::tools {

/// Every pass, and what those that convert use and report.
struct KnownPasses {
  KnownPasses() {
    register_standard_passes(registry);
    register_conversions(registry, conversions);
  }
  KnownPasses(const KnownPasses&) = delete;
  KnownPasses& operator=(const KnownPasses&) = delete;

  Conversions conversions;
  PassRegistry registry;
};

}  // namespace mir::tools
