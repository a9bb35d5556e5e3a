// Finds files that declare dialects in workspace folders, and registers their dialects.
#include "lsp/dialect_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/declares_dialect.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "support/file_io.hpp"
#include "support/render_forms.hpp"

namespace mir::lsp {

namespace {

/// Reads the dialects of a text into the context. False after errors, and if the text has modules
/// that are neither dialects nor patterns.
bool read_dialects(const DialectText& dialects, IRContext& context) {
  const SourceFile* file = context.sources().add(dialects.path, dialects.text);
  if (file == nullptr) return false;
  Diagnostics diagnostics;
  const std::vector<Module*> modules = read_modules(*file, context, diagnostics);
  const bool is_good = are_dialects(modules) && !diagnostics.has_errors();
  for (Module* module : modules) context.release(*module);
  return is_good;
}

/// A context with the dialects and one more file, to see whether that agrees with them.
bool fits(const DialectTexts& known, const DialectText& more) {
  IRContext context;
  known.register_in(context);
  return read_dialects(more, context);
}

}  // namespace

std::optional<std::string> path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(std::min(uri.find('/', kScheme.size()), uri.size()));
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = uri.data() + i + 1;
    const bool is_escape = uri[i] == '%' && i + 2 < uri.size() &&
                           std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    path += is_escape ? static_cast<char>(byte) : uri[i];
    i += is_escape ? 2 : 0;
  }
  return path;
}

bool may_declare_dialect(std::string_view text) {
  return text.find("dialect.OpOp") != text.npos || text.find("dialect.TypeOp") != text.npos ||
         text.find("dialect.AttributeOp") != text.npos;
}

std::string uri_of_path(std::string_view path) {
  return uri_of(absolute_path(std::string(path)));
}

std::vector<DialectText> DialectTexts::all() const {
  std::vector<DialectText> texts = always_;
  texts.insert(texts.end(), found_.begin(), found_.end());
  return texts;
}

void DialectTexts::search(const std::vector<std::string>& folders) {
  found_.clear();
  std::vector<DialectText> candidates;
  for (const std::string& folder : folders) {
    for (const std::string& path : files_below(folder, kFolderTexts)) {
      auto text = read_file(path, kFolderTexts.most_bytes);
      if (text && may_declare_dialect(*text)) candidates.push_back({path, std::move(*text)});
    }
  }
  // A dialect may use others that come later by name: those that failed get another try.
  for (bool has_news = true; has_news;) {
    has_news = false;
    for (auto each = candidates.begin(); each != candidates.end();) {
      if (!fits(*this, *each)) {
        ++each;
        continue;
      }
      found_.push_back(std::move(*each));
      each = candidates.erase(each);
      has_news = true;
    }
  }
}

void DialectTexts::register_in(IRContext& context, std::string_view except) const {
  register_builtin_dialects(context);
  for (const auto* list : {&always_, &found_}) {
    for (const DialectText& each : *list) {
      if (each.path != except) read_dialects(each, context);
    }
  }
}

}  // namespace mir::lsp
