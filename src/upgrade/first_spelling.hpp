// Spellings of dumps: devices, and the text of upstream's first version, 2025-06.
#pragma once

#include "mir/conversion.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// Gives each op of linalg and tensor and each graph the device that a dump states: that of the
/// nearest graph around an op, or the usual one; `<notype>` for graphs that upstream never calls.
void spell_devices(Module& module);

/// Gives a dump the spelling of 2025-06: devices and element types with a `k`,
/// `LLMEmbeddingTokenOp`, neither parameters nor anything after the type of a value. What that
/// leaves out is reported. False after reporting an op that has no such spelling.
bool spell_as_first_version(Module& module, LossReport& report, Diagnostics& diagnostics,
                            const ExplainConversion& explain);

/// The other way, of a dump: `CPU`, `Float32` and `EmbeddingOp`, also where mentions differ.
void spell_as_later_versions(Module& module);

}  // namespace mir
