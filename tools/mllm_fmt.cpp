// mllm-fmt: canonical layout and the rewrites asked for by name.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ir/text/extents.hpp"
#include "line_diff.hpp"
#include "mir/format.hpp"
#include "mir/parse.hpp"
#include "regular_file.hpp"
#include "report_text.hpp"
#include "support/file_io.hpp"
#include "syntax/edit.hpp"
#include "tool.hpp"
#include "verify/repair.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

std::optional<LineRange> parse_lines(std::string_view text) {
  LineRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc() || last.ptr != end) return std::nullopt;
  if (range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

struct FmtSettings {
  OptionSet& options;

  Flag in_place{options, {.name = "in-place", .letter = 'i', .help = "rewrite the files in place"}};
  Flag check{
      options,
      {.name = "check", .help = "list the files that would change and exit with 1; write nothing"}};
  Flag diff{options,
            {.name = "diff",
             .help = "show the changes as a unified diff and exit with 1 if there are any"}};
  Option<LineRange> lines{
      options,
      {.name = "lines", .argument = "A:B", .help = "format only ops that overlap lines A to B"},
      read_by(parse_lines, "two line numbers in order, A:B", kRefersToNothing)};
  Flag fix{options, {.name = "fix", .help = "apply the fixes that diagnostics offer"}};
  Flag renumber{options,
                {.name = "renumber",
                 .help = "renumber storage ids and spec ids from 0 in order of first appearance"}};
  Flag modernize{options,
                 {.name = "modernize", .help = "replace spellings of older upstream versions"}};
  Flag alias_attrs{
      options,
      {.name = "alias-attrs", .help = "define repeated quantisation specs once, as #q<uuid>"}};
  Flag expand_attrs{options,
                    {.name = "expand-attrs", .help = "replace aliases by their attributes"}};

  bool rewrites_any() const { return renumber || modernize || alias_attrs || expand_attrs; }
};

constexpr ToolInfo kTool = {
    .name = "mllm-fmt",
    .summary = "Formats MLLM IR text in the canonical layout; changes only white space.",
    .operands = "[file...]",
    .examples = {{{"mllm-fmt -i model.mir", "format a file in place"},
                  {"mllm-fmt --check *.mir", "exit with 1 if a file is not formatted"}}},
};

/// Options that contradict each other or the operands.
Result<void> check_settings(const Run& run, const FmtSettings& settings) {
  const auto refuse = [](const char* message) { return Error{DiagCode::kUsage, message}; };
  auto alone = refuse_together({&settings.in_place, &settings.check, &settings.diff});
  if (!alone) return alone;
  const bool is_written = run.output().is_given();
  if (is_written && (settings.in_place || settings.check || settings.diff))
    return refuse("--output has nothing to write with --in-place, --check or --diff");
  if (is_written && run.operands().size() > 1)
    return refuse("--output takes the text of one file only");
  if (settings.in_place && std::ranges::count(run.files(), "-") > 0)
    return refuse("--in-place needs a file, not standard input");
  if (!settings.lines.is_given()) return {};
  if (settings.fix) return refuse("--lines formats only; --fix concerns the whole text");
  if (settings.rewrites_any())
    return refuse("--lines formats only; rewrites concern the whole text");
  if (run.operands().size() > 1) return refuse("--lines takes one file only");
  return {};
}

/// A last line without an end counts.
std::size_t line_count(std::string_view text) {
  const auto ends = std::ranges::count(text, '\n');
  return static_cast<std::size_t>(ends) + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

Result<std::string> new_text(const SyntaxTree& tree, const FmtSettings& settings) {
  if (settings.lines.is_given()) {
    const SourceFile& file = tree.file();
    if (const std::size_t count = line_count(file.text()); settings.lines->first > count) {
      return Error{DiagCode::kUsage, fmt::format("--lines: '{}' has no line {}; it has {} lines",
                                                 file.name(), settings.lines->first, count)};
    }
    return format_lines(tree, settings.lines->first, settings.lines->last);
  }
  if (!settings.rewrites_any()) return format(tree);
  return rewrite(tree, {.expand_attributes = bool(settings.expand_attrs),
                        .modernize = bool(settings.modernize),
                        .renumber = bool(settings.renumber),
                        .alias_attributes = bool(settings.alias_attrs)});
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
  diagnostics.warning(DiagCode::kNotFormatted, {at, at},
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
    const bool colour = run.colours(STDOUT_FILENO);
    const std::string changes = unified_diff(file.text(), text, file.name(), after, colour);
    colour ? print_styled(changes) : print_document(changes);
    return same ? ExitCode::kSuccess : ExitCode::kFindings;
  }
  if (!settings.in_place) return run.write_output(text);
  if (same) return ExitCode::kSuccess;
  const auto written = write_file_atomically(path, text);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

ExitCode format_file(const Run& run, const FmtSettings& settings, const std::string& path) {
  // Nothing else can be written back to its place, and a FIFO that waits for a writer would not say
  // so.
  const auto fits = settings.in_place ? expect_regular_file(path) : Result<void>();
  if (!fits) return run.report(fits.error());
  SourceManager sources;
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
  const std::optional<SyntaxTree> tree = parse(*repaired, diagnostics);
  if (tree) check_extents(*tree, diagnostics);
  const ExitCode code = run.report(diagnostics, sources);
  if (!tree || diagnostics.has_errors()) return code;
  const auto text = new_text(*tree, settings);
  return text ? worst(code, deliver(run, settings, path, sources, *file, *text))
              : run.report(text.error());
}

ExitCode body(const Run& run, const FmtSettings& settings) {
  if (const auto good = check_settings(run, settings); !good)
    return run.usage_error(good.error().message);
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) code = worst(code, format_file(run, settings, path));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
