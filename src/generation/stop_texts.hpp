// Texts that end an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mir::generation {

/// Finds the first of several texts in text that arrives in pieces. Text that may be the beginning
/// of one of them is held back.
class StopTexts {
 public:
  /// Empty texts are ignored.
  explicit StopTexts(std::vector<std::string> texts);

  /// Adds a piece and returns the text that is certain not to belong to a stop text. After a stop
  /// text was found, nothing more is returned.
  std::string add(std::string_view piece);
  /// The text that was held back.
  std::string finish();
  bool is_found() const { return is_found_; }

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool is_found_ = false;
};

}  // namespace mir::generation
