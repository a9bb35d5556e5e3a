// Finds the commands, options, passes and ops that a word belongs to.
#include "tools/help_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "common_settings.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "pipelines.hpp"
#include "support/characters.hpp"
#include "text_table.hpp"
#include "tools/tools.hpp"

namespace mir::tools {

namespace {

/// Rows of two cells: those that have the word in the first one before the others.
class Matches {
 public:
  explicit Matches(std::string_view word) : word_(lower_case(word)) {}

  bool has(std::string_view text) const {
    return lower_case(text).find(word_) != std::string::npos;
  }
  void add(std::string name, std::string_view meaning) {
    if (has(name)) {
      named_.emplace_back(std::move(name), meaning);
    } else if (has(meaning)) {
      others_.emplace_back(std::move(name), meaning);
    }
  }
  /// The rows below a title; nothing without rows.
  std::string under(std::string_view title) const {
    TextTable table("ll");
    for (const auto* rows : {&named_, &others_}) {
      for (const auto& [name, meaning] : *rows) table.add({name, meaning});
    }
    return table.empty() ? "" : fmt::format("{}:\n{}", title, table.render());
  }

 private:
  std::string word_;
  std::vector<std::pair<std::string, std::string>> named_, others_;
};

std::string options_text(std::string_view word) {
  Matches matches(word);
  // An option of many tools is one row.
  std::vector<std::pair<std::string, std::string>> rows;
  std::map<std::pair<std::string, std::string>, std::vector<std::string_view>> tools_of;
  for (const Tool* tool : kTools) {
    tool->show_options(*tool->info, [&](const OptionSet& options) {
      if (const CommandOperand* operand = options.command_operand()) {
        for (const CommandText& each : operand->commands())
          matches.add(fmt::format("{} {}", tool->info->name, each.name), each.summary);
      }
      for (const OptionRow* row : options.rows()) {
        std::pair option(fmt::format("--{}{}", row->name(), row->argument_text()), row->help());
        std::vector<std::string_view>& tools = tools_of[option];
        if (tools.empty()) rows.push_back(std::move(option));
        tools.push_back(tool->info->name);
      }
    });
  }
  for (const auto& row : rows) {
    const std::vector<std::string_view>& tools = tools_of[row];
    const std::string name = tools.size() == 1 ? std::string(tools.front())
                             : tools.size() == kTools.size()
                                 ? "every tool"
                                 : fmt::format("{} and others", tools.front());
    matches.add(fmt::format("{} {}", name, row.first), row.second);
  }
  return matches.under("Options");
}

std::string topics_text(std::string_view word) {
  std::string text;
  for (const Tool* tool : kTools) {
    const ToolInfo::Topics* topics = tool->info->topics;
    if (topics == nullptr) continue;
    Matches matches(word);
    tool->show_options(*tool->info, [&](const OptionSet& options) {
      for (const std::string& topic : topics->completion().words) {
        const auto page = topics->page(topic, options);
        const std::string_view line =
            page ? std::string_view(*page).substr(0, page->find('\n')) : "";
        matches.add(topic, line.substr(std::min(line.size(), topic.size() + 2)));
      }
    });
    text += matches.under(fmt::format("Pages of {} --help", tool->info->name));
  }
  return text;
}

/// Calls `visit` with each op and its full name.
template <class Visit>
void for_each_op_row(const Visit& visit) {
  IRContext context;
  register_builtin_dialects(context);
  for (const Dialect* dialect : context.dialects()) {
    for (const OpRow& row : dialect->rows)
      visit(fmt::format("{}.{}", dialect->name, row.name), row.summary);
  }
}

}  // namespace

std::string op_called(std::string_view word) {
  const auto bare = [](std::string_view name) {
    std::string text = lower_case(name.substr(name.rfind('.') + 1));
    if (text.ends_with("op")) text.resize(text.size() - 2);
    return text;
  };
  const std::string wanted = bare(word);
  std::string found;
  for_each_op_row([&](std::string name, std::string_view) {
    if (bare(name) == wanted) found = std::move(name);
  });
  return found;
}

std::string uses_of(std::string_view word) {
  if (word.empty()) return {};
  Matches ops(word);
  for_each_op_row(
      [&](std::string name, std::string_view summary) { ops.add(std::move(name), summary); });
  std::string text;
  for (const std::string& part :
       {options_text(word), topics_text(word), ops.under("Ops, by mllm help OP")}) {
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  }
  return text;
}

std::string named_nearly(std::string_view word) {
  std::vector<std::string> names;
  for (const Tool* tool : kTools) {
    names.emplace_back(tool->info->name.substr(tool->info->name.find('-') + 1));
    if (tool->info->topics == nullptr) continue;
    std::ranges::move(tool->info->topics->completion().words, std::back_inserter(names));
  }
  for_each_op_row([&](const std::string& name, std::string_view) {
    names.push_back(name.substr(name.rfind('.') + 1));
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  return did_you_mean_pass(word, known);
}

}  // namespace mir::tools
