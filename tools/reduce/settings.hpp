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

  OptionGroup interest{options, "What the smaller file must keep"};
  Option<std::string> test{options,
                           {.name = "test",
                            .argument = "COMMAND",
                            .help = "a file is interesting if COMMAND exits with 0; sh runs "
                                    "it, with the name of the file for %s"},
                           any_text(kRefersToNothing)};
  Option<DiagCode> reports{options,
                           {.name = "reports",
                            .argument = "CODE",
                            .help = "a file is interesting if reading it, verifying it or the "
                                    "passes report this code"},
                           read_by(parse_code, kRefersToNothing, complete_codes)};
  Flag differs{options,
               {.name = "differs",
                .help = "a file is interesting if the passes change results of a module",
                .needs = "passes patterns"}};
  DialectSettings dialects{options};

  OptionGroup commands{options, "The command of --test"};
  Flag crash{options,
             {.name = "crash",
              .help = "keep what a signal ends, such as a crash, instead of exit status 0",
              .needs = "test"}};
  Flag hang{options,
            {.name = "hang",
             .help = "keep what reaches --timeout, instead of exit status 0",
             .needs = "test"}};
  Option<std::uint32_t> timeout{options,
                                {.name = "timeout",
                                 .argument = "SECONDS",
                                 .help = "stop a command after SECONDS",
                                 .needs = "test"},
                                number<std::uint32_t>({.least = 1, .most = 1'000'000}),
                                60};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .letter = 'j',
                            .argument = "N",
                            .help = "test N files at once; the result is the same for each N",
                            .excludes = "bisect"},
                           number<unsigned>({.least = 1, .most = 1024}),
                           1};

  OptionGroup running{options, "Running passes"};
  OptionList<std::string> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "PIPELINE",
       .help = "run passes in order: A,B, a pipeline (docs/pipelines.md) or @FILE",
       .needs = "reports differs bisect"},
      pipeline_text(known.registry)};
  PatternSettings patterns{options, known.registry, dialects, "reports differs bisect"};
  OptionList<std::string> load_passes{
      options,
      {.name = kLoadPasses,
       .argument = "FILE",
       .help = "add the passes of a shared library (docs/howto/write-a-pass.md)",
       .needs = "passes",
       .turn = ReadingTurn::kPasses},
      pass_plugin(known.registry)};
  Flag bisect{options,
              {.name = "bisect",
               .help = "do not reduce; find the first pass and the first rewrite after which the "
                       "module is interesting",
               .needs = "passes patterns",
               .excludes = "reports"}};
  Option<std::uint64_t> validate{options,
                                 {.name = "validate",
                                  .argument = "N",
                                  .help = "compare the results of N runs with random inputs",
                                  .needs = "differs"},
                                 number<std::uint64_t>({.least = 1}),
                                 10};
  Option<double> bound{options,
                       {.name = "bound",
                        .argument = "X",
                        .help = "accept results that differ by X times the largest magnitude",
                        .otherwise = "equal results",
                        .needs = "differs"},
                       number<double>({.least = 0})};
  Option<std::uint64_t> seed{
      options,
      {.name = "seed", .argument = "N", .help = "seed of the random inputs", .needs = "differs"},
      number<std::uint64_t>(),
      0};
};

/// Refuses settings without one interest.
Result<void> check(const ReduceSettings& settings);

}  // namespace mir::tools
