// The steps of an upgrade, as passes.
#pragma once

#include <span>
#include <string_view>

#include "mir/pass.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

/// A step takes a dump and leaves a dump; the last one makes it portable. None does anything to a
/// portable module.
struct UpgradeStep {
  std::string_view name;     ///< of its pass
  std::string_view summary;  ///< as that of a pass
  void (*run)(Recovery&);
  bool after_refusal = false;       ///< as that of a pass
  bool reads_facts = false;         ///< that the user supplies
  bool is_fix_up = false;           ///< runs also before the dump is verified
  PassForm gives = PassForm::kAny;  ///< as that of a pass
  /// Optional. Called in place of `run` for a portable module, which it must not edit.
  void (*on_portable)(const Module&, const UpgradeOptions&, Diagnostics&) = nullptr;
};

/// In order.
std::span<const UpgradeStep> upgrade_steps();

/// Adds their passes, and `upgrade`, the pipeline of them.
void register_upgrade(PassRegistry& registry);

}  // namespace mir
