#include "text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mir::test {

TextLines::TextLines(std::string_view text, Random& random) : random_(random) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines_.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string TextLines::text() const {
  std::string text;
  for (const std::string& line : lines_) text.append(line) += '\n';
  return text;
}

std::optional<std::size_t> TextLines::pick(std::initializer_list<std::string_view> parts) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    std::size_t at = 0;
    for (const std::string_view part : parts) {
      at = at == std::string::npos ? at : lines_[i].find(part, at);
    }
    if (at != std::string::npos) fitting.push_back(i);
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[below(random_, fitting.size())];
}

std::optional<std::size_t> TextLines::find(std::string_view part, std::size_t from) const {
  for (std::size_t i = from; i < lines_.size(); ++i) {
    if (lines_[i].find(part) != std::string::npos) return i;
  }
  return std::nullopt;
}

void TextLines::insert(std::size_t before, std::string line) {
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(before), std::move(line));
}

void TextLines::erase(std::size_t at) {
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at));
}

bool TextLines::replace(std::size_t at, std::string_view from, std::string_view to) {
  const std::size_t place = lines_[at].find(from);
  if (place == std::string::npos) return false;
  lines_[at].replace(place, from.size(), to);
  return true;
}

std::string TextLines::between(std::size_t at, std::string_view before,
                               std::string_view after) const {
  const std::string& line = lines_[at];
  const std::size_t begin = line.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t from = begin + before.size();
  return line.substr(from, std::min(line.find(after, from), line.size()) - from);
}

void TextLines::renumber_program() {
  const auto begin = find("<code> {");
  const auto end = begin ? find("    }", *begin) : std::nullopt;
  if (!end) return;
  std::map<std::string, std::int64_t> labels;
  const auto address = [&](std::size_t i) { return static_cast<std::int64_t>(i - *begin - 1); };
  for (std::size_t i = *begin + 1; i < *end; ++i) {
    const std::size_t instruction = lines_[i].find("prog.");
    lines_[i] = fmt::format("        addr:{:#016x} {}", address(i), lines_[i].substr(instruction));
    const std::string label = between(i, "prog.label[symbol:", "]");
    if (!label.empty()) labels[label] = address(i);
  }
  for (std::size_t i = *begin + 1; i < *end; ++i) {
    const std::string target = between(i, "prog.jump ", "[");
    if (!labels.contains(target)) continue;
    replace(i, "[offset:" + between(i, "[offset:", "]"),
            fmt::format("[offset:{}", labels[target] - address(i)));
  }
}

}  // namespace mir::test
