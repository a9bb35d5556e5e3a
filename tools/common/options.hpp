// The option table of a tool and what a command line says about it.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/result.hpp"

namespace mir::tools {

/// One option. Help, and whatever else describes a tool, is made from these rows.
struct Option {
  std::string_view name;        ///< without its `--`
  char letter = '\0';           ///< short form, if any
  std::string_view argument{};  ///< what the argument is called in the help; empty: takes none
  std::string_view help{};      ///< lower case, no full stop
  bool repeatable = false;
  std::string_view choices{};  ///< the words the argument may be, with one space between; else any
};

struct Example {
  std::string_view command;
  std::string_view meaning;
};

/// A tool as its help page shows it. The options every tool has need no row; one with such a name
/// replaces it.
struct ToolInfo {
  std::string_view name;
  std::string_view summary;   ///< one sentence
  std::string_view operands;  ///< what follows the options in the usage line: `[file...]`
  std::span<const Option> options;
  std::array<Example, 2> examples;
  bool verifies = false;  ///< has the options of verification as well
};

/// "; did you mean 'known'?" for the one of `known` that `word` is nearly; else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// Every option of a tool in the order of its help page: its own, those of verification where it
/// verifies, those that every tool has.
std::vector<Option> all_options(const ToolInfo& tool);

/// The options given and the operands, in order.
class Arguments {
 public:
  bool has(std::string_view option) const { return values_.find(option) != values_.end(); }
  /// The last value of `option`, or `otherwise` when it was not given.
  std::string_view value(std::string_view option, std::string_view otherwise = {}) const;
  /// Every value of a repeatable option.
  std::span<const std::string> values(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

  void add(std::string_view option, std::string value);
  void add_operand(std::string operand) { operands_.push_back(std::move(operand)); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

/// `arguments` without the program's name. `-` is an operand; after `--` everything is. Long names
/// are never guessed from their beginning.
Result<Arguments> parse_arguments(const ToolInfo& tool, std::span<const char* const> arguments);

/// The help page: a sentence, usage, options, two examples; at most 80 columns wide.
std::string help_text(const ToolInfo& tool);

}  // namespace mir::tools
