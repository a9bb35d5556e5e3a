#include "option_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mir::tools {

namespace {

/// `text` with each of `characters` behind `mark`.
std::string escaped(std::string_view text, std::string_view characters, std::string_view mark) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != characters.npos) out += mark;
    out += c;
  }
  return out;
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

std::string roff_head(const Option& option) {
  std::string head = option.letter != '\0' ? fmt::format("\\fB\\-{}\\fR, ", option.letter) : "";
  head += fmt::format("\\fB\\-\\-{}\\fR", roff(option.name));
  if (!option.argument.empty()) head += fmt::format("=\\fI{}\\fR", roff(option.argument));
  return head;
}

constexpr std::string_view kExitStatus = R"(.SH EXIT STATUS
.TP
0
success
.TP
1
findings: an error in the input, a difference, a failed expectation, a refusal to run
.TP
2
the command line is not understood
.TP
3
a file cannot be read or written
.TP
4
a resource limit was hit
.TP
70
a defect of the tool itself
.PP
With several files the worst wins.
)";

/// The name of a shell function for a tool.
std::string function_of(std::string_view tool) {
  std::string name = fmt::format("_{}", tool);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// What a completion offers for the argument of `option`, in zsh's words.
std::string zsh_action(const Option& option) {
  if (!option.choices.empty()) return fmt::format("({})", option.choices);
  if (option.argument.find("FOLDER") != std::string_view::npos) return "_files -/";
  const bool free = option.argument.find("FILE") == std::string_view::npos &&
                    option.argument.find("SPEC") == std::string_view::npos;
  return free ? " " : "_files";
}

/// A description for zsh: in brackets, in single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : escaped(text, "[]\\", "\\")) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

std::string zsh_row(const Option& option) {
  std::string names = fmt::format("--{}", option.name);
  const bool takes_value = !option.argument.empty();
  if (takes_value) names += '=';
  std::string tail = fmt::format("[{}]", zsh_text(option.help));
  if (takes_value) {
    tail += fmt::format(":{}:{}", escaped(option.argument, ":[]", "\\"), zsh_action(option));
  }
  if (option.letter == '\0') {
    return fmt::format("'{}{}{}'", option.repeatable ? "*" : "", names, tail);
  }
  const std::string both =
      fmt::format("{{-{}{},{}}}", option.letter, takes_value ? "+" : "", names);
  if (option.repeatable) return fmt::format("'*'{}'{}'", both, tail);
  return fmt::format("'(-{0} --{1})'{2}'{3}'", option.letter, option.name, both, tail);
}

}  // namespace

std::string manual_page(const ToolInfo& tool, std::string_view version) {
  std::string title(tool.name);
  std::ranges::transform(title, title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  std::string summary(tool.summary.substr(0, tool.summary.find_last_not_of('.') + 1));
  std::string out =
      fmt::format(".TH \"{}\" 1 \"\" \"mllm\\-ir {}\" \"User Commands\"\n", roff(title), version);
  auto line = std::back_inserter(out);
  fmt::format_to(line, ".SH NAME\n{} \\- {}\n", roff(tool.name), roff(summary));
  fmt::format_to(line, ".SH SYNOPSIS\n\\fB{}\\fR [options] {}\n", roff(tool.name),
                 roff(tool.operands));
  out += ".SH OPTIONS\n";
  for (const Option& option : all_options(tool)) {
    fmt::format_to(line, ".TP\n{}\n{}\n", roff_head(option), roff(option.help));
  }
  out += kExitStatus;
  out += ".SH EXAMPLES\n";
  for (const Example& example : tool.examples) {
    fmt::format_to(line, ".TP\n\\fB{}\\fR\n{}\n", roff(example.command), roff(example.meaning));
  }
  return out;
}

std::string bash_completion(const ToolInfo& tool) {
  const std::string function = function_of(tool.name);
  std::string out = fmt::format("# Completion of {} for bash.\n{}() {{\n", tool.name, function);
  auto line = std::back_inserter(out);
  // Bash makes a word of each '=' of a line.
  out += R"(  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $option == '=' ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $word == '=' ]]; then word=; fi
  COMPREPLY=()
  case $option in
)";
  std::string names;
  for (const Option& option : all_options(tool)) {
    fmt::format_to(std::back_inserter(names), " --{}{}", option.name,
                   option.argument.empty() ? "" : "=");
    if (option.letter != '\0') fmt::format_to(std::back_inserter(names), " -{}", option.letter);
    if (option.choices.empty()) continue;
    fmt::format_to(line, "    --{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                   option.name, option.choices);
  }
  fmt::format_to(line, R"(  esac
  if [[ $word != -* ]]; then return; fi
  COMPREPLY=($(compgen -W '{}' -- "$word"))
  if [[ ${{COMPREPLY-}} == *= ]]; then compopt -o nospace; fi
}}
complete -o default -F {} {}
)",
                 names.substr(1), function, tool.name);
  return out;
}

std::string zsh_completion(const ToolInfo& tool) {
  std::string out = fmt::format("#compdef {}\n_arguments -s -S \\\n", tool.name);
  for (const Option& option : all_options(tool)) {
    fmt::format_to(std::back_inserter(out), "  {} \\\n", zsh_row(option));
  }
  return out + "  '*:file:_files'\n";
}

}  // namespace mir::tools
