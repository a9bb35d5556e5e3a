// Files of weights that belong to documents, and statistics of their tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mir::lsp {

class WeightFiles {
 public:
  /// Elements of a tensor of which statistics are computed. Of larger tensors, runs of elements at
  /// equal distances are read.
  static constexpr std::int64_t kMostElements = std::int64_t{1} << 22;

  /// Sets the files that all documents use. Relative paths are below the folders.
  void choose(std::vector<std::string> paths) { chosen_ = std::move(paths); }
  void set_folders(std::vector<std::string> folders) { folders_ = std::move(folders); }

  /// Returns the files of a document: those that are chosen, otherwise the one beside it that has
  /// its name and the ending of a format. Empty if there is none.
  std::vector<std::string> of(std::string_view document_uri) const;
  /// Returns lines about a tensor, from the last of the files that has it, and about files that
  /// cannot be read. Empty if the document has no files. The files are closed again.
  std::vector<std::string> facts(std::string_view document_uri, std::string_view tensor) const;

 private:
  std::vector<std::string> chosen_;
  std::vector<std::string> folders_;
};

}  // namespace mir::lsp
