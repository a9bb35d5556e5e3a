// Splits a command line with Boost.Program_options and passes arguments to option rows.
#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>

#include "mir/codes/usage.hpp"
#include "other_names.hpp"

namespace mir::tools {

namespace {

namespace po = boost::program_options;

constexpr const char* kOperands = "operand";  // not an option's name

std::string boost_name(const OptionRow& row) {
  std::string name(row.name());
  if (row.letter() != '\0') name.append(1, ',').append(1, row.letter());
  return name;
}

po::options_description describe(const OptionSet& options) {
  po::options_description all;
  for (const OptionRow* row : options.rows()) {
    const std::string name = boost_name(*row);
    // Boost would take the next word for an argument that may lack: see take_stated().
    if (row->takes_argument() && !row->implied()) {
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
    } else {
      all.add_options()(name.c_str(), "");
    }
  }
  all.add_options()(kOperands, po::value<std::vector<std::string>>(), "");
  return all;
}

/// Refuses options that the tool calls otherwise, and arguments that an option no longer has.
Result<void> refuse_other_names(const OptionSet& options, std::span<const std::string> words,
                                std::string_view tool) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::string_view option = words[i];
    if (!option.starts_with("--")) continue;
    option.remove_prefix(2);
    const auto equals = option.find('=');
    std::string_view argument = equals == option.npos ? "" : option.substr(equals + 1);
    option = option.substr(0, equals);
    const OptionRow* row = options.find(option);
    if (equals == option.npos && row != nullptr && row->takes_argument() && i + 1 < words.size())
      argument = words[i + 1];
    const std::string use = use_instead(tool, option, argument);
    if (use.empty()) continue;
    return Error{diag::kUsage,
                 row == nullptr
                     ? fmt::format("unrecognised option '--{}'{}", option, use)
                     : fmt::format("unknown argument in '--{}={}'{}", option, argument, use)};
  }
  return {};
}

/// Returns the error for an option that no row has; boost names it with its dashes.
Error unknown_option(std::string_view given, const OptionSet& options) {
  std::vector<std::string> names;
  for (const OptionRow* row : options.rows()) names.push_back(fmt::format("--{}", row->name()));
  const std::vector<std::string_view> words(names.begin(), names.end());
  const std::string_view name = given.substr(0, given.find('='));
  return {diag::kUsage, fmt::format("unrecognised option '{}'{}", name, did_you_mean(name, words))};
}

/// Takes `--name=ARGUMENT` of options that may lack their argument out of the words.
std::vector<CommandLine::Given> take_stated(const OptionSet& options,
                                            std::vector<std::string>& words) {
  std::vector<CommandLine::Given> stated;
  const auto end = std::ranges::find(words, "--");
  const auto rest = std::remove_if(words.begin(), end, [&](const std::string& word) {
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == word.npos) return false;
    OptionRow* row = options.find(std::string_view(word).substr(2, equals - 2));
    if (row == nullptr || !row->implied()) return false;
    stated.push_back({row, word.substr(equals + 1)});
    return true;
  });
  words.erase(rest, end);
  return stated;
}

po::parsed_options split(const po::options_description& known,
                         const std::vector<std::string>& words) {
  namespace style = po::command_line_style;
  constexpr int kStyle = style::unix_style & ~style::allow_guessing;
  po::positional_options_description operands;
  operands.add(kOperands, -1);
  return po::command_line_parser(words).options(known).positional(operands).style(kStyle).run();
}

}  // namespace

const std::string* CommandLine::first(const OptionRow& option) const {
  const auto found = std::ranges::find(given, &option, &Given::option);
  return found == given.end() ? nullptr : &found->text;
}

Result<void> CommandLine::read() const {
  return read_turns({ReadingTurn::kDialects, ReadingTurn::kPasses, ReadingTurn::kOthers});
}

Result<void> CommandLine::read_first() const {
  return read_turns({ReadingTurn::kDialects, ReadingTurn::kPasses});
}

Result<void> CommandLine::read_turns(std::initializer_list<ReadingTurn> turns) const {
  Result<void> all;
  for (const ReadingTurn turn : turns) {
    for (const auto& [option, text] : given) {
      if (option->turn() != turn) continue;
      if (auto done = option->take(text); all && !done) all = std::move(done);
    }
  }
  return all;
}

Result<CommandLine> split_command_line(const OptionSet& options, std::span<const char* const> words,
                                       std::string_view tool) {
  CommandLine line;
  try {
    const po::options_description known = describe(options);
    std::vector<std::string> copies(words.begin(), words.end());
    if (auto fits = refuse_other_names(options, copies, tool); !fits)
      return std::move(fits).error();
    line.given = take_stated(options, copies);
    for (const auto& each : split(known, copies).options) {
      if (each.position_key >= 0) {
        line.operands.insert(line.operands.end(), each.value.begin(), each.value.end());
        continue;
      }
      OptionRow* row = options.find(each.string_key);
      if (row == nullptr) return unknown_option("--" + each.string_key, options);
      const std::string lacking(row->implied().value_or(""));
      line.given.push_back({row, each.value.empty() ? lacking : each.value.front()});
    }
  } catch (const po::unknown_option& error) {
    return unknown_option(error.get_option_name(), options);
  } catch (const po::error& error) {
    return Error{diag::kUsage, error.what()};
  }
  return line;
}

}  // namespace mir::tools
