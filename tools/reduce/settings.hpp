// The options of mllm-reduce.
#pragma once

#include <cstdint>
#include <string>

#include "common_settings.hpp"
#include "dialect_files.hpp"
#include "known_passes.hpp"
#include "load_passes.hpp"
#include "option.hpp"
#include "pattern_files.hpp"
#include "pipelines.hpp"

namespace mir::tools {

struct ReduceSettings {
  OptionSet& options;
  KnownPasses known{};
  DialectSettings dialects{options};

  Option<std::string> test{options,
                           {.name = "test",
                            .argument = "COMMAND",
                            .help = "a file is interesting if COMMAND, with %s replaced by the "
                                    "name of the file, exits with 0"},
                           any_text(kRefersToNothing)};
  Flag crash{options,
             {.name = "crash", .help = "interesting is instead that a signal ends the command"}};
  Flag hang{options,
            {.name = "hang", .help = "interesting is instead that the command reaches --timeout"}};
  Option<std::uint32_t> timeout{
      options,
      {.name = "timeout", .argument = "SECONDS", .help = "stop a command after SECONDS"},
      number<std::uint32_t>({.least = 1, .most = 1'000'000}),
      60};
  Option<unsigned> jobs{options,
                        {.name = "jobs",
                         .argument = "N",
                         .help = "test N files at once; the result is the same for each N"},
                        number<unsigned>({.least = 1, .most = 1024}),
                        1};
  Option<DiagCode> diagnostic{options,
                              {.name = "diagnostic",
                               .argument = "CODE",
                               .help = "a file is interesting if reading it, verifying it or the "
                                       "passes report this code"},
                              read_by(parse_code, kRefersToNothing, complete_codes)};
  Flag differs{options,
               {.name = "differs",
                .help = "a file is interesting if the passes change results of a module"}};
  OptionList<std::string> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "PIPELINE",
       .help = "passes to run for --diagnostic, --differs and --bisect: A,B, a pipeline "
               "(docs/pipelines.md) or @FILE"},
      pipeline_text(known.registry)};
  OptionList<std::string> load_passes{
      options,
      {.name = kLoadPasses,
       .argument = "FILE",
       .help = "add the passes of a shared library (docs/howto/write-a-pass.md)",
       .comes_first = true},
      pass_plugin(known.registry)};
  PatternSettings patterns{options, known.registry};
  Option<std::uint64_t> validate{
      options,
      {.name = "validate",
       .argument = "N",
       .help = "in --differs, compare the results of N runs on random inputs"},
      number<std::uint64_t>({.least = 1}),
      10};
  Option<std::uint64_t> seed{
      options,
      {.name = "seed", .argument = "N", .help = "number of the random sequence of --differs"},
      number<std::uint64_t>(),
      0};
  Option<double> bound{
      options,
      {.name = "bound",
       .argument = "X",
       .help = "in --differs, accept results that differ by X times the largest magnitude",
       .otherwise = "equal results"},
      number<double>({.least = 0})};
  Flag bisect{options,
              {.name = "bisect",
               .help = "do not reduce; find the first pass and the first rewrite after which the "
                       "module is interesting"}};
};

/// Refuses options without effect, and settings without one interest.
Result<void> check(const ReduceSettings& settings);

}  // namespace mir::tools
