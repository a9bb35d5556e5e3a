// Checks and reads option rows and commands.
#include "option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mir::tools {

namespace {

std::string commas(std::string_view words) {
  std::string text;
  for (const char c : words) c == ' ' ? text.append(", ") : text.append(1, c);
  return text;
}

constexpr std::string_view kPassPrefix = "pass:";

/// Returns the words between the spaces.
std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

/// "--emit=cost", "the pass 'upgrade'"
std::string spelling_of(std::string_view condition) {
  if (!condition.starts_with(kPassPrefix)) return fmt::format("--{}", condition);
  return fmt::format("the pass '{}'", condition.substr(kPassPrefix.size()));
}

/// More conditions would hide what a text tells.
constexpr std::size_t kMostConditions = 3;

/// "--test, --differs or the pass 'upgrade'"; of many conditions the first.
std::string spelling_of_any(std::string_view conditions) {
  std::vector<std::string> words;
  for (const std::string_view each : split_words(conditions)) words.push_back(spelling_of(each));
  return words.size() > kMostConditions ? words.front() : alternatives(words);
}

}  // namespace

OptionRow::OptionRow(OptionSet& options, const OptionText& text, Kind kind, std::string_view note)
    : text_(text), kind_(kind) {
  if (text_.commands.empty()) text_.commands = options.command();
  group_ = options.group();
  const std::size_t needs = split_words(text.needs).size();
  if (needs > 0 && needs <= kMostConditions)
    help_ = fmt::format("with {}: ", spelling_of_any(text.needs));
  help_.append(text.help).append(note);
  if (!text.otherwise.empty()) help_ += default_note(text.otherwise);
  options.add(*this);
}

std::string OptionRow::help_with_commands() const {
  return text_.commands.empty() ? help_ : fmt::format("{}: {}", commas(text_.commands), help_);
}

bool OptionRow::is_read_by(std::string_view pass) const {
  const auto conditions = split_words(text_.needs);
  const auto is_pass = [](std::string_view each) { return each.starts_with(kPassPrefix); };
  return std::ranges::none_of(conditions, is_pass) ||
         std::ranges::find(conditions, fmt::format("{}{}", kPassPrefix, pass)) != conditions.end();
}

std::string OptionRow::argument_text() const {
  if (!takes_argument()) return "";
  return implied() ? fmt::format("[={}]", argument()) : fmt::format("={}", argument());
}

bool OptionRow::is_for(std::string_view command) const {
  if (text_.commands.empty()) return true;
  const std::string words = fmt::format(" {} ", text_.commands);
  return words.find(fmt::format(" {} ", command)) != words.npos;
}

Result<void> OptionRow::take(std::string_view text) {
  if (is_given() && kind_ == Kind::kOne)
    return usage_error(fmt::format("option '--{}' is given twice", name()));
  if (auto done = read(text); !done) return done;
  given_.emplace_back(text);
  return {};
}

CommandOperand::CommandOperand(OptionSet& options, std::vector<CommandText> commands)
    : commands_(std::move(commands)) {
  options.add(*this);
}

Result<void> CommandOperand::take(std::vector<std::string>& operands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands_) names.emplace_back(command.name);
  if (operands.empty()) return usage_error("expected a command: " + alternatives(names));
  const auto found = std::ranges::find(commands_, operands.front(), &CommandText::name);
  if (found == commands_.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    return usage_error(fmt::format("unknown command '{}': expected {}{}", operands.front(),
                                   alternatives(names), did_you_mean(operands.front(), known)));
  }
  index_ = static_cast<std::size_t>(found - commands_.begin());
  operands.erase(operands.begin());
  if (operands.size() < found->fewest || operands.size() > found->most)
    return usage_error(fmt::format("{} takes {}", found->name, found->operands));
  return {};
}

void OptionSet::add(OptionRow& row) {
  if (find(row.name()) == nullptr) rows_.push_back(&row);
  if (whole_ != nullptr) whole_->add(row);
}

std::string OptionSet::group() const {
  if (!group_.empty()) return std::string(group_);
  if (!command_.empty()) return fmt::format("Options of {}", commas(command_));
  return "Options";
}

OptionRow* OptionSet::find(std::string_view name) const {
  const auto found = std::ranges::find(rows_, name, &OptionRow::name);
  return found == rows_.end() ? nullptr : *found;
}

Result<void> OptionSet::check(std::vector<std::string>& operands) const {
  std::string_view command;
  if (command_operand_ != nullptr) {
    if (auto taken = command_operand_->take(operands); !taken) return taken;
    command = command_operand_->chosen().name;
  }
  for (const OptionRow* row : rows_) {
    const bool fits = row->is_for(command);
    if (row->is_given() && !fits)
      return usage_error(fmt::format("--{} is not for {}", row->name(), command));
    if (row->is_needed() && fits && !row->is_given())
      return usage_error(command.empty() ? fmt::format("--{} is needed", row->name())
                                         : fmt::format("{} needs --{}", command, row->name()));
  }
  return check_conditions({});
}

bool OptionSet::holds(std::string_view condition, const HasPass& has_pass) const {
  if (condition.starts_with(kPassPrefix))
    return !has_pass || has_pass(condition.substr(kPassPrefix.size()));
  const auto equals = condition.find('=');
  const OptionRow* other = find(condition.substr(0, equals));
  if (other == nullptr || !other->is_given()) return false;
  return equals == condition.npos || other->given().back() == condition.substr(equals + 1);
}

bool OptionSet::has_effect(const OptionRow& row, const HasPass& has_pass) const {
  const auto needs = split_words(row.needs());
  return needs.empty() || std::ranges::any_of(needs, [&](std::string_view condition) {
           return holds(condition, has_pass);
         });
}

Result<void> OptionSet::check_conditions(const HasPass& has_pass) const {
  for (const OptionRow* row : rows_) {
    if (!row->is_given()) continue;
    if (!row->acts_alone() && !has_effect(*row, has_pass))
      return usage_error(
          fmt::format("--{} has no effect without {}", row->name(), spelling_of_any(row->needs())));
    const auto excludes = split_words(row->excludes());
    const auto useless = std::ranges::find_if(
        excludes, [&](std::string_view condition) { return holds(condition, has_pass); });
    if (useless != excludes.end())
      return usage_error(
          fmt::format("--{} has no effect with {}", row->name(), spelling_of(*useless)));
  }
  return {};
}

Result<void> refuse_together(std::initializer_list<const OptionRow*> rows) {
  std::vector<std::string> names;
  for (const OptionRow* row : rows) names.push_back(fmt::format("--{}", row->name()));
  if (std::ranges::count_if(rows, &OptionRow::is_given) < 2) return {};
  const std::string last = names.back();
  names.pop_back();
  return usage_error(fmt::format("{} and {} exclude each other", fmt::join(names, ", "), last));
}

}  // namespace mir::tools
