// Passes by name, and running several in order.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

/// The form of the modules that a pass takes.
enum class PassForm : std::uint8_t { kAny, kDump, kPortable };

/// A change of a module.
struct Pass {
  std::string_view name;     ///< of static duration, as is the summary
  std::string_view summary;  ///< lower case, no full stop
  PassForm takes = PassForm::kAny;
  /// False after reporting why the pass failed; the module must then not be used further.
  std::function<bool(Module&, Diagnostics&)> run;
  /// What makes a module sound that is not, by the options of the pass; null for most.
  std::function<void(Module&, Diagnostics&)> correct = {};
};

/// The passes that a pipeline can name. Each library that has passes registers its own.
class PassRegistry {
 public:
  /// Names are unique. Pointers to passes are valid until the next call.
  void add(Pass pass);
  /// Every pass, by name.
  std::span<const Pass> passes() const { return passes_; }
  /// `upgrade,eliminate-debug`: the passes in order; an error names the first that does not exist.
  Result<std::vector<const Pass*>> parse_pipeline(std::string_view text) const;

 private:
  std::vector<Pass> passes_;
};

/// Adds the passes that only take things away: dead ops, unused graphs, traced comments.
void register_eliminations(PassRegistry& registry);

/// Called after each pass with its time in seconds; false stops the run.
using AfterPass = std::function<bool(const Pass& pass, const Module& module, double seconds)>;

/// Runs passes in order. False after reporting a pass that failed or a module whose form it does
/// not take.
bool run_passes(Module& module, std::span<const Pass* const> passes, Diagnostics& diagnostics,
                const AfterPass& after = {});

}  // namespace mir
