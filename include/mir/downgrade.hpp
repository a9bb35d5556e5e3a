// Portable form to the dump that upstream would print.
#pragma once

#include <cstdint>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/loss_report.hpp"
#include "mir/module.hpp"
#include "mir/result.hpp"

namespace mir {

/// Versions of upstream whose printers differ; docs/language.md section 9 lists what each printed.
enum class Generation : std::uint8_t {
  k2025_06,  ///< `kCPU`, `kFp32`, no parameters
  k2025_07,  ///< ops without names
  k2025_10,  ///< `[name="..."]`
  k2025_12,  ///< `<name="...">`, symbols on graphs and registers, notes on quantisation
};
Result<Generation> parse_generation(std::string_view text);

/// Turns a portable module into dump form in place, as this version of upstream prints graphs: no
/// inputs and outputs of the module, no options of linalg ops, one name and one type for all that
/// lies in one storage. What the text then lacks is in the report as dropped.
///
/// False after reporting a module that has no dump: symbolic extents, control flow.
bool downgrade(Module& module, Generation generation, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir
