// Complete answers of the language server about some texts, at each of their columns or about the
// whole, as testdata/unit/lsp/answers.txt stores them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "../seeds.hpp"
#include "../stored_lines.hpp"
#include "client.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::LspClient;

namespace answers_test {

namespace {

const Json kAll = {{"textDocument",
                    {{"hover", {{"contentFormat", {"markdown", "plaintext"}}}},
                     {"documentSymbol", {{"hierarchicalDocumentSymbolSupport", true}}},
                     {"publishDiagnostics", {{"relatedInformation", true}}},
                     {"rename", {{"prepareSupport", true}}}}},
                   {"workspace", {{"workspaceEdit", {{"documentChanges", true}}}}}};

/// `2:4-8` in one line, `2:4-3:1` in two.
std::string show(const Json& range) {
  const int line = range["start"]["line"], begin = range["start"]["character"];
  const int last = range["end"]["line"], end = range["end"]["character"];
  return line == last ? fmt::format("{}:{}-{}", line, begin, end)
                      : fmt::format("{}:{}-{}:{}", line, begin, last, end);
}

std::string show_all(const Json& places) {
  std::vector<std::string> all;
  for (const Json& each : places) all.push_back(show(each["range"]));
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The name of an enumerator of the protocol, otherwise its number.
std::string named(const Json& number, const std::map<int, std::string_view>& names) {
  const auto found = names.find(number.get<int>());
  return found == names.end() ? number.dump() : std::string(found->second);
}

bool is_none(const Json& answer) {
  return answer.is_null() || answer.empty() || (answer.is_object() && answer.contains("code"));
}

/// A place of a text.
struct Cursor {
  LspClient& client;
  int line = 0;
  int column = 0;

  /// Null if there is no answer.
  Json ask(const std::string& method, const Json& parts = Json::object()) const {
    const Json answer = client.at(method, line, column, parts);
    client.sent.clear();
    return is_none(answer) ? Json() : answer;
  }
};

// -- answers about a place ------------------------------------------------------------------------

std::string hover(const Cursor& at) {
  const Json answer = at.ask("hover");
  if (answer.is_null()) return "";
  CHECK(answer["contents"]["kind"] == "markdown");
  std::string text = answer["contents"]["value"];
  for (auto end = text.find("\n\n"); end != text.npos; end = text.find("\n\n")) {
    text.replace(end, 2, " | ");
  }
  return show(answer["range"]) + " " + text;
}

/// The name that can be renamed, the definition, and the highlights with their kinds. References
/// are the highlighted ranges; without the declaration, those but for the definition.
std::string places(const Cursor& at) {
  const Json name = at.ask("prepareRename"), definition = at.ask("definition");
  const Json highlights = at.ask("documentHighlight");
  std::string all;
  if (!name.is_null()) {
    all += fmt::format("'{}' at {}", name["placeholder"].get<std::string>(), show(name["range"]));
  }
  if (!definition.is_null()) all += " defined at " + show_all(definition);
  std::vector<std::string> marked, others;
  for (const Json& each : highlights) {
    all += fmt::format(", {} {}", named(each["kind"], {{1, "named"}, {2, "read"}, {3, "written"}}),
                       show(each["range"]));
    marked.push_back(show(each["range"]));
    const bool is_definition = !definition.is_null() && each["range"] == definition[0]["range"];
    if (!is_definition) others.push_back(marked.back());
  }
  const auto references = [&](bool with_declaration) {
    return show_all(
        at.ask("references", {{"context", {{"includeDeclaration", with_declaration}}}}));
  };
  CHECK(references(true) == fmt::format("{}", fmt::join(marked, ", ")));
  CHECK(references(false) == fmt::format("{}", fmt::join(others, ", ")));
  return all.substr(std::min(all.find_first_not_of(", "), all.size()));
}

/// The places that a renaming edits.
std::string renamed(const Cursor& at, const std::string& name) {
  const Json answer = at.ask("rename", {{"newName", name}});
  if (answer.is_null()) return "";
  const Json& changes = answer["documentChanges"];
  REQUIRE(changes.size() == 1);
  CHECK(changes[0]["textDocument"] == Json{{"uri", test::kUri}, {"version", 1}});
  for (const Json& each : changes[0]["edits"]) CHECK(each["newText"] == name);
  return show_all(changes[0]["edits"]);
}

/// Each signature with the active parameter in braces.
std::string signature(const Cursor& at) {
  const Json answer = at.ask("signatureHelp");
  if (answer.is_null()) return "";
  REQUIRE(answer["signatures"].size() == 1);
  CHECK(answer["activeSignature"] == 0);
  const Json& only = answer["signatures"][0];
  std::string label = only["label"], documentation;
  const std::size_t active = answer["activeParameter"];
  if (active < only["parameters"].size()) {
    const Json& parameter = only["parameters"][active];
    label.insert(parameter["label"][1].get<std::size_t>(), "}");
    label.insert(parameter["label"][0].get<std::size_t>(), "{");
    documentation = parameter.value("documentation", "");
  }
  return fmt::format("{} | {}{}{}", label, only["documentation"].get<std::string>(),
                     documentation.empty() ? "" : " | ", documentation);
}

/// The items of a short list in their order, nothing for a long one. All replace the text from one
/// column to the cursor.
std::string completion(const Cursor& at) {
  constexpr std::size_t kMost = 6;
  const Json answer = at.ask("completion");
  if (answer.is_null() || answer["items"].empty() || answer["items"].size() > kMost) return "";
  Json items = answer["items"];
  std::stable_sort(items.begin(), items.end(), [](const Json& a, const Json& b) {
    return a["sortText"].get<std::string>() < b["sortText"].get<std::string>();
  });
  const Json start = items[0]["textEdit"]["range"]["start"];
  std::vector<std::string> all;
  for (const Json& each : items) {
    CHECK(each["textEdit"]["range"] ==
          Json{{"start", start}, {"end", {{"line", at.line}, {"character", at.column}}}});
    all.push_back(fmt::format("{}, {}, {}", each["label"].get<std::string>(),
                              named(each["kind"], {{6, "value"}, {7, "type"}, {9, "graph"}}),
                              each.value("detail", "-")));
  }
  return fmt::format("from {}: {}", start["character"].get<int>(), fmt::join(all, "; "));
}

/// The stored answer at a place, of lines that at_each_column() returned; empty if there is none.
std::string stored_answer(const std::vector<std::string>& lines, int line, int column) {
  for (const std::string& each : lines) {
    std::istringstream text(each);
    int of_line = 0, first = 0, last = 0;
    char colon = 0, dash = 0;
    text >> of_line >> colon >> first >> dash >> last;
    if (of_line == line && first <= column && column <= last)
      return each.substr(each.find(": ") + 2);
  }
  return "";
}

/// The answers at each column of a text: a line for each run of columns with one answer. Sanitizers
/// ask at some columns, and take the stored answers at the others.
std::string at_each_column(const std::string& text, const std::vector<std::string>& stored,
                           const std::function<std::string(const Cursor&)>& answer_at) {
  LspClient client(kAll);
  client.open(text);
  client.diagnostics();
  std::string all, last;
  Cursor at{client};
  int first = 0;
  const auto end_run = [&](int end) {
    if (!last.empty()) all += fmt::format("{}:{}-{}: {}\n", at.line, first, end, last);
    last.clear();
  };
  std::size_t place = 0;
  for (const char c : text) {
    const bool is_asked = place++ % test::kCaseStride == 0;
    const std::string found = is_asked ? answer_at(at) : stored_answer(stored, at.line, at.column);
    if (found != last) {
      end_run(at.column - 1);
      first = at.column;
      last = found;
    }
    if (c == '\n') {
      end_run(at.column);
      ++at.line, at.column = 0;
    } else {
      ++at.column;
    }
  }
  return all;
}

// -- answers about a text -------------------------------------------------------------------------

/// The ranges to select at each column of a line, from the innermost one outwards.
std::string selections(const std::string& text, int line) {
  LspClient client(kAll);
  client.open(text);
  const std::string chosen = test::split_lines(text)[static_cast<std::size_t>(line)];
  Json positions = Json::array();
  for (std::size_t i = 0; i <= chosen.size(); ++i) {
    positions.push_back({{"line", line}, {"character", i}});
  }
  std::string all, last;
  int column = 0;
  for (const Json& each : client.of("selectionRange", {{"positions", positions}})) {
    std::vector<std::string> ranges;
    for (const Json* at = &each; at != nullptr;
         at = at->contains("parent") ? &at->at("parent") : nullptr) {
      ranges.push_back(show(at->at("range")));
    }
    const std::string found = fmt::format("{}", fmt::join(ranges, " in "));
    if (found != last) all += fmt::format("{}:{}: {}\n", line, column, found);
    last = found;
    ++column;
  }
  return all;
}

/// The answer about the whole text.
Json answer(const std::string& text, const std::string& method, const Json& client_has = kAll) {
  LspClient client(client_has);
  client.open(text);
  client.diagnostics();
  const Json everything = {{"start", {{"line", 0}, {"character", 0}}},
                           {"end", {{"line", 99}, {"character", 0}}}};
  return client.of(method, {{"range", everything}});
}

const std::map<int, std::string_view> kSymbolKinds = {
    {2, "module"}, {12, "function"}, {19, "object"}};

std::string symbols(const Json& list, std::size_t depth = 0) {
  std::string all;
  for (const Json& each : list) {
    all += fmt::format("{:{}}{} {} ({}) {}, selected {}\n", "", 2 * depth,
                       named(each["kind"], kSymbolKinds), each["name"].get<std::string>(),
                       each["detail"].get<std::string>(), show(each["range"]),
                       show(each["selectionRange"]));
    all += symbols(each.value("children", Json::array()), depth + 1);
  }
  return all;
}

std::string flat_symbols(const Json& list) {
  std::string all;
  for (const Json& each : list) {
    all += fmt::format("{} {} {}\n", named(each["kind"], kSymbolKinds),
                       each["name"].get<std::string>(), show(each["location"]["range"]));
  }
  return all;
}

std::string folds(const Json& list) {
  std::string all;
  for (const Json& each : list) {
    const std::string kind = each.value("kind", "");
    all += fmt::format("lines {} to {}{}{}\n", each["startLine"].get<int>(),
                       each["endLine"].get<int>(), kind.empty() ? "" : " of a ", kind);
  }
  return all;
}

std::string hints(const Json& list) {
  std::string all;
  for (const Json& each : list) {
    all += fmt::format("{}:{} {} {}\n", each["position"]["line"].get<int>(),
                       each["position"]["character"].get<int>(), named(each["kind"], {{1, "type"}}),
                       each["label"].get<std::string>());
  }
  return all;
}

/// The tokens of each line: kind and text, `+N` behind a kind with modifiers N.
std::string tokens(const std::string& text) {
  const std::vector<std::string> lines = test::split_lines(text);
  const LspClient client(kAll);
  const Json types = client.features["semanticTokensProvider"]["legend"]["tokenTypes"];
  const Json data = answer(text, "semanticTokens/full")["data"];
  std::vector<std::string> found(lines.size());
  std::size_t line = 0, column = 0;
  for (std::size_t i = 0; i + 4 < data.size(); i += 5) {
    const auto number = [&](std::size_t part) { return data[i + part].get<std::size_t>(); };
    if (number(0) != 0) column = 0;
    line += number(0);
    column += number(1);
    found.at(line) += fmt::format(
        "{}{}{} {}", found.at(line).empty() ? "" : ", ", types[number(3)].get<std::string>(),
        number(4) == 0 ? "" : fmt::format("+{}", number(4)), lines[line].substr(column, number(2)));
  }
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!found[i].empty()) all += fmt::format("{}: {}\n", i, found[i]);
  }
  return all;
}

std::string answer_to(const std::string& request, const std::string& text,
                      const std::vector<std::string>& stored) {
  constexpr std::string_view kRename = "rename to ", kSelections = "selections of line ";
  if (request.starts_with(kRename)) {
    return at_each_column(text, stored, [&](const Cursor& at) {
      return renamed(at, request.substr(kRename.size()));
    });
  }
  if (request.starts_with(kSelections)) {
    return selections(text, std::stoi(request.substr(kSelections.size())));
  }
  if (request == "hover") return at_each_column(text, stored, hover);
  if (request == "places") return at_each_column(text, stored, places);
  if (request == "signatures") return at_each_column(text, stored, signature);
  if (request == "completion") return at_each_column(text, stored, completion);
  if (request == "symbols") return symbols(answer(text, "documentSymbol"));
  if (request == "flat symbols") {
    return flat_symbols(answer(text, "documentSymbol", Json::object()));
  }
  if (request == "folds") return folds(answer(text, "foldingRange"));
  if (request == "hints") return hints(answer(text, "inlayHint"));
  if (request == "tokens") return tokens(text);
  FAIL("unknown request ", request);
  return "";
}

}  // namespace

TEST_CASE("whole answers at each place and about whole texts are those stored") {
  std::map<std::string, std::string> texts;
  test::check_stored_cases("testdata/unit/lsp/answers.txt", [&](const test::StoredCase& each) {
    const std::size_t split = each.name.find(": ");
    REQUIRE(split != each.name.npos);
    const std::string request = each.name.substr(0, split), text = each.name.substr(split + 2);
    if (request != "text") return answer_to(request, texts.at(text), each.result);
    texts[text] = each.input;
    return std::string();
  });
}

}  // namespace answers_test
