// The options of a tool as rows, which after parsing hold their values.
//
// A tool's settings are a struct of such rows. Each names itself in the set, so that help, manual
// page, completion and parser see every row there is:
//
//   struct MySettings {
//     OptionSet& options;
//     OptionGroup watching{options, "Watching"};  // title of the following rows on the help page
//     Flag timing{options, {.name = "timing", .help = "write the time of each step"}};
//     Option<int> top{options, {.name = "top", .argument = "K", .help = "elements to show"},
//                     number<int>({.least = 0}), 5};
//   };
//
// docs/howto/add-an-option.md adds one step by step.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argument.hpp"

namespace mir::tools {

class OptionSet;

/// When the arguments of an option are read: those of later turns may depend on earlier ones.
enum class ReadingTurn : std::uint8_t {
  kDialects,  ///< files that declare dialects
  kPasses,    ///< files that add passes, whose texts may use these dialects
  kOthers,
};

/// Name and help texts of an option.
struct OptionText {
  std::string_view name;         ///< without its `--`
  char letter = '\0';            ///< short form, if any
  std::string_view argument{};   ///< name of the argument on the help page
  std::string_view help{};       ///< lower case, no full stop; needs, choices and default are added
  std::string_view otherwise{};  ///< behaviour without the option, if it is not a value
  /// Conditions, separated by spaces, of which one must hold; otherwise the option has no effect
  /// and is refused. `NAME`: that option is given; `NAME=WORD`: it is given with this argument;
  /// `pass:NAME`: the pipeline has this pass.
  std::string_view needs{};
  /// Optional. True if these arguments have an effect without `needs`.
  bool (*acts_alone)(std::span<const std::string> given) = nullptr;
  /// Conditions under which the option has no effect.
  std::string_view excludes{};
  /// Option whose file this one may write over, as it has been read by then.
  std::string_view replaces{};
  std::string_view commands{};  ///< commands that take it, separated by spaces; empty: all
  bool is_needed = false;       ///< by each of these commands
  /// Argument that is implied if the option is given without one. Makes the argument optional:
  /// `--name[=ARGUMENT]`.
  std::optional<std::string_view> implied{};
  ReadingTurn turn = ReadingTurn::kOthers;
};

/// A row of any type.
class OptionRow {
 public:
  OptionRow(const OptionRow&) = delete;
  OptionRow& operator=(const OptionRow&) = delete;
  virtual ~OptionRow() = default;

  std::string_view name() const { return text_.name; }
  char letter() const { return text_.letter; }
  std::string_view argument() const { return text_.argument; }
  bool takes_argument() const { return kind_ != Kind::kFlag; }
  /// No value if the argument must be given.
  std::optional<std::string_view> implied() const { return text_.implied; }
  /// "=ARGUMENT", "[=ARGUMENT]" or nothing, for pages.
  std::string argument_text() const;
  bool is_repeatable() const { return kind_ == Kind::kMany; }
  /// The options that it needs, its text, the choices of its argument and its default.
  const std::string& help() const { return help_; }
  /// The help text after the commands that take the option.
  std::string help_with_commands() const;
  /// Title on the help page.
  const std::string& group() const { return group_; }
  std::string_view needs() const { return text_.needs; }
  /// True if the option needs no pass, or this one.
  bool is_read_by(std::string_view pass) const;
  /// True if what is given has an effect without what the option needs.
  bool acts_alone() const { return text_.acts_alone != nullptr && text_.acts_alone(given()); }
  std::string_view excludes() const { return text_.excludes; }
  std::string_view replaces() const { return text_.replaces; }
  bool is_for(std::string_view command) const;
  bool is_needed() const { return text_.is_needed; }
  ReadingTurn turn() const { return text_.turn; }
  /// Empty: every command.
  std::string_view commands() const { return text_.commands; }
  virtual Completion completion() const { return {}; }
  /// Kinds of things that arguments of the option refer to; empty if they name no file and nothing
  /// in the input.
  virtual std::span<const ReferenceKind> reference_kinds() const { return {}; }
  /// Files and names that the given arguments refer to.
  virtual std::vector<Reference> references() const { return {}; }

  bool is_given() const { return !given_.empty(); }
  /// The arguments as they were given.
  std::span<const std::string> given() const { return given_; }
  /// Reads one argument. Refuses what the type does not have, and a second one of most options.
  Result<void> take(std::string_view text);

 protected:
  enum class Kind : std::uint8_t { kFlag, kOne, kMany };
  /// `note` follows the help text.
  OptionRow(OptionSet& options, const OptionText& text, Kind kind, std::string_view note);
  virtual Result<void> read(std::string_view text) = 0;

 private:
  OptionText text_;
  Kind kind_;
  std::string help_;
  std::string group_;
  std::vector<std::string> given_;
};

/// An option without argument.
class Flag : public OptionRow {
 public:
  Flag(OptionSet& options, const OptionText& text) : OptionRow(options, text, Kind::kFlag, "") {}
  explicit operator bool() const { return is_given(); }

 private:
  Result<void> read(std::string_view) override { return {}; }
};

/// An option that is given once at most. Without a default its value is then T().
template <class T>
class Option : public OptionRow {
 public:
  Option(OptionSet& options, const OptionText& text, Argument<T> argument)
      : OptionRow(options, text, Kind::kOne, argument.note(nullptr)),
        argument_(std::move(argument)) {}
  Option(OptionSet& options, const OptionText& text, Argument<T> argument, T by_default)
      : OptionRow(options, text, Kind::kOne, argument.note(&by_default)),
        argument_(std::move(argument)),
        value_(std::move(by_default)) {}

  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  std::optional<T> if_given() const { return is_given() ? std::optional(value_) : std::nullopt; }
  Completion completion() const override { return argument_.completion(); }
  std::span<const ReferenceKind> reference_kinds() const override { return argument_.refers.kinds; }
  std::vector<Reference> references() const override {
    return argument_.refers.of && is_given() ? argument_.refers.of(value_)
                                             : std::vector<Reference>();
  }

 private:
  Result<void> read(std::string_view text) override {
    auto value = argument_.read(name(), text);
    if (!value) return std::move(value).error();
    value_ = *std::move(value);
    return {};
  }

  Argument<T> argument_;
  T value_{};
};

/// An option that can be given again and again.
template <class T>
class OptionList : public OptionRow {
 public:
  OptionList(OptionSet& options, const OptionText& text, Argument<T> argument)
      : OptionRow(options, text, Kind::kMany, argument.note(nullptr)),
        argument_(std::move(argument)) {}

  /// In the order of the command line.
  const std::vector<T>& operator*() const { return values_; }
  const std::vector<T>* operator->() const { return &values_; }
  Completion completion() const override { return argument_.completion(); }
  std::span<const ReferenceKind> reference_kinds() const override { return argument_.refers.kinds; }
  std::vector<Reference> references() const override {
    std::vector<Reference> all;
    if (!argument_.refers.of) return all;
    for (const T& value : values_) {
      for (Reference& each : argument_.refers.of(value)) all.push_back(std::move(each));
    }
    return all;
  }

 private:
  Result<void> read(std::string_view text) override {
    auto value = argument_.read(name(), text);
    if (!value) return std::move(value).error();
    values_.push_back(*std::move(value));
    return {};
  }

  Argument<T> argument_;
  std::vector<T> values_;
};

/// Name and help texts of a command, the word after a tool's name that selects its action.
struct CommandText {
  static constexpr std::size_t kAny = 10'000;

  std::string_view name;
  std::string_view summary;   ///< lower case, no full stop
  std::string_view operands;  ///< what it takes, in words: "two files"
  std::size_t fewest = 1;
  std::size_t most = kAny;
};

template <class T>
struct CommandRow {
  CommandText text;
  T value;
};

/// The command that was chosen, as the value that it selects.
class CommandOperand {
 public:
  CommandOperand(const CommandOperand&) = delete;
  CommandOperand& operator=(const CommandOperand&) = delete;

  std::span<const CommandText> commands() const { return commands_; }
  const CommandText& chosen() const { return commands_[index_]; }
  /// Takes the first of `operands`, off which it is taken. Refuses no command, an unknown one, and
  /// too few or too many operands.
  Result<void> take(std::vector<std::string>& operands);

 protected:
  CommandOperand(OptionSet& options, std::vector<CommandText> commands);
  ~CommandOperand() = default;
  std::size_t index() const { return index_; }

 private:
  std::vector<CommandText> commands_;
  std::size_t index_ = 0;
};

template <class T>
class Command : public CommandOperand {
 public:
  template <std::size_t N>
  Command(OptionSet& options, const CommandRow<T> (&rows)[N])
      : CommandOperand(options, texts_of(rows)), rows_(rows) {}
  T operator*() const { return rows_[index()].value; }

 private:
  static std::vector<CommandText> texts_of(std::span<const CommandRow<T>> rows) {
    std::vector<CommandText> texts;
    for (const CommandRow<T>& row : rows) texts.push_back(row.text);
    return texts;
  }

  std::span<const CommandRow<T>> rows_;
};

/// The rows of a tool, or of a command, in the order of its help page.
class OptionSet {
 public:
  OptionSet() = default;
  /// A part of `whole`, which has its rows as well: the options of this command.
  OptionSet(OptionSet& whole, std::string_view command) : whole_(&whole), command_(command) {}
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// A row whose name is taken is left out: a tool's own rows come before those that all have.
  void add(OptionRow& row);
  void add(CommandOperand& command) { command_operand_ = &command; }
  std::string_view command() const { return command_; }
  /// Begins a group, which the rows that follow join. Groups of one title are one.
  void begin_group(std::string_view title) { group_ = title; }
  /// The title of the current group; without one, "Options" or "Options of COMMAND".
  std::string group() const;

  std::span<OptionRow* const> rows() const { return rows_; }
  /// Returns null if there is none of that name.
  OptionRow* find(std::string_view name) const;
  /// Returns null for a tool without commands.
  CommandOperand* command_operand() const { return command_operand_; }

  /// Takes the command off the operands, if the tool has some. Refuses options that are not for it
  /// or have no effect beside the others, and the lack of one that it needs.
  Result<void> check(std::vector<std::string>& operands) const;
  /// Decides conditions on the pipeline. Without it they hold.
  using HasPass = std::function<bool(std::string_view pass)>;
  /// Refuses options that have no effect: see OptionText.
  Result<void> check_conditions(const HasPass& has_pass) const;
  /// True if one of the conditions that the row needs holds.
  bool has_effect(const OptionRow& row, const HasPass& has_pass) const;

 private:
  bool holds(std::string_view condition, const HasPass& has_pass) const;

  OptionSet* whole_ = nullptr;
  std::string_view command_;
  std::string_view group_;
  std::vector<OptionRow*> rows_;
  CommandOperand* command_operand_ = nullptr;
};

/// Begins a group of rows. A member of a struct of rows.
struct OptionGroup {
  OptionGroup(OptionSet& options, std::string_view title) { options.begin_group(title); }
};

/// "--a, --b and --c exclude each other" when more than one of them is given.
Result<void> refuse_together(std::initializer_list<const OptionRow*> rows);

}  // namespace mir::tools
