// Parses `RUN`, `EXIT` and check lines of test texts.
#include "directives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "line_text.hpp"
#include "mir/codes/checks.hpp"
#include "support/characters.hpp"
#include "support/suggest.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kLiteral = "{LITERAL}";
constexpr std::string_view kEmptyLine = "{{^$}}";
constexpr std::uint32_t kMaxCount = 1'000'000;

struct Suffix {
  std::string_view word;
  CheckKind kind;
};

constexpr Suffix kSuffixes[] = {
    {"", CheckKind::kPlain},       {"-NEXT", CheckKind::kNext}, {"-SAME", CheckKind::kSame},
    {"-EMPTY", CheckKind::kEmpty}, {"-NOT", CheckKind::kNot},   {"-DAG", CheckKind::kDag},
    {"-LABEL", CheckKind::kLabel},
};
constexpr std::string_view kCountSuffix = "-COUNT-";
// They would change how a case is judged.
constexpr std::string_view kDirectivesOfLit[] = {"XFAIL",         "REQUIRES", "UNSUPPORTED",
                                                 "ALLOW_RETRIES", "DEFINE",   "REDEFINE"};

/// `// WORD: text` taken apart; without a colon after the word `text` has no data.
struct DirectiveLine {
  std::string_view word;
  std::string_view text;
  /// All between the slashes and the first colon, such as `CHECK NEXT `; no data without a colon.
  std::string_view spelling;
  bool has_more_slashes = false;
};

/// Returns no value for a line that is not a comment.
std::optional<DirectiveLine> split_line(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with("//")) return std::nullopt;
  const auto slashes = std::min(line.find_first_not_of('/'), line.size());
  line = without_blanks(line.substr(slashes));
  const auto end = std::min(line.find_first_of(": \t"), line.size());
  DirectiveLine result{line.substr(0, end), {}, {}, slashes > 2};
  if (const auto colon = line.find(':'); colon != line.npos) {
    result.spelling = line.substr(0, colon);
  }
  // An empty text still has its place.
  if (line.substr(end).starts_with(':')) result.text = without_blanks(line.substr(end + 1));
  if (line.substr(end).starts_with(':') && result.text.empty())
    result.text = line.substr(end + 1, 0);
  return result;
}

/// True if a spelling that is not `name` was certainly meant to be it. Prose before a colon has at
/// most one capital, so that only words with more of them are corrected.
bool is_near_miss(std::string_view spelling, std::string_view name) {
  const auto is_plain = [](char c) { return is_name_character(c, "-_./ \t"); };
  if (spelling == name || !std::ranges::all_of(spelling, is_plain)) return false;
  const std::string found = squashed(spelling), wanted = squashed(name);
  if (found == wanted) return true;
  const auto capitals =
      std::ranges::count_if(spelling, [](char c) { return c >= 'A' && c <= 'Z'; });
  return capitals > 1 && (found == wanted + "s" || is_certain_slip(found, wanted));
}

/// Prefixes that options of the file's commands name.
CheckPrefixes named_prefixes(std::string_view text) {
  constexpr std::string_view kOption = "--check-prefix";
  CheckPrefixes named;
  for (auto at = text.find(kOption); at != text.npos; at = text.find(kOption)) {
    text.remove_prefix(at + kOption.size());
    std::string_view list = text.substr(text.starts_with("es") ? 2 : 0);
    if (!list.starts_with('=')) continue;
    list = list.substr(1, list.find_first_of(" \t\r\n|;'\"", 1) - 1);
    while (!list.empty()) {
      const auto comma = std::min(list.find(','), list.size());
      named.emplace_back(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  return named;
}

/// Returns the rest of `word` after the longest prefix that it begins with; no value if there is
/// none, or if the word goes on as another word.
std::optional<std::string_view> after_prefix(std::string_view word, const CheckPrefixes& prefixes) {
  std::optional<std::string_view> rest;
  for (const std::string& prefix : prefixes) {
    if (!word.starts_with(prefix)) continue;
    const std::string_view after = word.substr(prefix.size());
    const bool ends =
        after.empty() || after.front() == '-' || after.front() == '_' || after.front() == '{';
    if (ends && (!rest || after.size() < rest->size())) rest = after;
  }
  return rest;
}

/// Reports errors of lines of one file.
class Refusals {
 public:
  Refusals(const SourceFile& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  Span span_of(std::string_view text) const {
    const SourcePos begin = file_.position_of(text.data());
    return {begin, begin + static_cast<SourcePos>(text.size())};
  }
  Diagnostic& add(std::string_view at, std::string message) {
    return diagnostics_.error(diag::kCheckMalformed, span_of(at), std::move(message));
  }

 private:
  const SourceFile& file_;
  Diagnostics& diagnostics_;
};

/// Refuses a line that is nearly the directive `name`. Such a line would be a comment, and the case
/// would pass without it.
bool refuses_near_miss(const DirectiveLine& line, std::string_view name, Refusals& refusals) {
  if (line.has_more_slashes && line.spelling == name) {
    refusals.add(line.spelling, fmt::format("expected '// {}:', found more slashes", name));
    return true;
  }
  if (!is_near_miss(line.spelling, name)) return false;
  const std::string_view spelling = without_blanks(line.spelling);
  if (spelling == name) {
    refusals.add(spelling, fmt::format("expected ':' right after '{}'", name));
  } else {
    refusals.add(spelling, fmt::format("no directive is called '{}'", spelling)).hint =
        fmt::format("did you mean '{}'?", name);
  }
  return true;
}

/// Calls `take` with each line that is a comment of one word with or without a colon.
template <class Take>
void for_each_directive(const SourceFile& file, Take take) {
  std::string_view rest = file.text();
  while (!rest.empty()) {
    if (const auto line = split_line(take_line(rest))) take(*line);
  }
}

class CommandReader {
 public:
  CommandReader(const SourceFile& file, std::span<const TestCommand> inherited,
                Diagnostics& diagnostics)
      : refusals_(file, diagnostics), commands_(inherited.begin(), inherited.end()) {}

  void take(const DirectiveLine& line) {
    for (const std::string_view name : {"RUN", "EXIT"}) {
      if (refuses_near_miss(line, name, refusals_)) return;
    }
    for (const std::string_view name : kDirectivesOfLit) {
      if (line.spelling != name && line.spelling != fmt::format("{}S", name)) continue;
      refusals_
          .add(line.word, fmt::format("'{}' is a directive of lit that does not work here", name))
          .hint = "'EXIT' states the status of a command that fails";
      return;
    }
    if (line.text.data() == nullptr || line.has_more_slashes) return;
    if (line.word == "RUN") add_command(line);
    if (line.word == "EXIT") add_status(line);
  }
  std::vector<TestCommand> commands() && { return std::move(commands_); }

 private:
  void refuse_lonely_status(std::string_view word) {
    refusals_.add(word, "'EXIT' is the status of the 'RUN' line above it, found none");
  }

  void add_command(const DirectiveLine& line) {
    if (line.text.empty()) {
      refusals_.add(line.word, "expected a command after 'RUN:'");
      return;
    }
    if (line.text.find('\0') != line.text.npos) {
      refusals_.add(line.text, "a command has no NUL byte: it would end there");
      return;
    }
    if (!has_own_) {
      if (inherited_status_) refuse_lonely_status(*inherited_status_);
      commands_.clear();
    }
    has_own_ = true;
    commands_.push_back({line.text, 0, refusals_.span_of(line.text)});
  }

  void add_status(const DirectiveLine& line) {
    if (commands_.empty()) return refuse_lonely_status(line.word);
    if (!has_own_) inherited_status_ = line.word;
    int status = 0;
    const char* end = line.text.data() + line.text.size();
    const auto [stop, error] = std::from_chars(line.text.data(), end, status);
    if (error == std::errc() && stop == end && status >= 0 && status <= 255) {
      commands_.back().exit_status = status;
      return;
    }
    refusals_.add(line.text.empty() ? line.word : line.text,
                  fmt::format("an exit status is a number from 0 to 255, found '{}'", line.text));
  }

  Refusals refusals_;
  std::vector<TestCommand> commands_;
  bool has_own_ = false;
  std::optional<std::string_view> inherited_status_;  // the word of an EXIT above any RUN line
};

class CheckReader {
 public:
  CheckReader(const SourceFile& file, const CheckPrefixes& prefixes, Diagnostics& diagnostics)
      : file_(file),
        prefixes_(prefixes),
        others_(named_prefixes(file.text())),
        diagnostics_(diagnostics),
        refusals_(file, diagnostics) {}

  void take(const DirectiveLine& line) {
    if (refuses_near_check(line)) return;
    const auto suffix = after_prefix(line.word, prefixes_);
    if (!suffix || line.has_more_slashes) return;
    if (line.text.data() != nullptr) return add_check(line, *suffix);
    // A word alone may be prose.
    if (!suffix->empty())
      refusals_.add(line.word, fmt::format("expected ':' after '{}'", line.word));
  }
  std::vector<Check> checks() && { return std::move(checks_); }

 private:
  bool refuses_near_check(const DirectiveLine& line) {
    // Lines that begin with a prefix are read, and refused if they are not checks. A longer prefix
    // of another command is no slip.
    const bool is_read = line.text.data() != nullptr && after_prefix(line.word, prefixes_);
    if ((is_read && !line.has_more_slashes) || is_check_of_others(line.word)) return false;
    DirectiveLine plain = line;  // without `{LITERAL}`
    plain.spelling = line.spelling.substr(0, line.spelling.find('{'));
    DirectiveLine counted = plain;  // without a count
    const auto last = plain.spelling.find_last_not_of("0123456789-_ \t");
    counted.spelling = plain.spelling.substr(0, last + 1);
    for (const std::string& prefix : prefixes_) {
      for (const Suffix& each : kSuffixes) {
        const std::string name = fmt::format("{}{}", prefix, each.word);
        if (refuses_near_miss(plain, name, refusals_)) return true;
      }
      const std::string name =
          prefix + std::string(kCountSuffix.substr(0, kCountSuffix.size() - 1));
      if (refuses_near_miss(counted, name, refusals_)) return true;
    }
    return false;
  }

  bool is_check_of_others(std::string_view word) const {
    return std::ranges::any_of(others_, [&](const std::string& other) {
      return std::ranges::find(prefixes_, other) == prefixes_.end() &&
             after_prefix(word, {other}).has_value();
    });
  }

  void add_check(const DirectiveLine& line, std::string_view suffix) {
    Check check;
    check.keyword = line.word;
    check.prefix = line.word.substr(0, line.word.size() - suffix.size());
    check.at = refusals_.span_of(line.text.empty() ? line.word : line.text);
    const bool literal = suffix.ends_with(kLiteral);
    if (literal) suffix.remove_suffix(kLiteral.size());
    if (!read_kind(suffix, line.word, check) || !has_fitting_text(line, check.kind)) return;
    auto pattern = CheckPattern::parse(
        file_, check.kind == CheckKind::kEmpty ? kEmptyLine : line.text,
        literal ? CheckPattern::Syntax::kLiteral : CheckPattern::Syntax::kFull, diagnostics_);
    if (!pattern) return;
    check.pattern = std::move(*pattern);
    if (!follows_a_match(check) || !uses_known_variables(check)) return;
    checks_.push_back(std::move(check));
  }

  bool read_kind(std::string_view suffix, std::string_view word, Check& check) {
    const auto known = std::ranges::find(kSuffixes, suffix, &Suffix::word);
    if (known != std::end(kSuffixes)) {
      check.kind = known->kind;
      return true;
    }
    if (suffix.starts_with(kCountSuffix))
      return read_count(suffix.substr(kCountSuffix.size()), word, check);
    NearestName nearest(suffix);
    for (const Suffix& each : kSuffixes) nearest.offer(each.word);
    const std::string_view prefix = word.substr(0, word.find(suffix));
    refusals_.add(word, fmt::format("no check is called '{}'", word)).hint =
        nearest.best().empty()
            ? fmt::format(
                  "checks are {0}, {0}-NEXT, {0}-SAME, {0}-EMPTY, {0}-NOT, {0}-DAG, "
                  "{0}-LABEL and {0}-COUNT-n",
                  prefix)
            : fmt::format("did you mean '{}{}'?", prefix, nearest.best());
    return false;
  }

  bool read_count(std::string_view number, std::string_view word, Check& check) {
    check.kind = CheckKind::kCount;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, check.count);
    const bool good =
        error == std::errc() && stop == end && check.count != 0 && check.count <= kMaxCount;
    if (!good) {
      refusals_.add(word,
                    fmt::format("a count is a number from 1 to {}, found '{}'", kMaxCount, number));
    }
    return good;
  }

  bool has_fitting_text(const DirectiveLine& line, CheckKind kind) {
    if (line.text.empty() == (kind == CheckKind::kEmpty)) return true;
    if (line.text.empty()) {
      refusals_.add(line.word, fmt::format("expected a text after '{}:'", line.word));
    } else {
      refusals_.add(line.text, fmt::format("'{}' takes no text", line.word));
    }
    return false;
  }

  /// Refuses a check that is relative to the line of the last match if there is no match before it.
  bool follows_a_match(const Check& check) {
    const bool relative = check.kind == CheckKind::kNext || check.kind == CheckKind::kSame ||
                          check.kind == CheckKind::kEmpty;
    if (relative && !has_match_) {
      refusals_.add(
          check.keyword,
          fmt::format("'{}' goes on from a match, and no check above it makes one", check.keyword));
      return false;
    }
    if (check.kind != CheckKind::kNot) has_match_ = true;
    return true;
  }

  bool uses_known_variables(const Check& check) {
    const auto mentions = check.pattern.mentions(file_);
    if (check.kind == CheckKind::kLabel && !mentions.empty()) {
      diagnostics_.error(diag::kCheckMalformed, mentions.front().at,
                         "a label has no variables: it is looked for before all other checks");
      return false;
    }
    std::set<std::string_view> own;  // what a forbidden text defines is its own
    for (const CheckPattern::Mention& each : mentions) {
      if (each.defines) {
        (check.kind == CheckKind::kNot ? own : defined_).insert(each.name);
      } else if (!defined_.contains(each.name) && !own.contains(each.name)) {
        refuse_variable(each);
        return false;
      }
    }
    return true;
  }

  void refuse_variable(const CheckPattern::Mention& mention) {
    NearestName nearest(mention.name);
    for (const std::string_view each : defined_) nearest.offer(each);
    suggest(
        diagnostics_.error(diag::kCheckMalformed, mention.at,
                           fmt::format("no check above defines the variable '{}'", mention.name)),
        nearest.best());
  }

  const SourceFile& file_;
  const CheckPrefixes& prefixes_;
  const CheckPrefixes others_;  // that commands of the file name
  Diagnostics& diagnostics_;
  Refusals refusals_;
  std::vector<Check> checks_;
  bool has_match_ = false;
  std::set<std::string_view> defined_;
};

}  // namespace

bool is_check_prefix(std::string_view word) {
  const auto is_part = [](char c) { return is_name_character(c, "_-"); };
  return !word.empty() && std::ranges::all_of(word, is_part) && word != "RUN" && word != "EXIT";
}

std::vector<TestCommand> read_commands(const SourceFile& file,
                                       std::span<const TestCommand> inherited,
                                       Diagnostics& diagnostics) {
  CommandReader reader(file, inherited, diagnostics);
  for_each_directive(file, [&](const DirectiveLine& line) { reader.take(line); });
  return std::move(reader).commands();
}

std::vector<Check> read_checks(const SourceFile& file, const CheckPrefixes& prefixes,
                               Diagnostics& diagnostics) {
  CheckReader reader(file, prefixes, diagnostics);
  for_each_directive(file, [&](const DirectiveLine& line) { reader.take(line); });
  return std::move(reader).checks();
}

CheckPrefixes unused_prefixes(const CheckPrefixes& prefixes, std::span<const Check> checks) {
  CheckPrefixes unused;
  for (const std::string& prefix : prefixes) {
    const bool is_used = std::ranges::find(checks, prefix, &Check::prefix) != checks.end();
    if (!is_used) unused.push_back(prefix);
  }
  return unused;
}

bool is_directive(std::string_view line, const CheckPrefixes& prefixes) {
  const auto parts = split_line(line);
  if (!parts || parts->text.data() == nullptr) return false;
  constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-{}";
  const bool in_capitals =
      !parts->word.empty() && parts->word.find_first_not_of(kCapitals) == std::string_view::npos;
  return in_capitals || after_prefix(parts->word, prefixes);
}

}  // namespace mir::tools
