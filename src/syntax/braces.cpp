// Pairs the braces of texts, and finds by their layout the one that has no pair.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "syntax/damage.hpp"

namespace mir {

namespace {

/// Calls `visit(at)` for each brace of a text that is in no string and no comment.
template <class Visit>
void for_each_brace(std::string_view text, const Visit& visit) {
  // Searches for single characters are fast, and few of a large text are one of these.
  constexpr std::string_view kKinds = "{}\"/";
  std::array<std::size_t, kKinds.size()> next{};
  for (std::size_t at = 0;; ++at) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (next[i] <= at) next[i] = std::min(text.find(kKinds[i], at), text.size());
    }
    at = *std::ranges::min_element(next);
    if (at == text.size()) return;
    if (text[at] == '{' || text[at] == '}') visit(at);
    if (text.substr(at, 2) == "//") at = std::min(text.find('\n', at), text.size());
    if (at < text.size() && text[at] == '"') {
      at = std::min(text.find_first_of("\"\\\n", at + 1), text.size());
      while (at < text.size() && text[at] == '\\') {
        at = std::min(text.find_first_of("\"\\\n", at + 2), text.size());
      }
    }
  }
}

}  // namespace

std::int64_t unclosed_braces(std::string_view text) {
  std::int64_t depth = 0;
  for_each_brace(text, [&](std::size_t at) { depth += text[at] == '{' ? 1 : -1; });
  return depth;
}

bool closes_at_indents(std::string_view text, std::size_t skipped) {
  std::vector<std::size_t> indents;  // of the lines of open braces
  bool agrees = true;
  // Braces come in order, so each stretch of the text is searched once for its last line.
  std::size_t searched = 0, begin = 0, indent = text.find_first_not_of(" \t");
  for_each_brace(text, [&](std::size_t at) {
    if (at == skipped) return;
    const std::size_t line = text.substr(searched, at - searched).rfind('\n');
    if (line != text.npos) {
      begin = searched + line + 1;
      indent = text.find_first_not_of(" \t", begin) - begin;
    }
    searched = at;
    if (text[at] == '{') {
      agrees = agrees && indent != at - begin;
      return indents.push_back(indent);
    }
    agrees = agrees && !indents.empty() && (indent != at - begin || indent == indents.back());
    if (!indents.empty()) indents.pop_back();
  });
  return agrees;
}

namespace {

constexpr std::string_view kBlanks = " \t\r";

/// A line without its indent, comment and trailing blanks.
struct Line {
  std::size_t indent = 0;
  std::size_t end = 0;  ///< of its words, in the text
  std::string_view words;
};

std::size_t comment_of(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line.substr(at, 2) == "//") return at;
    if (line[at] != '"') continue;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') ++at;
    }
  }
  return line.size();
}

Line line_at(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  line = line.substr(0, comment_of(line));
  line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
  const std::size_t indent = std::min(line.find_first_not_of(kBlanks), line.size());
  return {indent, begin + line.size(), line.substr(indent)};
}

/// True if the words can begin an item of a body, or end the body.
bool can_follow_brace(std::string_view words) {
  const char first = words.front();
  return first == '(' || first == '^' || first == '}' || first == '.' || is_letter(first);
}

/// True if only a body can follow the words: a signature without an op, or the head of a module.
bool needs_body(std::string_view words) {
  return words.front() == '(' || words.front() == '@';
}

/// Finds the only brace without a pair, reading a text line by line: lines of a body are deeper
/// than the line of its opening brace, and a closing brace has the indent of that line.
class BracePairs {
 public:
  BracePairs(std::string_view text, char missing) : text_(text), missing_(missing) {}

  std::optional<MissingBrace> run() {
    for (std::size_t begin = 0; begin < text_.size() && agrees_;) {
      const Line line = line_at(text_, begin);
      if (!line.words.empty()) read(line, begin);
      begin = std::min(text_.find('\n', line.end), text_.size() - 1) + 1;
    }
    return agrees_ && open_.empty() ? found_ : std::nullopt;
  }

 private:
  struct Open {
    std::size_t at;
    std::size_t indent;     // of its line
    std::size_t next_line;  // where the next line begins
    std::string_view words;
  };

  void read(const Line& line, std::size_t begin) {
    const bool closes = line.words.front() == '}';
    if (missing_ == '}' && !open_.empty() && line.words.front() != '^') {
      const std::size_t outer = open_.back().indent;
      if (closes ? line.indent < outer : line.indent <= outer) close_above(line);
    }
    if (closes) close(line, begin);
    const bool opens = line.words.back() == '{';
    std::int64_t depth = 0;  // of braces that the line opens itself, such as those of dictionaries
    for_each_brace(line.words, [&](std::size_t at) {
      const bool is_body = (closes && at == 0) || (opens && at + 1 == line.words.size());
      if (!is_body) depth += line.words[at] == '{' ? 1 : -1;
      agrees_ = agrees_ && depth >= 0;
    });
    agrees_ = agrees_ && depth == 0 && line.words != "{";
    if (opens) {
      open_.push_back({begin + line.indent + line.words.size() - 1, line.indent,
                       std::min(line.end + 1, text_.size()), line.words});
    }
    last_end_ = line.end;
  }

  void close(const Line& line, std::size_t begin) {
    if (!open_.empty() && open_.back().indent == line.indent) {
      open_.pop_back();
    } else if (open_.empty() || open_.back().indent < line.indent) {
      open_above(begin, line.indent);
    } else {
      agrees_ = false;
    }
  }

  /// The innermost body is not closed and ends above the line, unless the line is its head again: a
  /// symbol is declared once.
  void close_above(const Line& line) {
    const bool is_head_again =
        line.words == open_.back().words && line.words.find('@') != line.words.npos;
    agrees_ = agrees_ && !found_ && !is_head_again;
    found_ = MissingBrace{'}', last_end_, open_.back().at};
    open_.pop_back();
  }

  /// The head of the body that a closing brace ends is the last line above with the indent of the
  /// brace, where only deeper lines are between.
  void open_above(std::size_t brace_line, std::size_t indent) {
    const bool is_first = missing_ == '{' && !found_;
    const std::size_t from = open_.empty() ? 0 : open_.back().next_line;
    std::string_view below;  // words of the line below the one at hand
    for (std::size_t begin = brace_line; is_first && begin > from;) {
      const std::size_t before = begin < 2 ? text_.npos : text_.rfind('\n', begin - 2);
      begin = before == text_.npos ? 0 : before + 1;
      const Line line = line_at(text_, begin);
      if (line.words.empty()) continue;
      if (line.indent <= indent && line.words.front() != '^') {
        if (line.indent == indent && is_head(line.words, below)) {
          found_ = MissingBrace{'{', line.end, std::nullopt};
          return;
        }
        break;
      }
      below = line.words;
    }
    agrees_ = false;
  }

  static bool is_head(std::string_view words, std::string_view below) {
    const char first = words.front();
    const bool is_op = first == '.' || is_letter(first);
    if (!is_op && !needs_body(words)) return false;
    if (std::string_view(",({:").find(words.back()) != words.npos) return false;
    if (below.empty()) return needs_body(words);
    // An op with results has a body only for regions, which begin with signatures.
    const bool has_results = is_op && words.find("->") != words.npos;
    return has_results ? below.front() == '(' : can_follow_brace(below);
  }

  std::string_view text_;
  char missing_;
  std::vector<Open> open_;
  std::optional<MissingBrace> found_;
  std::size_t last_end_ = 0;  // of the words of the line before
  bool agrees_ = true;
};

/// Returns the number of opening braces less that of closing ones, those in strings and comments
/// included.
std::int64_t brace_difference(std::string_view text) {
  // The sums of 127 blocks fit bytes. Compilers make vector code of a loop of constant length.
  constexpr std::size_t kBlock = 64, kStretch = 127 * kBlock;
  std::int64_t difference = 0;
  while (!text.empty()) {
    std::string_view stretch = text.substr(0, kStretch);
    text.remove_prefix(stretch.size());
    std::array<std::int8_t, kBlock> sums{};
    for (; stretch.size() >= kBlock; stretch.remove_prefix(kBlock)) {
      const char* const at = stretch.data();
      for (std::size_t i = 0; i < kBlock; ++i) {
        sums[i] = static_cast<std::int8_t>(sums[i] + (at[i] == '{') - (at[i] == '}'));
      }
    }
    for (const std::int8_t sum : sums) difference += sum;
    difference += std::ranges::count(stretch, '{') - std::ranges::count(stretch, '}');
  }
  return difference;
}

}  // namespace

std::optional<MissingBrace> missing_brace(std::string_view text) {
  // Nearly all texts have as many braces of both kinds, and counting is faster than pairing.
  if (brace_difference(text) == 0) return std::nullopt;
  const std::int64_t unclosed = unclosed_braces(text);
  if (unclosed != 1 && unclosed != -1) return std::nullopt;
  return BracePairs(text, unclosed == 1 ? '}' : '{').run();
}

}  // namespace mir
