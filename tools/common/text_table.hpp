// Columns of text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mir::tools {

/// Lines of cells, each column as wide as its widest cell, with two blanks between them.
class TextTable {
 public:
  /// One letter for each column: 'l' puts cells to the left, 'r' to the right.
  explicit TextTable(std::string alignment) : alignment_(std::move(alignment)) {}
  /// Cells are what others wrote: they are made visible and stay in one line.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Each line starts with `indent`, ends without blanks and has a newline.
  std::string render(const std::string& indent = "  ") const;

 private:
  std::string alignment_;
  struct Cell {
    std::string text;
    std::size_t columns = 0;
  };
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace mir::tools
