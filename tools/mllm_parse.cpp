// mllm-parse: reads MLLM IR text, checks it, and shows it in another form.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mir/dialects/dialects.hpp"
#include "mir/dialects/listing.hpp"
#include "mir/eval/evaluate.hpp"
#include "mir/ir/emit.hpp"
#include "mir/ir/print.hpp"
#include "mir/ir/resolve.hpp"
#include "mir/syntax/format.hpp"
#include "mir/syntax/listing.hpp"
#include "mir/syntax/parse.hpp"
#include "mir/verify/verify.hpp"
#include "tool.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr Option kOptions[] = {
    {.name = "emit", .argument = "FORM", .help = "write tokens, syntax, ir, json, stats or dot"},
    {.name = "roundtrip",
     .argument = "exact",
     .help = "rebuild each text from its tree and compare byte by byte"},
    {.name = "form", .argument = "FORM", .help = "refuse modules that are not dump or portable"},
    {.name = "module", .argument = "NAME", .help = "only the module @NAME of each file"},
    {.name = "no-verify", .help = "do not check what the modules mean"},
    {.name = "list-ops", .help = "list every known operation and stop"},
    {.name = "list-ops-markdown", .help = "the same as the page docs/ops.md"},
    {.name = "explain", .argument = "CODE", .help = "say what a diagnostic code means and stop"},
};

constexpr ToolInfo kTool = {
    .name = "mllm-parse",
    .summary = "Reads MLLM IR text, checks it, and shows it in another form.",
    .operands = "[file...]",
    .options = kOptions,
    .examples = {{{"mllm-parse model.mir", "report every error; silent when there is none"},
                  {"mllm-parse --emit=dot model.mir | dot -Tsvg -o model.svg", "draw the graphs"}}},
};

/// What the execution plan itself carries out.
constexpr std::array<std::string_view, 5> kStructure = {
    "builtin.ModuleOp", "cf.ReturnOp", "graph.CallGraphOp", "graph.SubGraphOp", "tensor.register"};

constexpr std::array<std::string_view, 6> kForms = {"tokens", "syntax", "ir",
                                                    "json",   "stats",  "dot"};

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
  std::string text;
  if (form == "ir") {
    for (const Module* module : modules) text += print(*module);
  }
  return text;
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

ExitCode parse_file(const Run& run, const std::string& path) {
  IRContext context;
  register_builtin_dialects(context);
  ExitCode code = ExitCode::kSuccess;
  const SourceFile* file = run.read(path, context.sources(), code);
  if (file == nullptr) return code;

  const Arguments& arguments = run.arguments();
  const std::string_view form = arguments.value("emit");
  Diagnostics diagnostics = run.diagnostics();
  const std::optional<SyntaxTree> tree = parse(*file, diagnostics);
  if (!tree) return run.report(diagnostics, context.sources());
  if (arguments.has("roundtrip")) code = check_round_trip(*tree);
  if (form == "tokens" || form == "syntax") {
    code = worst(code, run.write_output(emit_tree(form, *tree)));
    return worst(code, run.report(diagnostics, context.sources()));
  }
  std::vector<Module*> modules = resolve(*tree, context, diagnostics);
  if (arguments.has("module")) {
    std::erase_if(modules, [&](const Module* module) {
      return context.text(module->name()) != arguments.value("module");
    });
    if (modules.empty())
      return worst(code, run.report({DiagCode::kUsage, "no module has that name"}));
  }
  if (!diagnostics.has_errors() && !arguments.has("no-verify")) {
    for (const Module* module : modules) verify(*module, diagnostics);
  }
  for (const Module* module : modules) check_form(arguments.value("form"), *module, diagnostics);
  // A module that verification rejects can still be looked at.
  if (!form.empty()) code = worst(code, run.write_output(emit_modules(form, modules)));
  return worst(code, run.report(diagnostics, context.sources()));
}

ExitCode list_known_ops(const Run& run) {
  IRContext context;
  register_builtin_dialects(context);
  const auto computed = executable_ops();
  const RunsFn runs = [&](std::string_view name) {
    return std::binary_search(computed.begin(), computed.end(), name) ||
           std::find(kStructure.begin(), kStructure.end(), name) != kStructure.end();
  };
  const bool markdown = run.arguments().has("list-ops-markdown");
  return run.write_output(markdown ? ops_index(context, runs) : list_ops(context, runs));
}

ExitCode explain(const Run& run) {
  const std::string_view wanted = run.arguments().value("explain");
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    if (spelling(info.code) == wanted) {
      return run.write_output(fmt::format("{} ({}): {}\n", wanted, info.name, info.summary));
    }
  }
  return run.usage_error(fmt::format("no diagnostic has the code '{}'", wanted));
}

ExitCode body(const Run& run) {
  const Arguments& arguments = run.arguments();
  if (arguments.has("list-ops") || arguments.has("list-ops-markdown")) return list_known_ops(run);
  if (arguments.has("explain")) return explain(run);
  const std::string_view form = arguments.value("emit");
  if (!form.empty() && std::find(kForms.begin(), kForms.end(), form) == kForms.end()) {
    return run.usage_error(fmt::format("--emit does not know '{}'", form));
  }
  if (arguments.has("roundtrip") && arguments.value("roundtrip") != "exact") {
    return run.usage_error("--roundtrip is 'exact'");
  }
  const std::string_view wanted = arguments.value("form");
  if (!wanted.empty() && wanted != "dump" && wanted != "portable") {
    return run.usage_error("--form is 'dump' or 'portable'");
  }
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : run.files()) code = worst(code, parse_file(run, path));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kTool, argc, argv, body);
}
