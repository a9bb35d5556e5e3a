// Patterns of tensor names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mir {

/// A name in which each `*` matches any text, the empty one included. Stars from the left take
/// as little as they can.
class NamePattern {
 public:
  explicit NamePattern(std::string_view text);

  bool matches(std::string_view name) const { return captures(name).has_value(); }
  /// Returns the texts that the stars match; no value if the name does not match.
  std::optional<std::vector<std::string_view>> captures(std::string_view name) const;
  std::size_t stars() const { return pieces_.size() - 1; }
  /// As it was written.
  std::string_view text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> pieces_;  // between the stars
};

/// One `PATTERN=REPLACEMENT`: the n-th star of the replacement becomes what the n-th star of the
/// pattern matched.
class Renaming {
 public:
  /// Returns no value if there is no `=` or the replacement has more stars than the pattern.
  static std::optional<Renaming> parse(std::string_view text);
  /// Returns the new name; no value if the pattern does not match.
  std::optional<std::string> apply(std::string_view name) const;
  const NamePattern& pattern() const { return pattern_; }

 private:
  Renaming(NamePattern pattern, std::string_view replacement)
      : pattern_(std::move(pattern)), replacement_(replacement) {}

  NamePattern pattern_;
  std::string replacement_;
};

}  // namespace mir
