// What a user grants where dumps lost their meaning, as the options of a tool say it.
#pragma once

#include "mir/upgrade.hpp"
#include "options.hpp"

namespace mir::tools {

inline constexpr Option kAssumeOption = {.name = "assume",
                                         .argument = "FACT",
                                         .help =
                                             "grant what a dump lost: rms_eps=X, layer_norm_eps=X, "
                                             "OP.attribute=value, %N=TYPE, or how a "
                                             "text is to be read (docs/upgrade.md)",
                                         .repeatable = true};
inline constexpr Option kSidecarOption = {
    .name = "sidecar",
    .argument = "FILE",
    .help = "grant what a JSON file says of a dump: attributes, operands and names of its ops",
    .repeatable = true};
inline constexpr Option kSymbolicDimOption = {
    .name = "symbolic-dim",
    .argument = "S@inputN:D",
    .help = "make dimension D of a dump's input N the symbol $S, and all that follows from it",
    .repeatable = true};

/// What these three options grant.
Result<UpgradeOptions> read_grants(const Arguments& arguments);

}  // namespace mir::tools
