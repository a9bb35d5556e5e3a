// Aligns the lines of two texts, and trims each run of changed lines to the part that differs.
#include "lsp/line_edits.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

#include "support/alignment.hpp"

namespace mir::lsp {

namespace {

/// Lines with their line ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

class LineEdits {
 public:
  LineEdits(std::string_view old, std::string_view now)
      : old_(old), before_(lines_of(old)), after_(lines_of(now)) {}

  std::vector<TextSplice> find() {
    std::unordered_map<std::string_view, std::uint32_t> numbers;
    const auto numbered = [&](const std::vector<std::string_view>& lines) {
      std::vector<std::uint32_t> ids;
      for (const std::string_view line : lines) {
        ids.push_back(
            numbers.try_emplace(line, static_cast<std::uint32_t>(numbers.size())).first->second);
      }
      return ids;
    };
    const std::vector<std::uint32_t> before = numbered(before_), after = numbered(after_);
    for (const AlignedPair& pair : align(before, after)) {
      replace(static_cast<std::size_t>(pair.before), static_cast<std::size_t>(pair.after));
      next_before_ = static_cast<std::size_t>(pair.before) + 1;
      next_after_ = static_cast<std::size_t>(pair.after) + 1;
    }
    replace(before_.size(), after_.size());
    return std::move(edits_);
  }

 private:
  /// Adds the edits of the lines up to these, which no equal lines separate.
  void replace(std::size_t before_end, std::size_t after_end) {
    const std::size_t lines = before_end - next_before_;
    if (lines == after_end - next_after_) {
      for (std::size_t i = 0; i < lines; ++i) {
        add(before_[next_before_ + i], after_[next_after_ + i]);
      }
    } else {
      add(joined(before_, next_before_, before_end), joined(after_, next_after_, after_end));
    }
  }

  /// The text of some lines in a row. Where there are none, the place of the first one.
  std::string_view joined(const std::vector<std::string_view>& lines, std::size_t begin,
                          std::size_t end) const {
    if (begin < end) {
      return {lines[begin].data(),
              static_cast<std::size_t>(lines[end - 1].data() - lines[begin].data()) +
                  lines[end - 1].size()};
    }
    if (begin < lines.size()) return lines[begin].substr(0, 0);
    return lines.empty() ? old_.substr(0, 0) : lines.back().substr(lines.back().size());
  }

  /// Adds the edit that makes `now` of `old`, a part of the old text.
  void add(std::string_view old, std::string_view now) {
    if (old == now) return;
    // Inside a character, or between CR and LF.
    const auto is_inside = [](std::string_view of, std::size_t at) {
      if (at == 0 || at >= of.size()) return false;
      return (static_cast<unsigned char>(of[at]) & 0xc0) == 0x80 ||
             (of[at] == '\n' && of[at - 1] == '\r');
    };
    std::size_t begin = 0;
    while (begin < old.size() && begin < now.size() && old[begin] == now[begin]) ++begin;
    while (is_inside(old, begin) || is_inside(now, begin)) --begin;
    std::size_t tail = 0;
    while (tail < old.size() - begin && tail < now.size() - begin &&
           old[old.size() - tail - 1] == now[now.size() - tail - 1]) {
      ++tail;
    }
    while (is_inside(old, old.size() - tail) || is_inside(now, now.size() - tail)) --tail;
    const auto offset = static_cast<std::size_t>(old.data() - old_.data());
    edits_.push_back({offset + begin, offset + old.size() - tail,
                      std::string(now.substr(begin, now.size() - tail - begin))});
  }

  std::string_view old_;
  std::vector<std::string_view> before_, after_;
  std::size_t next_before_ = 0, next_after_ = 0;  // the first lines that no edit covers yet
  std::vector<TextSplice> edits_;
};

}  // namespace

std::vector<TextSplice> line_edits(std::string_view old, std::string_view now) {
  if (old == now) return {};
  return LineEdits(old, now).find();
}

}  // namespace mir::lsp
