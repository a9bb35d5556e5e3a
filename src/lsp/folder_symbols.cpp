// Reads the symbols of files in folders, and remembers them.
#include "lsp/folder_symbols.hpp"

#include <nlohmann/json.hpp>

#include "support/file_io.hpp"

namespace mir::lsp {

void FolderSymbols::add(const std::vector<std::string>& folders, const std::set<std::string>& open,
                        const DialectTexts& dialects, IRContext& rows, PositionEncoding encoding,
                        std::string_view query, const std::function<void()>& check_stop,
                        nlohmann::json& list) {
  std::set<std::string> seen;
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (const std::string& folder : folders) {
    for (const std::string& path : files_below(folder, kFolderTexts)) {
      const auto stamp = file_stamp(path);
      if (open.contains(path) || !stamp || !seen.insert(path).second) continue;
      const auto known = files_.find(path);
      if (known == files_.end() || known->second.stamp != *stamp) {
        check_stop();
        bytes += stamp->bytes;
        if (bytes > kMostBytes) continue;
        auto text = read_file(path, kFolderTexts.most_bytes);
        if (!text) continue;
        Document document(uri_of_path(path), 0, *std::move(text), encoding, dialects);
        files_[path] = {*stamp, text_symbols(View{document, rows}, "")};
      }
      for (const TextSymbol& each : files_[path].symbols) {
        if (count == kMostSymbols) return;
        if (!contains(each.name, query)) continue;
        list.push_back(each.information(uri_of_path(path)));
        ++count;
      }
    }
  }
  std::erase_if(files_, [&](const auto& each) { return !seen.contains(each.first); });
}

}  // namespace mir::lsp
