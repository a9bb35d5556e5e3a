// The spelling of upstream's first version, 2025-06.
#pragma once

#include "mir/conversion.hpp"
#include "mir/module.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// Gives a dump the spelling of 2025-06: devices and element types with a `k`,
/// `LLMEmbeddingTokenOp`, neither parameters nor anything after the type of a value. What that
/// leaves out is reported. False after reporting an op that has no such spelling.
bool spell_as_first_version(Module& module, LossReport& report, Diagnostics& diagnostics,
                            const ExplainConversion& explain);

/// The other way, of a dump: `CPU`, `Float32` and `EmbeddingOp`, also where mentions differ.
void spell_as_later_versions(Module& module);

}  // namespace mir
