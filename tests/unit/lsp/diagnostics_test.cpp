// The server shows what mllm-parse prints.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <sstream>

#include "../project_files.hpp"
#include "../seeds.hpp"
#include "client.hpp"
#include "support/utf8.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::LspClient;

namespace {

using Found = std::vector<std::string>;

/// A finding by place, severity, code and message.
std::string finding(const Json& start, const Json& end, int severity, const Json& code,
                    const std::string& message) {
  return start.dump() + end.dump() + std::to_string(severity) + code.dump() +
         message.substr(0, message.find('\n'));
}

Found printed(const std::string& path) {
  const std::string command = std::string(MIR_TOOLS) +
                              "/mllm-parse --diagnostics=json --max-errors=0 '" + path +
                              "' 2>&1 >/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(pipe);
  std::string output;
  std::array<char, 1 << 16> bytes;
  while (const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) {
    output.append(bytes.data(), size);
  }
  Found found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    const auto place = [&](const char* row, const char* column) {
      if (json[row].is_null()) return Json{{"line", 0}, {"character", 0}};
      return Json{{"line", json[row].get<int>() - 1}, {"character", json[column].get<int>() - 1}};
    };
    const std::string severity = json["severity"];
    found.push_back(finding(place("line", "column"), place("end_line", "end_column"),
                            severity == "error"     ? 1
                            : severity == "warning" ? 2
                                                    : 3,
                            json["code"], json["message"]));
  }
  return found;
}

Found shown(const std::string& text) {
  LspClient client(Json{{"general", {{"positionEncodings", Json::array({"utf-32"})}}}});
  client.open(text);
  Found found;
  for (const Json& each : client.diagnostics()) {
    found.push_back(finding(each["range"]["start"], each["range"]["end"], each["severity"],
                            each["code"], each["message"]));
  }
  return found;
}

}  // namespace

TEST_SUITE("diagnostics") {
  TEST_CASE("the server shows what mllm-parse prints, for every stored text") {
    std::vector<std::filesystem::path> paths;
    for (const char* folder : {"diagnostics", "examples", "mllm-parse"}) {
      for (const auto& each :
           std::filesystem::recursive_directory_iterator(test::kRoot / "testdata" / folder)) {
        if (each.path().extension() == ".mir") paths.push_back(each.path());
      }
    }
    std::ranges::sort(paths);
    std::size_t with_findings = 0;
    // Sanitizers watch some of them; golden cases are watched with the program itself.
    for (std::size_t i = 0; i < paths.size(); i += test::kCaseStride) {
      const std::filesystem::path& path = paths[i];
      const std::string text = test::read_whole(path);
      const char* const end = text.data() + text.size();
      // Messages of the protocol are UTF-8, and lone CR is a line end there.
      if (find_invalid_utf8(text.data(), end) != end) continue;
      if (text.find('\r') != text.npos || text.starts_with("\xef\xbb\xbf")) continue;
      CAPTURE(path.string());
      const Found expected = printed(path.string());
      with_findings += expected.empty() ? 0 : 1;
      CHECK(shown(text) == expected);
    }
    CHECK(with_findings > 50 / test::kCaseStride);
  }
}

TEST_CASE("an analysis gives way to messages and goes on") {
  LspClient client;
  client.open(
      "@main [mir_version:1] (%a:tensor<[2], Float32, CPU>) -> (%c:tensor<[2], Float32, CPU>) {\n"
      "    linalg.CPU.SiLUOp (%a) -> (%b:tensor<[2], Float32, CPU>)\n"
      "    linalg.CPU.SiLUOp (%wrong) -> (%c:tensor<[2], Float32, CPU>)\n"
      "    cf.ReturnOp (%c) -> ()\n}\n");
  const std::atomic<bool> message_waits = true;
  int stops = 0;
  const auto is_published = [](const Json& each) {
    return each.value("method", "") == "textDocument/publishDiagnostics";
  };
  while (std::ranges::none_of(client.sent, is_published)) {
    REQUIRE(client.server.work(&message_waits));
    CHECK(client.at("hover", 1, 25)["contents"]["value"].get<std::string>().find(
              "%a: tensor<[2]") != std::string::npos);
    ++stops;
  }
  CHECK(stops > 3);
  const Json found = client.diagnostics();
  REQUIRE(found.size() == 1);
  CHECK(found[0]["range"]["start"]["line"] == 2);
}

TEST_CASE("a call that lacks an operand is offered a value of its name or type") {
  const std::string type = "tensor<[2], Float32, CPU>";
  const auto offered = [&](const std::string& added) {
    LspClient client;
    client.open("@main [mir_version:1] (%a:" + type + ") -> (%y:" + type +
                ") {\n"
                "    graph.SubGraphOp @f <CPU> {\n"
                "        (%p:" +
                type + ", " + added + ") -> (%r:" + type +
                ") {\n"
                "            linalg.CPU.AddOp(%p, %p) -> (%r)\n"
                "            cf.ReturnOp (%r) -> ()\n"
                "        }\n"
                "    }\n"
                "    linalg.CPU.SiLUOp (%a) -> (%b)\n"
                "    linalg.CPU.SiLUOp (%b) -> (%c)\n"
                "    linalg.CPU.CastTypeOp [dtype:Int32] (%c) -> (%n)\n"
                "    graph.CallGraphOp @f (%b) -> (%y)\n"
                "    cf.ReturnOp (%y) -> ()\n}\n");
    const Json place = {{"line", 10}, {"character", 23}};
    const Json actions = client.of("codeAction", {{"range", {{"start", place}, {"end", place}}},
                                                  {"context", {{"diagnostics", Json::array()}}}});
    std::string all;
    for (const Json& each : actions) {
      if (each["kind"] == "quickfix") all += each["title"].get<std::string>() + '\n';
    }
    return all;
  };
  CHECK(offered("%a:" + type) == "Insert ', %a'\n");
  CHECK(offered("%q:" + type) == "Insert ', %c'\n");
  CHECK(offered("%q:" + type + ", %s:" + type) == "Insert ', %c, %a'\n");
  CHECK(offered("%q:tensor<[3], Float32, CPU>").empty());
}
