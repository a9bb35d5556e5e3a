// Dump form to portable form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mir/ir/module.hpp"
#include "mir/support/diagnostic.hpp"

namespace mir {

/// What the user grants where a dump lost its meaning.
struct UpgradeOptions {
  std::optional<double> rms_epsilon;         ///< epsilon of every RMSNorm
  std::optional<double> layer_norm_epsilon;  ///< eps of every LayerNorm
};

/// One fact of an op that the dump does not state.
struct LossEntry {
  enum class Source : std::uint8_t {
    kDerived,  ///< follows from types, symbols or the order of registration
    kAssumed,  ///< granted by an option, or the documented choice between readings
    kRefused,  ///< lost; the module is not upgraded
  };
  Source source{};
  Location at;
  std::string op;    ///< "linalg.LinearOp 'foo_net.linear_0'"
  std::string fact;  ///< "bias"
  std::string used;  ///< text of the value used; why not, when refused
};

struct LossReport {
  std::vector<LossEntry> entries;

  std::size_t count(LossEntry::Source source) const;
  /// "12 facts derived, 1 assumed (linalg.TransposeOp dim0, dim1)".
  std::string summary() const;
};

/// Turns a graph-level dump into a portable module in place, by every derivable fact:
/// inputs and outputs of the module, links from ops to parameters, op options, one name per value.
/// On refusal the errors name each op and what it lost, the result is false, and the module must
/// not be used further. A portable module is left as it is.
///
/// Does not do: program-level modules, sizes of slices and splits that upstream printed wrongly,
/// symbolic extents. Those are refused by name.
bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics);

}  // namespace mir
