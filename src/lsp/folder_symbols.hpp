// Symbols of the texts in the client's folders that are not open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/features.hpp"

namespace mir::lsp {

/// Keeps what was found in each file until the file changes.
class FolderSymbols {
 public:
  /// Symbols of files that one call adds.
  static constexpr std::size_t kMostSymbols = 1000;
  /// Bytes of files that one call reads; the next call goes on.
  static constexpr std::uint64_t kMostBytes = 64 << 20;

  /// Adds those symbols of the texts of kFolderTexts below the folders whose names contain the
  /// query. Files of the paths `open` are left out. `check_stop` is called before each file is
  /// read, and may throw.
  void add(const std::vector<std::string>& folders, const std::set<std::string>& open,
           const DialectTexts& dialects, IRContext& rows, PositionEncoding encoding,
           std::string_view query, const std::function<void()>& check_stop, nlohmann::json& list);

 private:
  struct File {
    FileStamp stamp;
    std::vector<TextSymbol> symbols;
  };
  std::map<std::string, File> files_;  // by path
};

}  // namespace mir::lsp
