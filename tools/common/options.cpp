#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <iterator>

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
             "(one document) or github (annotations)"},
    {.name = "max-errors", .argument = "N", .help = "show at most N errors (20); 0 shows all"},
    {.name = "color",
     .argument = "WHEN",
     .help = "auto (on a terminal, unless NO_COLOR is set), always or never"},
    {.name = "explain", .argument = "CODE", .help = "say what a diagnostic code means and stop"},
    {.name = "help", .letter = 'h', .help = "show this page"},
    {.name = "version", .help = "show the version"},
};

constexpr Option kVerifyOptions[] = {
    {.name = "level",
     .argument = "LEVEL",
     .help = "dump or portable: what a module is held to; by default its own form"},
    {.name = "deny",
     .argument = "WHAT",
     .help = "take findings of this code (MIR0470), constraint (dump_c1) or group for errors",
     .repeatable = true},
    {.name = "allow",
     .argument = "WHAT",
     .help = "take errors of it for findings, and leave findings of it out",
     .repeatable = true},
    {.name = "group-by", .argument = "code", .help = "count diagnostics by code, show none singly"},
};

constexpr const char* kOperands = "operand";  // not an option's name

std::string boost_name(const Option& option) {
  std::string name(option.name);
  if (option.letter != '\0') name.append(1, ',').append(1, option.letter);
  return name;
}

/// Option rows of a tool, in the order of its help page.
std::array<std::span<const Option>, 3> all_rows(const ToolInfo& tool) {
  return {tool.options, tool.verifies ? verify_option_rows() : std::span<const Option>(),
          common_options()};
}

/// Whether the tool has a row of its own in place of a common one.
bool replaces(const ToolInfo& tool, const Option& common) {
  return std::ranges::find(tool.options, common.name, &Option::name) != tool.options.end();
}

/// Calls `visit` for each option, those that a row of the tool replaces left out.
template <class Visit>
void for_each_row(const ToolInfo& tool, const Visit& visit) {
  for (const auto rows : all_rows(tool)) {
    for (const Option& option : rows) {
      if (rows.data() == tool.options.data() || !replaces(tool, option)) visit(option);
    }
  }
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
  for_each_row(tool, add);
  all.add_options()(kOperands, po::value<std::vector<std::string>>(), "");
  return all;
}

const Option* find(const ToolInfo& tool, std::string_view name) {
  for (const auto rows : all_rows(tool)) {
    for (const Option& option : rows) {
      if (option.name == name) return &option;
    }
  }
  return nullptr;
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

std::span<const Option> common_options() {
  return kCommonOptions;
}

std::span<const Option> verify_option_rows() {
  return kVerifyOptions;
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
      const Option* option = find(tool, given.string_key);
      if (option == nullptr) {
        return Error{DiagCode::kUsage, fmt::format("unrecognised option '--{}'", given.string_key)};
      }
      if (!option->repeatable && result.has(option->name)) {
        return Error{DiagCode::kUsage, fmt::format("option '--{}' is given twice", option->name)};
      }
      result.add(option->name, given.value.empty() ? std::string() : given.value.front());
    }
  } catch (const po::error& error) {
    return Error{DiagCode::kUsage, error.what()};
  }
  return result;
}

std::string help_text(const ToolInfo& tool) {
  std::string out = fmt::format("{}\n\nUsage: {} [options] {}\n\nOptions:\n", tool.summary,
                                tool.name, tool.operands);
  for_each_row(tool, [&](const Option& option) { append_row(out, option); });
  out += "\nExamples:\n";
  for (const Example& example : tool.examples) {
    fmt::format_to(std::back_inserter(out), "  {}\n      {}\n", example.command, example.meaning);
  }
  return out;
}

}  // namespace mir::tools
