// Parses patterns with `{{regex}}` and `[[VARIABLE]]` parts and compiles them.
#include "pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/checks.hpp"
#include "support/characters.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kBracketHint =
    "brackets that belong to the text are written {{\\[\\[}}, or the line begins with "
    "CHECK{LITERAL}:";

bool is_name(std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  return is_identifier(text);
}

/// The expression of literal text: a run of blanks matches any other.
std::string text_expression(std::string_view text) {
  std::string expression;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find_first_of(kBlanks));
    expression += quoted_regex(word);
    text.remove_prefix(word.size());
    const auto blanks = std::min(text.find_first_not_of(kBlanks), text.size());
    if (blanks != 0) expression += "[ \\t]+";
    text.remove_prefix(blanks);
  }
  return expression;
}

/// Returns the position of the `]]` that ends a variable; brackets of its expression may come
/// before it.
std::size_t end_of_variable(std::string_view text) {
  std::size_t open = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (open == 0 && text.substr(at).starts_with("]]")) {
      return at;
    } else if (text[at] == '[') {
      ++open;
    } else if (text[at] == ']' && open != 0) {
      --open;
    }
  }
  return text.npos;
}

/// Returns the position of the `}}` that ends an expression: as late as possible, as in `{{a{2}}}`.
std::size_t end_of_regex(std::string_view text) {
  auto end = text.find("}}");
  while (end != text.npos && text.substr(end + 1).starts_with("}}")) ++end;
  return end;
}

}  // namespace

/// Takes a text apart, once.
class CheckPattern::Reader {
 public:
  Reader(const SourceFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  std::optional<CheckPattern> read(std::string_view text) {
    CheckPattern pattern;
    while (!text.empty()) {
      const auto special = std::min({text.find("{{"), text.find("[["), text.size()});
      if (special != 0) pattern.parts_.push_back({PartKind::kText, text.substr(0, special), {}});
      text.remove_prefix(special);
      if (text.empty()) break;
      const auto part = text.starts_with("{{") ? regex(text) : variable(text);
      if (!part) return std::nullopt;
      pattern.parts_.push_back(*part);
    }
    return pattern;
  }

 private:
  std::nullopt_t refuse(std::string_view at, std::string message, std::string hint = "") {
    const SourcePos begin = file_.position_of(at.data());
    diagnostics_
        .error(diag::kCheckMalformed, {begin, begin + static_cast<SourcePos>(at.size())},
               std::move(message))
        .hint = std::move(hint);
    return std::nullopt;
  }

  bool is_sound(std::string_view expression, std::string_view whole) {
    const auto compiled = Regex::compile(expression);
    if (compiled) return true;
    refuse(whole,
           fmt::format("the regular expression cannot be read: {}", compiled.error().message));
    return false;
  }

  /// Takes `{{...}}` off `text`.
  std::optional<Part> regex(std::string_view& text) {
    const auto end = end_of_regex(text.substr(2));
    if (end == text.npos) return refuse(text, "'{{' is not closed by '}}'");
    const std::string_view expression = text.substr(2, end), whole = text.substr(0, end + 4);
    if (!is_sound(expression, whole)) return std::nullopt;
    text.remove_prefix(whole.size());
    return Part{PartKind::kRegex, expression, {}};
  }

  /// Takes `[[NAME:...]]` or `[[NAME]]` off `text`.
  std::optional<Part> variable(std::string_view& text) {
    const auto end = end_of_variable(text.substr(2));
    if (end == text.npos)
      return refuse(text, "'[[' is not closed by ']]'", std::string(kBracketHint));
    const std::string_view inner = text.substr(2, end), whole = text.substr(0, end + 4);
    const auto colon = inner.find(':');
    const std::string_view name = inner.substr(0, colon);
    if (!is_name(name)) {
      return refuse(whole, fmt::format("expected the name of a variable, found '{}'", name),
                    std::string(kBracketHint));
    }
    text.remove_prefix(whole.size());
    if (colon == inner.npos) return Part{PartKind::kUse, {}, name};
    const std::string_view expression = inner.substr(colon + 1);
    if (std::ranges::find(defined_, name) != defined_.end()) {
      return refuse(whole, fmt::format("the line defines the variable '{}' twice", name));
    }
    if (!is_sound(expression, whole)) return std::nullopt;
    defined_.push_back(name);
    return Part{PartKind::kDefinition, expression, name};
  }

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> defined_;
};

std::optional<CheckPattern> CheckPattern::parse(const SourceFile& file, std::string_view text,
                                                Syntax syntax, Diagnostics& diagnostics) {
  if (syntax == Syntax::kFull) return Reader(file, diagnostics).read(text);
  CheckPattern pattern;
  pattern.parts_.push_back({PartKind::kText, text, {}});
  return pattern;
}

std::vector<CheckPattern::Mention> CheckPattern::mentions(const SourceFile& file) const {
  std::vector<Mention> list;
  for (const Part& part : parts_) {
    if (part.name.empty()) continue;
    const SourcePos begin = file.position_of(part.name.data());
    list.push_back({part.name,
                    {begin, begin + static_cast<SourcePos>(part.name.size())},
                    part.kind == PartKind::kDefinition});
  }
  return list;
}

std::vector<std::string_view> CheckPattern::used_names() const {
  std::vector<std::string_view> seen, used;
  for (const Part& part : parts_) {
    if (part.name.empty() || std::ranges::find(seen, part.name) != seen.end()) continue;
    seen.push_back(part.name);
    if (part.kind == PartKind::kUse) used.push_back(part.name);
  }
  return used;
}

std::string CheckPattern::plain_text() const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.kind == PartKind::kText) text += part.text;
  }
  return text;
}

Result<BoundPattern> BoundPattern::create(const CheckPattern& pattern,
                                          const CheckVariables& variables) {
  using Kind = CheckPattern::PartKind;
  std::string expression;
  std::vector<std::string_view> defined;  // the group of name i is called `vi`
  for (const auto& part : pattern.parts_) {
    if (part.kind == Kind::kText) expression += text_expression(part.text);
    if (part.kind == Kind::kRegex) expression += fmt::format("(?:{})", part.text);
    const auto known = std::ranges::find(defined, part.name);
    const auto number = static_cast<std::size_t>(known - defined.begin());
    if (part.kind == Kind::kDefinition && known == defined.end()) {
      defined.push_back(part.name);
      expression += fmt::format("(?<v{}>{})", number, part.text);
    } else if (part.kind == Kind::kUse && known == defined.end()) {
      const auto value = variables.find(part.name);
      if (value != variables.end()) expression += quoted_regex(value->second);
    } else if (!part.name.empty()) {
      expression += fmt::format("\\k<v{}>", number);
    }
  }
  auto regex = Regex::compile(expression);
  if (!regex) {
    return Error{regex.error().code,
                 fmt::format("the text cannot be searched for: {}", regex.error().message)};
  }
  BoundPattern bound(std::move(*regex));
  for (std::size_t i = 0; i < defined.size(); ++i) {
    bound.definitions_.emplace_back(defined[i], bound.regex_.group_number(fmt::format("v{}", i)));
  }
  return bound;
}

void BoundPattern::define(const Regex::Match& match, std::string_view line,
                          CheckVariables& variables) const {
  for (const auto& [name, group] : definitions_) {
    // A trailing group that took no part in the match is not in the list.
    const ByteRange range = group < match.groups.size() ? match.groups[group] : ByteRange{};
    variables[name] = line.substr(range.begin, range.end - range.begin);
  }
}

}  // namespace mir::tools
