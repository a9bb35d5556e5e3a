#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <thread>

#include "client.hpp"
#include "lsp/framing.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;

namespace {

constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kNotInitialized = -32002, kRequestFailed = -32803,
              kCancelled = -32800;

const std::string kModule =
    "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {\n"
    "  linalg.CPU.ReLUOp (%x) -> (%y:tensor<[2], Float32, CPU>)\n"
    "  cf.ReturnOp (%y) -> ()\n"
    "}\n";

Json change(int line, int from, int to, const std::string& text) {
  return {{"range",
           {{"start", {{"line", line}, {"character", from}}},
            {"end", {{"line", line}, {"character", to}}}}},
          {"text", text}};
}

/// Processor time of this thread.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_SUITE("protocol") {
  TEST_CASE("before initialize, requests are refused and notifications dropped") {
    LspClient client({}, false);
    CHECK(client.request("textDocument/hover", Json::object())["code"] == kNotInitialized);
    CHECK(client.request("shutdown", nullptr)["code"] == kNotInitialized);
    client.open(kModule);
    CHECK(client.diagnostics() == nullptr);
    CHECK(
        client.request("initialize", {{"capabilities", Json::object()}}).contains("capabilities"));
    CHECK(client.request("initialize", {{"capabilities", Json::object()}})["code"] ==
          kInvalidRequest);
  }

  TEST_CASE("after shutdown, requests are invalid and exit is clean") {
    LspClient client;
    CHECK(client.server.exit_status() == 1);
    CHECK(client.request("shutdown", nullptr) == nullptr);
    CHECK(client.request("workspace/symbol", {{"query", ""}})["code"] == kInvalidRequest);
    CHECK(!client.server.has_exited());
    client.notify("exit", nullptr);
    CHECK(client.server.has_exited());
    CHECK(client.server.exit_status() == 0);
  }

  TEST_CASE("exit without shutdown ends with status 1") {
    LspClient client;
    client.notify("exit", nullptr);
    CHECK(client.server.has_exited());
    CHECK(client.server.exit_status() == 1);
  }

  TEST_CASE("messages that are wrong are answered and end nothing") {
    LspClient client;
    const auto code = [&](std::string_view body) {
      client.sent.clear();
      client.server.receive(std::string(body));
      REQUIRE(client.sent.size() == 1);
      return client.sent.front()["error"]["code"].get<int>();
    };
    CHECK(code("{") == kParseError);
    CHECK(code("") == kParseError);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"} x") == kParseError);
    CHECK(code("\"\xff\"") == kParseError);
    CHECK(code("[]") == kInvalidRequest);
    CHECK(code("1") == kInvalidRequest);
    CHECK(code("{}") == kInvalidRequest);
    CHECK(code("{\"id\":1}") == kInvalidRequest);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}") == kInvalidRequest);
    CHECK(code("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"shutdown\"}") == kInvalidRequest);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"shutdown\"}") == kInvalidRequest);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\",\"params\":3}") ==
          kInvalidRequest);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}") == kMethodNotFound);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$/such\"}") == kMethodNotFound);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"textDocument/hover\"}") ==
          kInvalidParams);
    CHECK(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"textDocument/no\",\"params\":{}}") ==
          kMethodNotFound);
    client.sent.clear();
    client.server.receive("{\"jsonrpc\":\"2.0\",\"method\":\"$/unknown\"}");
    client.server.receive("{\"jsonrpc\":\"2.0\",\"method\":\"unknown\",\"params\":{}}");
    client.server.receive("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":null}");
    client.server.receive("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{}}");
    CHECK(client.sent.empty());
    client.open(kModule);
    CHECK(client.diagnostics().empty());
  }

  TEST_CASE("ids are echoed as they are") {
    LspClient client;
    client.sent.clear();
    client.server.receive(R"({"jsonrpc":"2.0","id":"a","method":"no"})");
    client.server.receive(R"({"jsonrpc":"2.0","id":7,"method":"no"})");
    CHECK(client.sent[0]["id"] == "a");
    CHECK(client.sent[1]["id"] == 7);
  }

  TEST_CASE("parameters that are wrong are refused") {
    LspClient client;
    client.open(kModule);
    for (const Json& position :
         {Json(nullptr), Json::object(), Json{{"line", 1}}, Json{{"line", -1}, {"character", 0}},
          Json{{"line", 1.5}, {"character", 0}}, Json{{"line", "1"}, {"character", 0}}}) {
      CAPTURE(position.dump());
      CHECK(client.of("hover", {{"position", position}})["code"] == kInvalidParams);
    }
    CHECK(client.request("textDocument/hover",
                         {{"textDocument", {{"uri", "file:///none"}}},
                          {"position", {{"line", 0}, {"character", 0}}}})["code"] ==
          kInvalidParams);
    CHECK(client.at("rename", 1, 22, {{"newName", ""}})["code"] == kRequestFailed);
    CHECK(client.at("rename", 1, 22)["code"] == kInvalidParams);
    CHECK(client.at("hover", 999, 999) == nullptr);
    CHECK(client.at("hover", 1, 9999) == nullptr);
    for (const char* method : {"textDocument/didOpen", "textDocument/didChange"}) {
      client.sent.clear();
      client.notify(method, Json::object());
      REQUIRE(client.sent.size() == 1);
      CHECK(client.sent.front()["method"] == "window/logMessage");
    }
  }

  TEST_CASE("a request that was cancelled before its turn gets an error") {
    LspClient client;
    client.open(kModule);
    client.cancelled.look_at(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c"}})");
    client.sent.clear();
    client.server.receive(
        R"({"jsonrpc":"2.0","id":"c","method":"workspace/symbol","params":{"query":""}})");
    CHECK(client.sent.front()["error"]["code"] == kCancelled);
    client.server.receive(
        R"({"jsonrpc":"2.0","id":"c","method":"workspace/symbol","params":{"query":""}})");
    CHECK(client.sent.back().contains("result"));
  }

  TEST_CASE("the work for a request that is cancelled while it runs is stopped") {
    std::string text =
        "@main [mir_version:1] (%0:tensor<[4], Float32, CPU>) -> (%0:tensor<[4], Float32, CPU>) {\n"
        "    graph.SubGraphOp @twice <CPU> {\n"
        "        (%0:tensor<[4], Float32, CPU>) -> (%1:tensor<[4], Float32, CPU>) {\n"
        "            linalg.CPU.AddOp (%0, %0) -> (%1)\n            cf.ReturnOp (%1) -> ()\n"
        "        }\n    }\n";
    for (int i = 0; i < 3000; ++i) {
      text += "    graph.CallGraphOp @twice (%0:tensor<[4], Float32, CPU>) -> (%x" +
              std::to_string(i) + ":tensor<[4], Float32, CPU>)\n";
    }
    text += "    cf.ReturnOp (%0) -> ()\n}\n";
    const Json place = {{"textDocument", {{"uri", kUri}}},
                        {"position", {{"line", 3}, {"character", 32}}},
                        {"newName", "renamed"},
                        {"query", ""},
                        {"context", {{"includeDeclaration", true}}},
                        {"workDoneToken", "progress"}};
    Json of_symbol = place;
    of_symbol["position"] = {{"line", 1}, {"character", 24}};
    const auto run = [&](const char* method, const Json& params, bool is_cancelled) {
      lsp::CancelledRequests cancelled;
      std::vector<std::string> sent;
      bool sees_progress = false;
      lsp::Server server(
          [&](std::string_view body) {
            sent.emplace_back(body);
            // The request has begun when its progress does.
            if (body.find("\"begin\"") == body.npos) return;
            sees_progress = true;
            if (is_cancelled) {
              cancelled.look_at(R"({"method":"$/cancelRequest","params":{"id":7}})");
            }
          },
          "1", cancelled);
      server.receive(
          R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}})");
      server.receive(
          Json{{"jsonrpc", "2.0"},
               {"method", "textDocument/didOpen"},
               {"params", {{"textDocument", {{"uri", kUri}, {"version", 1}, {"text", text}}}}}}
              .dump());
      const auto ask = [&] {
        const double begin = thread_seconds();
        server.receive(
            Json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", params}}.dump());
        return thread_seconds() - begin;
      };
      const double spent = ask();
      CHECK(sees_progress);
      const Json answer = Json::parse(sent.back());
      CHECK(answer["id"] == 7);
      CHECK(answer.contains("error") == is_cancelled);
      if (is_cancelled) {
        CHECK(answer["error"]["code"].get<int>() == kCancelled);
        is_cancelled = false;
        ask();
        CHECK(Json::parse(sent.back()).contains("result"));  // nothing is spoiled
      }
      return spent;
    };
    struct Row {
      const char* method;
      const Json& params;
    };
    for (const Row& row : std::initializer_list<Row>{{"textDocument/references", of_symbol},
                                                     {"textDocument/rename", of_symbol},
                                                     {"textDocument/documentHighlight", of_symbol},
                                                     {"textDocument/semanticTokens/full", place},
                                                     {"textDocument/codeLens", place},
                                                     {"textDocument/documentSymbol", place},
                                                     {"workspace/symbol", place}}) {
      CAPTURE(row.method);
      // Other work on the machine can disturb a measurement, but not each of many.
      const auto is_stopped = [&] {
        const double whole = run(row.method, row.params, false);
        return run(row.method, row.params, true) * 3 < whole;
      };
      bool was_stopped = false;
      for (int i = 0; i < 10 && !was_stopped; ++i) was_stopped = is_stopped();
      CHECK(was_stopped);
    }
  }

  TEST_CASE("the position encoding is one that the client offers") {
    const auto chosen = [](const Json& offered) {
      LspClient client(Json{{"general", {{"positionEncodings", offered}}}});
      return client.features["positionEncoding"].get<std::string>();
    };
    CHECK(LspClient().features["positionEncoding"] == "utf-16");
    CHECK(chosen({"utf-16"}) == "utf-16");
    CHECK(chosen({"utf-16", "utf-8"}) == "utf-8");
    CHECK(chosen({"utf-32", "utf-16"}) == "utf-16");
    CHECK(chosen({"utf-32"}) == "utf-32");
    CHECK(chosen({"utf-7"}) == "utf-16");
    CHECK(chosen({"utf-16", "utf-32"}) == "utf-16");
    CHECK(chosen({"utf-8", "utf-32"}) == "utf-8");
    CHECK(chosen(Json::array({7, "utf-8"})) == "utf-8");
    CHECK(chosen(Json::array({7})) == "utf-16");
    CHECK(chosen(Json::array()) == "utf-16");
    CHECK(chosen("utf-8") == "utf-16");
  }

  TEST_CASE("changes apply in order, each to the result of the one before") {
    LspClient client;
    client.open(kModule);
    CHECK(client.diagnostics().empty());
    client.change(Json::array({change(1, 13, 19, "MullOp")}));
    Json found = client.diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0]["code"] == "MIR0400");
    CHECK(found[0]["range"]["start"] == Json{{"line", 1}, {"character", 2}});
    client.change(Json::array({change(0, 0, 0, "// a comment\n"), change(2, 13, 19, "ReLUOp")}));
    CHECK(client.diagnostics().empty());
    client.change(
        Json::array({Json{{"text", "@main"}}, Json{{"text", kModule}}, change(1, 0, 9999, "")}));
    found = client.diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0]["code"] == "MIR0302");
    for (const Json& each : client.sent) CHECK(each.value("method", "") != "window/logMessage");
  }

  TEST_CASE("columns count units of the encoding in changes and answers") {
    const std::string text = "// \xf0\x9f\x98\x80\n" + kModule;
    for (const auto& [encoding, units] :
         {std::pair{"utf-8", 4}, std::pair{"utf-16", 2}, std::pair{"utf-32", 1}}) {
      LspClient client(Json{{"general", {{"positionEncodings", Json::array({encoding})}}}});
      client.open(text);
      client.change(Json::array({change(0, 3, 3 + units, "x")}));
      CHECK(client.diagnostics().empty());
      CHECK(client.of("semanticTokens/full")["data"][2] == 4);
    }
  }

  TEST_CASE("errors of syntax are published at once, with what was found before them") {
    LspClient client;
    client.open(kModule);
    client.change(Json::array({change(1, 13, 19, "MullOp")}));
    CHECK(client.diagnostics().size() == 1);
    client.sent.clear();
    client.change(Json::array({change(0, 0, 0, "// more\n"), change(3, 14, 15, "")}));
    REQUIRE(client.sent.size() == 1);
    CHECK(client.sent[0]["params"]["version"] == 3);
    const Json list = client.sent[0]["params"]["diagnostics"];
    REQUIRE(list.size() == 2);
    CHECK(list[0]["range"]["start"]["line"] == 3);
    CHECK(list[1]["code"] == "MIR0400");
    CHECK(list[1]["range"]["start"]["line"] == 2);
    // That they are gone is published at once too, and then no news without an analysis.
    client.sent.clear();
    client.change(Json::array({{{"text", kModule}}}));
    REQUIRE(client.sent.size() == 1);
    CHECK(client.sent[0]["params"]["version"] == 4);
    client.change(Json::array({change(0, 0, 0, "// more\n")}));
    CHECK(client.sent.size() == 1);
  }

  TEST_CASE("findings move with the edits before them, those that an edit touches are gone") {
    const std::string text =
        "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\n"
        "  linalg.CPU.MullOp (%x) -> (%y:tensor<[2], Float32, CPU>)\n"
        "  cf.ReturnOp () -> ()\n}\n";
    const auto moved = [&](const std::vector<Json>& changes) {
      LspClient client;
      client.open(text);
      REQUIRE(client.diagnostics().size() == 1);
      client.sent.clear();
      // The last edit makes an error of syntax, so that what is known is published at once.
      Json all(changes);
      all.push_back(
          {{"range",
            {{"start", {{"line", 9}, {"character", 0}}}, {"end", {{"line", 9}, {"character", 0}}}}},
           {"text", "@"}});
      client.change(all);
      REQUIRE(client.sent.size() == 1);
      std::string places;
      for (const Json& each : client.sent[0]["params"]["diagnostics"]) {
        if (each["code"] != "MIR0400") continue;
        const Json &start = each["range"]["start"], &end = each["range"]["end"];
        places += std::to_string(start["line"].get<int>()) + ":" +
                  std::to_string(start["character"].get<int>()) + "-" +
                  std::to_string(end["line"].get<int>()) + ":" +
                  std::to_string(end["character"].get<int>());
      }
      return places;
    };
    CHECK(moved({}) == "1:2-1:19");
    CHECK(moved({change(0, 0, 0, "// a\n")}) == "2:2-2:19");
    CHECK(moved({change(1, 0, 2, "")}) == "1:0-1:17");
    CHECK(moved({change(1, 1, 2, "   ")}) == "1:4-1:21");
    CHECK(moved({change(1, 2, 2, "x")}) == "1:2-1:20");
    CHECK(moved({change(1, 2, 3, "")}) == "");
    CHECK(moved({change(1, 13, 19, "AbcdeOp")}) == "");
    CHECK(moved({change(1, 18, 19, "")}) == "");
    CHECK(moved({change(1, 19, 19, "x")}) == "1:2-1:19");
    CHECK(moved({change(1, 18, 21, "abcd")}) == "");
    CHECK(moved({change(1, 1, 19, "ab")}) == "");
    CHECK(moved({change(1, 0, 19, "ab"), change(1, 0, 0, "c")}) == "");
    CHECK(moved({change(2, 0, 0, "// a\n")}) == "1:2-1:19");
  }

  TEST_CASE("versions that do not grow are warned of, those that do are not") {
    // The client sends the version after the one that is set; the text has version 1.
    for (const int before : {-1, 0, 1, 6}) {
      CAPTURE(before);
      LspClient client;
      client.open(kModule);
      client.sent.clear();
      client.version = before;
      client.change(Json::array({change(0, 0, 0, "// x\n")}));
      const auto warnings = std::ranges::count_if(
          client.sent, [](const Json& each) { return each["method"] == "window/logMessage"; });
      CHECK(warnings == (before + 1 <= 1 ? 1 : 0));
    }
  }

  TEST_CASE("a client that opens twice, or goes back in versions, gets a warning and is served") {
    LspClient client;
    client.open("@main");
    client.open(kModule);
    CHECK(client.sent.back()["method"] == "window/logMessage");
    client.version = -5;
    client.change(Json::array({change(0, 0, 0, "// x\n")}));
    CHECK(client.sent.back()["method"] == "window/logMessage");
    CHECK(client.diagnostics().empty());
    client.notify("textDocument/didClose", {{"textDocument", {{"uri", kUri}}}});
    CHECK(client.sent.back()["params"]["diagnostics"].empty());
    CHECK(client.at("hover", 0, 0)["code"] == kInvalidParams);
  }
}

// -- the program ----------------------------------------------------------------------------------

namespace {

/// mllm-lsp with pipes.
class Process {
 public:
  Process() {
    int in[2], out[2];
    REQUIRE(::pipe(in) == 0);
    REQUIRE(::pipe(out) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const int each : {in[0], in[1], out[0], out[1]}) ::close(each);
      const std::string program = std::string(MIR_TOOLS) + "/mllm-lsp";
      ::execl(program.c_str(), "mllm-lsp", "--stdio", nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }

  void write(const std::string& bytes) {
    CHECK(::write(to_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  void close_input() { ::close(to_); }
  /// Reads until the output has the words.
  void read_until(std::string_view words) {
    char bytes[4096];
    while (output_.find(words) == output_.npos) {
      const ssize_t size = ::read(from_, bytes, sizeof bytes);
      REQUIRE(size > 0);
      output_.append(bytes, static_cast<std::size_t>(size));
    }
    output_.clear();
  }
  /// The most memory that the program has had.
  std::size_t peak_bytes() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
    }
    return 0;
  }
  bool is_running() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  /// All output until the program ends, and its status.
  int wait(std::string& output) {
    char bytes[4096];
    while (true) {
      const ssize_t size = ::read(from_, bytes, sizeof bytes);
      if (size <= 0) break;
      output.append(bytes, static_cast<std::size_t>(size));
    }
    ::close(from_);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
  std::string output_;
};

#ifdef MIR_CHECKED_BUILD
constexpr bool kMemoryIsOurs = false;  // sanitizers keep memory of their own
#else
constexpr bool kMemoryIsOurs = true;
#endif

}  // namespace

TEST_SUITE("mllm-lsp") {
  const std::string kInitialize =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}})";

  TEST_CASE("a session from initialize to exit ends with status 0") {
    Process server;
    server.write("nonsense\r\n\r\n" + lsp::framed("{") + lsp::framed(kInitialize) +
                 lsp::framed(R"({"jsonrpc":"2.0","id":2,"method":"shutdown"})") +
                 lsp::framed(R"({"jsonrpc":"2.0","method":"exit"})"));
    std::string output;
    CHECK(server.wait(output) == 0);
    lsp::FrameReader reader;
    reader.add(output);
    std::vector<Json> answers;
    while (const auto frame = reader.next()) answers.push_back(Json::parse(frame->body));
    REQUIRE(answers.size() == 4);
    CHECK(answers[0]["error"]["code"] == kParseError);
    CHECK(answers[1]["error"]["code"] == kParseError);
    CHECK(answers[2]["result"]["serverInfo"]["name"] == "mllm-lsp");
    CHECK(answers[3]["result"] == nullptr);
    server.close_input();
  }

  TEST_CASE("a long dump and edits of it take at most nine times its text") {
    std::string text = "@main () -> () {\n";
    for (int i = 0; text.size() < 2'000'000; ++i) {
      const std::string in = std::to_string(i), out = std::to_string(i + 1);
      text += "    linalg.CPU.SiLUOp(%" + in + ":tensor<[1, 1024, 2048], Float32, CPU>) -> (%" +
              out + ":tensor<[1, 1024, 2048], Float32, CPU>)\n";
    }
    text += "}\n";
    Process server;
    server.write(lsp::framed(kInitialize));
    server.read_until("capabilities");
    const std::size_t empty = server.peak_bytes();
    server.write(lsp::framed(
        Json{{"jsonrpc", "2.0"},
             {"method", "textDocument/didOpen"},
             {"params", {{"textDocument", {{"uri", "file:///a"}, {"version", 1}, {"text", text}}}}}}
            .dump()));
    server.read_until("\"version\":1");
    for (int version = 2; version < 5; ++version) {
      const Json place = {{"line", 1}, {"character", 24 + version}};
      server.write(lsp::framed(Json{
          {"jsonrpc", "2.0"},
          {"method", "textDocument/didChange"},
          {"params",
           {{"textDocument", {{"uri", "file:///a"}, {"version", version}}},
            {"contentChanges", {{{"range", {{"start", place}, {"end", place}}}, {"text", "7"}}}}}}}
                                   .dump()));
      server.read_until("\"version\":" + std::to_string(version));
    }
    const auto times = static_cast<double>(server.peak_bytes() - empty) / 2e6;
    if (kMemoryIsOurs) CHECK(times < 9);
    server.close_input();
    std::string output;
    server.wait(output);
  }

  TEST_CASE("an input that ends, ends the server") {
    Process server;
    server.write(lsp::framed(kInitialize));
    server.close_input();
    std::string output;
    CHECK(server.wait(output) == 1);
    CHECK(output.find("capabilities") != output.npos);
  }

  TEST_CASE("the server runs as long as its client does, and ends after it") {
    const pid_t client = ::fork();
    if (client == 0) {
      ::pause();
      ::_exit(0);
    }
    REQUIRE(client > 0);
    Process server;
    Json initialize = Json::parse(kInitialize);
    initialize["params"]["processId"] = client;
    server.write(lsp::framed(initialize.dump()));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // several looks at the client
    CHECK(server.is_running());
    REQUIRE(::kill(client, SIGKILL) == 0);
    REQUIRE(::waitpid(client, nullptr, 0) == client);
    std::string output;
    CHECK(server.wait(output) == 1);
    server.close_input();
  }
}
