// A client of the server for tests: sends messages, keeps what comes back.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lsp/server.hpp"

namespace mir::test {

using Json = nlohmann::json;

inline const char* const kUri = "untitled:Untitled-1";

class LspClient {
 public:
  explicit LspClient(const Json& capabilities = Json::object(), bool initialize = true)
      : server([this](std::string_view body) { sent.push_back(Json::parse(body)); }, "1",
               cancelled) {
    if (!initialize) return;
    const Json answer =
        request("initialize",
                {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", capabilities}});
    features = answer["capabilities"];
    notify("initialized", Json::object());
  }

  /// The result; the error, if there is one.
  Json request(const std::string& method, const Json& params) {
    const int id = ++last_id;
    server.receive(
        Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    for (const Json& each : sent) {
      if (each.contains("id") && each["id"] == id) {
        return each.contains("error") ? each["error"] : each["result"];
      }
    }
    FAIL("no answer to ", method);
    return nullptr;
  }
  void notify(const std::string& method, const Json& params) {
    server.receive(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }

  void open(const std::string& text) {
    notify(
        "textDocument/didOpen",
        {{"textDocument", {{"uri", kUri}, {"languageId", "mir"}, {"version", 1}, {"text", text}}}});
  }
  void change(const Json& changes) {
    notify("textDocument/didChange", {{"textDocument", {{"uri", kUri}, {"version", ++version}}},
                                      {"contentChanges", changes}});
  }
  /// A request about a place: `parts` is added to the parameters.
  Json at(const std::string& method, int line, int column, const Json& parts = Json::object()) {
    Json params = {{"textDocument", {{"uri", kUri}}},
                   {"position", {{"line", line}, {"character", column}}}};
    params.update(parts);
    return request("textDocument/" + method, params);
  }
  Json of(const std::string& method, const Json& parts = Json::object()) {
    Json params = {{"textDocument", {{"uri", kUri}}}};
    params.update(parts);
    return request("textDocument/" + method, params);
  }
  /// The diagnostics that were published last, after all work is done.
  Json diagnostics() {
    while (server.work()) {
    }
    for (auto each = sent.rbegin(); each != sent.rend(); ++each) {
      if (each->value("method", "") == "textDocument/publishDiagnostics") {
        return (*each)["params"]["diagnostics"];
      }
    }
    return nullptr;
  }

  std::vector<Json> sent;
  lsp::CancelledRequests cancelled;
  lsp::Server server;
  Json features;
  int last_id = 0;
  int version = 1;
};

/// The text of a range in a text of ASCII characters.
inline std::string text_of(const std::string& text, const Json& range) {
  const auto offset = [&](const Json& at) {
    std::size_t begin = 0;
    for (int line = at["line"]; line > 0; --line) begin = text.find('\n', begin) + 1;
    return begin + at["character"].get<std::size_t>();
  };
  const std::size_t begin = offset(range["start"]);
  return text.substr(begin, offset(range["end"]) - begin);
}

/// The text after edits in the order that the protocol has: ranges are in the text before all.
inline std::string edited(const std::string& text, Json edits) {
  std::string result = text;
  std::sort(edits.begin(), edits.end(), [](const Json& a, const Json& b) {
    const Json &x = a["range"]["start"], &y = b["range"]["start"];
    return x["line"] != y["line"] ? x["line"] > y["line"] : x["character"] > y["character"];
  });
  for (const Json& edit : edits) {
    const std::string old = text_of(result, edit["range"]);
    std::size_t begin = 0;
    for (int line = edit["range"]["start"]["line"]; line > 0; --line) {
      begin = result.find('\n', begin) + 1;
    }
    begin += edit["range"]["start"]["character"].get<std::size_t>();
    result.replace(begin, old.size(), edit["newText"].get<std::string>());
  }
  return result;
}

}  // namespace mir::test
