// Options by which a user grants facts that dumps lost.
#pragma once

#include <span>
#include <string>

#include "mir/upgrade.hpp"
#include "option.hpp"

namespace mir::tools {

/// Completions of --assume: the facts about all ops, and the types of ops.
Completion complete_facts();

/// The input that becomes symbolic, by its position.
References<SymbolicDim> references_of_symbolic_dim();

/// Facts stated on the command line itself.
struct FactSettings {
  OptionSet& options;

  OptionList<std::string> assume{options,
                                 {.name = "assume",
                                  .argument = "FACT",
                                  .help = "supply a fact that the dump lost: rms_eps=X, "
                                          "OP.attribute=value, %N=TYPE (more in docs/upgrade.md)"},
                                 any_text(itself(ReferenceKind::kFact), complete_facts)};
  OptionList<SymbolicDim> symbolic_dim{
      options,
      {.name = "symbolic-dim",
       .argument = "S@inputN:D",
       .help = "replace dimension D of input N, and the extents that follow from it, by $S"},
      read_by(parse_symbolic_dim, references_of_symbolic_dim())};
};

struct SidecarSettings {
  OptionSet& options;

  OptionList<std::string> sidecar{
      options,
      {.name = "sidecar",
       .argument = "FILE",
       .help = "read attributes, operands and names of a dump's ops from a JSON file"},
      read_file_name("json")};
};

/// Returns the facts that these options grant. If both state a fact, the command line takes
/// precedence.
Result<UpgradeOptions> read_grants(const FactSettings& facts,
                                   std::span<const std::string> sidecars);

}  // namespace mir::tools
