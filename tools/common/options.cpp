#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <iterator>
#include <optional>

#include "support/suggest.hpp"

namespace mir::tools {

namespace {

namespace po = boost::program_options;

constexpr Option kCommonOptions[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write to FILE instead of standard output (-)"},
    {.name = "diagnostics",
     .argument = "FORM",
     .help = "how errors are shown: human, line (one a line), json (one object a line), sarif "
             "(one document) or github (annotations)",
     .choices = "human line json sarif github"},
    {.name = "max-errors", .argument = "N", .help = "show at most N errors (20); 0 shows all"},
    {.name = "color",
     .argument = "WHEN",
     .help = "auto (on a terminal, unless NO_COLOR is set), always or never",
     .choices = "auto always never"},
    {.name = "explain", .argument = "CODE", .help = "say what a diagnostic code means and stop"},
    {.name = "help", .letter = 'h', .help = "show this page"},
    {.name = "help-as",
     .argument = "FORM",
     .help = "show it as a manual page (man) or a completion script (bash or zsh)",
     .choices = "man bash zsh"},
    {.name = "version", .help = "show the version"},
};

constexpr Option kVerifyOptions[] = {
    {.name = "level",
     .argument = "LEVEL",
     .help = "dump or portable: what a module is held to; by default its own form",
     .choices = "dump portable"},
    {.name = "deny",
     .argument = "WHAT",
     .help = "take findings of this code (MIR0470), constraint (dump_c1) or group for errors",
     .repeatable = true},
    {.name = "allow",
     .argument = "WHAT",
     .help = "take errors of it for findings, and leave findings of it out",
     .repeatable = true},
    {.name = "group-by",
     .argument = "code",
     .help = "count diagnostics by code, show none singly",
     .choices = "code"},
    {.name = "no-verify", .help = "do not check what a module means"},
};

constexpr const char* kOperands = "operand";  // not an option's name

std::string boost_name(const Option& option) {
  std::string name(option.name);
  if (option.letter != '\0') name.append(1, ',').append(1, option.letter);
  return name;
}

po::options_description describe(const ToolInfo& tool) {
  po::options_description all;
  const auto add = [&](const Option& option) {
    const std::string name = boost_name(option);
    if (option.argument.empty()) {
      all.add_options()(name.c_str(), "");
    } else {
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
    }
  };
  for (const Option& option : all_options(tool)) add(option);
  all.add_options()(kOperands, po::value<std::vector<std::string>>(), "");
  return all;
}

/// What is wrong with giving `value` to an option that takes some words only.
std::optional<std::string> problem_with(const Option& option, std::string_view value) {
  std::vector<std::string_view> words;
  for (std::string_view rest = option.choices; !rest.empty();) {
    words.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(words.back().size() + 1, rest.size()));
  }
  if (words.empty() || std::ranges::find(words, value) != words.end()) return std::nullopt;
  const std::string meant = did_you_mean(value, words);
  const std::string_view last = words.back();
  words.pop_back();
  return fmt::format("--{} is {}{}{}, found '{}'{}", option.name, fmt::join(words, ", "),
                     words.empty() ? "" : " or ", last, value, meant);
}

/// What is wrong with an option that no row has; boost names it with its dashes.
std::string unknown_option(std::string_view given, std::span<const Option> options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(fmt::format("--{}", option.name));
  const std::vector<std::string_view> words(names.begin(), names.end());
  const std::string_view name = given.substr(0, given.find('='));
  return fmt::format("unrecognised option '{}'{}", name, did_you_mean(name, words));
}

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

void append_row(std::string& out, const Option& option) {
  std::string head = option.letter != '\0' ? fmt::format("  -{}, ", option.letter) : "      ";
  head.append("--").append(option.name);
  if (!option.argument.empty()) head.append(1, '=').append(option.argument);
  out += head;
  append_wrapped(out, head.size(), option.help);
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  NearestName nearest(word);
  for (const std::string_view each : known) nearest.offer(each);
  return nearest.best().empty() ? "" : fmt::format("; did you mean '{}'?", nearest.best());
}

std::vector<Option> all_options(const ToolInfo& tool) {
  std::vector<Option> all(tool.options.begin(), tool.options.end());
  const auto add = [&](std::span<const Option> rows) {
    std::ranges::copy_if(rows, std::back_inserter(all), [&](const Option& row) {
      return std::ranges::find(tool.options, row.name, &Option::name) == tool.options.end();
    });
  };
  if (tool.verifies) add(kVerifyOptions);
  add(kCommonOptions);
  return all;
}

std::string_view Arguments::value(std::string_view option, std::string_view otherwise) const {
  const auto found = values_.find(option);
  return found == values_.end() ? otherwise : found->second.back();
}

std::span<const std::string> Arguments::values(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return {};
  return found->second;
}

void Arguments::add(std::string_view option, std::string value) {
  values_[std::string(option)].push_back(std::move(value));
}

Result<Arguments> parse_arguments(const ToolInfo& tool, std::span<const char* const> arguments) {
  namespace style = po::command_line_style;
  constexpr int kStyle = style::unix_style & ~style::allow_guessing;
  const std::vector<Option> options = all_options(tool);
  Arguments result;
  try {
    po::positional_options_description operands;
    operands.add(kOperands, -1);
    const po::options_description known = describe(tool);
    const std::vector<std::string> words(arguments.begin(), arguments.end());
    const auto parsed =
        po::command_line_parser(words).options(known).positional(operands).style(kStyle).run();
    for (const auto& given : parsed.options) {
      if (given.position_key >= 0) {
        for (const std::string& word : given.value) result.add_operand(word);
        continue;
      }
      const auto option = std::ranges::find(options, given.string_key, &Option::name);
      if (option == options.end()) {
        return Error{DiagCode::kUsage,
                     unknown_option(fmt::format("--{}", given.string_key), options)};
      }
      if (!option->repeatable && result.has(option->name)) {
        return Error{DiagCode::kUsage, fmt::format("option '--{}' is given twice", option->name)};
      }
      std::string value = given.value.empty() ? std::string() : given.value.front();
      if (auto problem = problem_with(*option, value)) return Error{DiagCode::kUsage, *problem};
      result.add(option->name, std::move(value));
    }
  } catch (const po::unknown_option& error) {
    return Error{DiagCode::kUsage, unknown_option(error.get_option_name(), options)};
  } catch (const po::error& error) {
    return Error{DiagCode::kUsage, error.what()};
  }
  return result;
}

std::string help_text(const ToolInfo& tool) {
  std::string out = fmt::format("{}\n\nUsage: {} [options] {}\n\nOptions:\n", tool.summary,
                                tool.name, tool.operands);
  for (const Option& option : all_options(tool)) append_row(out, option);
  out += "\nExamples:\n";
  for (const Example& example : tool.examples) {
    fmt::format_to(std::back_inserter(out), "  {}\n      {}\n", example.command, example.meaning);
  }
  return out;
}

}  // namespace mir::tools
