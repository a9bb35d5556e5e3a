// Reads the text of a file or of standard input into a source manager.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/parse.hpp"
#include "support/file_io.hpp"

namespace mir {

namespace {

/// Tensor files and packs begin with a magic number or with sizes; no text of IR has a byte 0
/// there.
bool is_binary(std::string_view bytes) {
  constexpr std::size_t kHead = 16;
  constexpr std::string_view kTextBegins = "@/#{ \t\r\n";
  return !bytes.empty() && kTextBegins.find(bytes.front()) == kTextBegins.npos &&
         bytes.substr(0, kHead).find('\0') != bytes.npos;
}

}  // namespace

Result<const SourceFile*> read_source(const std::string& path, SourceManager& sources) {
  auto text = read_file(path, SourceManager::kMaxFileSize);
  if (!text) return std::move(text).error();
  if (is_binary(*text)) {
    return Error{diag::kFileNotReadable,
                 fmt::format("'{}' is binary, no text of IR: mllm-weights lists tensor files, "
                             "mllm-interp runs packs, mllm-pack lists them",
                             path)};
  }
  const SourceFile* file = sources.add(path == "-" ? "<stdin>" : path, std::move(*text));
  if (file == nullptr) return SourceManager::full(path);
  return file;
}

}  // namespace mir
