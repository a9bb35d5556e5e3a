// What a user grants where dumps lost their meaning, as the options of a tool say it.
#pragma once

#include <span>
#include <string>

#include "mir/upgrade.hpp"
#include "option.hpp"

namespace mir::tools {

/// What completion knows of --assume: the facts about all ops, and the types of ops.
Completion complete_facts();

/// What is stated on the command line itself.
struct FactSettings {
  OptionSet& options;

  OptionList<std::string> assume{
      options,
      {.name = "assume",
       .argument = "FACT",
       .help = "grant what a dump lost: rms_eps=X, layer_norm_eps=X, OP.attribute=value, %N=TYPE, "
               "or how a text is to be read (docs/upgrade.md)"},
      any_text(complete_facts)};
  OptionList<SymbolicDim> symbolic_dim{
      options,
      {.name = "symbolic-dim",
       .argument = "S@inputN:D",
       .help = "make dimension D of a dump's input N the symbol $S, and all that follows from it"},
      read_by(parse_symbolic_dim)};
};

struct SidecarSettings {
  OptionSet& options;

  OptionList<std::string> sidecar{
      options,
      {.name = "sidecar",
       .argument = "FILE",
       .help = "grant what a JSON file says of a dump: attributes, operands and names of its ops"},
      any_file("json")};
};

/// What these options grant; of a fact that both state the command line's counts.
Result<UpgradeOptions> read_grants(const FactSettings& facts,
                                   std::span<const std::string> sidecars);

}  // namespace mir::tools
