#include "text_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mir::tools {

std::string TextTable::render(const std::string& indent) const {
  std::vector<std::size_t> widths(alignment_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i != 0) line += "  ";
      line += alignment_[i] == 'r' ? fmt::format("{:>{}}", row[i], widths[i])
                                   : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace mir::tools
