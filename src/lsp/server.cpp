// Dispatches requests and notifications to the features, and sends the replies.
#include "lsp/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lsp/findings_json.hpp"
#include "lsp/message.hpp"
#include "lsp/protocol.hpp"
#include "lsp/rename_shared.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kIncrementalSync = 2;

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer() || id.is_null();
}

Json capabilities(PositionEncoding encoding, const ClientFeatures& client) {
  Json provided = {
      {"positionEncoding", name_of(encoding)},
      {"textDocumentSync", {{"openClose", true}, {"change", kIncrementalSync}, {"save", true}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", {{"workDoneProgress", true}}},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"workspaceSymbolProvider", {{"workDoneProgress", true}}},
      {"foldingRangeProvider", true},
      {"selectionRangeProvider", true},
      {"inlayHintProvider", true},
      {"documentFormattingProvider", {{"workDoneProgress", true}}},
      {"documentOnTypeFormattingProvider",
       {{"firstTriggerCharacter", "\n"}, {"moreTriggerCharacter", {"}"}}}},
      {"documentRangeFormattingProvider", true},
      {"callHierarchyProvider", true},
      {"codeActionProvider",
       {{"codeActionKinds",
         {"quickfix", "refactor.rewrite", "refactor.inline", "refactor.extract", "source"}},
        {"resolveProvider", client.resolves_edits}}},
      {"codeLensProvider", {{"resolveProvider", false}}},
      {"renameProvider", client.prepare_rename ? Json{{"prepareProvider", true}} : Json(true)},
      {"completionProvider",
       {{"triggerCharacters", {"%", "@", "!", "#", "^", "$", ".", "[", ":", "\""}}}},
      {"signatureHelpProvider",
       {{"triggerCharacters", {"(", "["}}, {"retriggerCharacters", {","}}}},
      {"semanticTokensProvider",
       {{"legend", semantic_token_legend()}, {"full", {{"delta", true}}}, {"range", true}}}};
  if (client.pull_diagnostics) {
    provided["diagnosticProvider"] = {{"interFileDependencies", false},
                                      {"workspaceDiagnostics", false}};
  }
  return provided;
}

}  // namespace

Server::Server(std::function<void(std::string_view)> send, std::string version,
               CancelledRequests& cancelled, std::vector<DialectText> dialects)
    : send_(std::move(send)),
      version_(std::move(version)),
      cancelled_(cancelled),
      dialects_(std::move(dialects)) {
  read_dialects();
}

Server::~Server() = default;

// -- messages -------------------------------------------------------------------------------------

void Server::send(const Json& message) {
  send_(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Server::send_error(const Json& id, int code, std::string_view message) {
  send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void Server::log(std::string_view message) {
  send({{"jsonrpc", "2.0"},
        {"method", "window/logMessage"},
        {"params", {{"type", kWarningMessage}, {"message", message}}}});
}

void Server::send_progress(const Json& token, Json value) {
  send({{"jsonrpc", "2.0"},
        {"method", "$/progress"},
        {"params", {{"token", token}, {"value", std::move(value)}}}});
}

void Server::refuse_frame(std::string_view error) {
  send_error(nullptr, kParseError, error);
}

void Server::receive(std::string body) {
  Json message = parse_message(std::move(body));
  if (message.is_discarded()) return send_error(nullptr, kParseError, "the body is not JSON");
  if (!message.is_object()) {
    return send_error(nullptr, kInvalidRequest, "the body is not an object");
  }
  const bool has_id = message.contains("id");
  const Json& id = member(message, "id");
  const Json& method = member(message, "method");
  if (!method.is_string()) {
    const bool is_response = has_id && (message.contains("result") || message.contains("error"));
    if (is_response) return take_response(id, member(message, "result"));
    return send_error(is_id(id) ? id : Json(nullptr), kInvalidRequest, "there is no method");
  }
  const Json& params = member(message, "params");
  const bool is_sound = member(message, "jsonrpc") == "2.0" && (!has_id || is_id(id)) &&
                        (params.is_null() || params.is_structured());
  if (!is_sound) {
    if (!has_id) return;
    return send_error(is_id(id) ? id : Json(nullptr), kInvalidRequest,
                      "the message is not of JSON-RPC 2.0");
  }
  const auto& name = method.get_ref<const std::string&>();
  Json none;
  has_id ? request(id, name, params) : notify(name, params.is_null() ? none : message["params"]);
}

void Server::request(const Json& id, const std::string& method, const Json& params) {
  if (cancelled_.take(id)) return send_error(id, kRequestCancelled, "the request was cancelled");
  if (shut_down_) return send_error(id, kInvalidRequest, "the server was shut down");
  if (!initialized_ && method != "initialize") {
    return send_error(id, kServerNotInitialized, "the server is not initialized");
  }
  cancelled_.begin(id);
  const auto end_work = [this](const void*) { cancelled_.end(); };
  const std::unique_ptr<const void, decltype(end_work)> work(this, end_work);
  const Json& token = member(params, "workDoneToken");
  const bool has_progress = token.is_string() || token.is_number_integer();
  if (has_progress) send_progress(token, {{"kind", "begin"}, {"title", method}});
  const auto end_progress = [&] {
    if (has_progress) send_progress(token, {{"kind", "end"}});
  };
  try {
    const std::string head = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":)", id.dump());
    answer_text_ = head;
    Json result = answer(method, params);
    end_progress();
    std::string text = std::exchange(answer_text_, {});
    if (cancelled_.take(id)) return send_error(id, kRequestCancelled, "the request was cancelled");
    if (text.size() > head.size()) {
      text += '}';
      send_(text);
      has_freed_memory_ = true;
      return;
    }
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  } catch (const Stopped&) {
    end_progress();
    send_error(id, kRequestCancelled, "the request was cancelled");
  } catch (const Failure& failure) {
    end_progress();
    send_error(id, failure.code, failure.message);
  } catch (const Json::exception&) {
    end_progress();
    send_error(id, kInvalidParams, fmt::format("the parameters of '{}' are wrong", method));
  } catch (const std::exception& error) {
    end_progress();
    send_error(id, kInternalError, error.what());
  }
}

void Server::notify(const std::string& method, Json& params) {
  if (method == "exit") {
    exited_ = true;
    return;
  }
  if (!initialized_ || shut_down_) return;
  try {
    if (method == "textDocument/didOpen") open(params);
    if (method == "textDocument/didChange") change(params);
    if (method == "textDocument/didClose") close(params);
    if (method == "textDocument/didSave") save(params);
    if (method == "initialized") watch_client();
    if (method == "workspace/didChangeConfiguration") change_settings(params);
    if (method == "workspace/didChangeWatchedFiles") read_dialects();
    if (method == "workspace/didChangeWorkspaceFolders") change_folders(params);
  } catch (const Failure& failure) {
    log(failure.message);
  } catch (const Json::exception&) {
    log(fmt::format("the parameters of '{}' are wrong", method));
  }
}

Json Server::answer(const std::string& method, const Json& params) {
  if (method == "initialize") return initialize(params);
  if (method == "shutdown") {
    shut_down_ = true;
    return nullptr;
  }
  if (method == "workspace/symbol") {
    return workspace_symbols(params.at("query"));
  }
  if (method == "codeAction/resolve") return resolve_action(params);
  if (method == "callHierarchy/incomingCalls" || method == "callHierarchy/outgoingCalls") {
    const Json& item = params.at("item");
    const View at = view(document_of(item));
    const std::string graph = item.at("name");
    const std::string_view name = std::string_view(graph).substr(graph.starts_with('@') ? 1 : 0);
    return method.ends_with("incomingCalls") ? incoming_calls(at, name) : outgoing_calls(at, name);
  }
  return text_document_request(method, params);
}

Json Server::initialize(const Json& params) {
  if (initialized_) throw Failure{kInvalidRequest, "the server is initialized already"};
  if (!params.is_object()) throw Failure{kInvalidParams, "the parameters are not an object"};
  const Json& client = member(params, "capabilities");
  const Json& offered = member(member(client, "general"), "positionEncodings");
  if (offered.is_array()) {
    // UTF-8 needs no conversion, so it is preferred.
    for (const Json& each : offered) {
      if (!each.is_string()) continue;
      const auto encoding = position_encoding(each.get_ref<const std::string&>());
      if (encoding == PositionEncoding::kUtf8) encoding_ = PositionEncoding::kUtf8;
    }
    const auto is_known = [](const Json& each, std::string_view name) {
      return each.is_string() && each.get_ref<const std::string&>() == name;
    };
    const bool only_utf32 = offered.size() == 1 && is_known(offered.front(), "utf-32");
    if (only_utf32) encoding_ = PositionEncoding::kUtf32;
  }
  client_.document_changes = flag(client, "workspace.workspaceEdit.documentChanges");
  client_.related_information = flag(client, "textDocument.publishDiagnostics.relatedInformation");
  client_.hierarchical_symbols =
      flag(client, "textDocument.documentSymbol.hierarchicalDocumentSymbolSupport");
  client_.asks_for_token_edits = flag(client, "textDocument.semanticTokens.requests.full.delta");
  client_.prepare_rename = flag(client, "textDocument.rename.prepareSupport");
  const auto has = [](const Json& list, const char* word) {
    return list.is_array() && std::ranges::find(list, Json(word)) != list.end();
  };
  client_.resolves_edits =
      has(member(member(member(member(client, "textDocument"), "codeAction"), "resolveSupport"),
                 "properties"),
          "edit");
  client_.creates_files =
      client_.resolves_edits && client_.document_changes &&
      has(member(member(member(client, "workspace"), "workspaceEdit"), "resourceOperations"),
          "create");
  client_.pull_diagnostics = member(member(client, "textDocument"), "diagnostic").is_object();
  const Json& formats = member(member(member(client, "textDocument"), "hover"), "contentFormat");
  client_.markdown = has(formats, "markdown");
  client_.snippets = flag(client, "textDocument.completion.completionItem.snippetSupport");
  client_.refreshes_diagnostics = flag(client, "workspace.diagnostics.refreshSupport");
  client_.watches_files = flag(client, "workspace.didChangeWatchedFiles.dynamicRegistration");
  client_.watches_settings = flag(client, "workspace.didChangeConfiguration.dynamicRegistration");
  client_.tells_settings = flag(client, "workspace.configuration");
  const Json& commands = member(member(member(client, "experimental"), "commands"), "commands");
  const auto has_command = [&](std::string_view name) {
    return commands.is_array() && std::ranges::find(commands, Json(name)) != commands.end();
  };
  client_.runs_graphs = has_command(kRunCommand);
  client_.runs_tests = has_command(kCheckCommand);
  const Json& folders = member(params, "workspaceFolders");
  const auto add_folder = [&](const Json& uri) {
    if (!uri.is_string()) return;
    if (auto path = path_of_uri(uri.get_ref<const std::string&>())) folders_.push_back(*path);
  };
  if (folders.is_array() && !folders.empty()) {
    for (const Json& each : folders) add_folder(member(each, "uri"));
  } else {
    add_folder(member(params, "rootUri"));
  }
  if (!folders_.empty()) read_dialects();
  weights_.set_folders(folders_);
  take_settings(member(params, "initializationOptions"));
  const Json& process = member(params, "processId");
  if (process.is_number_integer()) client_process_ = process.get<std::int64_t>();
  initialized_ = true;
  return {{"capabilities", capabilities(encoding_, client_)},
          {"serverInfo", {{"name", "mllm-lsp"}, {"version", version_}}}};
}

// -- requests about one document ------------------------------------------------------------------

Document& Server::document_of(const Json& params) {
  const Json& text_document = member(params, "textDocument");
  const Json& uri = text_document.is_null() ? params.at("uri") : text_document.at("uri");
  const auto found = documents_.find(uri.get<std::string>());
  if (found == documents_.end()) {
    throw Failure{kInvalidParams,
                  fmt::format("document '{}' is not open", uri.get_ref<const std::string&>())};
  }
  return *found->second;
}

SourcePos Server::position_in(const Document& document, const Json& params) const {
  return document.offset_of(read_position(params));
}

Span Server::range_in(const Document& document, const Json& params) const {
  const Span span{position_in(document, params.at("start")),
                  position_in(document, params.at("end"))};
  return {std::min(span.begin, span.end), std::max(span.begin, span.end)};
}

/// All tokens, or how they differ from those of the answer with the id `previous`.
Json Server::full_tokens(const View& of, std::string_view previous) {
  Document& document = of.document;
  const Span all{Document::kBase, Document::kBase + static_cast<SourcePos>(document.text().size())};
  Document::SentTokens& sent = document.sent_tokens();
  document.now().drop_outlines();  // the answer is long, and an outline is made fast
  const std::string id = std::to_string(document.revision());
  Json answer;
  if (!client_.asks_for_token_edits) {
    answer_text_ += R"({"data":)";
    append_semantic_tokens(answer_text_, of, all);
    answer_text_ += fmt::format(R"(,"resultId":"{}"}})", id);
    return answer;
  }
  std::vector<std::uint32_t> tokens = semantic_tokens(of, all);
  if (!previous.empty() && previous == sent.id) {
    answer = {{"edits", token_edits(sent.data, tokens)}, {"resultId", id}};
  } else {
    // Numbers take many times their text as JSON values.
    answer_text_ += R"({"data":)";
    append_semantic_tokens(answer_text_, tokens);
    answer_text_ += fmt::format(R"(,"resultId":"{}"}})", id);
  }
  sent = {id, std::move(tokens)};
  return answer;
}

Json Server::resolve_action(const Json& action) {
  const Json& data = action.at("data");
  Document& document = document_of(data);
  if (data.at("revision") != document.revision()) {
    throw Failure{kContentModified, "the text has changed since the action was offered"};
  }
  auto changed = refactored(view(document), data);
  if (!changed) throw Failure{kRequestFailed, changed.error().message};
  if (!changed->report.empty()) {
    send({{"jsonrpc", "2.0"},
          {"method", "window/showMessage"},
          {"params", {{"type", kInfoMessage}, {"message", changed->report}}}});
  }
  Json answer = action;
  answer["edit"] =
      changed->file.empty()
          ? workspace_edit(document, edits_to(document, changed->text), client_.document_changes)
          : file_edit(changed->file, changed->text);
  return answer;
}

Json Server::pulled_diagnostics(Document& document, const Json& previous) {
  const std::string id = std::to_string(document.revision());
  if (previous == id) return {{"kind", "unchanged"}, {"resultId", id}};
  document.analyse_changes();
  has_freed_memory_ = !document.is_analysed();
  if (!document.analyse()) throw Stopped{};
  answer_text_ += R"({"items":)";
  append_shown_findings(answer_text_, document, client_.related_information);
  answer_text_ += fmt::format(R"(,"kind":"full","resultId":"{}"}})", id);
  document.set_shown();
  return nullptr;
}

Json Server::text_document_request(const std::string& method, const Json& params) {
  constexpr std::string_view kPrefix = "textDocument/";
  const auto unknown = [&] {
    return Failure{kMethodNotFound, fmt::format("method '{}' is not known", method)};
  };
  const auto checked = [](Result<Json> result) {
    if (!result) throw Failure{kRequestFailed, result.error().message};
    return std::move(*result);
  };
  struct Row {
    std::string_view name;
    std::function<Json(const View&)> answer;
  };
  const auto at = [&](const View& of) { return position_in(of.document, params.at("position")); };
  const auto in = [&](const View& of) { return range_in(of.document, params.at("range")); };
  const Row rows[] = {
      {"hover", [&](const View& of) { return hover(of, at(of), client_.markdown, weights_); }},
      {"definition", [&](const View& of) { return definition(of, at(of)); }},
      {"references",
       [&](const View& of) {
         return references(of, at(of), flag(params, "context.includeDeclaration"));
       }},
      {"documentHighlight", [&](const View& of) { return highlights(of, at(of)); }},
      {"documentSymbol",
       [&](const View& of) { return document_symbols(of, client_.hierarchical_symbols); }},
      {"prepareRename", [&](const View& of) { return checked(prepare_rename(of, at(of))); }},
      {"rename",
       [&](const View& of) {
         return checked(
             rename(of, at(of), params.at("newName"), client_.document_changes, other_texts()));
       }},
      {"completion", [&](const View& of) { return completion(of, at(of), client_.snippets); }},
      {"signatureHelp", [&](const View& of) { return signature_help(of, at(of)); }},
      {"semanticTokens/full", [&](const View& of) { return full_tokens(of, {}); }},
      {"semanticTokens/full/delta",
       [&](const View& of) {
         return full_tokens(of, params.at("previousResultId").get_ref<const std::string&>());
       }},
      {"semanticTokens/range",
       [&](const View& of) {
         return Json{{"data", semantic_tokens(of, in(of))}};
       }},
      {"diagnostic",
       [&](const View& of) {
         return pulled_diagnostics(of.document, member(params, "previousResultId"));
       }},
      {"foldingRange", [&](const View& of) { return folding_ranges(of); }},
      {"selectionRange",
       [&](const View& of) {
         Json list = Json::array();
         for (const Json& each : params.at("positions")) {
           list.push_back(selection_range(of, position_in(of.document, each)));
         }
         return list;
       }},
      {"inlayHint", [&](const View& of) { return inlay_hints(of, in(of)); }},
      {"formatting", [&](const View& of) { return checked(formatting(of, std::nullopt)); }},
      {"rangeFormatting", [&](const View& of) { return checked(formatting(of, in(of))); }},
      {"onTypeFormatting",
       [&](const View& of) {
         return on_type_formatting(of, at(of), params.at("ch").get_ref<const std::string&>());
       }},
      {"codeAction",
       [&](const View& of) {
         return code_actions(of, in(of), member(params, "context"), client_);
       }},
      {"codeLens", [&](const View& of) { return code_lenses(of, client_.runs_graphs); }},
      {"prepareCallHierarchy", [&](const View& of) { return prepare_call_hierarchy(of, at(of)); }},
  };
  if (!method.starts_with(kPrefix)) throw unknown();
  const std::string_view name = std::string_view(method).substr(kPrefix.size());
  const auto row = std::ranges::find(rows, name, &Row::name);
  if (row == std::end(rows)) throw unknown();
  if (!params.is_object()) throw Failure{kInvalidParams, "the parameters are not an object"};
  return row->answer(view(document_of(params)));
}

}  // namespace mir::lsp
