// Aligns columns of a text table.
#include "text_table.hpp"

#include <algorithm>

#include "support/terminal_text.hpp"

namespace mir::tools {

void TextTable::add(std::vector<std::string> cells) {
  std::vector<Cell>& row = rows_.emplace_back();
  for (const std::string& text : cells) {
    Cell& cell = row.emplace_back();
    cell.columns = append_visible(cell.text, text);
  }
}

std::string TextTable::render(const std::string& indent) const {
  std::vector<std::size_t> widths(alignment_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].columns);
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].columns, ' ');
      if (i != 0) line += "  ";
      line += alignment_[i] == 'r' ? blanks + row[i].text : row[i].text + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace mir::tools
