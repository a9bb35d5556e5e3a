// A module's text, line by line, for planting mistakes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op_templates.hpp"

namespace mir::test {

class TextLines {
 public:
  TextLines(std::string_view text, Random& random);

  Random& random() { return random_; }
  std::string text() const;
  std::size_t size() const { return lines_.size(); }
  std::string& operator[](std::size_t i) { return lines_[i]; }

  /// A random line that has all of `parts`, in that order.
  std::optional<std::size_t> pick(std::initializer_list<std::string_view> parts);
  std::optional<std::size_t> pick(std::string_view part) { return pick({part}); }
  /// The first line from `from` on that has `part`.
  std::optional<std::size_t> find(std::string_view part, std::size_t from = 0) const;
  void insert(std::size_t before, std::string line);
  void erase(std::size_t at);
  /// Replaces the first `from` of a line; whether there was one.
  bool replace(std::size_t at, std::string_view from, std::string_view to);
  /// The text of a line between the first `before` and the next `after` that follows.
  std::string between(std::size_t at, std::string_view before, std::string_view after) const;
  /// Gives the instructions of a program's code fragment their addresses and jumps their offsets.
  void renumber_program();

 private:
  std::vector<std::string> lines_;
  Random& random_;
};

}  // namespace mir::test
