// mllm-fmt: canonical layout and the rewrites asked for by name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "format/new_text.hpp"
#include "format/settings.hpp"
#include "line_diff.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/usage.hpp"
#include "mir/format.hpp"
#include "mir/parse.hpp"
#include "regular_file.hpp"
#include "report_text.hpp"
#include "support/file_io.hpp"
#include "support/platform/streams.hpp"
#include "text/extents.hpp"
#include "tool.hpp"
#include "tools/tools.hpp"
#include "verify/repair.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kFmtTool = {
    .name = "mllm-fmt",
    .summary =
        "Formats MLLM IR text in the canonical layout, and makes dumps short to read; changes only "
        "white space unless asked for more.",
    .operands = "[file...]",
    .examples = {{{"mllm-fmt --short dump.mir", "show a dump without repeated types, to read it"},
                  {"mllm-fmt -i model.mir", "format a file in place"}}},
};

/// Options that contradict each other or the operands.
Result<void> check_settings(const Run& run, const FmtSettings& settings) {
  const auto refuse = [](const char* message) { return Error{diag::kUsage, message}; };
  auto alone = refuse_together({&settings.in_place, &settings.check, &settings.diff});
  if (!alone) return alone;
  const bool is_written = run.output().is_given();
  if (is_written && (settings.in_place || settings.check || settings.diff))
    return refuse("--output has nothing to write with --in-place, --check or --diff");
  if (is_written && run.operands().size() > 1)
    return refuse("--output takes the text of one file only");
  if (settings.in_place && std::ranges::count(run.files(), "-") > 0)
    return refuse("--in-place needs a file, not standard input");
  if (auto one = refuse_together({&settings.shorten, &settings.full}); !one) return one;
  if (!settings.lines.is_given()) return {};
  if (settings.fix) return refuse("--lines formats only; --fix concerns the whole text");
  if (settings.rewrites_any() || settings.columns.is_given())
    return refuse("--lines formats only; rewrites concern the whole text");
  if (run.operands().size() > 1) return refuse("--lines takes one file only");
  return {};
}

/// Names a file that would change: alone on a line, or where the change begins.
ExitCode report_change(const Run& run, const SourceManager& sources, const SourceFile& file,
                       std::string_view text) {
  if (!run.reports_to_programs()) {
    print_report("{}\n", file.name());
    return ExitCode::kFindings;
  }
  const auto [old_end, new_end] = std::ranges::mismatch(file.text(), text);
  const auto at = file.base() + static_cast<SourcePos>(std::distance(file.text().begin(), old_end));
  Diagnostics diagnostics = run.diagnostics();
  diagnostics.warning(diag::kNotFormatted, {at, at},
                      "the text is not as mllm-fmt writes it, from here on");
  return worst(run.report(diagnostics, sources), ExitCode::kFindings);
}

/// Writes `text`, or a comparison with it, as the options ask.
ExitCode deliver(const Run& run, const FmtSettings& settings, const std::string& path,
                 const SourceManager& sources, const SourceFile& file, const std::string& text) {
  const bool same = file.text() == text;
  if (settings.check) {
    return same ? ExitCode::kSuccess : report_change(run, sources, file, text);
  }
  if (settings.diff) {
    const std::string after = file.name() + " (formatted)";
    const bool colour = run.colours(kStandardOutput);
    const std::string changes = unified_diff(file.text(), text, file.name(), after, colour);
    colour ? print_styled(changes) : print_document(changes);
    return same ? ExitCode::kSuccess : ExitCode::kFindings;
  }
  if (!settings.in_place) return run.write_output(text);
  if (same) return ExitCode::kSuccess;
  const auto written = write_file_atomically(path, text);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

/// The text in canonical layout; no value if `diagnostics` has errors then.
std::optional<std::string> laid_out(const SourceFile& file, Diagnostics& diagnostics) {
  Diagnostics of_extents = diagnostics;
  ExtentCheck check(file, of_extents);
  auto text = format(file, diagnostics, [&](const Unit& unit) { check.add(unit); });
  if (!text) return std::nullopt;
  diagnostics.append(std::move(of_extents));
  return diagnostics.has_errors() ? std::nullopt : std::move(text);
}

ExitCode format_file(const Run& run, const FmtSettings& settings, const std::string& path) {
  // Only a regular file can be written back in place, and a FIFO without a writer would block.
  const auto fits = settings.in_place ? expect_regular_file(path) : Result<void>();
  if (!fits) return run.report(fits.error());
  IRContext context;
  SourceManager& sources = context.sources();
  const auto source = read_source(path, sources);
  if (!source) return run.report(source.error());
  const SourceFile *const file = *source, *repaired = file;
  if (settings.fix) {
    repaired = sources.add(file->name(), repair(file->name(), std::string(file->text())).text);
    if (repaired == nullptr) {
      return run.report(SourceManager::full(path));
    }
  }
  Diagnostics diagnostics = run.diagnostics();
  if (settings.only_lays_out()) {
    const std::optional<std::string> text = laid_out(*repaired, diagnostics);
    const ExitCode code = run.report(diagnostics, sources);
    return text ? worst(code, deliver(run, settings, path, sources, *file, *text)) : code;
  }
  const std::optional<SyntaxTree> tree = parse(*repaired, diagnostics);
  if (tree) check_extents(*tree, diagnostics);
  Result<std::string> text = std::string();
  if (tree && !diagnostics.has_errors()) text = new_text(*tree, settings, context, diagnostics);
  const ExitCode code = run.report(diagnostics, sources);
  if (!tree || diagnostics.has_errors()) return code;
  return text ? worst(code, deliver(run, settings, path, sources, *file, *text))
              : run.report(text.error());
}

ExitCode run_fmt(const Run& run, const FmtSettings& settings) {
  if (const auto good = check_settings(run, settings); !good)
    return run.usage_error(good.error().message);
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) code = worst(code, format_file(run, settings, path));
  return code;
}

}  // namespace

const Tool mir::tools::kMllmFmt = tool_of<kFmtTool, run_fmt>();
