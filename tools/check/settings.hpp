// The options of mllm-check.
#pragma once

#include <string>

#include "option.hpp"
#include "run_cases.hpp"

namespace mir::tools {

enum class ResultForm { kHuman, kTap };

inline constexpr Choice<ResultForm> kResultForms[] = {
    {"human", ResultForm::kHuman}, {"tap", ResultForm::kTap, "for programs that run tests"}};

/// The words between the commas of a text.
Result<CheckPrefixes> parse_check_prefixes(std::string_view text);

struct CheckOptions {
  OptionSet& options;

  Flag update{options,
              {.name = "update",
               .help = "rewrite stored output that differs, as UPDATE_GOLDEN=1 does; what is "
                       "rewritten counts as skipped, not as passed"}};
  Option<std::string> input{options,
                            {.name = "input",
                             .argument = "FILE",
                             .help = "run nothing: hold the text of FILE (- for standard input) to "
                                     "the checks of the case"},
                            any_file()};
  OptionList<CheckPrefixes> check_prefix{
      options,
      {.name = "check-prefix",
       .argument = "A,B",
       .help = "take lines that begin with these words for checks, instead of CHECK"},
      read_by(parse_check_prefixes)};
  OptionList<CheckPrefixes> check_prefixes{
      options,
      {.name = "check-prefixes", .argument = "A,B", .help = "the same as --check-prefix"},
      read_by(parse_check_prefixes)};
  Option<std::string> tools{options,
                            {.name = "tools",
                             .argument = "FOLDER",
                             .help = "where commands find the tools under test",
                             .otherwise = "the folder of mllm-check"},
                            any_folder()};
  Option<unsigned> time_limit{
      options,
      {.name = "time-limit", .argument = "SECONDS", .help = "the most that a command may take"},
      number<unsigned>({.least = 1, .most = 24 * 60 * 60}),
      60};
  Option<unsigned> jobs{options,
                        {.name = "jobs",
                         .letter = 'j',
                         .argument = "N",
                         .help = "run so many files at a time",
                         .otherwise = "one for each processor"},
                        number<unsigned>({.least = 1, .most = 1024})};
  Option<ResultForm> format{options,
                            {.name = "format", .argument = "FORM", .help = "how results are shown"},
                            choice(kResultForms),
                            ResultForm::kHuman};
};

/// What a run of cases needs of the options and the environment. Refuses to update where CI is set.
Result<CheckSettings> settings_of(const CheckOptions& options);

}  // namespace mir::tools
