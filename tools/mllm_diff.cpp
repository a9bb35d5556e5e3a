// mllm-diff: what differs between two files of IR, ids, layout and order of attributes apart.
#include <fmt/format.h>

#include <algorithm>

#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "syntax/edit.hpp"
#include "tool.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

struct DiffSettings {
  OptionSet& options;

  Flag stat{options, {.name = "stat", .help = "only count the differences of each graph"}};
  Flag json{options, {.name = "json", .help = "write the differences as JSON"}};
  Flag normalise{options,
                 {.name = "normalise",
                  .help = "write one file with new ids in order of appearance and attributes in "
                          "order, for git's textconv"}};
  Option<std::string> module{
      options,
      {.name = "module", .argument = "NAME", .help = "only the module @NAME of the files"},
      any_text()};
};

constexpr ToolInfo kTool = {
    .name = "mllm-diff",
    .summary =
        "Compares two files of IR op by op; ids, layout and the order of attributes and "
        "graphs do not count.",
    .operands = "before after",
    .examples = {{{"mllm-diff before.mir after.mir", "show what differs; exit status 1 if any"},
                  {"git -c core.pager= difftool -y -x mllm-diff -- '*.mir'",
                   "show what changed since the last commit"}}},
};

/// One text and what was read from it.
struct Text {
  std::vector<Module*> modules;
  bool good = false;
  ExitCode code = ExitCode::kSuccess;  ///< of what was reported already
};

/// The modules of a file, or the one of this name where it is not empty.
Text read(const Run& run, const std::string& path, std::string_view name, IRContext& context,
          Diagnostics& diagnostics) {
  Text text;
  // What git compares a file with that only one side has.
  text.good = path == "/dev/null";
  if (text.good) return text;
  const auto file = read_source(path, context.sources());
  if (!file) {
    text.code = run.report(file.error());
    return text;
  }
  const std::size_t before = diagnostics.error_count();
  text.modules = read_modules(**file, context, diagnostics);
  if (!name.empty()) {
    std::erase_if(text.modules,
                  [&](const Module* module) { return context.text(module->name()) != name; });
  }
  text.good = diagnostics.error_count() == before;
  return text;
}

ExitCode normalise(const Run& run, const DiffSettings& settings) {
  if (run.operands().size() != 1) return run.usage_error("--normalise takes one file");
  Diagnostics diagnostics = run.diagnostics();
  IRContext context;
  register_builtin_dialects(context);
  const Text text = read(run, run.files().front(), *settings.module, context, diagnostics);
  const ExitCode code = worst(text.code, run.report(diagnostics, context.sources()));
  if (!text.good) return code;
  const auto normal = normal_form(text.modules);
  return normal ? worst(code, run.write_output(*normal)) : run.report(normal.error());
}

/// Git calls an external diff with `path old-file old-hex old-mode new-file new-hex new-mode`, and
/// stops at an exit status other than 0.
constexpr std::size_t kGitOperands = 7;

ExitCode body(const Run& run, const DiffSettings& settings) {
  if (settings.normalise) return normalise(run, settings);
  const auto& operands = run.operands();
  const bool from_git = operands.size() == kGitOperands;
  if (operands.size() != 2 && !from_git) return run.usage_error("two files are compared");
  const std::string &first = operands[from_git ? 1 : 0], &second = operands[from_git ? 4 : 1];
  Diagnostics diagnostics = run.diagnostics();
  IRContext context;
  register_builtin_dialects(context);
  const Text before = read(run, first, *settings.module, context, diagnostics);
  const Text after = read(run, second, *settings.module, context, diagnostics);
  ExitCode code = worst(before.code, after.code);
  code = worst(code, run.report(diagnostics, context.sources()));
  if (!before.good || !after.good) return code;
  const ModuleDiff diff = diff_modules(before.modules, after.modules);
  const bool json(settings.json);
  const DiffStyle style{.before_name = from_git ? operands[0] : first,
                        .after_name = from_git ? operands[0] : second,
                        .colour = !json && run.colours(1)};
  const std::string text = json                   ? diff_json(diff, context, style)
                           : diff.entries.empty() ? std::string()
                           : settings.stat        ? diff_stat(diff, style)
                                                  : diff_text(diff, context, style);
  code = worst(code, run.write_output(text));
  return diff.entries.empty() || from_git ? code : worst(code, ExitCode::kFindings);
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
