// mllm-fmt: canonical layout and the rewrites asked for by name.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "line_diff.hpp"
#include "mir/format.hpp"
#include "mir/parse.hpp"
#include "support/file_io.hpp"
#include "syntax/edit.hpp"
#include "tool.hpp"
#include "verify/repair.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr Option kOptions[] = {
    {.name = "in-place", .letter = 'i', .help = "write each file that changes back to its place"},
    {.name = "check", .help = "write nothing, name the files that would change and exit with 1"},
    {.name = "diff", .help = "write what would change as a unified diff and exit with 1"},
    {.name = "lines",
     .argument = "A:B",
     .help = "format only operations that meet the lines A to B; the rest keeps its bytes"},
    {.name = "fix", .help = "make the edits that diagnostics offer, as far as they help"},
    {.name = "renumber",
     .help = "number storage ids and spec ids from 0 in order of first appearance"},
    {.name = "modernize", .help = "replace spellings of older upstream versions"},
    {.name = "alias-attrs", .help = "define quantisation specs that repeat once, as #q<uuid>"},
    {.name = "expand-attrs", .help = "replace aliases by what they stand for"},
};

constexpr ToolInfo kTool = {
    .name = "mllm-fmt",
    .summary = "Formats MLLM IR text in its canonical layout; only white space changes.",
    .operands = "[file...]",
    .options = kOptions,
    .examples = {{{"mllm-fmt -i model.mir", "format a file in place"},
                  {"mllm-fmt --check *.mir", "exit with 1 if a file is not formatted"}}},
};

struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// What to do with each file.
struct Task {
  Rewrites rewrites;
  bool rewrites_any = false;
  std::optional<LineRange> lines;
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

Result<Task> task_of(const Arguments& arguments) {
  Task task;
  task.rewrites = {.expand_attributes = arguments.has("expand-attrs"),
                   .modernize = arguments.has("modernize"),
                   .renumber = arguments.has("renumber"),
                   .alias_attributes = arguments.has("alias-attrs")};
  task.rewrites_any = task.rewrites.expand_attributes || task.rewrites.modernize ||
                      task.rewrites.renumber || task.rewrites.alias_attributes;
  const auto refuse = [](const char* message) { return Error{DiagCode::kUsage, message}; };
  const int modes = arguments.has("in-place") + arguments.has("check") + arguments.has("diff");
  if (modes > 1) return refuse("--in-place, --check and --diff exclude each other");
  if (modes == 1 && arguments.has("output")) {
    return refuse("--output has nothing to write with --in-place, --check or --diff");
  }
  if (arguments.has("output") && arguments.operands().size() > 1) {
    return refuse("--output takes the text of one file only");
  }
  if (!arguments.has("lines")) return task;
  task.lines = parse_lines(arguments.value("lines"));
  if (!task.lines) return refuse("--lines is two line numbers in order, A:B");
  if (arguments.has("fix")) return refuse("--lines formats only; --fix concerns the whole text");
  if (task.rewrites_any) return refuse("--lines formats only; rewrites concern the whole text");
  if (arguments.operands().size() > 1) return refuse("--lines takes one file only");
  return task;
}

Result<std::string> new_text(const SyntaxTree& tree, const Task& task) {
  if (task.lines) return format_lines(tree, task.lines->first, task.lines->last);
  if (task.rewrites_any) return rewrite(tree, task.rewrites);
  return format(tree);
}

/// Hands `text` over in the way the options ask for.
ExitCode deliver(const Run& run, const std::string& path, const SourceFile& file,
                 const std::string& text) {
  const Arguments& arguments = run.arguments();
  const bool same = file.text() == text;
  if (arguments.has("check")) {
    if (!same) fmt::print("{}\n", file.name());
    return same ? ExitCode::kSuccess : ExitCode::kFindings;
  }
  if (arguments.has("diff")) {
    const std::string after = file.name() + " (formatted)";
    fmt::print("{}",
               unified_diff(file.text(), text, file.name(), after, run.colours(STDOUT_FILENO)));
    return same ? ExitCode::kSuccess : ExitCode::kFindings;
  }
  if (!arguments.has("in-place")) return run.write_output(text);
  if (same) return ExitCode::kSuccess;
  const auto written = write_file_atomically(path, text);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

ExitCode format_file(const Run& run, const Task& task, const std::string& path) {
  SourceManager sources;
  ExitCode code = ExitCode::kSuccess;
  const SourceFile* file = run.read(path, sources, code);
  if (file == nullptr) return code;
  const SourceFile* repaired = file;
  if (run.arguments().has("fix")) {
    repaired = sources.add(file->name(), repair(file->name(), std::string(file->text())).text);
    if (repaired == nullptr) {
      return run.report(
          Error{DiagCode::kFileTooLarge, fmt::format("no room is left for '{}'", path)});
    }
  }
  Diagnostics diagnostics = run.diagnostics();
  const std::optional<SyntaxTree> tree = parse(*repaired, diagnostics);
  code = run.report(diagnostics, sources);
  if (!tree) return code;
  const auto text = new_text(*tree, task);
  return text ? worst(code, deliver(run, path, *file, *text)) : run.report(text.error());
}

ExitCode body(const Run& run) {
  const auto task = task_of(run.arguments());
  if (!task) return run.usage_error(task.error().message);
  const std::vector<std::string> files = run.files();
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : files) {
    if (path == "-" && run.arguments().has("in-place")) {
      return run.usage_error("--in-place needs a file, not standard input");
    }
  }
  for (const std::string& path : files) code = worst(code, format_file(run, *task, path));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
