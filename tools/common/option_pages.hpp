// Descriptions of a tool for people and shells, made from its rows.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "option.hpp"

namespace mir::tools {

struct Example {
  std::string_view command;
  std::string_view meaning;
};

/// A tool apart from its options.
struct ToolInfo {
  std::string_view name;
  std::string_view summary;         ///< one sentence
  std::string_view operands;        ///< last part of the usage line, after the options: `[file...]`
  std::array<Example, 4> examples;  ///< the last ones may be empty
  std::span<const ExitStatus> exit_statuses = kExitStatuses;
  std::string_view files = "mir";  ///< ends of the files that completion offers for operands
  /// Texts of `--help=TOPIC`, for tools that explain more than their options.
  struct Topics {
    std::string_view argument;  ///< name of a topic on the help page
    std::string_view what;      ///< ", or the page of a pass"
    std::string_view list;      ///< title of a list of topics: "Passes, run by mllm-opt -p PASS"
    /// Options that come first have been read.
    Result<std::string> (*page)(std::string_view topic, const OptionSet& options) = nullptr;
    Completion (*completion)() = nullptr;
  };
  const Topics* topics = nullptr;
  bool shows_findings = false;  ///< lists findings of dumps, and has the option --show-all
  bool writes_output = true;    ///< has the option --output
  /// Optional. Returns the files that the command reads because it reads this one: an index names
  /// its shards, a folder has cases.
  std::vector<std::string> (*files_behind)(const std::string& path) = nullptr;
};

/// The help page: a sentence, usage, commands, options by group, two examples; at most 80 columns
/// wide but for the sentence and the examples.
std::string help_text(const ToolInfo& tool, const OptionSet& options);

/// The rows as JSON, for programs that call or check the tool: docs/options-json.md.
std::string options_json(const ToolInfo& tool, const OptionSet& options);

/// Section 1 of the manual, as roff.
std::string manual_page(const ToolInfo& tool, const OptionSet& options);

/// Completion of commands, of option names, and of arguments and operands as far as they are known.
std::string bash_completion(const ToolInfo& tool, const OptionSet& options);
std::string zsh_completion(const ToolInfo& tool, const OptionSet& options);
std::string fish_completion(const ToolInfo& tool, const OptionSet& options);

}  // namespace mir::tools
