#include "tool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "count_by_code.hpp"
#include "option_pages.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

ExitCode exit_code_of(DiagCode code) {
  switch (code) {
    case DiagCode::kFileNotReadable:
    case DiagCode::kFileNotWritable:
    case DiagCode::kFileShortened:
      return ExitCode::kFileTrouble;
    case DiagCode::kFileTooLarge:
    case DiagCode::kLimitExceeded:
    case DiagCode::kNestingTooDeep:
    case DiagCode::kTokenTooLong:
      return ExitCode::kLimit;
    case DiagCode::kUsage:
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

Result<Run> Run::create(const ToolInfo& tool, Arguments arguments) {
  Run run(tool, std::move(arguments));
  const std::string_view form = run.arguments_.value("diagnostics");
  if (form == "line") {
    run.format_ = DiagnosticFormat::kLine;
  } else if (form == "json") {
    run.format_ = DiagnosticFormat::kJson;
  } else if (form == "github") {
    run.format_ = DiagnosticFormat::kGithub;
  } else if (form == "sarif") {
    run.sarif_ = std::make_unique<SarifLog>();
  }
  const std::string_view colour = run.arguments_.value("color");
  if (colour == "always") run.colour_ = Colour::kAlways;
  if (colour == "never") run.colour_ = Colour::kNever;
  const std::string_view count = run.arguments_.value("max-errors", "20");
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), run.max_errors_);
  if (error != std::errc() || end != count.data() + count.size()) {
    return Error{DiagCode::kUsage, fmt::format("--max-errors is a number, found '{}'", count)};
  }
  return run;
}

std::vector<std::string> Run::files() const {
  return arguments_.operands().empty() ? std::vector<std::string>{"-"} : arguments_.operands();
}

bool Run::colours(int descriptor) const {
  if (colour_ != Colour::kAuto) return colour_ == Colour::kAlways;
  const char* forbidden = std::getenv("NO_COLOR");
  return (forbidden == nullptr || *forbidden == '\0') && ::isatty(descriptor) != 0;
}

ExitCode Run::report(const Diagnostics& diagnostics, const SourceManager& sources) const {
  const bool grouped = arguments_.value("group-by") == "code";
  if (sarif_ != nullptr) {
    sarif_->add(diagnostics, sources);
  } else {
    const std::string text =
        grouped
            ? count_by_code(diagnostics, sources, format_)
            : render(diagnostics, sources, {.format = format_, .colour = colours(STDERR_FILENO)});
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return exit_code_of(diagnostics);
}

void Run::finish_report() const {
  if (sarif_ == nullptr) return;
  const std::string text = sarif_->finish(tool_->name, MIR_VERSION);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

ExitCode Run::report(const Error& error) const {
  Diagnostics diagnostics;
  diagnostics.error(error.code, {}, error.message);
  return report(diagnostics, SourceManager());
}

ExitCode Run::usage_error(std::string_view message) const {
  fmt::print(stderr, "{0}: {1}\ntry '{0} --help'\n", tool_->name, message);
  return ExitCode::kUsage;
}

const SourceFile* Run::read(const std::string& path, SourceManager& sources, ExitCode& code) const {
  auto text = read_file(path, SourceManager::kMaxFileSize);
  if (!text) {
    code = report(text.error());
    return nullptr;
  }
  const SourceFile* file = sources.add(path == "-" ? "<stdin>" : path, std::move(*text));
  if (file == nullptr) {
    code = report(Error{DiagCode::kFileTooLarge, fmt::format("no room is left for '{}'", path)});
  }
  return file;
}

ExitCode Run::write_output(std::string_view text) const {
  const auto written = write_file_atomically(std::string(arguments_.value("output", "-")), text);
  return written ? ExitCode::kSuccess : report(written.error());
}

ExitCode Run::write_output(const std::function<void(const Sink&)>& produce) const {
  auto file = AtomicFile::create(std::string(arguments_.value("output", "-")));
  if (!file) return report(file.error());
  Result<void> written;
  produce([&](std::string_view text) {
    if (written) written = file->write(text);
  });
  if (written) written = file->commit();
  return written ? ExitCode::kSuccess : report(written.error());
}

namespace {

ExitCode explain_code(const Run& run) {
  const std::string_view wanted = run.arguments().value("explain");
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    if (spelling(info.code) == wanted) return run.write_output(explain(info.code));
  }
  return run.usage_error(fmt::format("no diagnostic has the code '{}'", wanted));
}

ExitCode run_guarded(const ToolInfo& tool, std::span<const char* const> words,
                     ExitCode (*body)(const Run& run)) {
  auto arguments = parse_arguments(tool, words);
  const bool parsed = arguments.ok();
  if (parsed && arguments->has("help")) {
    fmt::print("{}", help_text(tool));
    return ExitCode::kSuccess;
  }
  if (parsed && arguments->has("help-as")) {
    const std::string_view form = arguments->value("help-as");
    fmt::print("{}", form == "man"    ? manual_page(tool, MIR_VERSION)
                     : form == "bash" ? bash_completion(tool)
                                      : zsh_completion(tool));
    return ExitCode::kSuccess;
  }
  if (parsed && arguments->has("version")) {
    fmt::print("{} {}\n", tool.name, MIR_VERSION);
    return ExitCode::kSuccess;
  }
  auto run = parsed ? Run::create(tool, std::move(*arguments)) : Result<Run>(arguments.error());
  if (!run) {
    fmt::print(stderr, "{0}: {1}\ntry '{0} --help'\n", tool.name, run.error().message);
    return ExitCode::kUsage;
  }
  const ExitCode code = run->arguments().has("explain") ? explain_code(*run) : body(*run);
  run->finish_report();
  return code;
}

}  // namespace

int run_tool(const ToolInfo& tool, int argc, char** argv, ExitCode (*body)(const Run& run)) {
  std::signal(SIGPIPE, SIG_DFL);
  ExitCode code = ExitCode::kInternal;
  try {
    const std::span words(argv, static_cast<std::size_t>(argc));
    code = run_guarded(tool, words.subspan(words.empty() ? 0 : 1), body);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: out of memory\n", tool.name);
    code = ExitCode::kLimit;
  } catch (const std::system_error& error) {  // from writing to standard output
    fmt::print(stderr, "{}: {}\n", tool.name, error.what());
    code = ExitCode::kFileTrouble;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: internal error: {}\n", tool.name, error.what());
  }
  if (std::fflush(stdout) != 0) {
    fmt::print(stderr, "{}: cannot write standard output\n", tool.name);
    code = worst(code, ExitCode::kFileTrouble);
  }
  return static_cast<int>(code);
}

}  // namespace mir::tools
