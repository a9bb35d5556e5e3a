// Completion scripts. Each is complete in itself, as shells load one when its tool is first named.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "option_pages.hpp"

namespace mir::tools {

namespace {

/// `text` with each of `characters` after `mark`.
std::string escaped(std::string_view text, std::string_view characters, std::string_view mark) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) out += mark;
    out += c;
  }
  return out;
}

/// The name of a shell function for a tool.
std::string function_of(std::string_view tool) {
  std::string name = fmt::format("_{}", tool);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::string> names_of(std::span<const CommandText> commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.emplace_back(command.name);
  return names;
}

/// True if an option without its argument is incomplete.
bool waits(const OptionRow& row) {
  return row.takes_argument() && !row.implied();
}

/// The option names that a command takes, as a shell's words; those with an argument end in `=`.
std::string option_words(const OptionSet& options, std::string_view command) {
  std::vector<std::string> words;
  for (const OptionRow* row : options.rows()) {
    if (!row->is_for(command)) continue;
    words.push_back(fmt::format("--{}{}", row->name(), waits(*row) ? "=" : ""));
    if (row->letter() != '\0') words.push_back(fmt::format("-{}", row->letter()));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// Returns assignments to the variables of kBashEnd; empty if nothing is known of the argument,
/// which is then left to the shell.
std::string bash_offer(const Completion& offered) {
  std::string text;
  if (!offered.words.empty()) text += fmt::format(" words='{}'", fmt::join(offered.words, " "));
  if (offered.is_list) text += " list=yes";
  if (!offered.files.empty()) text += fmt::format(" files='{}'", offered.files);
  if (offered.folders) text += " folders=yes";
  return text;
}

void append_arguments(std::string& out, const OptionSet& options) {
  std::string others;
  for (const OptionRow* row : options.rows()) {
    if (!row->takes_argument()) continue;
    const std::string letter = row->letter() == '\0' ? "" : fmt::format("|-{}", row->letter());
    const std::string names = fmt::format("--{}{}", row->name(), letter);
    const std::string offer = bash_offer(row->completion());
    if (offer.empty()) {
      others += others.empty() ? names : "|" + names;
    } else {
      fmt::format_to(std::back_inserter(out), "    {}){} ;;\n", names, offer);
    }
  }
  if (!others.empty()) fmt::format_to(std::back_inserter(out), "    {}) return ;;\n", others);
}

/// Appends completions for words that are not arguments of options: options, a command or operands.
void append_operands(std::string& out, const ToolInfo& tool, const OptionSet& options,
                     std::span<const CommandText> commands) {
  auto line = std::back_inserter(out);
  const std::string files = fmt::format("files='{}'", tool.files);
  if (commands.empty()) {
    fmt::format_to(line, "    *) if [[ $word == -* ]]; then words='{}'; else {}; fi ;;\n  esac\n",
                   option_words(options, ""), files);
    return;
  }
  out += "    *) given=yes ;;\n  esac\n";
  fmt::format_to(line,
                 "  for each in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
                 "    case $each in {}) command=$each; break ;; esac\n  done\n"
                 "  if [[ $given ]]; then case $command$word in\n",
                 fmt::join(names_of(commands), "|"));
  for (const CommandText& command : commands) {
    fmt::format_to(line, "    {}-*) words='{}' ;;\n", command.name,
                   option_words(options, command.name));
  }
  fmt::format_to(line, "    -*) words='{}' ;;\n", option_words(options, ""));
  fmt::format_to(line, "    *) if [[ $command ]]; then {}; else words='{}'; fi ;;\n  esac; fi\n",
                 files, fmt::join(names_of(commands), " "));
}

/// Bash makes a word of each '=', so the option is one or two words before.
constexpr std::string_view kBashBegin =
    R"(  local word=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) each typed
  COMPREPLY=()
  local words= list= files= folders= command= given=
  if [[ $word == '=' ]]; then word=; elif [[ ${COMP_WORDS[at]} == '=' ]]; then at=$((at - 1)); fi
  case ${COMP_WORDS[at]} in
)";
/// In a list, the part after its last comma is completed. The user continues a list, a word with an
/// open end and a folder, so no blank follows those.
constexpr std::string_view kBashEnd = R"(  typed=$word
  if [[ $list ]]; then typed=${word##*,}; fi
  COMPREPLY=($(compgen -P "${word%"$typed"}" -W "$words" -- "$typed"))
  if [[ $list || ${COMPREPLY-} == *[=.@] ]]; then compopt -o nospace; fi
  for each in $files; do
    if [[ $each != '*' ]]; then
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X "!*.$each" -- "$word")
    fi
  done
  if [[ $folders || ${COMPREPLY-} && $files ]]; then
    compopt -o filenames
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$word")
  fi
}
)";

/// A description for zsh: in brackets, in single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : escaped(text, "[]\\", "\\")) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

/// Returns the completions of an argument in zsh's syntax. No blank follows words with an open end.
/// A single file ending is written without parentheses: zsh would read `(mir)` as glob qualifiers.
std::string zsh_action(const Completion& offered) {
  if (!offered.words.empty()) {
    const std::string words = fmt::format("{}", fmt::join(offered.words, " "));
    if (offered.is_list) return "_sequence compadd - " + words;
    const bool is_open = std::string_view("=.@").find(words.back()) != std::string_view::npos;
    return is_open ? "compadd -S \"\" - " + words : fmt::format("({})", words);
  }
  if (offered.folders) return "_files -/";
  if (offered.files == "*") return "_files";
  if (offered.files.empty()) return " ";
  std::string ends(offered.files);
  if (ends.find(' ') == ends.npos) return fmt::format("_files -g \"*.{}\"", ends);
  std::ranges::replace(ends, ' ', '|');
  return fmt::format("_files -g \"*.({})\"", ends);
}

std::string zsh_row(const OptionRow& row) {
  std::string names = fmt::format("--{}", row.name());
  if (row.takes_argument()) names += row.implied() ? "=-" : "=";
  std::string tail = fmt::format("[{}]", zsh_text(row.help_with_commands()));
  if (row.takes_argument()) {
    tail += fmt::format("{}:{}:{}", row.implied() ? ":" : "", escaped(row.argument(), ":[]", "\\"),
                        zsh_action(row.completion()));
  }
  if (row.letter() == '\0') {
    return fmt::format("'{}{}{}'", row.is_repeatable() ? "*" : "", names, tail);
  }
  const std::string both = fmt::format("{{-{}{},{}}}", row.letter(), waits(row) ? "+" : "", names);
  if (row.is_repeatable()) return fmt::format("'*'{}'{}'", both, tail);
  return fmt::format("'(-{0} --{1})'{2}'{3}'", row.letter(), row.name(), both, tail);
}

/// A text in single quotes for fish.
std::string fish_text(std::string_view text) {
  return fmt::format("'{}'", escaped(text, "\\'", "\\"));
}

/// Returns the switches of `complete` that offer an argument or operand: words, and files of any
/// name where files or folders fit.
std::string fish_argument(const Completion& offered) {
  const std::string words = fmt::format("{}", fmt::join(offered.words, " "));
  const bool takes_files = offered.folders || !offered.files.empty();
  std::string switches = takes_files ? " -F" : " -f";
  if (words.empty()) return switches;
  return switches + " -a " +
         fish_text(offered.is_list ? fmt::format("(__fish_append , {})", words) : words);
}

/// Returns the condition of `complete` for an option that only some commands take.
std::string fish_condition(const OptionRow& row) {
  if (row.commands().empty()) return "";
  return fmt::format(" -n '__fish_seen_subcommand_from {}'", row.commands());
}

std::string fish_row(const OptionRow& row) {
  std::string line = fish_condition(row);
  if (row.letter() != '\0') line += fmt::format(" -s {}", row.letter());
  line += fmt::format(" -l {}", row.name());
  if (waits(row)) line += " -r";
  if (row.takes_argument()) line += fish_argument(row.completion());
  return line + " -d " + fish_text(row.help_with_commands());
}

}  // namespace

std::string bash_completion(const ToolInfo& tool, const OptionSet& options) {
  const std::string function = function_of(tool.name);
  std::string out =
      fmt::format("# Completion of {} for bash.\n{}() {{\n{}", tool.name, function, kBashBegin);
  append_arguments(out, options);
  const CommandOperand* operand = options.command_operand();
  append_operands(out, tool, options,
                  operand == nullptr ? std::span<const CommandText>() : operand->commands());
  return out.append(kBashEnd) + fmt::format("complete -o default -F {} {}\n", function, tool.name);
}

std::string zsh_completion(const ToolInfo& tool, const OptionSet& options) {
  std::string out = fmt::format("#compdef {}\n_arguments -s -S \\\n", tool.name);
  for (const OptionRow* row : options.rows())
    fmt::format_to(std::back_inserter(out), "  {} \\\n", zsh_row(*row));
  if (const CommandOperand* operand = options.command_operand()) {
    fmt::format_to(std::back_inserter(out), "  '1:command:({})' \\\n",
                   fmt::join(names_of(operand->commands()), " "));
  }
  const Completion files{.files = tool.files};
  return out + fmt::format("  '*:file:{}'\n", zsh_action(files));
}

std::string fish_completion(const ToolInfo& tool, const OptionSet& options) {
  std::string out = fmt::format("# Completion of {} for fish.\n", tool.name);
  auto line = std::back_inserter(out);
  for (const OptionRow* row : options.rows())
    fmt::format_to(line, "complete -c {}{}\n", tool.name, fish_row(*row));
  std::string is_operand;
  if (const CommandOperand* operand = options.command_operand()) {
    const std::string names = fmt::format("{}", fmt::join(names_of(operand->commands()), " "));
    for (const CommandText& command : operand->commands()) {
      fmt::format_to(line,
                     "complete -c {} -n 'not __fish_seen_subcommand_from {}' -f -a {} -d {}\n",
                     tool.name, names, command.name, fish_text(command.summary));
    }
    is_operand = fmt::format(" -n '__fish_seen_subcommand_from {}'", names);
  }
  fmt::format_to(line, "complete -c {}{}{}\n", tool.name, is_operand,
                 fish_argument({.files = tool.files}));
  return out;
}

}  // namespace mir::tools
