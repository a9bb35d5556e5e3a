// Dialects that are not in the documents: of options, and of files in the folders of the client.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "support/platform/file_system.hpp"

namespace mir::lsp {

struct DialectText {
  std::string path;
  std::string text;
};

/// The path of a `file:` URI; no value for others.
std::optional<std::string> path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

/// False if the text declares no dialect, which saves reading most texts.
bool may_declare_dialect(std::string_view text);

/// The `.mir` files that are looked at below each folder of the client: at most 1000, none of more
/// than 1 MiB, and no hidden ones.
inline constexpr FileSearch kFolderTexts{
    .extension = ".mir", .most_bytes = 1 << 20, .most_files = 1000};

class DialectTexts {
 public:
  /// `always` are registered in this order, before those of folders.
  explicit DialectTexts(std::vector<DialectText> always = {}) : always_(std::move(always)) {}

  /// Reads the dialects below folders anew: of all texts of kFolderTexts that declare nothing but
  /// dialects. Files that cannot be read are left out, and so are dialects that do not agree with
  /// those before.
  void search(const std::vector<std::string>& folders);
  /// All of them, in the order in which they are registered.
  std::vector<DialectText> all() const;
  std::size_t count() const { return always_.size() + found_.size(); }

  /// Registers the built-in dialects and all others but those of the file `except`.
  void register_in(IRContext& context, std::string_view except = {}) const;

 private:
  std::vector<DialectText> always_;
  std::vector<DialectText> found_;
};

}  // namespace mir::lsp
