// Matches tensor names against patterns with stars, and renames them.
#include "weights/name_pattern.hpp"

#include <algorithm>
#include <utility>

namespace mir {

NamePattern::NamePattern(std::string_view text) : text_(text) {
  for (std::size_t star = text.find('*'); star != std::string_view::npos; star = text.find('*')) {
    pieces_.emplace_back(text.substr(0, star));
    text.remove_prefix(star + 1);
  }
  pieces_.emplace_back(text);
}

std::optional<std::vector<std::string_view>> NamePattern::captures(std::string_view name) const {
  std::vector<std::string_view> taken;
  if (stars() == 0) return name == pieces_.front() ? std::optional(taken) : std::nullopt;
  const std::string& ending = pieces_.back();
  if (!name.starts_with(pieces_.front())) return std::nullopt;
  name.remove_prefix(pieces_.front().size());
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const auto at = name.find(pieces_[i]);
    if (at == std::string_view::npos) return std::nullopt;
    taken.push_back(name.substr(0, at));
    name.remove_prefix(at + pieces_[i].size());
  }
  if (!name.ends_with(ending)) return std::nullopt;
  taken.push_back(name.substr(0, name.size() - ending.size()));
  return taken;
}

std::optional<Renaming> Renaming::parse(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  NamePattern pattern(text.substr(0, equals));
  const auto replacement = text.substr(equals + 1);
  const auto stars = std::ranges::count(replacement, '*');
  if (static_cast<std::size_t>(stars) > pattern.stars()) return std::nullopt;
  return Renaming(std::move(pattern), replacement);
}

std::optional<std::string> Renaming::apply(std::string_view name) const {
  const auto taken = pattern_.captures(name);
  if (!taken) return std::nullopt;
  std::string renamed;
  std::size_t star = 0;
  for (const char c : replacement_) {
    if (c == '*')
      renamed += (*taken)[star++];
    else
      renamed += c;
  }
  return renamed;
}

}  // namespace mir
