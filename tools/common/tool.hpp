// What every tool's main does alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "exit_code.hpp"
#include "mir/render.hpp"
#include "mir/result.hpp"
#include "options.hpp"

namespace mir::tools {

/// One run of a tool: its arguments and the ways to report.
class Run {
 public:
  /// Fails when --max-errors is no number.
  static Result<Run> create(const ToolInfo& tool, Arguments arguments);

  const Arguments& arguments() const { return arguments_; }
  /// The operands, or standard input when there are none.
  std::vector<std::string> files() const;
  /// Whether what is written to this file descriptor shall be coloured.
  bool colours(int descriptor) const;
  Diagnostics diagnostics() const { return Diagnostics(max_errors_); }
  /// --max-errors: how many errors are shown, and findings of one code; 0: all.
  std::size_t max_errors() const { return max_errors_; }

  /// Shows diagnostics on standard error and says how bad they are.
  ExitCode report(const Diagnostics& diagnostics, const SourceManager& sources) const;
  ExitCode report(const Error& error) const;
  /// Shows what is shown as one document at the end of a run.
  void finish_report() const;
  /// For a combination of options that makes no sense.
  ExitCode usage_error(std::string_view message) const;
  /// Reads a text into `sources`; null after reporting why it cannot be, with `code` set.
  const SourceFile* read(const std::string& path, SourceManager& sources, ExitCode& code) const;
  /// Writes to the file of --output or to standard output.
  ExitCode write_output(std::string_view text) const;
  /// The same in pieces: `produce` is given what takes them, in order.
  using Sink = std::function<void(std::string_view)>;
  ExitCode write_output(const std::function<void(const Sink&)>& produce) const;

 private:
  enum class Colour { kAuto, kAlways, kNever };

  Run(const ToolInfo& tool, Arguments arguments) : tool_(&tool), arguments_(std::move(arguments)) {}

  const ToolInfo* tool_;
  Arguments arguments_;
  DiagnosticFormat format_ = DiagnosticFormat::kHuman;
  std::unique_ptr<SarifLog> sarif_;  ///< the document that collects, where that is the form
  std::size_t max_errors_ = 20;
  Colour colour_ = Colour::kAuto;
};

/// Runs `body` with the parsed command line and returns what main shall. Answers --explain,
/// --help, --help-as and --version itself; a closed pipe ends the program quietly; an exception
/// that leaves `body` is reported as an internal error, exhausted memory as a limit.
int run_tool(const ToolInfo& tool, int argc, char** argv, ExitCode (*body)(const Run& run));

}  // namespace mir::tools
