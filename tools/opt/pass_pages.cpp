// Renders documentation pages and listings of passes and pipelines.
#include "pass_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "known_passes.hpp"
#include "load_passes.hpp"
#include "mir/codes/usage.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "pipelines.hpp"
#include "text_table.hpp"

namespace mir::tools {

namespace {

std::vector<std::string_view> names_of(const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const auto& [name, pass] : registry.passes()) names.push_back(name);
  for (const auto& [name, pipeline] : registry.pipelines()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

/// " (an integer from 1; default 8)"
std::string value_text(const PassOption& row) {
  using Kind = PassOption::Kind;
  std::string text;
  if (row.kind == Kind::kFlag) return text;
  if (row.kind == Kind::kText) {
    text = row.choices.empty() ? "a text" : fmt::format("{}", fmt::join(row.choices, ", "));
  } else {
    text = row.kind == Kind::kInteger ? "an integer" : "a number";
  }
  const PassOption any;
  if (row.least != any.least) text += fmt::format(" from {}", row.least);
  if (row.most != any.most) text += fmt::format(" to {}", row.most);
  if (row.is_list) text += ", any number of them";
  if (!row.by_default.empty()) text += fmt::format("; default {}", row.by_default);
  return fmt::format(" ({})", text);
}

std::string anchor_text(const Pass& pass) {
  switch (pass.anchor) {
    case Anchor::kModule:
      return "a module";
    case Anchor::kGraph:
      return "each graph, the module body among them";
    case Anchor::kRegion:
      return "each region";
    case Anchor::kOp:
      return pass.op.empty() ? "each op" : fmt::format("each '{}'", pass.op);
  }
  return "";
}

std::string form_text(PassForm form) {
  return form == PassForm::kAny ? "in any form" : fmt::format("in {} form", name_of(form));
}

std::string gives_text(const Pass& pass) {
  return pass.gives == PassForm::kAny ? "the form that it took" : form_text(pass.gives).substr(3);
}

std::string preserves_text(const AnalysisSet& preserves) {
  std::vector<std::string_view> names;
  for (const AnalysisKey& key : preserves.keys()) names.push_back(key.name);
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::pair<std::string, std::string>> facts_of(const Pass& pass) {
  return {{"works on", anchor_text(pass)},
          {"takes", fmt::format("modules {}", form_text(pass.takes))},
          {"gives", gives_text(pass)},
          {"preserves", preserves_text(pass.preserves)},
          {"a second run", pass.is_idempotent ? "changes nothing" : "may change more"}};
}

constexpr std::size_t kHelpWidth = 80, kPageWidth = 120;

/// The text in lines of at most so many characters.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column != 0) lines += column + 1 + word.size() > width ? '\n' : ' ';
    column = lines.empty() || lines.back() == '\n' ? word.size() : column + 1 + word.size();
    lines += word;
  }
  return lines + '\n';
}

/// A command that runs the pass as its example does. Shells take braces for their own.
std::string example_command(const Pass& pass) {
  const std::string pipeline = example_pipeline(pass);
  const std::string_view quote = pass.example_options.empty() ? "" : "'";
  std::string command = fmt::format("mllm-opt -p {0}{1}{0} model.mir", quote, pipeline);
  for (const std::string& fact : pass.example_facts) command += fmt::format(" {}", fact);
  return command;
}

std::string page_of(const Pass& pass) {
  TextTable facts("ll");
  for (const auto& [name, value] : facts_of(pass)) facts.add({name, value});
  std::string page = fmt::format("{}: {}\n\n{}", pass.name, pass.summary, facts.render());
  if (!pass.claim.empty()) page += fmt::format("\n{}", wrapped(pass.claim, kHelpWidth));
  if (!pass.options.empty()) {
    TextTable options("ll");
    for (const PassOption& row : pass.options) {
      options.add({std::string(row.name), fmt::format("{}{}", row.summary, value_text(row))});
    }
    page += "\nOptions:\n" + options.render();
  }
  return page + fmt::format("\nExample:\n  {}\n", example_command(pass));
}

/// Rows of two cells under an empty head.
std::string markdown_table(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string text = "| | |\n|---|---|\n";
  for (const auto& [name, value] : rows) text += fmt::format("| {} | {} |\n", name, value);
  return text;
}

/// Returns the example of the pass after running the pass.
std::string run_example(const PassRegistry& registry, const Pass& pass) {
  auto supplied = example_facts(pass);
  if (!supplied) return supplied.error().message;
  TypedMap facts;
  facts.set(*std::move(supplied));
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  const SourceFile* text = context.sources().add("example", std::string(pass.example));
  const std::optional<SyntaxTree> tree = parse(*text, diagnostics);
  const auto modules = tree ? resolve(*tree, context, diagnostics) : std::vector<Module*>();
  const SourceFile name("pipeline", example_pipeline(pass), 1);
  const std::optional<Pipeline> pipeline = registry.read_pipeline(name, diagnostics);
  for (Module* module : modules) run_pipeline(*module, *pipeline, {.facts = &facts}, diagnostics);
  return diagnostics.has_errors() ? diagnostics.sorted().front().message : print(modules, *tree);
}

/// With a capital at the begin.
std::string sentence(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string page_section(const PassRegistry& registry, const Pass& pass) {
  std::string page = fmt::format("\n## {}\n\n{}.\n\n{}", pass.name, sentence(pass.summary),
                                 markdown_table(facts_of(pass)));
  if (!pass.options.empty()) {
    page += "\n| Option | Meaning |\n|---|---|\n";
    for (const PassOption& row : pass.options) {
      page += fmt::format("| `{}` | {}{} |\n", row.name, row.summary, value_text(row));
    }
  }
  if (!pass.claim.empty()) page += fmt::format("\n{}", wrapped(pass.claim, kPageWidth));
  if (pass.example.empty()) return page;
  std::string by =
      pass.example_options.empty() ? "" : fmt::format(" by `{}`", example_pipeline(pass));
  for (const std::string& fact : pass.example_facts) by += fmt::format(" with `{}`", fact);
  return page + fmt::format("\n```mir\n{}```\n\nbecomes{}\n\n```mir\n{}```\n", pass.example, by,
                            run_example(registry, pass));
}

Completion complete_passes() {
  const KnownPasses known;
  Completion offered;
  for (const std::string_view name : names_of(known.registry)) offered.words.emplace_back(name);
  return offered;
}

}  // namespace

std::string list_passes(const PassRegistry& registry) {
  TextTable table("ll");
  for (const std::string_view name : names_of(registry)) {
    const Pass* pass = registry.find(name);
    table.add({std::string(name),
               pass != nullptr ? pass->summary : registry.pipelines().find(name)->second.summary});
  }
  return table.render("");
}

Result<std::string> pass_page(std::string_view name, const OptionSet& options) {
  KnownPasses known;
  for (const std::string& file : options.find(kLoadPasses)->given()) {
    if (auto loaded = load_passes(file, known.registry); !loaded) return std::move(loaded).error();
  }
  if (const Pass* pass = known.registry.find(name)) return page_of(*pass);
  const auto named = known.registry.pipelines().find(name);
  if (named != known.registry.pipelines().end()) {
    return fmt::format("{0}: {1}\n\n  {2}\n\nExample:\n  mllm-opt -p {0} model.mir\n", name,
                       named->second.summary, spelling(named->second.pipeline));
  }
  return Error{diag::kUsage, fmt::format("no pass is called '{}'{}", name,
                                         did_you_mean_pass(name, names_of(known.registry)))};
}

std::string passes_page(const PassRegistry& registry) {
  std::string page =
      "# Passes\n\n"
      "Generated from the rows of the passes by `mllm-opt --list-passes-markdown`; do not edit. "
      "How passes\n"
      "are put together and watched: [pipelines](pipelines.md).\n";
  for (const auto& [name, pass] : registry.passes()) page += page_section(registry, pass);
  for (const auto& [name, each] : registry.pipelines()) {
    page +=
        fmt::format("\n## {}\n\n{}: `{}`\n", name, sentence(each.summary), spelling(each.pipeline));
  }
  return page;
}

const ToolInfo::Topics kPassTopics{.argument = "PASS",
                                   .what = ", or the page of a pass",
                                   .list = "Passes, run by mllm-opt -p PASS",
                                   .page = pass_page,
                                   .completion = complete_passes};

}  // namespace mir::tools
