// The options of mllm-opt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "granted.hpp"
#include "mir/pass.hpp"
#include "mir/upgrade.hpp"
#include "option.hpp"
#include "verification.hpp"

namespace mir::tools {

using Pipeline = std::vector<const Pass*>;

/// Passes by name with commas between; the word `all`, where it is given, means every one of them.
Argument<Pipeline> pipeline_of(const PassRegistry& registry, std::string_view all = {});

/// Every pass, and what those that convert use and report.
struct KnownPasses {
  KnownPasses() {
    register_eliminations(registry);
    register_conversions(registry, conversions);
  }
  KnownPasses(const KnownPasses&) = delete;
  KnownPasses& operator=(const KnownPasses&) = delete;

  Conversions conversions;
  PassRegistry registry;
};

inline constexpr Choice<Generation> kGenerations[] = {
    {"2025-06", Generation::k2025_06, "kCPU, kFp32"},
    {"2025-07", Generation::k2025_07, "no names of ops"},
    {"2025-10", Generation::k2025_10, "[name=...]"},
    {"2025-12", Generation::k2025_12, "<name=...>, notes on quantisation"}};

struct OptSettings {
  OptionSet& options;
  KnownPasses known{};

  Option<Pipeline> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "A,B",
       .help = "run these passes in this order; without it the module is only checked"},
      pipeline_of(known.registry)};
  Flag list_passes{options, {.name = "list-passes", .help = "list every pass and stop"}};
  FactSettings facts{options};
  SidecarSettings sidecars{options};
  Option<std::string> loss_report{
      options,
      {.name = "loss-report",
       .argument = "FILE",
       .help = "write what a dump lost and what was used for it, as JSON where FILE ends in .json"},
      any_file()};
  Option<Generation> generation{options,
                                {.name = "generation",
                                 .argument = "WHEN",
                                 .help = "the version of upstream that downgrade spells"},
                                choice(kGenerations),
                                Generation::k2025_12};
  OptionList<Pipeline> print_after{
      options,
      {.name = "print-after",
       .argument = "A,B",
       .help = "write the module to standard error after these passes; all: after each"},
      pipeline_of(known.registry, "all")};
  Flag timing{options, {.name = "timing", .help = "write the time of each pass to standard error"}};
  Option<std::string> module{
      options,
      {.name = "module", .argument = "NAME", .help = "only the module @NAME of the file"},
      symbol_name()};
  VerificationSettings verification{options};
};

}  // namespace mir::tools
