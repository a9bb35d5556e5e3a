// Runs a tool: common options, reports, exit codes and output files.
#include "tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "build_version.hpp"
#include "command_line.hpp"
#include "common_settings.hpp"
#include "count_by_code.hpp"
#include "errors_first.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/passes.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/usage.hpp"
#include "mir/version.hpp"
#include "overwriting.hpp"
#include "report_text.hpp"
#include "standard_error.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/file_io.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/interrupts.hpp"
#include "support/platform/streams.hpp"
#include "support/terminal_text.hpp"
#include "usual_findings.hpp"

namespace mir::tools {

namespace {

ExitCode refuse(const ToolInfo& tool, std::string_view message) {
  write_error_text(fmt::format("{0}: {1}\ntry '{0} --help'\n", tool.name, visible(message)));
  return ExitCode::kUsage;
}

}  // namespace

Result<DiagCode> parse_code(std::string_view text) {
  std::vector<std::string> codes = complete_codes().words;
  const auto found = std::ranges::find(codes, text);
  if (found != codes.end())
    return diagnostic_codes()[static_cast<std::size_t>(found - codes.begin())].code;
  const std::vector<std::string_view> known(codes.begin(), codes.end());
  return Error{diag::kUsage,
               fmt::format("no diagnostic has the code '{}'{}", text, did_you_mean(text, known))};
}

Completion complete_codes() {
  Completion codes;
  for (const DiagCodeInfo& info : diagnostic_codes()) codes.words.push_back(spelling(info.code));
  return codes;
}

ExitCode exit_code_of(DiagCode code) {
  switch (code) {
    case diag::kFileNotReadable:
    case diag::kFileNotWritable:
    case diag::kFileShortened:
      return ExitCode::kFileTrouble;
    case diag::kFileTooLarge:
    case diag::kLimitExceeded:
    case diag::kNestingTooDeep:
    case diag::kTokenTooLong:
      return ExitCode::kLimit;
    case diag::kUsage:
    case diag::kPipeline:
      return ExitCode::kUsage;
    default:
      return ExitCode::kFindings;
  }
}

ExitCode exit_code_of(const Diagnostics& diagnostics) {
  ExitCode result = diagnostics.has_errors() ? ExitCode::kFindings : ExitCode::kSuccess;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    if (diagnostic.severity == Severity::kError)
      result = worst(result, exit_code_of(diagnostic.code));
  }
  return result;
}

Run::Run(const ToolInfo& tool, const CommonSettings& common, std::vector<std::string> operands)
    : tool_(&tool), common_(&common), operands_(std::move(operands)) {
  if (common.errors_first) held_findings_ = std::make_unique<std::string>();
  if (!*common.diagnostics) sarif_ = std::make_unique<SarifLog>();
}

std::vector<std::string> Run::files() const {
  return operands_.empty() ? std::vector<std::string>{"-"} : operands_;
}

bool Run::colours(int descriptor) const {
  if (*common_->color != Colour::kAuto) return *common_->color == Colour::kAlways;
  const char* forbidden = std::getenv("NO_COLOR");
  return (forbidden == nullptr || *forbidden == '\0') && is_terminal(descriptor);
}

std::size_t Run::max_errors() const {
  return *common_->max_errors;
}

std::size_t Run::max_findings() const {
  const bool wants_all = common_->show_all || !*common_->diagnostics;
  return wants_all ? 0 : max_errors();
}

bool Run::counts_usual_findings() const {
  return tool_->shows_findings && !common_->show_all && !reports_to_programs();
}

bool Run::reports_to_programs() const {
  return *common_->diagnostics != DiagnosticFormat::kHuman;
}

const OptionRow& Run::output() const {
  return common_->output;
}

ExitCode Run::report(const Diagnostics& diagnostics, const SourceManager& sources) const {
  if (sarif_ != nullptr) {
    sarif_->add(diagnostics, sources);
  } else {
    const DiagnosticFormat form = **common_->diagnostics;
    if (common_->summary) {
      write_error_text(count_by_code(diagnostics, sources, form));
    } else {
      const RenderOptions options{.format = form, .colour = colours(kStandardError)};
      const auto rendered = [&](const Diagnostics& list) {
        return counts_usual_findings() ? render_without_usual(list, sources, options)
                                       : render(list, sources, options);
      };
      if (held_findings_ != nullptr) {
        write_styled_error_text(rendered(only_errors(diagnostics)));
        *held_findings_ += rendered(without_errors(diagnostics));
      } else {
        write_styled_error_text(rendered(diagnostics));
      }
    }
  }
  return exit_code_of(diagnostics);
}

void Run::finish_report() const {
  if (held_findings_ != nullptr) write_styled_error_text(*held_findings_);
  if (sarif_ == nullptr) return;
  const std::string text = sarif_->finish(tool_->name, kProjectVersion);
  write_error_text(text);
}

ExitCode Run::report(const Error& error) const {
  Diagnostics diagnostics;
  diagnostics.error(error.code, {}, error.message);
  return report(diagnostics, SourceManager());
}

ExitCode Run::usage_error(std::string_view message) const {
  return tools::refuse(*tool_, message);
}

ExitCode Run::refuse(const Error& error) const {
  return error.code == diag::kUsage ? usage_error(error.message) : report(error);
}

ExitCode Run::write_output(std::string_view text) const {
  const bool is_shown = *common_->output == "-" && shows_documents();
  const std::string shown = is_shown ? visible_lines(text) : std::string();
  const auto written =
      write_file_atomically(*common_->output, is_shown ? std::string_view(shown) : text);
  return written ? ExitCode::kSuccess : report(written.error());
}

ExitCode Run::write_styled_output(std::string_view text) const {
  const auto written = write_file_atomically(*common_->output, text);
  return written ? ExitCode::kSuccess : report(written.error());
}

ExitCode Run::write_output(const std::function<void(const Sink&)>& produce) const {
  auto file = AtomicFile::create(*common_->output);
  if (!file) return report(file.error());
  Result<void> written;
  const bool is_shown = *common_->output == "-" && shows_documents();
  produce([&](std::string_view text) {
    if (written) written = file->write(is_shown ? std::string_view(visible_lines(text)) : text);
  });
  if (written) written = file->commit();
  return written ? ExitCode::kSuccess : report(written.error());
}

namespace {

/// The answer to an option that asks about the tool itself; none: the tool is to run.
std::optional<std::string> about(const ToolInfo& tool, const OptionSet& options,
                                 const CommonSettings& common) {
  if (common.version.is_given()) return version_text(tool.name);
  if (common.help_as.is_given()) return common.help_as->make(tool, options);
  return std::nullopt;
}

ExitCode show_help(const ToolInfo& tool, const OptionSet& options, const std::string& topic) {
  const auto page = topic.empty() ? Result<std::string>(help_text(tool, options))
                                  : tool.topics->page(topic, options);
  if (!page) return refuse(tool, page.error().message);
  print_document(*page);
  return ExitCode::kSuccess;
}

/// Shows an error of an argument in the form that the common options choose.
ExitCode refuse(const ToolInfo& tool, const CommonSettings& common, const Error& error) {
  const Run run(tool, common, {});
  const ExitCode code = run.refuse(error);
  run.finish_report();
  return code;
}

}  // namespace

ExitCode run_with(const ToolInfo& tool, OptionSet& options, std::span<const char* const> words,
                  const std::function<ExitCode(const Run& run)>& body) {
  const CommonSettings common{options, tool};
  auto line = split_command_line(options, words, tool.name);
  if (!line) return refuse(tool, line.error().message);
  if (const std::string* topic = line->first(common.help)) {
    const auto read = topic->empty() ? Result<void>() : line->read_first();
    return read ? show_help(tool, options, *topic) : refuse(tool, common, read.error());
  }
  if (const auto read = line->read(); !read) return refuse(tool, common, read.error());
  if (const auto answer = about(tool, options, common)) {
    print_document(*answer);
    return ExitCode::kSuccess;
  }
  if (!common.explain.is_given()) {
    if (const auto fits = options.check(line->operands); !fits)
      return refuse(tool, fits.error().message);
    if (const auto apart = refuse_overwriting(tool, options, line->operands); !apart)
      return refuse(tool, apart.error().message);
  }
  const Run run(tool, common, std::move(line->operands));
  const ExitCode code =
      common.explain.is_given() ? run.write_output(explain(*common.explain)) : body(run);
  run.finish_report();
  return code;
}

void show_with_common(const ToolInfo& tool, OptionSet& options, const OptionVisitor& visit) {
  const CommonSettings common{options, tool};
  visit(options);
}

int guarded(const ToolInfo& tool, int argc, char** argv,
            const std::function<ExitCode(std::span<const char* const> words)>& run) {
  end_at_closed_pipes();
  open_standard_streams();
  ExitCode code = ExitCode::kInternal;
  bool is_reported = false;
  try {
    const std::span words(argv, static_cast<std::size_t>(argc));
    code = run(words.subspan(words.empty() ? 0 : 1));
  } catch (const std::bad_alloc&) {
    write_error_text(fmt::format("{}: out of memory\n", tool.name));
    code = ExitCode::kLimit;
  } catch (const std::system_error& error) {  // from writing to standard output
    write_error_text(fmt::format("{}: {}\n", tool.name, error.what()));
    code = ExitCode::kFileTrouble;
    is_reported = true;
  } catch (const std::exception& error) {
    write_error_text(fmt::format("{}: internal error: {}\n", tool.name, error.what()));
  }
  // An earlier error stays with the stream: bytes that it lost are not written again.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && !is_reported) {
    write_error_text(fmt::format("{}: cannot write standard output\n", tool.name));
    code = worst(code, ExitCode::kFileTrouble);
  }
  return static_cast<int>(code);
}

}  // namespace mir::tools
