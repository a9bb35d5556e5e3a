// Finds the commands, options, passes and ops that a word belongs to.
#include "tools/help_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
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
  /// With `shown`, only names count, and not this one.
  Matches(std::string_view word, std::optional<std::string_view> shown)
      : word_(lower_case(word)), shown_(shown) {}

  bool has(std::string_view text) const {
    return lower_case(text).find(word_) != std::string::npos;
  }
  void add(std::string name, std::string_view meaning) {
    if (name == shown_) return;
    if (has(name)) {
      named_.emplace_back(std::move(name), meaning);
    } else if (!shown_ && has(meaning)) {
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
  std::optional<std::string_view> shown_;
  std::vector<std::pair<std::string, std::string>> named_, others_;
};

void add_options(Matches& matches) {
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
}

void add_topics(const Tool& tool, Matches& matches) {
  const ToolInfo::Topics& topics = *tool.info->topics;
  tool.show_options(*tool.info, [&](const OptionSet& options) {
    for (const std::string& topic : topics.completion().words) {
      const auto page = topics.page(topic, options);
      const std::string_view line = page ? std::string_view(*page).substr(0, page->find('\n')) : "";
      matches.add(topic, line.substr(std::min(line.size(), topic.size() + 2)));
    }
  });
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

std::string found_by(std::string_view word, std::optional<std::string_view> shown) {
  std::string text;
  const auto add = [&](std::string_view title, const auto& add_rows) {
    Matches matches(word, shown);
    add_rows(matches);
    const std::string rows = matches.under(title);
    if (!text.empty() && !rows.empty()) text += '\n';
    text += rows;
  };
  add("Options", add_options);
  for (const Tool* tool : kTools) {
    if (tool->info->topics != nullptr)
      add(tool->info->topics->list, [&](Matches& matches) { add_topics(*tool, matches); });
  }
  add("Ops, by mllm help OP", [](Matches& matches) {
    for_each_op_row(
        [&](std::string name, std::string_view summary) { matches.add(std::move(name), summary); });
  });
  return text;
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
  return word.empty() ? "" : found_by(word, std::nullopt);
}

std::string others_named(std::string_view word, std::string_view shown) {
  const std::string found = found_by(word, shown);
  return found.empty() ? "" : fmt::format("\nOthers with '{}' in their names:\n\n{}", word, found);
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
