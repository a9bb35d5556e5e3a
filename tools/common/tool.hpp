// Main program of every tool: options, reports, output and exit codes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "exit_code.hpp"
#include "mir/diagnostic.hpp"
#include "option.hpp"
#include "option_pages.hpp"

namespace mir::tools {

struct CommonSettings;

/// One run of a tool: its operands and the ways to report.
class Run {
 public:
  /// The common settings must outlive the run.
  Run(const ToolInfo& tool, const CommonSettings& common, std::vector<std::string> operands);

  /// Arguments that are neither options nor a command.
  const std::vector<std::string>& operands() const { return operands_; }
  /// The operands, or standard input if there are none.
  std::vector<std::string> files() const;
  /// True if output to this file descriptor shall be coloured.
  bool colours(int descriptor) const;
  Diagnostics diagnostics() const { return Diagnostics(max_errors()); }
  /// --max-errors: how many errors are shown; 0: all.
  std::size_t max_errors() const;
  /// How many findings of one code are shown; 0: all, as with --show-all and in SARIF.
  std::size_t max_findings() const;
  /// True if reports are in a form for programs, not for people.
  bool reports_to_programs() const;
  /// The row of --output, as tools have it that write one text.
  const OptionRow& output() const;

  /// Shows diagnostics on standard error and returns the exit code that they require.
  ExitCode report(const Diagnostics& diagnostics, const SourceManager& sources) const;
  ExitCode report(const Error& error) const;
  /// Shows reports that form one document, at the end of a run.
  void finish_report() const;
  /// For a combination of options that makes no sense.
  ExitCode usage_error(std::string_view message) const;
  /// A usage error, or a report of any other.
  ExitCode refuse(const Error& error) const;
  /// Writes to the file of --output or to standard output.
  /// On a terminal nothing in `text` but line ends and tabs can drive it.
  ExitCode write_output(std::string_view text) const;
  /// Like write_output(), for text with colours of our own, in which text of users is visible()
  /// already.
  ExitCode write_styled_output(std::string_view text) const;
  /// Like write_output(), in pieces: `produce` passes them to the sink in order.
  using Sink = std::function<void(std::string_view)>;
  ExitCode write_output(const std::function<void(const Sink&)>& produce) const;

 private:
  /// True if findings that most dumps have are counted instead of listed.
  bool counts_usual_findings() const;

  const ToolInfo* tool_;
  const CommonSettings* common_;
  std::vector<std::string> operands_;
  std::unique_ptr<SarifLog> sarif_;  ///< the document that collects, where that is the form
  std::unique_ptr<std::string> held_findings_;  ///< with --errors-first, shown after all errors
};

/// Reads the command line into the rows of `options`, which are the tool's own, and runs `body`.
/// Answers --explain, --help, --help-as and --version itself.
ExitCode run_with(const ToolInfo& tool, OptionSet& options, std::span<const char* const> words,
                  const std::function<ExitCode(const Run& run)>& body);

/// Returns the exit status of main(). Passes the arguments to `run`. A closed pipe ends the program
/// quietly; an exception is reported as an internal error, exhausted memory as a limit.
int guarded(const ToolInfo& tool, int argc, char** argv,
            const std::function<ExitCode(std::span<const char* const> words)>& run);

/// Runs a tool whose settings are a struct of option rows: `body(run, settings)`. The struct's
/// first member is the OptionSet& that the rows register with.
template <class Settings>
int run_tool(const ToolInfo& tool, int argc, char** argv,
             ExitCode (*body)(const Run& run, Settings& settings)) {
  return guarded(tool, argc, argv, [&](std::span<const char* const> words) {
    OptionSet options;
    std::remove_const_t<Settings> settings{options};
    return run_with(tool, options, words, [&](const Run& run) { return body(run, settings); });
  });
}

using OptionVisitor = std::function<void(const OptionSet& options)>;

/// Passes the rows of `options`, which are the tool's own, and those of all tools to `visit`.
void show_with_common(const ToolInfo& tool, OptionSet& options, const OptionVisitor& visit);

/// Like show_with_common(), for a struct of option rows.
template <class Settings>
void show_options(const ToolInfo& tool, const OptionVisitor& visit) {
  OptionSet options;
  const Settings settings{options};
  show_with_common(tool, options, visit);
}

}  // namespace mir::tools
