// The options of mllm-interp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interp/feed.hpp"
#include "interp/probe.hpp"
#include "interp/tolerance.hpp"
#include "invocation.hpp"
#include "kernels/isa.hpp"
#include "mir/upgrade.hpp"
#include "tool.hpp"

namespace mir::tools {

extern const ToolInfo kInterpTool;

/// Runs after the first: `--then=[@GRAPH*]COUNT`.
struct Stage {
  std::optional<std::string> graph;  ///< none: what the run before ran
  std::size_t count = 1;
};

/// What the options say besides files, ports and names.
struct InterpSettings {
  Invocation invocation;
  TolerancePolicy tolerances;
  UpgradeOptions assumed;  ///< what a dump lost
  std::size_t top = 0;     ///< elements to show of each last row
  unsigned threads = 1;
  std::optional<std::uint64_t> weight_memory;  ///< none: half of the machine's memory
  std::optional<IsaLevel> isa;                 ///< none: the machine's
  std::optional<std::uint64_t> step_limit;     ///< of the program machine
  std::vector<Stage> stages;
  std::vector<Feed> feeds;
  std::vector<Probe> probes;
  std::map<std::string, std::string, std::less<>> bound_ops;  ///< name to graph

  /// Whether a lowered program is run as it is.
  bool wants_machine() const;
};
/// Refuses options that cannot be understood.
Result<InterpSettings> interp_settings(Invocation invocation);

}  // namespace mir::tools
