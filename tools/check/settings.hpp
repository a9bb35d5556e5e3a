// The options of mllm-check.
#pragma once

#include <string>

#include "option.hpp"
#include "run_cases.hpp"

namespace mir::tools {

enum class ResultForm { kHuman, kTap, kJunit };

inline constexpr Choice<ResultForm> kResultForms[] = {
    {"text", ResultForm::kHuman},
    {"tap", ResultForm::kTap, "for test harnesses"},
    {"junit", ResultForm::kJunit, "XML for services that run tests"}};

/// The words between the commas of a text.
Result<CheckPrefixes> parse_check_prefixes(std::string_view text);

struct CheckOptions {
  OptionSet& options;

  OptionGroup running{options, "Running cases"};
  Flag update{options,
              {.name = "update",
               .help = "rewrite stored output that differs, as UPDATE_GOLDEN=1 does; such cases "
                       "count as skipped"}};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .letter = 'j',
                            .argument = "N",
                            .help = "run N files at a time",
                            .otherwise = "one per processor",
                            .excludes = "input"},
                           number<unsigned>({.least = 1, .most = 1024})};
  Option<unsigned> timeout{options,
                           {.name = "timeout",
                            .argument = "SECONDS",
                            .help = "stop a command after SECONDS",
                            .excludes = "input"},
                           number<unsigned>({.least = 1, .most = 24 * 60 * 60}),
                           60};
  Option<std::string> tools{options,
                            {.name = "tools",
                             .argument = "FOLDER",
                             .help = "run the tools of this folder",
                             .otherwise = "the folder of mllm-check",
                             .excludes = "input"},
                            read_folder()};
  Option<ResultForm> format{options,
                            {.name = "format",
                             .argument = "FORMAT",
                             .help = "write results in this format",
                             .excludes = "input"},
                            choice(kResultForms),
                            ResultForm::kHuman};

  OptionGroup checking{options, "Checking a text"};
  Option<std::string> input{
      options,
      {.name = "input",
       .argument = "FILE",
       .help = "run no command; check the text of FILE (- is standard input)"},
      read_file_name()};
  OptionList<CheckPrefixes> check_prefix{
      options,
      {.name = "check-prefix",
       .argument = "A,B",
       .help = "read checks from lines with these prefixes instead of CHECK"},
      read_by(parse_check_prefixes, kRefersToNothing)};
};

/// Returns the settings of a run of cases, from options and environment. Refuses to update if CI is
/// set.
Result<CheckSettings> settings_of(const CheckOptions& options);

}  // namespace mir::tools
