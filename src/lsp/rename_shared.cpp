// Renames what a dialect declares, in open documents and in files.
#include "lsp/rename_shared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "lsp/dialect_texts.hpp"
#include "mir/codes/usage.hpp"
#include "support/file_io.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr std::uint64_t kMostBytes = SourceManager::kMaxFileSize / 2;

/// Edits of several documents, each in one entry.
class WorkspaceEdit {
 public:
  explicit WorkspaceEdit(bool document_changes) : document_changes_(document_changes) {}

  /// The version of a document that is not open is null.
  void add(const Document& document, bool is_open, Json edits) {
    if (!document_changes_) {
      changes_[document.uri()] = std::move(edits);
      return;
    }
    const Json version = is_open ? Json(document.version()) : Json(nullptr);
    changes_.push_back({{"textDocument", {{"uri", document.uri()}, {"version", version}}},
                        {"edits", std::move(edits)}});
  }

  Json take() {
    if (changes_.is_null()) changes_ = document_changes_ ? Json::array() : Json::object();
    return {{document_changes_ ? "documentChanges" : "changes", std::move(changes_)}};
  }

 private:
  bool document_changes_;
  Json changes_;
};

Json edits_of(const View& view, const SharedMentions& mentions, const std::string& name) {
  Json edits = Json::array();
  for (const NameMention& each : mentions.places) {
    view.check_stop();
    edits.push_back({{"range", view.document.range(each.name())}, {"newText", name}});
  }
  return edits;
}

/// Refuses a name that the text has for something of the same dialect or declaration.
Result<void> check_clash(const View& there, const SharedName& shared, const std::string& name) {
  SharedName other = shared;
  (shared.key.empty() ? other.named.name : other.key) = name;
  const Outline& outline = there.outline();
  bool has_name = !mentions_of(there, other).places.empty();
  if (!has_name && shared.key.empty()) {
    // All that a dialect declares are symbols of one module.
    const std::uint32_t symbol = declaring_symbol(there, shared.named);
    has_name = symbol != kNone && std::ranges::any_of(outline.symbols, [&](const auto& each) {
                 return each.module == outline.symbols[symbol].module && each.name == name;
               });
  }
  if (!has_name && !shared.key.empty()) {
    const auto variable = declared_variable(there, shared.named, shared.key);
    if (variable) {
      Named clash = *variable;
      clash.name = name;
      has_name = !mentions_of(there, clash).empty();
    }
  }
  if (!has_name) return {};
  const std::string what =
      shared.key.empty()
          ? fmt::format("{}.{}", shared.named.dialect, name)
          : fmt::format("{}' of '{}.{}", name, shared.named.dialect, shared.named.name);
  return rename_refusal(fmt::format("'{}' has '{}' already", there.document.uri(), what));
}

}  // namespace

Error rename_refusal(std::string message) {
  return {diag::kUsage, std::move(message)};
}

Result<void> OtherTexts::for_each(
    const View& view, std::string_view word,
    const std::function<Result<void>(const View&, bool)>& visit) const {
  std::set<std::string> seen;
  if (const auto path = path_of_uri(view.document.uri())) seen.insert(*path);
  for (Document* each : open_) {
    if (const auto path = path_of_uri(each->uri())) seen.insert(*path);
    if (each == &view.document || each->text().find(word) == std::string_view::npos) continue;
    view.check_stop();
    if (auto visited = visit(View(*each, view.rows), true); !visited) return visited;
  }
  for (const std::string& folder : folders_) {
    const std::vector<std::string> paths =
        files_below(folder, {".mir", ~std::uint64_t{0}, kMostFiles});
    if (paths.size() == kMostFiles) {
      return rename_refusal(
          fmt::format("'{}' has more than {} files to search", folder, kMostFiles - 1));
    }
    for (const std::string& path : paths) {
      if (!seen.insert(path).second) continue;
      view.check_stop();
      auto text = read_file(path, kMostBytes);
      if (!text) return rename_refusal("a file cannot be read: " + text.error().message);
      if (text->find(word) == text->npos) continue;
      Document document(uri_of_path(path), 0, *std::move(text), view.document.encoding(),
                        view.document.dialects());
      if (auto visited = visit(View(document, view.rows), false); !visited) return visited;
    }
  }
  return {};
}

Result<Json> rename_shared(const View& view, const SharedName& shared, const std::string& name,
                           bool document_changes, const OtherTexts& others) {
  WorkspaceEdit edit(document_changes);
  bool is_declared = false;
  const auto rename_in = [&](const View& there, bool is_open) -> Result<void> {
    const SharedMentions mentions = mentions_of(there, shared);
    if (name != shared.name()) {
      if (auto free = check_clash(there, shared, name); !free) return free;
    }
    is_declared |= mentions.is_declared;
    if (mentions.places.empty()) return {};
    edit.add(there.document, is_open, edits_of(there, mentions, name));
    return {};
  };
  if (auto here = rename_in(view, true); !here) return here.error();
  if (auto there = others.for_each(view, shared.named.dialect, rename_in); !there) {
    return there.error();
  }
  if (!is_declared) {
    return rename_refusal(
        fmt::format("no open document and no file of the folders declares '{}.{}'",
                    shared.named.dialect, shared.named.name));
  }
  return edit.take();
}

}  // namespace mir::lsp
