// The cost of modules as a table, CSV or JSON: by kind of op, by graph, and in all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mir/module.hpp"
#include "report_format.hpp"

namespace mir::tools {

/// Limits of a machine; 0: not known.
struct MachineRates {
  double flop_per_second = 0;
  double bytes_per_second = 0;

  bool is_known() const { return flop_per_second > 0 || bytes_per_second > 0; }
};

/// The head of a CSV document, with a newline; empty for other forms.
std::string cost_head(TableFormat format);
/// The estimates of portable modules. JSON is one object in a line. Each op takes the longer of the
/// times that its arithmetic and its memory traffic take at the limits; where a number of the work
/// is symbolic or no limit is known, the time is left out.
std::string cost_report(std::span<Module* const> modules, TableFormat format,
                        const MachineRates& rates);

}  // namespace mir::tools
