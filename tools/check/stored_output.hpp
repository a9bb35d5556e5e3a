// Expected output that lies in a file next to its case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::tools {

/// `<case>.out` or `<case>.err`: what each case of a file wrote, with a line `// -----` between two
/// cases. Without a file nothing is expected.
class StoredOutput {
 public:
  /// For a file with so many cases; `suffix` is `.out` or `.err`. Fails when the file cannot be
  /// read.
  static Result<StoredOutput> read(const std::string& case_path, std::string_view suffix,
                                   std::size_t cases);

  const std::string& path() const { return path_; }
  bool has(std::size_t index, std::string_view text) const {
    return section(index) == fitting(text);
  }
  /// Reports kOutputDiffers for a case's output that differs from the stored one, at the first
  /// different line, or at `otherwise` if nothing is stored. Returns a unified diff.
  std::string report(std::size_t index, std::string_view text, Span otherwise,
                     SourceManager& sources, Diagnostics& diagnostics) const;

  /// Puts another text in the place of a case's.
  void replace(std::size_t index, std::string_view text);
  /// Writes the replaced outputs. An empty file is removed.
  Result<void> write() const;

 private:
  StoredOutput(std::string path, std::size_t cases) : path_(std::move(path)), sections_(cases) {}
  std::string_view section(std::size_t index) const { return sections_[index]; }
  /// `text` as a section: one that another follows ends its last line.
  std::string fitting(std::string_view text) const;
  std::string joined() const;

  std::string path_;
  std::string stored_;  // the file as it was read
  std::vector<std::string> sections_;
};

}  // namespace mir::tools
