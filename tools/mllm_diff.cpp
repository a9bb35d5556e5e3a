// mllm-diff: what differs between two files of IR, ids, layout and order of attributes apart.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "dialect_files.hpp"
#include "dialects/leave_defaults_out.hpp"
#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "granted.hpp"
#include "line_diff.hpp"
#include "mir/codes/names.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "module_names.hpp"
#include "passes/estimate/cost.hpp"
#include "support/terminal_text.hpp"
#include "tool.hpp"
#include "tools/tools.hpp"
#include "upgrade/lift_program.hpp"
#include "upgrade/lower_program.hpp"
#include "upgrade/settle_text.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

enum class DiffFormat : std::uint8_t { kText, kJson, kMarkdown, kHtml };
constexpr Choice<DiffFormat> kDiffFormats[] = {
    {"text", DiffFormat::kText},
    {"json", DiffFormat::kJson},
    {"markdown", DiffFormat::kMarkdown, "a comment for a review"},
    {"html", DiffFormat::kHtml, "a web page with the changes side by side"}};

struct DiffSettings {
  OptionSet& options;

  Flag all{
      options,
      {.name = "all",
       .help = "show every repeated change, such as one per layer, instead of one with a count"}};
  Flag stat{options, {.name = "stat", .help = "only count the differences of each graph"}};
  Option<DiffFormat> format{
      options,
      {.name = "format",
       .argument = "FORMAT",
       .help = "write the differences in this format, or in that of --output's name (.json, .md, "
               ".html)"},
      choice(kDiffFormats),
      DiffFormat::kText};
  Flag normalize{
      options,
      {.name = "normalize",
       .help = "write one file with canonical ids and sorted attributes, for git's textconv"}};
  Option<std::string> module{options,
                             {.name = "module",
                              .argument = "NAME",
                              .help = "compare only this module, by name or position"},
                             symbol_name(ReferenceKind::kModule)};
  Flag effective{options,
                 {.name = "effective",
                  .help = "leave out what outputs do not depend on: stated defaults, repeated "
                          "symbols, digits beyond Float32, the order of inputs"}};
  FactSettings facts{options};
  DialectSettings dialects{options};
};

/// The stated format, or that of the name of the output.
DiffFormat format_of(const Run& run, const DiffSettings& settings) {
  constexpr std::pair<std::string_view, DiffFormat> kEnds[] = {
      {".json", DiffFormat::kJson}, {".md", DiffFormat::kMarkdown}, {".html", DiffFormat::kHtml}};
  if (settings.format.is_given() || !run.output().is_given()) return *settings.format;
  for (const auto& [end, format] : kEnds) {
    if (run.output().given().front().ends_with(end)) return format;
  }
  return *settings.format;
}

/// As of diff(1), unlike other tools: scripts and version control know these.
constexpr ExitStatus kDiffStatuses[] = {
    {0, "no difference"},
    {1, "a difference"},
    {2,
     "trouble: a usage error, a file that cannot be read or written, or a text that only "
     "--format=text "
     "without --stat can compare"},
};
constexpr int kTrouble = 2;

constexpr ToolInfo kDiffTool = {
    .name = "mllm-diff",
    .summary =
        "Compares two IR files op by op; ignores ids, layout and the order of attributes and "
        "graphs.",
    .operands = "before after",
    .examples = {{{"mllm-diff before.mir after.mir",
                   "show the differences; exit with 1 if there are any"},
                  {"git -c core.pager= difftool -y -x mllm-diff -- '*.mir'",
                   "show the changes since the last commit"}}},
    .exit_statuses = kDiffStatuses,
};

// -- what is compared -----------------------------------------------------------------------------

/// Two files and their names.
struct Files {
  std::string before, after;
  std::string before_name, after_name;
  bool from_git = false;
};

/// Git calls an external diff with `path old-file old-hex old-mode new-file new-hex new-mode`, for
/// a renamed file with its new name and a text about it besides.
constexpr std::size_t kGitOperands = 7, kGitRenameOperands = 9;

std::optional<Files> files_of(const std::vector<std::string>& operands) {
  if (operands.size() == 2) return Files{operands[0], operands[1], operands[0], operands[1]};
  const bool renamed = operands.size() == kGitRenameOperands;
  if (operands.size() != kGitOperands && !renamed) return std::nullopt;
  return Files{operands[1], operands[4], operands[0], operands[renamed ? 7 : 0], true};
}

/// Git names a file that a merge left open, and nothing else.
bool is_unmerged(const std::vector<std::string>& operands) {
  return operands.size() == 1 && std::getenv("GIT_DIFF_PATH_COUNTER") != nullptr;
}

/// One text and the modules read from it.
struct Text {
  const SourceFile* file = nullptr;  ///< null: an empty one
  std::vector<Module*> modules;
  std::vector<Module*> all_modules;  ///< also those that --module leaves out
  std::optional<Diagnostic> error;   ///< the first reason why it cannot be used
  bool parses = true;                ///< false if the error is one of syntax
  UpgradeOptions facts{};            ///< granted by options, or by a sidecar file beside the text
  std::string sidecar{};             ///< that file, if any

  std::string_view text() const { return file == nullptr ? std::string_view() : file->text(); }
};

/// The modules of a file, or the one of this name where it is not empty.
void read_modules_of(Text& text, std::string_view name, IRContext& context) {
  constexpr std::size_t kAllErrors = 0;  // reading goes on after them
  Diagnostics diagnostics(kAllErrors);
  text.modules = read_modules(*text.file, context, diagnostics);
  text.all_modules = text.modules;
  if (diagnostics.has_errors()) {
    Diagnostics of_syntax(1);
    text.parses = parse(*text.file, of_syntax) && !of_syntax.has_errors();
    const auto is_version = [](const Diagnostic& each) {
      return each.code == diag::kUnsupportedVersion;
    };
    // A module of a later version is not read to its end.
    text.parses = text.parses && diagnostics.find_error(is_version) == nullptr;
    text.error = diagnostics.sorted().front();
  }
  text.modules = select_modules(text.modules, name);
}

Result<Text> read(const std::string& path, const DiffSettings& settings, IRContext& context) {
  Text text;
  text.sidecar = find_sidecar(settings.facts, path);
  auto facts = read_grants(settings.facts, text.sidecar);
  if (!facts) return facts.error();
  text.facts = *std::move(facts);
  // Git passes this path for a file that only one side has.
  if (path == "/dev/null") return text;
  const auto file = read_source(path, context.sources());
  if (!file) return file.error();
  text.file = *file;
  // A reading that only the other text needs is nowhere in this one.
  LossReport losses;
  Diagnostics unsettled(1);
  const SourceFile* settled = settle_texts(**file, text.facts, context, losses, unsettled);
  if (settled != nullptr) text.file = settled;
  read_modules_of(text, *settings.module, context);
  return text;
}

/// Refuses a module's name that none of the texts has, unless errors may hide it.
Result<void> check_names(const DiffSettings& settings, std::initializer_list<const Text*> texts,
                         std::string_view what) {
  InputNames names(std::string(what),
                   texts.size() == 1 ? InputNames::Number::kOne : InputNames::Number::kSeveral);
  for (const Text* text : texts) {
    if (text->error) return {};
    add_names(names, text->all_modules);
  }
  if (auto known = names.check(settings.module); !known) return known;
  for (const Text* text : texts) {
    if (text->file == nullptr) continue;
    auto single = check_unambiguous(text->all_modules, settings.module, text->file->name());
    if (!single) return single;
  }
  return {};
}

/// Reports why a text cannot be used, and what the tool does instead.
ExitCode warn(const Run& run, const Text& text, std::string_view instead,
              const SourceManager& sources) {
  Diagnostics diagnostics = run.diagnostics();
  const Diagnostic& error = *text.error;
  diagnostics.warning(error.code, error.at, fmt::format("{}; {}", error.message, instead));
  return run.report(diagnostics, sources);
}

// -- programs -------------------------------------------------------------------------------------

bool has_programs(const Text& text) {
  return std::ranges::any_of(text.modules,
                             [](const Module* module) { return has_program(*module); });
}

/// Upgrades a dump and lifts a program. Against a program, graphs are lowered first, because
/// lowering omits devices, notes and graphs that nothing calls.
bool compared_form(Module& module, const UpgradeOptions& facts, bool is_lifting, LossReport& losses,
                   Diagnostics& diagnostics) {
  const bool is_program = has_program(module);
  const bool takes_facts = is_program || !module.is_portable();
  if (!takes_facts && !is_lifting) return true;
  const UpgradeOptions none;
  if (!upgrade(module, takes_facts ? facts : none, losses, diagnostics)) return false;
  return is_program || !is_lifting ||
         (lower_program(module, losses, diagnostics) && upgrade(module, none, losses, diagnostics));
}

/// Returns the text read again, with its modules in portable form, or the errors that prevent it.
Text portable_form(const Text& text, std::string_view name, bool is_lifting, IRContext& context) {
  Text again;
  again.file = text.file;
  read_modules_of(again, name, context);
  for (Module* module : again.modules) {
    LossReport losses;
    Diagnostics diagnostics(1);
    if (compared_form(*module, text.facts, is_lifting, losses, diagnostics)) {
      leave_defaults_out(*module);
      continue;
    }
    again.error = diagnostics.sorted().front();
    break;
  }
  return again;
}

/// A program and graphs are compared as graphs, and dumps whose lost facts are supplied by options
/// in portable form, where both texts have it.
ExitCode upgrade_texts(const Run& run, Text& before, Text& after, const DiffSettings& settings,
                       IRContext& context) {
  const FactSettings& facts = settings.facts;
  const bool has_facts =
      !facts.assume->empty() || !facts.symbolic_dim->empty() || !facts.sidecar->empty();
  const bool is_lifting = has_programs(before) != has_programs(after);
  if (!is_lifting && !has_facts) return ExitCode::kSuccess;
  if (before.file == nullptr || after.file == nullptr) return ExitCode::kSuccess;
  Diagnostics used = run.diagnostics();
  for (const Text* text : {&before, &after}) {
    remark_sidecar(text->sidecar, text->file->name(), used);
  }
  const ExitCode code = run.report(used, context.sources());
  Text one = portable_form(before, *settings.module, is_lifting, context);
  Text other = portable_form(after, *settings.module, is_lifting, context);
  for (const Text* text : {&one, &other}) {
    if (!text->error) continue;
    return worst(code, warn(run, *text,
                            is_lifting ? "program and graphs are compared as they are"
                                       : "the texts are compared as they are",
                            context.sources()));
  }
  before = std::move(one);
  after = std::move(other);
  return code;
}

// -- results --------------------------------------------------------------------------------------

ExitCode normalise(const Run& run, const DiffSettings& settings) {
  if (run.operands().size() != 1) return run.usage_error("--normalize takes one file");
  IRContext context;
  Diagnostics problems = run.diagnostics();
  if (!register_dialects(settings.dialects, context, problems)) {
    return worst(run.report(problems, context.sources()), ExitCode::kFileTrouble);
  }
  const auto text = read(run.files().front(), settings, context);
  if (!text) return run.report(text.error());
  const std::string file = fmt::format("'{}'", run.files().front());
  if (const auto known = check_names(settings, {&*text}, file); !known)
    return worst(run.report(known.error()), ExitCode::kFileTrouble);
  if (!text->error) {
    const auto normal = normal_form(text->modules);
    return normal ? run.write_output(*normal) : run.report(normal.error());
  }
  const ExitCode code = warn(run, *text, "the text is given as it is", context.sources());
  return worst(code, run.write_output(text->text()));
}

ExitCode compare_lines(const Run& run, const Files& files, const Text& before, const Text& after,
                       const SourceManager& sources) {
  ExitCode code = ExitCode::kSuccess;
  for (const Text* text : {&before, &after}) {
    if (text->error) {
      code = worst(code, warn(run, *text, "the texts are compared line by line", sources));
    }
  }
  const bool colour = run.colours(1);
  const std::string text =
      unified_diff(before.text(), after.text(), files.before_name, files.after_name, colour);
  code =
      worst(code, colour ? run.write_styled_output(text) : run.write_output(visible_lines(text)));
  return text.empty() ? code : worst(code, ExitCode::kFindings);
}

ExitCode refuse_texts(const Run& run, const Text& before, const Text& after,
                      const SourceManager& sources) {
  Diagnostics diagnostics = run.diagnostics();
  for (const Text* text : {&before, &after}) {
    if (text->error) {
      diagnostics.error(text->error->code, text->error->at, text->error->message);
    }
  }
  return worst(run.report(diagnostics, sources), ExitCode::kFileTrouble);
}

/// The figures of a module, if it is portable and sound.
struct Figures {
  std::string flop, read, written, peak;
};

std::optional<Figures> figures_of(std::span<Module* const> modules) {
  Diagnostics ignored(1);
  if (modules.size() != 1 || !modules.front()->is_portable()) return std::nullopt;
  const Module& module = *modules.front();
  if (!verify(module, ignored, {.report_findings = false})) return std::nullopt;
  DimTable& table = module.context().dims();
  const CostEstimate estimate(module);
  const GraphCost& body = estimate.body();
  return Figures{table.print(body.work.flop), table.print(body.work.read),
                 table.print(body.work.written), body.peak.print(table)};
}

/// Costs of both modules; nothing if one of them cannot be estimated.
std::vector<DiffCost> costs_of(const Text& before, const Text& after) {
  const auto a = figures_of(before.modules), b = figures_of(after.modules);
  if (!a || !b) return {};
  return {{"operations of products", a->flop, b->flop},
          {"bytes read", a->read, b->read},
          {"bytes written", a->written, b->written},
          {"bytes at the peak", a->peak, b->peak}};
}

std::string rendered(const ModuleDiff& diff, DiffFormat format, bool counts, const DiffStyle& style,
                     const Text& before, const Text& after, const IRContext& context) {
  switch (format) {
    case DiffFormat::kJson:
      return diff_json(diff, context, style);
    case DiffFormat::kMarkdown:
      return diff_markdown(diff, context, style, costs_of(before, after));
    case DiffFormat::kHtml:
      return diff_html(diff, context, style, costs_of(before, after));
    case DiffFormat::kText:
      break;
  }
  return counts && !diff.entries.empty() ? diff_stat(diff, style) : diff_text(diff, context, style);
}

ExitCode compare_modules(const Run& run, const DiffSettings& settings, const Files& files,
                         const Text& before, const Text& after, const IRContext& context) {
  const ModuleDiff diff = diff_modules(before.modules, after.modules,
                                       {.effective = static_cast<bool>(settings.effective)});
  const DiffFormat format = format_of(run, settings);
  const DiffStyle style{.before_name = files.before_name,
                        .after_name = files.after_name,
                        .colour = format == DiffFormat::kText && run.colours(1),
                        .each = static_cast<bool>(settings.all)};
  // All that others wrote is visible there.
  const ExitCode code = run.write_styled_output(
      rendered(diff, format, static_cast<bool>(settings.stat), style, before, after, context));
  return diff.entries.empty() ? code : worst(code, ExitCode::kFindings);
}

ExitCode compare(const Run& run, const DiffSettings& settings, const Files& files) {
  IRContext context;
  Diagnostics problems = run.diagnostics();
  if (!register_dialects(settings.dialects, context, problems)) {
    return worst(run.report(problems, context.sources()), ExitCode::kFileTrouble);
  }
  auto before = read(files.before, settings, context);
  if (!before) return run.report(before.error());
  auto after = read(files.after, settings, context);
  if (!after) return run.report(after.error());
  const std::string both = fmt::format("'{}' and '{}'", files.before_name, files.after_name);
  if (const auto known = check_names(settings, {&*before, &*after}, both); !known)
    return worst(run.report(known.error()), ExitCode::kFileTrouble);
  if (!before->parses || !after->parses) {
    return format_of(run, settings) != DiffFormat::kText || settings.stat
               ? refuse_texts(run, *before, *after, context.sources())
               : compare_lines(run, files, *before, *after, context.sources());
  }
  ExitCode code = ExitCode::kSuccess;
  for (const Text* text : {&*before, &*after}) {
    if (!text->error) continue;
    code = worst(code, warn(run, *text, "the rest of the texts is compared", context.sources()));
  }
  const bool is_whole = !before->error && !after->error;
  if (is_whole) {
    code = worst(code, upgrade_texts(run, *before, *after, settings, context));
  }
  return worst(code, compare_modules(run, settings, files, *before, *after, context));
}

ExitCode run_diff(const Run& run, const DiffSettings& settings) {
  if (settings.normalize) return normalise(run, settings);
  if (settings.stat && format_of(run, settings) != DiffFormat::kText) {
    return run.usage_error("--stat writes text, so it takes no other --format");
  }
  if (is_unmerged(run.operands())) {
    return run.write_output(fmt::format("* Unmerged path {}\n", run.operands().front()));
  }
  const auto files = files_of(run.operands());
  if (!files) return run.usage_error("two files are compared");
  const ExitCode code = compare(run, settings, *files);
  // Git stops at any other status.
  return files->from_git && code == ExitCode::kFindings ? ExitCode::kSuccess : code;
}

}  // namespace

const Tool mir::tools::kMllmDiff = {&kDiffTool,
                                    [](int argc, char** argv) {
                                      return std::min(run_tool(kDiffTool, argc, argv, run_diff),
                                                      kTrouble);
                                    },
                                    show_options<DiffSettings>};
