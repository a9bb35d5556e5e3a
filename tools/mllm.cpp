// mllm: several tools in one program, run by a link with the name of a tool or as `mllm TOOL`.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "option.hpp"
#include "report_text.hpp"
#include "tool.hpp"
#include "tools/help_words.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kTool = {
    .name = "mllm",
    .summary = "Reads, checks, rewrites and runs MLLM IR. `mllm TOOL --help` describes a tool.",
    .operands = "...",
    .examples = {{{"mllm fmt --short dump.mir", "run a tool; mllm-fmt is the same program"},
                  {"mllm help MIR0401", "show the cause of a diagnostic and how it is mended"},
                  {"mllm help RMSNorm", "show the page of an op, or of a pass or a tool"},
                  {"mllm help rename", "list the options, passes and ops that mention a word"}}},
    .writes_output = false,
};

constexpr std::string_view kPrefix = "mllm-";
constexpr std::string_view kHelp = "help";

/// The name after `mllm`.
std::string_view short_name(const Tool& tool) {
  return tool.info->name.substr(kPrefix.size());
}

/// Returns null if no tool has this name, with or without the prefix.
const Tool* find_tool(std::string_view name) {
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto found =
      std::ranges::find(kTools, name, [](const Tool* tool) { return short_name(*tool); });
  return found == kTools.end() ? nullptr : *found;
}

/// The tool that a link to the program names; null for the program itself.
const Tool* tool_of_link(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with(kPrefix) ? find_tool(name) : nullptr;
}

/// The tool that has a page about this topic; null if there is none.
const Tool* tool_with_topic(std::string_view topic) {
  const auto found = std::ranges::find_if(kTools, [&](const Tool* tool) {
    const ToolInfo::Topics* topics = tool->info->topics;
    if (topics == nullptr) return false;
    const std::vector<std::string> known = topics->completion().words;
    return std::ranges::find(known, topic) != known.end();
  });
  return found == kTools.end() ? nullptr : *found;
}

ExitCode show_uses(const Run& run, std::string_view word) {
  const std::string found = uses_of(word);
  if (found.empty())
    return run.usage_error(fmt::format("nothing in the help has '{}'{}", word, named_nearly(word)));
  print_document(found);
  return ExitCode::kSuccess;
}

/// The first operand of `mllm`. Tools run before it is read, so any word is refused.
class ToolName : public CommandOperand {
 public:
  explicit ToolName(OptionSet& options) : CommandOperand(options, tools()) {}

 private:
  static std::vector<CommandText> tools() {
    std::vector<CommandText> texts;
    for (const Tool* tool : kTools)
      texts.push_back({short_name(*tool), tool->info->summary, tool->info->operands});
    texts.push_back(
        {kHelp, "Shows the page of a tool, a code, an op or a pass, or what has a word.", "word"});
    return texts;
  }
};

struct Settings {
  OptionSet& options;
  ToolName tool{options};
};

ExitCode body(const Run& run, const Settings&) {
  return run.usage_error("expected the name of a tool");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0) {
    if (const Tool* tool = tool_of_link(argv[0])) return tool->main(argc, argv);
  }
  // Options before the name of a tool are the tool's, too.
  int named = 1;
  while (named < argc && argv[named][0] == '-') ++named;
  if (named < argc) {
    if (const Tool* tool = find_tool(argv[named])) {
      std::rotate(argv + 1, argv + named, argv + named + 1);
      return tool->main(argc - 1, argv + 1);
    }
  }
  if (argc < 2 || argv[1] != kHelp || argc > 3) return run_tool(kTool, argc, argv, body);
  std::string option = "--help";
  const auto run = [&](const auto& main) {
    char* words[] = {argv[argc - 1], option.data(), nullptr};
    return main(2, words);
  };
  const auto run_mllm = [](int count, char** words) { return run_tool(kTool, count, words, body); };
  if (argc == 2) return run(run_mllm);
  const auto show = [&](const std::string& text) {
    return guarded(kTool, argc, argv, [&](std::span<const char* const>) {
      print_document(text);
      return ExitCode::kSuccess;
    });
  };
  const std::string_view topic = argv[2];
  if (const Tool* tool = find_tool(topic)) return run(tool->main);
  if (topic.starts_with("MIR")) {
    option = "--explain=" + std::string(topic);
    return run(run_mllm);
  }
  if (const std::string op = op_called(topic); !op.empty()) {
    option = "--list-ops=" + op;
    return run(kMllmParse.main) | show(others_named(topic, op));
  }
  if (const Tool* tool = tool_with_topic(topic)) {
    option = "--help=" + std::string(topic);
    return run(tool->main) | show(others_named(topic, topic));
  }
  return guarded(kTool, argc, argv, [&](std::span<const char* const>) {
    OptionSet none;
    return run_with(kTool, none, {},
                    [&](const Run& run_of_help) { return show_uses(run_of_help, topic); });
  });
}
