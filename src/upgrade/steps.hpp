// The steps of an upgrade, as passes.
#pragma once

#include <span>
#include <string_view>

#include "upgrade/steps/recovery.hpp"

namespace mir {

/// A step takes a dump and leaves a dump; the last one makes it portable. None does anything to a
/// portable module.
struct UpgradeStep {
  std::string_view name;     ///< of its pass
  std::string_view summary;  ///< as that of a pass
  void (*run)(Recovery&);
  bool after_refusal = false;  ///< as that of a pass
  bool reads_facts = false;    ///< that the user supplies
  std::string_view example{};  ///< as that of a pass
};

/// In order.
std::span<const UpgradeStep> upgrade_steps();

/// Adds their passes, and `upgrade`, the pipeline of them.
void register_upgrade(PassRegistry& registry, Conversions& conversions);

}  // namespace mir
