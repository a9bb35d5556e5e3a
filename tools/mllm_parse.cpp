// mllm-parse: reads MLLM IR text, checks it, and shows it in another form.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dialects/listing.hpp"
#include "eval/evaluate.hpp"
#include "ir/emit/emit.hpp"
#include "mir/dialects.hpp"
#include "mir/format.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/resolve.hpp"
#include "plan/execution_plan.hpp"
#include "program_input.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/expectation.hpp"
#include "syntax/listing.hpp"
#include "tool.hpp"
#include "verification.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr Option kOptions[] = {
    {.name = "emit",
     .argument = "FORM",
     .help =
         "write tokens, syntax, ir, json, stats, dot, quant (a table of quantisations), quant-csv "
         "or program (upstream's executable JSON, which is read as well)",
     .choices = "tokens syntax ir json stats dot quant quant-csv program"},
    {.name = "roundtrip",
     .argument = "exact",
     .help = "rebuild each text from its tree and compare byte by byte",
     .choices = "exact"},
    {.name = "form",
     .argument = "FORM",
     .help = "refuse modules that are not dump or portable",
     .choices = "dump portable"},
    {.name = "module", .argument = "NAME", .help = "only the module @NAME of each file"},
    {.name = "split-input-file", .help = "take the parts between lines '// -----' for themselves"},
    {.name = "verify-diagnostics",
     .help = "compare what is reported with the text's 'expect-' comments"},
    {.name = "list-ops", .help = "list every known operation and stop"},
    {.name = "list-ops-markdown", .help = "the same as the page docs/ops.md"},
    {.name = "list-codes", .help = "list every diagnostic code and stop"},
    {.name = "list-codes-markdown", .help = "the same as the page docs/diagnostics.md"},
};

constexpr ToolInfo kTool = {
    .name = "mllm-parse",
    .summary = "Reads MLLM IR text, checks it, and shows it in another form.",
    .operands = "[file...]",
    .options = kOptions,
    .examples = {{{"mllm-parse model.mir", "report every error; silent when there is none"},
                  {"mllm-parse --emit=dot model.mir | dot -Tsvg -o model.svg", "draw the graphs"}}},
    .verifies = true,
};

/// What the execution plan itself carries out.
constexpr std::array kStructure = {OpId::kBuiltinModule, OpId::kCfReturn,   OpId::kGraphCallGraph,
                                   OpId::kGraphSubGraph, OpId::kTensorFree, OpId::kTensorRegister};

/// What is written from the tree alone; empty for the forms that need IR.
std::string emit_tree(std::string_view form, const SyntaxTree& tree) {
  if (form == "tokens") return list_tokens(tree);
  if (form == "syntax") return list_syntax(tree);
  return "";
}

std::string emit_modules(std::string_view form, std::span<Module* const> modules) {
  if (form == "json") return emit_json(modules);
  if (form == "stats") return emit_stats(modules);
  if (form == "dot") return emit_dot(modules);
  if (form == "quant") return emit_quant(modules);
  if (form == "quant-csv") return emit_quant_csv(modules);
  return "";
}

ExitCode check_round_trip(const SyntaxTree& tree) {
  const std::string rebuilt = exact_text(tree);
  const std::string_view source = tree.file().text();
  if (rebuilt == source) return ExitCode::kSuccess;
  const auto at = static_cast<std::size_t>(
      std::mismatch(rebuilt.begin(), rebuilt.end(), source.begin(), source.end()).first -
      rebuilt.begin());
  fmt::print(stderr, "{}: the tree does not give the text back: first difference at byte {}\n",
             tree.file().name(), at);
  return ExitCode::kInternal;
}

void check_form(std::string_view wanted, const Module& module, Diagnostics& diagnostics) {
  if (wanted.empty() || module.is_portable() == (wanted == "portable")) return;
  diagnostics.error(DiagCode::kWrongForm, module.top()->span(),
                    fmt::format("module is in {} form, expected {} form",
                                module.is_portable() ? "portable" : "dump", wanted));
}

/// Shows what was found, or where it is not what the text expects.
ExitCode conclude(const Run& run, const SourceFile& file, const SourceManager& sources,
                  const Diagnostics& found) {
  if (!run.arguments().has("verify-diagnostics")) return run.report(found, sources);
  return run.report(check_expectations(file, sources, found), sources);
}

ExitCode parse_text(const Run& run, const Verification& verification, const SourceFile& file,
                    IRContext& context) {
  const Arguments& arguments = run.arguments();
  const std::string_view form = arguments.value("emit");
  constexpr std::size_t kMostCompared = 1000;
  Diagnostics diagnostics =
      arguments.has("verify-diagnostics") ? Diagnostics(kMostCompared) : run.diagnostics();
  const std::optional<SyntaxTree> tree = parse(file, diagnostics);
  if (!tree) return conclude(run, file, context.sources(), diagnostics);
  ExitCode code = arguments.has("roundtrip") ? check_round_trip(*tree) : ExitCode::kSuccess;
  if (form == "tokens" || form == "syntax") {
    code = worst(code, run.write_output(emit_tree(form, *tree)));
    return worst(code, conclude(run, file, context.sources(), diagnostics));
  }
  std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  if (arguments.has("module")) {
    std::erase_if(modules, [&](const Module* module) {
      return context.text(module->name()) != arguments.value("module");
    });
    if (modules.empty())
      return worst(code, run.report({DiagCode::kUsage, "no module has that name"}));
  }
  if (diagnostics.has_errors()) {
    verification.look_further(modules, diagnostics);
  } else {
    for (const Module* module : modules) verification.accepts(*module, diagnostics);
  }
  for (const Module* module : modules) check_form(arguments.value("form"), *module, diagnostics);
  // A module that verification rejects can still be looked at.
  if (form == "program") {
    code = worst(code, write_program(run, modules));
  } else if (form == "ir") {
    code = worst(code, run.write_output([&](const Run::Sink& sink) { print(modules, sink); }));
  } else if (!form.empty()) {
    code = worst(code, run.write_output(emit_modules(form, modules)));
  }
  return worst(code, conclude(run, file, context.sources(), diagnostics));
}

ExitCode parse_file(const Run& run, const Verification& verification, const std::string& path) {
  SourceManager whole;
  IRContext first;
  const bool split = run.arguments().has("split-input-file");
  ExitCode code = ExitCode::kSuccess;
  SourceManager& sources = split ? whole : first.sources();
  const SourceFile* file = program_as_text(run, run.read(path, sources, code), sources, code);
  if (file == nullptr) return code;
  if (!split) {
    register_builtin_dialects(first);
    return parse_text(run, verification, *file, first);
  }
  for (const InputPart& part : split_input(file->text())) {
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* text =
        context.sources().add(file->name(), std::string(part.text), part.first_line);
    code = worst(code, parse_text(run, verification, *text, context));
  }
  return code;
}

ExitCode list_known_ops(const Run& run) {
  IRContext context;
  register_builtin_dialects(context);
  const auto is_run = [](OpId op) {
    return is_executable(op) || std::ranges::find(kStructure, op) != kStructure.end();
  };
  const OpSupport support{.ref = is_run, .fast = has_fast_node};
  const bool markdown = run.arguments().has("list-ops-markdown");
  return run.write_output(markdown ? ops_index(context, support) : list_ops(context, support));
}

ExitCode body(const Run& run) {
  const Arguments& arguments = run.arguments();
  if (arguments.has("list-ops") || arguments.has("list-ops-markdown")) return list_known_ops(run);
  if (arguments.has("list-codes")) return run.write_output(list_diagnostics());
  if (arguments.has("list-codes-markdown")) return run.write_output(diagnostics_page());
  const auto verification = Verification::create(run);
  if (!verification) return run.usage_error(verification.error().message);
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) {
    code = worst(code, parse_file(run, *verification, path));
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
