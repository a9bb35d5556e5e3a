// Passes by name, and running several in order.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/downgrade.hpp"
#include "mir/loss_report.hpp"
#include "mir/result.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// The form of the modules that a pass takes.
enum class PassForm : std::uint8_t { kAny, kDump, kPortable };

/// What the passes of one run share.
struct PassState {
  Diagnostics& diagnostics;
  UpgradeOptions granted{};
  Generation generation = Generation::k2025_12;  ///< of `downgrade`
  LossReport losses{};
};

/// A change of a module. A pass that fails has said why; the module must then not be used further.
struct Pass {
  std::string_view name;
  std::string_view summary;  ///< lower case, no full stop
  PassForm takes = PassForm::kAny;
  bool (*run)(Module& module, PassState& state) = nullptr;
  /// What is granted to the pass and makes a module sound that is not; null for most.
  void (*correct)(Module& module, PassState& state) = nullptr;
};

/// Every pass, by name.
std::span<const Pass> all_passes();

/// `upgrade,eliminate-debug`: the passes in order; an error names the first that does not exist.
Result<std::vector<const Pass*>> parse_pipeline(std::string_view text);

/// Called behind each pass with its time in seconds; false stops the run.
using AfterPass = std::function<bool(const Pass& pass, const Module& module, double seconds)>;

/// Runs passes in order. False after reporting a pass that failed or a module whose form it does
/// not take.
bool run_passes(Module& module, std::span<const Pass* const> passes, PassState& state,
                const AfterPass& after = {});

}  // namespace mir
