// Documents of the server: their texts, their findings that are published, and their dialects.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lsp/findings_json.hpp"
#include "lsp/protocol.hpp"
#include "lsp/rename_shared.hpp"
#include "lsp/server.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

void Server::open(Json& params) {
  Json& item = params.at("textDocument");
  const std::string uri = item.at("uri");
  std::string text = std::move(item.at("text").get_ref<std::string&>());
  if (text.size() > SourceManager::kMaxFileSize / 2) {
    throw Failure{kInvalidParams, fmt::format("document '{}' is too large", uri)};
  }
  if (documents_.contains(uri)) log(fmt::format("document '{}' is open already", uri));
  const Json& version = member(item, "version");
  documents_[uri] =
      std::make_unique<Document>(uri, version.is_number_integer() ? version.get<std::int64_t>() : 0,
                                 std::move(text), encoding_, dialects_);
  documents_[uri]->set_revision(++last_revision_);
  shown_syntax_errors_[uri] = 0;
  publish(*documents_[uri], false);
}

void Server::change(const Json& params) {
  Document& document = document_of(params);
  const Json& version = member(params.at("textDocument"), "version");
  for (const Json& each : params.at("contentChanges")) {
    const auto& text = each.at("text").get_ref<const std::string&>();
    const Json& range = member(each, "range");
    std::optional<Range> replaced;
    if (!range.is_null()) {
      replaced = Range{read_position(range.at("start")), read_position(range.at("end"))};
    }
    document.edit(replaced, text);
  }
  document.set_revision(++last_revision_);
  if (version.is_number_integer()) {
    if (version.get<std::int64_t>() <= document.version()) {
      log(fmt::format("version {} of '{}' follows version {}", version.get<std::int64_t>(),
                      document.uri(), document.version()));
    }
    document.set_version(version.get<std::int64_t>());
  }
  publish(document, false);
}

void Server::close(const Json& params) {
  Document& document = document_of(params);
  if (!client_.pull_diagnostics) {
    send({{"jsonrpc", "2.0"},
          {"method", "textDocument/publishDiagnostics"},
          {"params", {{"uri", document.uri()}, {"diagnostics", Json::array()}}}});
  }
  shown_syntax_errors_.erase(document.uri());
  documents_.erase(document.uri());
}

/// A document that is saved may declare a dialect of others.
void Server::save(const Json& params) {
  const Document& document = document_of(params);
  if (document.text().find("dialect.") != std::string_view::npos) read_dialects();
}

void Server::change_folders(const Json& params) {
  const Json& event = params.at("event");
  for (const Json& each : event.at("removed")) {
    std::erase(folders_, path_of_uri(each.at("uri").get_ref<const std::string&>()));
  }
  for (const Json& each : event.at("added")) {
    if (auto path = path_of_uri(each.at("uri").get_ref<const std::string&>())) {
      folders_.push_back(std::move(*path));
    }
  }
  weights_.set_folders(folders_);
  read_dialects();
}

OtherTexts Server::other_texts() const {
  std::vector<Document*> open;
  for (const auto& [uri, document] : documents_) open.push_back(document.get());
  return {folders_, std::move(open)};
}

/// Symbols of open documents, then those of other files.
Json Server::workspace_symbols(const std::string& query) {
  Json list = Json::array();
  std::set<std::string> open_paths;
  for (const auto& [uri, document] : documents_) {
    for (const TextSymbol& each : text_symbols(view(*document), query)) {
      list.push_back(each.information(uri));
    }
    if (const auto path = path_of_uri(uri)) open_paths.insert(*path);
  }
  const auto check_stop = [&] {
    if (cancelled_.stop()) throw Stopped{};
  };
  folder_symbols_.add(folders_, open_paths, dialects_, *rows_, encoding_, query, check_stop, list);
  return list;
}

/// Findings made with other dialects are out of date.
void Server::read_dialects() {
  dialects_.search(folders_);
  for (const auto& [uri, document] : documents_) {
    document->forget_analysis();
    document->set_revision(++last_revision_);
  }
  rows_ = std::make_unique<IRContext>();
  dialects_.register_in(*rows_);
  if (initialized_ && client_.refreshes_diagnostics) {
    send({{"jsonrpc", "2.0"}, {"id", "refresh"}, {"method", "workspace/diagnostic/refresh"}});
  }
}

/// Before the analysis, only texts with errors of syntax, and those that had some, have news.
void Server::publish(Document& document, bool is_final) {
  if (client_.pull_diagnostics) return;  // the client asks when it wants them
  std::size_t& shown = shown_syntax_errors_[document.uri()];
  const std::size_t errors = document.now().syntax_errors().size();
  if (!is_final && errors == 0 && shown == 0) return;
  shown = errors;
  std::string message =
      R"({"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"diagnostics":)";
  append_shown_findings(message, document, client_.related_information);
  message +=
      fmt::format(R"(,"uri":{},"version":{}}}}})", Json(document.uri()).dump(), document.version());
  send_(message);
}

bool Server::work(const std::atomic<bool>* stop) {
  if (client_.pull_diagnostics) return false;
  for (const auto& [uri, document] : documents_) {
    if (document->is_shown()) continue;
    document->now().set_stop(stop);
    if (document->analyse_changes()) {
      publish(*document, true);
      if (document->is_analysed()) document->set_shown();
      return true;
    }
    if (!document->analyse()) return true;
    publish(*document, true);
    document->set_shown();
    has_freed_memory_ = true;
    return true;
  }
  return false;
}

}  // namespace mir::lsp
