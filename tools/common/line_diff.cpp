// Computes and prints unified diffs.
#include "line_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/alignment.hpp"
#include "support/terminal_text.hpp"

namespace mir::tools {

namespace {

using TextLines = std::vector<std::string_view>;

constexpr std::ptrdiff_t kContext = 3;

/// Lines with their line ends.
TextLines split(std::string_view text) {
  TextLines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

using Match = AlignedPair;

/// Equal lines of both texts, in order.
std::vector<Match> match(const TextLines& before, const TextLines& after) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  const auto ids_of = [&](const TextLines& lines) {
    std::vector<std::uint32_t> ids;
    for (const std::string_view line : lines) {
      ids.push_back(known.emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
    }
    return ids;
  };
  const auto before_ids = ids_of(before), after_ids = ids_of(after);
  return align(before_ids, after_ids);
}

// -- output ---------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const TextLines& before, const TextLines& after, bool colour)
      : before_(before), after_(after), colour_(colour) {}

  void names(std::string_view before, std::string_view after) {
    styled("\x1b[1m", fmt::format("--- {}\n", visible(before)));
    styled("\x1b[1m", fmt::format("+++ {}\n", visible(after)));
  }

  /// The hunk that holds the differences between the matches `first` and `last` (exclusive ends of
  /// its lines are given) with their context.
  void hunk(Match begin, Match end, const std::vector<Match>& matches, std::size_t next) {
    styled("\x1b[36m", fmt::format("@@ -{} +{} @@\n", range(begin.before, end.before),
                                   range(begin.after, end.after)));
    Match at = begin;
    for (;; ++next) {
      const bool more = next < matches.size() && matches[next].before < end.before &&
                        matches[next].after < end.after;
      const Match until = more ? matches[next] : end;
      for (; at.before < until.before; ++at.before) line("\x1b[31m", '-', before_[at.before]);
      for (; at.after < until.after; ++at.after) line("\x1b[32m", '+', after_[at.after]);
      if (!more) return;
      line("", ' ', before_[at.before]);
      ++at.before;
      ++at.after;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string range(std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::ptrdiff_t count = end - begin;
    // An empty range names the line before it.
    return fmt::format("{},{}", count == 0 ? begin : begin + 1, count);
  }

  void styled(std::string_view style, std::string_view given) {
    if (!colour_) {
      out_ += given;
      return;
    }
    const std::string shown = visible_lines(given);
    std::string_view text = shown;
    if (style.empty()) {
      out_ += text;
      return;
    }
    const bool ends = text.ends_with('\n');
    text.remove_suffix(ends ? 1 : 0);
    out_.append(style).append(text).append("\x1b[0m").append(ends ? "\n" : "");
  }

  void line(std::string_view style, char mark, std::string_view text) {
    styled(style, std::string(1, mark).append(text));
    if (!text.ends_with('\n')) out_ += "\n\\ No newline at end of file\n";
  }

  const TextLines& before_;
  const TextLines& after_;
  bool colour_;
  std::string out_;
};

}  // namespace

std::string unified_diff(std::string_view before_text, std::string_view after_text,
                         std::string_view before_name, std::string_view after_name, bool colour) {
  if (before_text == after_text) return "";
  const TextLines before = split(before_text);
  const TextLines after = split(after_text);
  const std::vector<Match> matches = match(before, after);
  Writer writer(before, after, colour);
  writer.names(before_name, after_name);
  const Match last{static_cast<std::ptrdiff_t>(before.size()),
                   static_cast<std::ptrdiff_t>(after.size())};
  Match done{0, 0};             // lines before this are equal or written
  bool open = false;            // whether a hunk has begun
  Match begin{0, 0};            // of the open hunk
  std::size_t first_match = 0;  // of the open hunk
  std::size_t run = 0;          // equal lines since the last difference
  for (std::size_t i = 0; i <= matches.size(); ++i) {
    const Match at = i < matches.size() ? matches[i] : last;
    if (at.before != done.before || at.after != done.after) {
      if (!open) {
        const auto lead = static_cast<std::ptrdiff_t>(std::min<std::size_t>(run, kContext));
        begin = {done.before - lead, done.after - lead};
        first_match = i - static_cast<std::size_t>(lead);
        open = true;
      }
      run = 0;
    }
    if (i == matches.size()) break;
    done = {at.before + 1, at.after + 1};
    ++run;
    if (open && run > 2 * kContext) {
      const auto tail = static_cast<std::ptrdiff_t>(run) - kContext;
      writer.hunk(begin, {done.before - tail, done.after - tail}, matches, first_match);
      open = false;
    }
  }
  if (open) {
    const auto tail = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(run) - kContext, 0);
    writer.hunk(begin, {last.before - tail, last.after - tail}, matches, first_match);
  }
  return writer.take();
}

}  // namespace mir::tools
