// Columns of text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mir::tools {

/// Lines of cells, each column as wide as its widest cell, with two blanks between them.
class TextTable {
 public:
  /// One letter for each column: 'l' puts cells to the left, 'r' to the right.
  explicit TextTable(std::string alignment) : alignment_(std::move(alignment)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// Each line starts with `indent`, ends without blanks and has a newline.
  std::string render(const std::string& indent = "  ") const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mir::tools
