// Renders help texts and manual pages from option rows.
#include "option_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mir/version.hpp"

namespace mir::tools {

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kHelpColumn = 26;

/// Appends `text` in lines that begin at kHelpColumn; the current one has `used` columns.
void append_wrapped(std::string& out, std::size_t used, std::string_view text) {
  if (used + 2 > kHelpColumn) {
    out += '\n';
    used = 0;
  }
  out.append(kHelpColumn - used, ' ');
  std::size_t column = kHelpColumn;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool first = column == kHelpColumn;
    if (!first && column + 1 + word.size() > kWidth) {
      out.append(1, '\n').append(kHelpColumn, ' ');
      column = kHelpColumn;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

/// The rows in their groups, which are in the order of their first rows.
std::vector<std::pair<std::string_view, std::vector<const OptionRow*>>> groups_of(
    const OptionSet& options) {
  std::vector<std::pair<std::string_view, std::vector<const OptionRow*>>> groups;
  for (const OptionRow* row : options.rows()) {
    auto group =
        std::ranges::find_if(groups, [&](const auto& each) { return each.first == row->group(); });
    if (group == groups.end()) group = groups.insert(groups.end(), {row->group(), {}});
    group->second.push_back(row);
  }
  return groups;
}

/// Without commands that the title of the group tells.
std::string help_in_group(const OptionRow& row) {
  const bool is_told = row.group().starts_with("Options of ");
  return is_told ? row.help() : row.help_with_commands();
}

void append_row(std::string& out, const OptionRow& row) {
  std::string head = row.letter() != '\0' ? fmt::format("  -{}, ", row.letter()) : "      ";
  head.append("--").append(row.name());
  head += row.argument_text();
  out += head;
  append_wrapped(out, head.size(), help_in_group(row));
}

std::span<const CommandText> commands_of(const OptionSet& options) {
  const CommandOperand* operand = options.command_operand();
  return operand == nullptr ? std::span<const CommandText>() : operand->commands();
}

/// Returns the operands in the usage line, after the options: `create|list file...`.
std::string operands_of(const ToolInfo& tool, const OptionSet& options) {
  std::string words;
  for (const CommandText& command : commands_of(options))
    words.append(words.empty() ? "" : "|").append(command.name);
  if (!words.empty()) words += ' ';
  return words.append(tool.operands);
}

/// Text of a manual page; a line of it never begins with a roff request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string roff_head(const OptionRow& row) {
  std::string head = row.letter() != '\0' ? fmt::format("\\fB\\-{}\\fR, ", row.letter()) : "";
  head += fmt::format("\\fB\\-\\-{}\\fR", roff(row.name()));
  const std::string_view argument = row.takes_argument() ? row.argument() : "";
  std::string form = roff(row.argument_text());
  if (!argument.empty()) {
    form.replace(form.find(roff(argument)), roff(argument).size(),
                 fmt::format("\\fI{}\\fR", roff(argument)));
  }
  head += form;
  return head;
}

void append_entry(std::string& out, std::string_view head, std::string_view text) {
  fmt::format_to(std::back_inserter(out), ".TP\n{}\n{}\n", head, roff(text));
}

std::span<const Example> examples_of(const ToolInfo& tool) {
  const auto end = std::ranges::find(tool.examples, std::string_view(), &Example::command);
  return {tool.examples.begin(), end};
}

}  // namespace

std::string help_text(const ToolInfo& tool, const OptionSet& options) {
  std::string out = fmt::format("{}\n\nUsage: {} [options] {}\n", tool.summary, tool.name,
                                operands_of(tool, options));
  if (!commands_of(options).empty()) out += "\nCommands:\n";
  for (const CommandText& command : commands_of(options)) {
    const std::string head = fmt::format("  {}", command.name);
    out += head;
    append_wrapped(out, head.size(), command.summary);
  }
  for (const auto& [title, rows] : groups_of(options)) {
    fmt::format_to(std::back_inserter(out), "\n{}:\n", title);
    for (const OptionRow* row : rows) append_row(out, *row);
  }
  out += "\nExamples:\n";
  for (const Example& example : examples_of(tool)) {
    fmt::format_to(std::back_inserter(out), "  {}\n      {}\n", example.command, example.meaning);
  }
  return out;
}

std::string manual_page(const ToolInfo& tool, const OptionSet& options) {
  std::string title(tool.name);
  std::ranges::transform(title, title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  const std::string_view summary = tool.summary.substr(0, tool.summary.find_last_not_of('.') + 1);
  std::string out = fmt::format(".TH \"{}\" 1 \"\" \"mllm\\-ir {}\" \"User Commands\"\n",
                                roff(title), kProjectVersion);
  auto line = std::back_inserter(out);
  fmt::format_to(line, ".SH NAME\n{} \\- {}\n", roff(tool.name), roff(summary));
  fmt::format_to(line, ".SH SYNOPSIS\n\\fB{}\\fR [options] {}\n", roff(tool.name),
                 roff(operands_of(tool, options)));
  if (!commands_of(options).empty()) out += ".SH COMMANDS\n";
  for (const CommandText& command : commands_of(options))
    append_entry(out, fmt::format("\\fB{}\\fR", roff(command.name)), command.summary);
  out += ".SH OPTIONS\n";
  for (const auto& [group, rows] : groups_of(options)) {
    fmt::format_to(line, ".SS {}\n", roff(group));
    for (const OptionRow* row : rows) append_entry(out, roff_head(*row), help_in_group(*row));
  }
  out += ".SH EXIT STATUS\n";
  for (const ExitStatus& status : tool.exit_statuses) {
    append_entry(out, fmt::to_string(status.code), status.meaning);
  }
  if (tool.exit_statuses.data() == kExitStatuses)
    out += ".PP\nWith several files the worst wins.\n";
  out += ".SH EXAMPLES\n";
  for (const Example& example : examples_of(tool))
    append_entry(out, fmt::format("\\fB{}\\fR", roff(example.command)), example.meaning);
  return out;
}

}  // namespace mir::tools
