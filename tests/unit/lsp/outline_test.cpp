// Complete outlines of texts, and complete answers of the server at each of their words.
#include "lsp/outline.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "client.hpp"
#include "mir/dialects.hpp"
#include "syntax/damage.hpp"

using namespace mir;
using mir::test::Json;
using mir::test::kUri;
using mir::test::LspClient;

namespace outline_test {

namespace {

const std::string kVersions =
    R"(@a [k:1] () -> () {
  linalg.CPU.NegOp [mir_version:1] (%x:tensor<[2, 4], Float32, CPU>) -> (%x:tensor<[2, 4], Float32, CPU>)
}
@b () -> () {
  linalg.CPU.NegOp (%x:tensor<[2, 4], Float32, CPU>) -> (%x:tensor<[2, 4], Float32, CPU>)
}
)";

const std::string kPortable =
    R"(// first
// second
@main [mir_version:2] (%in:tensor<[2, 4], Float32, CPU>) -> (%out:tensor<[2, 4], Float32, CPU>) {
  graph.SubGraphOp @first <CPU> [symbol:first] {
    (%a:tensor<[2, 4], Float32, CPU>) -> (%r:tensor<[2, 4], Float32, CPU>) {
      linalg.CPU.ReLUOp <name="act"> (%a) -> (%m)
      linalg.CPU.AddOp (%m, %a) -> (%r)

      cf.ReturnOp (%r) -> ()
    }
  }
  graph.FusedOp () -> (%f:tensor<[2, 4], Float32, CPU>) {
    () -> (%f:tensor<[2, 4], Float32, CPU>) {
      linalg.CPU.SiLUOp (%in) -> (%s)
      cf.YieldOp (%s) -> ()
    }
  }
  graph.CallGraphOp @first (%f) -> (%t) loc("a.cpp":1:2)
  linalg.CPU.SoftmaxOp [axis:-1] (%t) -> (%out)
  cf.ReturnOp (%out) -> ()
}
)";

const std::string kBlocks =
    R"(@blocks [mir_version:2] (%c:tensor<[], UInt8, CPU>, %x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) {
    cf.CondBranchOp (%c) -> () [^a(%x:tensor<[2, 4], Float32, CPU>), ^b]
  ^a(%p:tensor<[2, 4], Float32, CPU>):
    linalg.CPU.NegOp (%p) -> (%q)
    cf.ReturnOp (%q) -> ()
  ^b:
    cf.ReturnOp (%x) -> ()
}
)";

const std::string kDump =
    R"(@main () -> () {
  tensor.CPU.register () -> (%7:tensor<[2, 4], Float32, CPU>[@"w x"])[symbol:"w x"]
  linalg.CPU.AddOp (%1:tensor<[2, 4], Float32, CPU>, %7:tensor<[2, 4], Float32, CPU>[@w]) -> (%2:tensor<[2, 4], Float32, CPU>) [quant:@w]
  linalg.CPU.AddOp (%2:tensor<[2, 4], Float32, CPU>, %1:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>)
  prog.fragment @code <CPU> <code> [size:2] {
    addr:0x1 prog.label[symbol:net.__entry]
    addr:0x2 prog.jump net.__entry[offset:6]
    addr:0x3 prog.jump "net.__entry"[offset:6]
    addr:0x4 prog.jump other[offset:6]
  }
}
@second () -> () {
  linalg.CPU.AddOp (%2:tensor<[2, 4], Float32, CPU>, %1:tensor<[2, 4], Float32, CPU>) -> (%3:tensor<[2, 4], Float32, CPU>)
}
)";

const std::string kDamaged =
    R"(@main [mir_version:1] (%in:tensor<[2, 4], Float32, CPU>) -> (%out:tensor<[2, 4], Float32, CPU>) {
  graph.SubGraphOp @first <CPU {
    (%a:tensor<[2, 4], Float32, CPU>) -> (%r:tensor<[2, 4], Float32, CPU>) {
      linalg.CPU.ReLUOp (%a -> (%m)
      linalg.CPU.AddOp (%m, %a) -> (%r)
      odd @one @two (%n
      cf.ReturnOp (%r) -> ()
    }
  }
  graph.CallGraphOp @first (%in) -> (%out)
  cf.ReturnOp (%out) -> ()
}
@next [mir_version:1 (%in:tensor<[2, 4], Float32, CPU>) -> () {
  cf.ReturnOp () -> ()
)";

const std::string kOps =
    R"(@main [mir_version:1] (%in:tensor<[2, 4], Float32, CPU>) -> (%out:tensor<[2, 4], Float32, CPU>) {
  linalg.CPU.AddOp (%in, %in) -> (%t)
  linalg.CPU.SoftmaxOp [axis:-1] (%t) -> (%out)
  cf.ReturnOp (%out) -> ()
}
)";

const std::string kValues =
    R"(@main [mir_version:1] (%a:tensor<[2, 4], Float32, CPU>) -> (%b) {
  graph.SubGraphOp @f <CPU> {
    (%x:tensor<[2, 4], Float32, CPU>) -> (%z) {
      linalg.CPU.ReLUOp (%x) -> (%y)
      linalg.CPU.AddOp (%y, %x) -> (%z) [k:1]
      linalg.CPU.ReLUOp (%z) -> (%w:tensor<[2], Float32, CPU>)
    }
  }
  graph.CallGraphOp @f (%a) -> (%b)

}
)";

/// The spans and indices of an outline, by the words that they cover.
std::string outline_of(const std::string& text) {
  IRContext rows;
  register_builtin_dialects(rows);
  Diagnostics ignored;
  const SourceFile& file = *rows.sources().add("text", text);
  const SyntaxTree tree = parse_damaged(file, ignored);
  const lsp::Outline outline = lsp::make_outline(tree, rows, [] {});
  const auto number = [](std::uint32_t index) {
    return index == lsp::kNone ? std::string("-") : fmt::to_string(index);
  };
  const auto place = [&](SourcePos at) {
    const LineColumn found = file.line_column(at);
    return fmt::format("{}:{}", found.line, found.column);
  };
  const auto span = [&](Span at) {
    return at.known() ? fmt::format("{}-{}", place(at.begin), place(at.end)) : std::string("-");
  };
  std::string all = "\n";
  for (const lsp::OutlineOp& op : outline.ops) {
    all += fmt::format("op '{}' whole {} head {} symbol {} parent {}{}{}{}{}{}\n",
                       file.slice({op.name.begin, op.name.end}), span(op.whole), span(op.head),
                       span(op.symbol), number(op.parent), op.row == nullptr ? " no row" : "",
                       op.is_module ? " module" : "", op.is_portable ? " portable" : "",
                       op.is_damaged ? " damaged" : "", op.has_body ? " body" : "");
  }
  for (const lsp::Mention& each : outline.mentions) {
    all += fmt::format("mention {} {} type {} op {} value {} index {}{}\n", file.slice(each.at),
                       span(each.at), span(each.type), number(each.op), number(each.value),
                       each.index, each.defines ? " defines" : "");
  }
  for (const lsp::OutlineValue& each : outline.values) {
    all += fmt::format("value {} definition {} scope {} first {}{} mentions", each.name,
                       number(each.definition), number(each.scope_op), number(each.first_mention),
                       each.is_damaged ? " damaged" : "");
    for (const std::uint32_t mention : each.mentions) all += fmt::format(" {}", mention);
    all += "\n";
  }
  for (const lsp::SymbolMention& each : outline.symbols) {
    all += fmt::format("symbol {} {} op {} module {}{}{}\n", each.name, span(each.at),
                       number(each.op), number(each.module), each.declares ? " declares" : "",
                       each.is_quoted ? " quoted" : "");
  }
  return all;
}

/// Ranges as `line:column-line:column` and without the address of the text.
Json compact(const Json& json) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& each : json) list.push_back(compact(each));
    return list;
  }
  if (!json.is_object()) return json;
  if (json.contains("start") && json.contains("end")) {
    const auto place = [](const Json& at) {
      return fmt::format("{}:{}", at["line"].get<int>(), at["character"].get<int>());
    };
    return place(json["start"]) + "-" + place(json["end"]);
  }
  Json object = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (key != "uri" || value != kUri) object[key] = compact(value);
  }
  return object;
}

/// A short list of items to complete by their labels, kinds, order, details and ranges, nothing for
/// a long one; other answers as they are.
std::string shown(const Json& answer) {
  if (!answer.is_object() || !answer.contains("items")) return compact(answer).dump();
  constexpr std::size_t kMost = 6;
  const Json& items = answer["items"];
  if (items.empty() || items.size() > kMost) return "";
  std::string all = "items";
  for (const Json& each : items) {
    all += fmt::format(" {} {} {} {} {}", each["label"].get<std::string>(), each["kind"].get<int>(),
                       each["sortText"].get<std::string>(), each.value("detail", "-"),
                       compact(each["textEdit"]["range"]).get<std::string>());
  }
  return all;
}

const Json kAll = {{"textDocument",
                    {{"hover", {{"contentFormat", {"markdown", "plaintext"}}}},
                     {"documentSymbol", {{"hierarchicalDocumentSymbolSupport", true}}},
                     {"publishDiagnostics", {{"relatedInformation", true}}},
                     {"rename", {{"prepareSupport", true}}}}},
                   {"workspace", {{"workspaceEdit", {{"documentChanges", true}}}}}};

/// The answers at each column of a text: a line for each run of columns with one answer.
std::string answers(const std::string& text, const std::string& method,
                    const Json& parts = Json::object()) {
  LspClient client(kAll);
  client.open(text);
  client.diagnostics();
  std::string all = "\n", last;
  int line = 0, first = 0, column = 0;
  const auto end_run = [&](int end) {
    if (!last.empty()) all += fmt::format("{}:{}-{} {}\n", line, first, end, last);
    last.clear();
  };
  for (const char c : text) {
    const Json answer = client.at(method, line, column, parts);
    const bool is_none = answer.is_null() || (answer.is_array() && answer.empty()) ||
                         (answer.is_object() && answer.contains("code"));
    const std::string found = is_none ? "" : shown(answer);
    if (found != last) {
      end_run(column - 1);
      first = column;
      last = found;
    }
    if (c == '\n') {
      end_run(column);
      ++line, column = 0;
    } else {
      ++column;
    }
    client.sent.clear();
  }
  return all;
}

/// The ranges to select at each column of a line, from the innermost one outwards.
std::string selections(const std::string& text, int line, int columns) {
  LspClient client(kAll);
  client.open(text);
  Json positions = Json::array();
  for (int i = 0; i < columns; ++i) positions.push_back({{"line", line}, {"character", i}});
  std::string all = "\n", last;
  int column = 0;
  for (const Json& each : client.of("selectionRange", {{"positions", positions}})) {
    std::string ranges;
    for (const Json* at = &each; at != nullptr;
         at = at->contains("parent") ? &at->at("parent") : nullptr) {
      ranges += " " + compact(at->at("range")).get<std::string>();
    }
    if (ranges != last) all += fmt::format("{}{}\n", column, ranges);
    last = ranges;
    ++column;
  }
  return all;
}

/// The answer about the whole text.
std::string answer(const std::string& text, const std::string& method,
                   const Json& parts = Json::object(), const Json& client_has = kAll) {
  LspClient client(client_has);
  client.open(text);
  client.diagnostics();
  const Json found = client.of(method, parts);
  std::string all = "\n";
  if (!found.is_array()) return "\n" + compact(found).dump() + "\n";
  for (const Json& each : found) all += compact(each).dump() + "\n";
  return all;
}

}  // namespace

TEST_SUITE("whole answers") {
  TEST_CASE("outlines have every op, mention, value and symbol of a text") {
    CHECK(outline_of(kVersions) == R"j(
op '@a' whole 1:1-3:2 head 1:1-1:20 symbol 1:1-1:3 parent - no row module body
op 'linalg.CPU.NegOp' whole 2:3-2:106 head 2:3-2:106 symbol - parent 0
op '@b' whole 4:1-6:2 head 4:1-4:14 symbol 4:1-4:3 parent - no row module body
op 'linalg.CPU.NegOp' whole 5:3-5:90 head 5:3-5:90 symbol - parent 2
mention %x 2:37-2:39 type 2:40-2:68 op 1 value 0 index 0
mention %x 2:74-2:76 type 2:77-2:105 op 1 value 1 index 0 defines
mention %x 5:21-5:23 type 5:24-5:52 op 3 value 2 index 0
mention %x 5:58-5:60 type 5:61-5:89 op 3 value 3 index 0 defines
value x definition - scope 0 first 0 mentions 0
value x definition 1 scope 0 first 1 mentions 1
value x definition - scope 2 first 2 mentions 2
value x definition 3 scope 2 first 3 mentions 3
)j");
    CHECK(outline_of(kPortable) == R"j(
op '@main' whole 3:1-21:2 head 3:1-3:98 symbol 3:1-3:6 parent - no row module portable body
op 'graph.SubGraphOp' whole 4:3-11:4 head 4:3-4:47 symbol 4:20-4:26 parent 0 portable body
op 'linalg.CPU.ReLUOp' whole 6:7-6:50 head 6:7-6:50 symbol - parent 1 portable
op 'linalg.CPU.AddOp' whole 7:7-7:40 head 7:7-7:40 symbol - parent 1 portable
op 'cf.ReturnOp' whole 9:7-9:29 head 9:7-9:29 symbol - parent 1 portable
op 'graph.FusedOp' whole 12:3-17:4 head 12:3-12:56 symbol - parent 0 portable body
op 'linalg.CPU.SiLUOp' whole 14:7-14:38 head 14:7-14:38 symbol - parent 5 portable
op 'cf.YieldOp' whole 15:7-15:28 head 15:7-15:28 symbol - parent 5 portable
op 'graph.CallGraphOp' whole 18:3-18:57 head 18:3-18:57 symbol 18:21-18:27 parent 0 portable
op 'linalg.CPU.SoftmaxOp' whole 19:3-19:48 head 19:3-19:48 symbol - parent 0 portable
op 'cf.ReturnOp' whole 20:3-20:27 head 20:3-20:27 symbol - parent 0 portable
mention %in 3:24-3:27 type 3:28-3:56 op 0 value 0 index 0 defines
mention %out 3:62-3:66 type 3:67-3:95 op 0 value 7 index 0
mention %a 5:6-5:8 type 5:9-5:37 op 1 value 1 index 0 defines
mention %r 5:43-5:45 type 5:46-5:74 op 1 value 3 index 0
mention %a 6:39-6:41 type - op 2 value 1 index 0
mention %m 6:47-6:49 type - op 2 value 2 index 0 defines
mention %m 7:25-7:27 type - op 3 value 2 index 0
mention %a 7:29-7:31 type - op 3 value 1 index 1
mention %r 7:37-7:39 type - op 3 value 3 index 0 defines
mention %r 9:20-9:22 type - op 4 value 3 index 0
mention %f 12:24-12:26 type 12:27-12:55 op 5 value 4 index 0 defines
mention %f 13:12-13:14 type 13:15-13:43 op 5 value 4 index 0
mention %in 14:26-14:29 type - op 6 value 0 index 0
mention %s 14:35-14:37 type - op 6 value 5 index 0 defines
mention %s 15:19-15:21 type - op 7 value 5 index 0
mention %f 18:29-18:31 type - op 8 value 4 index 0
mention %t 18:37-18:39 type - op 8 value 6 index 0 defines
mention %t 19:35-19:37 type - op 9 value 6 index 0
mention %out 19:43-19:47 type - op 9 value 7 index 0 defines
mention %out 20:16-20:20 type - op 10 value 7 index 0
value in definition 0 scope 0 first 0 mentions 0 12
value a definition 2 scope 1 first 2 mentions 2 4 7
value m definition 5 scope 1 first 5 mentions 5 6
value r definition 8 scope 1 first 8 mentions 8 9 3
value f definition 10 scope 0 first 10 mentions 10 11 15
value s definition 13 scope 5 first 13 mentions 13 14
value t definition 16 scope 0 first 16 mentions 16 17
value out definition 18 scope 0 first 18 mentions 18 19 1
symbol first 4:21-4:26 op 1 module 0 declares
symbol first 4:41-4:46 op 1 module 0
symbol first 18:22-18:27 op 8 module 0
)j");
    CHECK(outline_of(kBlocks) == R"j(
op '@blocks' whole 1:1-8:2 head 1:1-1:124 symbol 1:1-1:8 parent - no row module portable body
op 'cf.CondBranchOp' whole 2:5-2:73 head 2:5-2:73 symbol - parent 0 portable
op 'linalg.CPU.NegOp' whole 4:5-4:34 head 4:5-4:34 symbol - parent 0 portable
op 'cf.ReturnOp' whole 5:5-5:27 head 5:5-5:27 symbol - parent 0 portable
op 'cf.ReturnOp' whole 7:5-7:27 head 7:5-7:27 symbol - parent 0 portable
mention %c 1:26-1:28 type 1:29-1:51 op 0 value 0 index 0 defines
mention %x 1:53-1:55 type 1:56-1:84 op 0 value 1 index 1 defines
mention %y 1:90-1:92 type 1:93-1:121 op 0 value 4 index 0
mention %c 2:22-2:24 type - op 1 value 0 index 0
mention %x 2:36-2:38 type 2:39-2:67 op 1 value 1 index 0
mention %p 3:6-3:8 type 3:9-3:37 op 0 value 2 index 0 defines
mention %p 4:23-4:25 type - op 2 value 2 index 0
mention %q 4:31-4:33 type - op 2 value 3 index 0 defines
mention %q 5:18-5:20 type - op 3 value 3 index 0
mention %x 7:18-7:20 type - op 4 value 1 index 0
value c definition 0 scope 0 first 0 mentions 0 3
value x definition 1 scope 0 first 1 mentions 1 4 9
value p definition 5 scope 0 first 5 mentions 5 6
value q definition 7 scope 0 first 7 mentions 7 8
value y definition - scope 0 first 2 mentions 2
)j");
    CHECK(outline_of(kDump) == R"j(
op '@main' whole 1:1-11:2 head 1:1-1:17 symbol 1:1-1:6 parent - no row module body
op 'tensor.CPU.register' whole 2:3-2:84 head 2:3-2:84 symbol - parent 0
op 'linalg.CPU.AddOp' whole 3:3-3:138 head 3:3-3:138 symbol - parent 0
op 'linalg.CPU.AddOp' whole 4:3-4:123 head 4:3-4:123 symbol - parent 0
op 'prog.fragment' whole 5:3-10:4 head 5:3-5:44 symbol 5:17-5:22 parent 0 body
op 'prog.label' whole 6:5-6:44 head 6:5-6:44 symbol - parent 4
op 'prog.jump' whole 7:5-7:45 head 7:5-7:45 symbol - parent 4
op 'prog.jump' whole 8:5-8:47 head 8:5-8:47 symbol - parent 4
op 'prog.jump' whole 9:5-9:39 head 9:5-9:39 symbol - parent 4
op '@second' whole 12:1-14:2 head 12:1-12:19 symbol 12:1-12:8 parent - no row module body
op 'linalg.CPU.AddOp' whole 13:3-13:123 head 13:3-13:123 symbol - parent 9
mention %7 2:30-2:32 type 2:33-2:61 op 1 value 0 index 0 defines
mention %1 3:21-3:23 type 3:24-3:52 op 2 value 1 index 0
mention %7 3:54-3:56 type 3:57-3:85 op 2 value 0 index 1
mention %2 3:95-3:97 type 3:98-3:126 op 2 value 2 index 0 defines
mention %2 4:21-4:23 type 4:24-4:52 op 3 value 2 index 0
mention %1 4:54-4:56 type 4:57-4:85 op 3 value 1 index 1
mention %1 4:91-4:93 type 4:94-4:122 op 3 value 3 index 0 defines
mention %2 13:21-13:23 type 13:24-13:52 op 10 value 4 index 0
mention %1 13:54-13:56 type 13:57-13:85 op 10 value 5 index 1
mention %3 13:91-13:93 type 13:94-13:122 op 10 value 6 index 0 defines
value 7 definition 0 scope 0 first 0 mentions 0 2
value 1 definition - scope 0 first 1 mentions 1 5
value 2 definition 3 scope 0 first 3 mentions 3 4
value 1 definition 6 scope 0 first 6 mentions 6
value 2 definition - scope 9 first 7 mentions 7
value 1 definition - scope 9 first 8 mentions 8
value 3 definition 9 scope 9 first 9 mentions 9
symbol w x 2:64-2:67 op 1 module 0 declares quoted
symbol w x 2:79-2:82 op 1 module 0 quoted
symbol w 3:87-3:88 op 2 module 0
symbol w 3:136-3:137 op 2 module 0
symbol code 5:18-5:22 op 4 module 0 declares
symbol net.__entry 6:32-6:43 op 5 module 0
symbol net 7:24-7:27 op 6 module 0
symbol net 8:25-8:28 op 7 module 0 quoted
)j");
    CHECK(outline_of(kDamaged) == R"j(
op '@main' whole 1:1-12:2 head 1:1-1:98 symbol 1:1-1:6 parent - no row module portable body
op 'graph.SubGraphOp' whole 2:3-9:4 head 2:3-3:75 symbol 2:20-2:26 parent 0 portable damaged body
op 'linalg.CPU.ReLUOp' whole 4:7-4:36 head 4:7-4:36 symbol - parent 1 portable damaged
op 'linalg.CPU.AddOp' whole 5:7-5:40 head 5:7-5:40 symbol - parent 1 portable
op 'odd @one @two (%n' whole 6:7-6:24 head 6:7-6:24 symbol 6:11-6:15 parent 1 no row portable damaged
op 'cf.ReturnOp' whole 7:7-7:29 head 7:7-7:29 symbol - parent 1 portable
op 'graph.CallGraphOp' whole 10:3-10:43 head 10:3-10:43 symbol 10:21-10:27 parent 0 portable
op 'cf.ReturnOp' whole 11:3-11:27 head 11:3-11:27 symbol - parent 0 portable
op '@next [mir_version:1 (%in:tensor<[2, 4], Float32, CPU>) -> () {' whole 13:1-15:1 head 13:1-13:64 symbol 13:1-13:64 parent - no row module portable damaged body
op 'cf.ReturnOp' whole 14:3-14:23 head 14:3-14:23 symbol - parent 8 portable
mention %in 1:24-1:27 type 1:28-1:56 op 0 value 0 index 0 defines
mention %out 1:62-1:66 type 1:67-1:95 op 0 value 5 index 0
mention %a 3:6-3:8 type 3:9-3:37 op 1 value 1 index 0 defines
mention %r 3:43-3:45 type 3:46-3:74 op 1 value 3 index 0
mention %a 4:26-4:28 type - op 2 value 1 index 0
mention %m 4:33-4:35 type - op 2 value 2 index 0 defines
mention %m 5:25-5:27 type - op 3 value 2 index 0
mention %a 5:29-5:31 type - op 3 value 1 index 1
mention %r 5:37-5:39 type - op 3 value 3 index 0 defines
mention %n 6:22-6:24 type - op 4 value 4 index 0
mention %r 7:20-7:22 type - op 5 value 3 index 0
mention %in 10:29-10:32 type - op 6 value 0 index 0
mention %out 10:38-10:42 type - op 6 value 5 index 0 defines
mention %out 11:16-11:20 type - op 7 value 5 index 0
value in definition 0 scope 0 first 0 mentions 0 11
value a definition 2 scope 1 first 2 damaged mentions 2 4 7
value m definition 5 scope 1 first 5 mentions 5 6
value r definition 8 scope 1 first 8 mentions 8 10 3
value n definition - scope 1 first 9 damaged mentions 9
value out definition 12 scope 0 first 12 mentions 12 13 1
symbol first 2:21-2:26 op 1 module 0 declares
symbol one 6:12-6:15 op 4 module 0
symbol two 6:17-6:20 op 4 module 0
symbol first 10:22-10:27 op 6 module 0
)j");
  }

  TEST_CASE("hovering tells what a value, a symbol, an op and a key are") {
    CHECK(answers(kBlocks, "hover") == R"j(
0:0-7 {"contents":{"kind":"markdown","value":"`@blocks [mir_version:2] (%c:tensor<[], UInt8, CPU>, %x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>)`\n\nportable module"},"range":"0:0-0:7"}
0:25-27 {"contents":{"kind":"markdown","value":"`%c: tensor<[], UInt8, CPU>`, 1 byte\n\nargument of `@blocks`, line 1\n\nused once"},"range":"0:25-0:27"}
0:52-54 {"contents":{"kind":"markdown","value":"`%x: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@blocks`, line 1\n\nused 2 times"},"range":"0:52-0:54"}
0:89-91 {"contents":{"kind":"markdown","value":"`%y: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\ndefined by no op\n\nused once"},"range":"0:89-0:91"}
1:4-19 {"contents":{"kind":"markdown","value":"`cf.CondBranchOp (1 operand) -> (0 results)`\n\nEnds a block and goes on to its first successor if the condition holds, else to the second one.\n\nexample: `cf.CondBranchOp (%0:tensor<[1], Bool, CPU>) -> () [^yes(%1:tensor<[2], Float32, CPU>), ^no]`\n\ndocs/ops/control-flow.md"},"range":"1:4-1:19"}
1:21-23 {"contents":{"kind":"markdown","value":"`%c: tensor<[], UInt8, CPU>`, 1 byte\n\nargument of `@blocks`, line 1\n\nused once"},"range":"1:21-1:23"}
1:32-34 {"contents":{"kind":"markdown","value":"`^a(%p:tensor<[2, 4], Float32, CPU>)`\n\nblock, line 3\n\nused once"},"range":"1:32-1:34"}
1:35-37 {"contents":{"kind":"markdown","value":"`%x: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@blocks`, line 1\n\nused 2 times"},"range":"1:35-1:37"}
1:69-71 {"contents":{"kind":"markdown","value":"`^b`\n\nblock, line 6\n\nused once"},"range":"1:69-1:71"}
2:2-4 {"contents":{"kind":"markdown","value":"`^a(%p:tensor<[2, 4], Float32, CPU>)`\n\nblock, line 3\n\nused once"},"range":"2:2-2:4"}
2:5-7 {"contents":{"kind":"markdown","value":"`%p: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@blocks`, line 3\n\nused once"},"range":"2:5-2:7"}
3:4-20 {"contents":{"kind":"markdown","value":"`linalg.CPU.NegOp (1 operand) -> (1 result)`\n\nNegation.\n\nexample: `linalg.CPU.NegOp(%0:tensor<[2, 3], Float32, CPU>) -> (%1:tensor<[2, 3], Float32, CPU>)`\n\ndocs/ops/elementwise.md"},"range":"3:4-3:20"}
3:22-24 {"contents":{"kind":"markdown","value":"`%p: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@blocks`, line 3\n\nused once"},"range":"3:22-3:24"}
3:30-32 {"contents":{"kind":"markdown","value":"`%q: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.NegOp`, line 4\n\n`%q` is `linalg.CPU.NegOp` of `%p: tensor<[2, 4], Float32, CPU>`\n\nused once"},"range":"3:30-3:32"}
4:4-15 {"contents":{"kind":"markdown","value":"`cf.ReturnOp (0 or more operands) -> (0 results)`\n\nEnds a graph and returns its operands to the caller.\n\nexample: `cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()`\n\ndocs/ops/structure.md"},"range":"4:4-4:15"}
4:17-19 {"contents":{"kind":"markdown","value":"`%q: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.NegOp`, line 4\n\n`%q` is `linalg.CPU.NegOp` of `%p: tensor<[2, 4], Float32, CPU>`\n\nused once"},"range":"4:17-4:19"}
5:2-4 {"contents":{"kind":"markdown","value":"`^b`\n\nblock, line 6\n\nused once"},"range":"5:2-5:4"}
6:4-15 {"contents":{"kind":"markdown","value":"`cf.ReturnOp (0 or more operands) -> (0 results)`\n\nEnds a graph and returns its operands to the caller.\n\nexample: `cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()`\n\ndocs/ops/structure.md"},"range":"6:4-6:15"}
6:17-19 {"contents":{"kind":"markdown","value":"`%x: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@blocks`, line 1\n\nused 2 times"},"range":"6:17-6:19"}
)j");
    CHECK(answers(kOps, "hover") == R"j(
0:0-5 {"contents":{"kind":"markdown","value":"`@main [mir_version:1] (%in:tensor<[2, 4], Float32, CPU>) -> (%out:tensor<[2, 4], Float32, CPU>)`\n\nportable module"},"range":"0:0-0:5"}
0:23-26 {"contents":{"kind":"markdown","value":"`%in: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@main`, line 1\n\nused 2 times"},"range":"0:23-0:26"}
0:61-65 {"contents":{"kind":"markdown","value":"`%out: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.SoftmaxOp`, line 3\n\n`%out` is `linalg.CPU.SoftmaxOp` of `%t: tensor<[2, 4], Float32, CPU>`\n\n`%t` is `linalg.CPU.AddOp` of `%in: tensor<[2, 4], Float32, CPU>`, `%in: tensor<[2, 4], Float32, CPU>`\n\nused 2 times"},"range":"0:61-0:65"}
1:2-18 {"contents":{"kind":"markdown","value":"`linalg.CPU.AddOp (2 operands) -> (1 result)`\n\nSum of two tensors with broadcasting.\n\nreads 64 B, writes 32 B\n\nexample: `linalg.CPU.AddOp(%0:tensor<[2, 3], Float32, CPU>, %1:tensor<[3], Float32, CPU>) -> (%2:tensor<[2, 3], Float32, CPU>)`\n\ndocs/ops/elementwise.md"},"range":"1:2-1:18"}
1:20-23 {"contents":{"kind":"markdown","value":"`%in: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@main`, line 1\n\nused 2 times"},"range":"1:20-1:23"}
1:25-28 {"contents":{"kind":"markdown","value":"`%in: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nargument of `@main`, line 1\n\nused 2 times"},"range":"1:25-1:28"}
1:34-36 {"contents":{"kind":"markdown","value":"`%t: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.AddOp`, line 2\n\n`%t` is `linalg.CPU.AddOp` of `%in: tensor<[2, 4], Float32, CPU>`, `%in: tensor<[2, 4], Float32, CPU>`\n\nused once"},"range":"1:34-1:36"}
2:2-22 {"contents":{"kind":"markdown","value":"`linalg.CPU.SoftmaxOp (1 operand) -> (1 result)`\n\nExponentials along an axis divided by their sum.\n\n`axis: integer = -1`: dimension that sums to one\n\nreads 32 B, writes 32 B\n\nexample: `linalg.CPU.SoftmaxOp [axis:-1] (%0:tensor<[1, 8, $S, $T], Float32, CPU>) -> (%1:tensor<[1, 8, $S, $T], Float32, CPU>)`\n\ndocs/ops/norm.md"},"range":"2:2-2:22"}
2:24-28 {"contents":{"kind":"markdown","value":"`axis: integer = -1`\n\ndimension that sums to one"},"range":"2:24-2:28"}
2:34-36 {"contents":{"kind":"markdown","value":"`%t: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.AddOp`, line 2\n\n`%t` is `linalg.CPU.AddOp` of `%in: tensor<[2, 4], Float32, CPU>`, `%in: tensor<[2, 4], Float32, CPU>`\n\nused once"},"range":"2:34-2:36"}
2:42-46 {"contents":{"kind":"markdown","value":"`%out: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.SoftmaxOp`, line 3\n\n`%out` is `linalg.CPU.SoftmaxOp` of `%t: tensor<[2, 4], Float32, CPU>`\n\n`%t` is `linalg.CPU.AddOp` of `%in: tensor<[2, 4], Float32, CPU>`, `%in: tensor<[2, 4], Float32, CPU>`\n\nused 2 times"},"range":"2:42-2:46"}
3:2-13 {"contents":{"kind":"markdown","value":"`cf.ReturnOp (0 or more operands) -> (0 results)`\n\nEnds a graph and returns its operands to the caller.\n\nexample: `cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()`\n\ndocs/ops/structure.md"},"range":"3:2-3:13"}
3:15-19 {"contents":{"kind":"markdown","value":"`%out: tensor<[2, 4], Float32, CPU>`, 32 bytes\n\nresult 0 of `linalg.CPU.SoftmaxOp`, line 3\n\n`%out` is `linalg.CPU.SoftmaxOp` of `%t: tensor<[2, 4], Float32, CPU>`\n\n`%t` is `linalg.CPU.AddOp` of `%in: tensor<[2, 4], Float32, CPU>`, `%in: tensor<[2, 4], Float32, CPU>`\n\nused 2 times"},"range":"3:15-3:19"}
)j");
  }

  TEST_CASE("definitions and highlights of each place") {
    CHECK(answers(kPortable, "definition") == R"j(
2:23-26 [{"range":"2:23-2:26"}]
2:61-65 [{"range":"18:42-18:46"}]
3:19-25 [{"range":"3:20-3:25"}]
3:39-45 [{"range":"3:20-3:25"}]
4:5-7 [{"range":"4:5-4:7"}]
4:42-44 [{"range":"6:36-6:38"}]
5:38-40 [{"range":"4:5-4:7"}]
5:46-48 [{"range":"5:46-5:48"}]
6:24-26 [{"range":"5:46-5:48"}]
6:28-30 [{"range":"4:5-4:7"}]
6:36-38 [{"range":"6:36-6:38"}]
8:19-21 [{"range":"6:36-6:38"}]
11:23-25 [{"range":"11:23-11:25"}]
12:11-13 [{"range":"11:23-11:25"}]
13:25-28 [{"range":"2:23-2:26"}]
13:34-36 [{"range":"13:34-13:36"}]
14:18-20 [{"range":"13:34-13:36"}]
17:20-26 [{"range":"3:20-3:25"}]
17:28-30 [{"range":"11:23-11:25"}]
17:36-38 [{"range":"17:36-17:38"}]
18:34-36 [{"range":"17:36-17:38"}]
18:42-46 [{"range":"18:42-18:46"}]
19:15-19 [{"range":"18:42-18:46"}]
)j");
    CHECK(answers(kPortable, "documentHighlight") == R"j(
2:23-26 [{"kind":3,"range":"2:23-2:26"},{"kind":2,"range":"13:25-13:28"}]
2:61-65 [{"kind":3,"range":"18:42-18:46"},{"kind":2,"range":"19:15-19:19"},{"kind":2,"range":"2:61-2:65"}]
3:2-18 [{"kind":1,"range":"3:8-3:18"}]
3:19-25 [{"kind":1,"range":"3:20-3:25"},{"kind":1,"range":"3:40-3:45"},{"kind":1,"range":"17:21-17:26"}]
3:39-45 [{"kind":1,"range":"3:20-3:25"},{"kind":1,"range":"3:40-3:45"},{"kind":1,"range":"17:21-17:26"}]
4:5-7 [{"kind":3,"range":"4:5-4:7"},{"kind":2,"range":"5:38-5:40"},{"kind":2,"range":"6:28-6:30"}]
4:42-44 [{"kind":3,"range":"6:36-6:38"},{"kind":2,"range":"8:19-8:21"},{"kind":2,"range":"4:42-4:44"}]
5:6-23 [{"kind":1,"range":"5:17-5:23"}]
5:38-40 [{"kind":3,"range":"4:5-4:7"},{"kind":2,"range":"5:38-5:40"},{"kind":2,"range":"6:28-6:30"}]
5:46-48 [{"kind":3,"range":"5:46-5:48"},{"kind":2,"range":"6:24-6:26"}]
6:6-22 [{"kind":1,"range":"6:17-6:22"}]
6:24-26 [{"kind":3,"range":"5:46-5:48"},{"kind":2,"range":"6:24-6:26"}]
6:28-30 [{"kind":3,"range":"4:5-4:7"},{"kind":2,"range":"5:38-5:40"},{"kind":2,"range":"6:28-6:30"}]
6:36-38 [{"kind":3,"range":"6:36-6:38"},{"kind":2,"range":"8:19-8:21"},{"kind":2,"range":"4:42-4:44"}]
8:6-17 [{"kind":1,"range":"8:9-8:17"},{"kind":1,"range":"19:5-19:13"}]
8:19-21 [{"kind":3,"range":"6:36-6:38"},{"kind":2,"range":"8:19-8:21"},{"kind":2,"range":"4:42-4:44"}]
11:2-15 [{"kind":1,"range":"11:8-11:15"}]
11:23-25 [{"kind":3,"range":"11:23-11:25"},{"kind":2,"range":"12:11-12:13"},{"kind":2,"range":"17:28-17:30"}]
12:11-13 [{"kind":3,"range":"11:23-11:25"},{"kind":2,"range":"12:11-12:13"},{"kind":2,"range":"17:28-17:30"}]
13:6-23 [{"kind":1,"range":"13:17-13:23"}]
13:25-28 [{"kind":3,"range":"2:23-2:26"},{"kind":2,"range":"13:25-13:28"}]
13:34-36 [{"kind":3,"range":"13:34-13:36"},{"kind":2,"range":"14:18-14:20"}]
14:6-16 [{"kind":1,"range":"14:9-14:16"}]
14:18-20 [{"kind":3,"range":"13:34-13:36"},{"kind":2,"range":"14:18-14:20"}]
17:2-19 [{"kind":1,"range":"17:8-17:19"}]
17:20-26 [{"kind":1,"range":"3:20-3:25"},{"kind":1,"range":"3:40-3:45"},{"kind":1,"range":"17:21-17:26"}]
17:28-30 [{"kind":3,"range":"11:23-11:25"},{"kind":2,"range":"12:11-12:13"},{"kind":2,"range":"17:28-17:30"}]
17:36-38 [{"kind":3,"range":"17:36-17:38"},{"kind":2,"range":"18:34-18:36"}]
18:2-22 [{"kind":1,"range":"18:13-18:22"}]
18:34-36 [{"kind":3,"range":"17:36-17:38"},{"kind":2,"range":"18:34-18:36"}]
18:42-46 [{"kind":3,"range":"18:42-18:46"},{"kind":2,"range":"19:15-19:19"},{"kind":2,"range":"2:61-2:65"}]
19:2-13 [{"kind":1,"range":"8:9-8:17"},{"kind":1,"range":"19:5-19:13"}]
19:15-19 [{"kind":3,"range":"18:42-18:46"},{"kind":2,"range":"19:15-19:19"},{"kind":2,"range":"2:61-2:65"}]
)j");
    CHECK(answers(kDump, "definition") == R"j(
1:29-31 [{"range":"1:29-1:31"}]
1:62-66 [{"range":"1:63-1:66"}]
1:77-81 [{"range":"1:63-1:66"}]
2:53-55 [{"range":"1:29-1:31"}]
2:94-96 [{"range":"2:94-2:96"}]
3:20-22 [{"range":"2:94-2:96"}]
3:90-92 [{"range":"3:90-3:92"}]
4:16-21 [{"range":"4:17-4:21"}]
12:90-92 [{"range":"12:90-12:92"}]
)j");
    CHECK(answers(kDump, "documentHighlight") == R"j(
1:2-21 [{"kind":1,"range":"1:13-1:21"}]
1:29-31 [{"kind":3,"range":"1:29-1:31"},{"kind":2,"range":"2:53-2:55"}]
1:62-66 [{"kind":1,"range":"1:63-1:66"},{"kind":1,"range":"1:78-1:81"}]
1:77-81 [{"kind":1,"range":"1:63-1:66"},{"kind":1,"range":"1:78-1:81"}]
2:2-18 [{"kind":1,"range":"2:13-2:18"},{"kind":1,"range":"3:13-3:18"},{"kind":1,"range":"12:13-12:18"}]
2:20-22 [{"kind":2,"range":"2:20-2:22"},{"kind":2,"range":"3:53-3:55"}]
2:53-55 [{"kind":3,"range":"1:29-1:31"},{"kind":2,"range":"2:53-2:55"}]
2:85-87 [{"kind":1,"range":"2:86-2:87"},{"kind":1,"range":"2:135-2:136"}]
2:94-96 [{"kind":3,"range":"2:94-2:96"},{"kind":2,"range":"3:20-3:22"}]
2:134-136 [{"kind":1,"range":"2:86-2:87"},{"kind":1,"range":"2:135-2:136"}]
3:2-18 [{"kind":1,"range":"2:13-2:18"},{"kind":1,"range":"3:13-3:18"},{"kind":1,"range":"12:13-12:18"}]
3:20-22 [{"kind":3,"range":"2:94-2:96"},{"kind":2,"range":"3:20-3:22"}]
3:53-55 [{"kind":2,"range":"2:20-2:22"},{"kind":2,"range":"3:53-3:55"}]
3:90-92 [{"kind":3,"range":"3:90-3:92"}]
4:2-15 [{"kind":1,"range":"4:7-4:15"}]
4:16-21 [{"kind":1,"range":"4:17-4:21"}]
5:13-23 [{"kind":1,"range":"5:18-5:23"}]
5:30-42 [{"kind":1,"range":"5:31-5:42"}]
6:13-21 [{"kind":1,"range":"6:18-6:22"},{"kind":1,"range":"7:18-7:22"},{"kind":1,"range":"8:18-8:22"}]
6:22-26 [{"kind":1,"range":"6:23-6:26"},{"kind":1,"range":"7:24-7:27"}]
7:13-22 [{"kind":1,"range":"6:18-6:22"},{"kind":1,"range":"7:18-7:22"},{"kind":1,"range":"8:18-8:22"}]
7:23-27 [{"kind":1,"range":"6:23-6:26"},{"kind":1,"range":"7:24-7:27"}]
8:13-22 [{"kind":1,"range":"6:18-6:22"},{"kind":1,"range":"7:18-7:22"},{"kind":1,"range":"8:18-8:22"}]
12:2-18 [{"kind":1,"range":"2:13-2:18"},{"kind":1,"range":"3:13-3:18"},{"kind":1,"range":"12:13-12:18"}]
12:20-22 [{"kind":2,"range":"12:20-12:22"}]
12:53-55 [{"kind":2,"range":"12:53-12:55"}]
12:90-92 [{"kind":3,"range":"12:90-12:92"}]
)j");
    CHECK(answers(kDamaged, "definition") == R"j(
0:23-26 [{"range":"0:23-0:26"}]
0:61-65 [{"range":"9:37-9:41"}]
1:19-25 [{"range":"1:20-1:25"}]
2:5-7 [{"range":"2:5-2:7"}]
2:42-44 [{"range":"4:36-4:38"}]
3:25-27 [{"range":"2:5-2:7"}]
3:32-34 [{"range":"3:32-3:34"}]
4:24-26 [{"range":"3:32-3:34"}]
4:28-30 [{"range":"2:5-2:7"}]
4:36-38 [{"range":"4:36-4:38"}]
6:19-21 [{"range":"4:36-4:38"}]
9:20-26 [{"range":"1:20-1:25"}]
9:28-31 [{"range":"0:23-0:26"}]
9:37-41 [{"range":"9:37-9:41"}]
10:15-19 [{"range":"9:37-9:41"}]
)j");
    CHECK(answers(kDamaged, "documentHighlight") == R"j(
0:23-26 [{"kind":3,"range":"0:23-0:26"},{"kind":2,"range":"9:28-9:31"}]
0:61-65 [{"kind":3,"range":"9:37-9:41"},{"kind":2,"range":"10:15-10:19"},{"kind":2,"range":"0:61-0:65"}]
1:2-18 [{"kind":1,"range":"1:8-1:18"}]
1:19-25 [{"kind":1,"range":"1:20-1:25"},{"kind":1,"range":"9:21-9:26"}]
2:5-7 [{"kind":3,"range":"2:5-2:7"},{"kind":2,"range":"3:25-3:27"},{"kind":2,"range":"4:28-4:30"}]
2:42-44 [{"kind":3,"range":"4:36-4:38"},{"kind":2,"range":"6:19-6:21"},{"kind":2,"range":"2:42-2:44"}]
3:6-23 [{"kind":1,"range":"3:17-3:23"}]
3:25-27 [{"kind":3,"range":"2:5-2:7"},{"kind":2,"range":"3:25-3:27"},{"kind":2,"range":"4:28-4:30"}]
3:32-34 [{"kind":3,"range":"3:32-3:34"},{"kind":2,"range":"4:24-4:26"}]
4:6-22 [{"kind":1,"range":"4:17-4:22"}]
4:24-26 [{"kind":3,"range":"3:32-3:34"},{"kind":2,"range":"4:24-4:26"}]
4:28-30 [{"kind":3,"range":"2:5-2:7"},{"kind":2,"range":"3:25-3:27"},{"kind":2,"range":"4:28-4:30"}]
4:36-38 [{"kind":3,"range":"4:36-4:38"},{"kind":2,"range":"6:19-6:21"},{"kind":2,"range":"2:42-2:44"}]
5:10-14 [{"kind":1,"range":"5:11-5:14"}]
5:15-19 [{"kind":1,"range":"5:16-5:19"}]
5:21-23 [{"kind":2,"range":"5:21-5:23"}]
6:6-17 [{"kind":1,"range":"6:9-6:17"},{"kind":1,"range":"10:5-10:13"},{"kind":1,"range":"13:5-13:13"}]
6:19-21 [{"kind":3,"range":"4:36-4:38"},{"kind":2,"range":"6:19-6:21"},{"kind":2,"range":"2:42-2:44"}]
9:2-19 [{"kind":1,"range":"9:8-9:19"}]
9:20-26 [{"kind":1,"range":"1:20-1:25"},{"kind":1,"range":"9:21-9:26"}]
9:28-31 [{"kind":3,"range":"0:23-0:26"},{"kind":2,"range":"9:28-9:31"}]
9:37-41 [{"kind":3,"range":"9:37-9:41"},{"kind":2,"range":"10:15-10:19"},{"kind":2,"range":"0:61-0:65"}]
10:2-13 [{"kind":1,"range":"6:9-6:17"},{"kind":1,"range":"10:5-10:13"},{"kind":1,"range":"13:5-13:13"}]
10:15-19 [{"kind":3,"range":"9:37-9:41"},{"kind":2,"range":"10:15-10:19"},{"kind":2,"range":"0:61-0:65"}]
13:2-13 [{"kind":1,"range":"6:9-6:17"},{"kind":1,"range":"10:5-10:13"},{"kind":1,"range":"13:5-13:13"}]
)j");
  }

  TEST_CASE("references of each place, with and without the declaration") {
    CHECK(answers(kPortable, "references", {{"context", {{"includeDeclaration", true}}}}) == R"j(
2:23-26 [{"range":"2:23-2:26"},{"range":"13:25-13:28"}]
2:61-65 [{"range":"18:42-18:46"},{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
3:2-18 [{"range":"3:8-3:18"}]
3:19-25 [{"range":"3:20-3:25"},{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
3:39-45 [{"range":"3:20-3:25"},{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
4:5-7 [{"range":"4:5-4:7"},{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
4:42-44 [{"range":"6:36-6:38"},{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
5:6-23 [{"range":"5:17-5:23"}]
5:38-40 [{"range":"4:5-4:7"},{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
5:46-48 [{"range":"5:46-5:48"},{"range":"6:24-6:26"}]
6:6-22 [{"range":"6:17-6:22"}]
6:24-26 [{"range":"5:46-5:48"},{"range":"6:24-6:26"}]
6:28-30 [{"range":"4:5-4:7"},{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
6:36-38 [{"range":"6:36-6:38"},{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
8:6-17 [{"range":"8:9-8:17"},{"range":"19:5-19:13"}]
8:19-21 [{"range":"6:36-6:38"},{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
11:2-15 [{"range":"11:8-11:15"}]
11:23-25 [{"range":"11:23-11:25"},{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
12:11-13 [{"range":"11:23-11:25"},{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
13:6-23 [{"range":"13:17-13:23"}]
13:25-28 [{"range":"2:23-2:26"},{"range":"13:25-13:28"}]
13:34-36 [{"range":"13:34-13:36"},{"range":"14:18-14:20"}]
14:6-16 [{"range":"14:9-14:16"}]
14:18-20 [{"range":"13:34-13:36"},{"range":"14:18-14:20"}]
17:2-19 [{"range":"17:8-17:19"}]
17:20-26 [{"range":"3:20-3:25"},{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
17:28-30 [{"range":"11:23-11:25"},{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
17:36-38 [{"range":"17:36-17:38"},{"range":"18:34-18:36"}]
18:2-22 [{"range":"18:13-18:22"}]
18:34-36 [{"range":"17:36-17:38"},{"range":"18:34-18:36"}]
18:42-46 [{"range":"18:42-18:46"},{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
19:2-13 [{"range":"8:9-8:17"},{"range":"19:5-19:13"}]
19:15-19 [{"range":"18:42-18:46"},{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
)j");
    CHECK(answers(kPortable, "references", {{"context", {{"includeDeclaration", false}}}}) == R"j(
2:23-26 [{"range":"13:25-13:28"}]
2:61-65 [{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
3:2-18 [{"range":"3:8-3:18"}]
3:19-25 [{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
3:39-45 [{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
4:5-7 [{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
4:42-44 [{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
5:6-23 [{"range":"5:17-5:23"}]
5:38-40 [{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
5:46-48 [{"range":"6:24-6:26"}]
6:6-22 [{"range":"6:17-6:22"}]
6:24-26 [{"range":"6:24-6:26"}]
6:28-30 [{"range":"5:38-5:40"},{"range":"6:28-6:30"}]
6:36-38 [{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
8:6-17 [{"range":"8:9-8:17"},{"range":"19:5-19:13"}]
8:19-21 [{"range":"8:19-8:21"},{"range":"4:42-4:44"}]
11:2-15 [{"range":"11:8-11:15"}]
11:23-25 [{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
12:11-13 [{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
13:6-23 [{"range":"13:17-13:23"}]
13:25-28 [{"range":"13:25-13:28"}]
13:34-36 [{"range":"14:18-14:20"}]
14:6-16 [{"range":"14:9-14:16"}]
14:18-20 [{"range":"14:18-14:20"}]
17:2-19 [{"range":"17:8-17:19"}]
17:20-26 [{"range":"3:40-3:45"},{"range":"17:21-17:26"}]
17:28-30 [{"range":"12:11-12:13"},{"range":"17:28-17:30"}]
17:36-38 [{"range":"18:34-18:36"}]
18:2-22 [{"range":"18:13-18:22"}]
18:34-36 [{"range":"18:34-18:36"}]
18:42-46 [{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
19:2-13 [{"range":"8:9-8:17"},{"range":"19:5-19:13"}]
19:15-19 [{"range":"19:15-19:19"},{"range":"2:61-2:65"}]
)j");
  }

  TEST_CASE("each place that has a name can be renamed") {
    CHECK(answers(kPortable, "prepareRename") == R"j(
2:23-26 {"placeholder":"in","range":"2:24-2:26"}
2:61-65 {"placeholder":"out","range":"2:62-2:65"}
3:19-25 {"placeholder":"first","range":"3:20-3:25"}
3:39-45 {"placeholder":"first","range":"3:40-3:45"}
4:5-7 {"placeholder":"a","range":"4:6-4:7"}
4:42-44 {"placeholder":"r","range":"4:43-4:44"}
5:38-40 {"placeholder":"a","range":"5:39-5:40"}
5:46-48 {"placeholder":"m","range":"5:47-5:48"}
6:24-26 {"placeholder":"m","range":"6:25-6:26"}
6:28-30 {"placeholder":"a","range":"6:29-6:30"}
6:36-38 {"placeholder":"r","range":"6:37-6:38"}
8:19-21 {"placeholder":"r","range":"8:20-8:21"}
11:23-25 {"placeholder":"f","range":"11:24-11:25"}
12:11-13 {"placeholder":"f","range":"12:12-12:13"}
13:25-28 {"placeholder":"in","range":"13:26-13:28"}
13:34-36 {"placeholder":"s","range":"13:35-13:36"}
14:18-20 {"placeholder":"s","range":"14:19-14:20"}
17:20-26 {"placeholder":"first","range":"17:21-17:26"}
17:28-30 {"placeholder":"f","range":"17:29-17:30"}
17:36-38 {"placeholder":"t","range":"17:37-17:38"}
18:34-36 {"placeholder":"t","range":"18:35-18:36"}
18:42-46 {"placeholder":"out","range":"18:43-18:46"}
19:15-19 {"placeholder":"out","range":"19:16-19:19"}
)j");
    CHECK(answers(kDump, "prepareRename") == R"j(
1:29-31 {"placeholder":"7","range":"1:30-1:31"}
1:62-66 {"placeholder":"w x","range":"1:63-1:66"}
1:77-81 {"placeholder":"w x","range":"1:78-1:81"}
2:20-22 {"placeholder":"1","range":"2:21-2:22"}
2:53-55 {"placeholder":"7","range":"2:54-2:55"}
2:85-87 {"placeholder":"w","range":"2:86-2:87"}
2:94-96 {"placeholder":"2","range":"2:95-2:96"}
2:134-136 {"placeholder":"w","range":"2:135-2:136"}
3:20-22 {"placeholder":"2","range":"3:21-3:22"}
3:53-55 {"placeholder":"1","range":"3:54-3:55"}
3:90-92 {"placeholder":"1","range":"3:91-3:92"}
4:16-21 {"placeholder":"code","range":"4:17-4:21"}
5:30-42 {"placeholder":"net.__entry","range":"5:31-5:42"}
6:22-26 {"placeholder":"net","range":"6:23-6:26"}
7:23-27 {"placeholder":"net","range":"7:24-7:27"}
12:20-22 {"placeholder":"2","range":"12:21-12:22"}
12:53-55 {"placeholder":"1","range":"12:54-12:55"}
12:90-92 {"placeholder":"3","range":"12:91-12:92"}
)j");
    CHECK(answers(kDamaged, "prepareRename") == R"j(
0:23-26 {"placeholder":"in","range":"0:24-0:26"}
0:61-65 {"placeholder":"out","range":"0:62-0:65"}
1:19-25 {"placeholder":"first","range":"1:20-1:25"}
2:5-7 {"placeholder":"a","range":"2:6-2:7"}
2:42-44 {"placeholder":"r","range":"2:43-2:44"}
3:25-27 {"placeholder":"a","range":"3:26-3:27"}
3:32-34 {"placeholder":"m","range":"3:33-3:34"}
4:24-26 {"placeholder":"m","range":"4:25-4:26"}
4:28-30 {"placeholder":"a","range":"4:29-4:30"}
4:36-38 {"placeholder":"r","range":"4:37-4:38"}
5:10-14 {"placeholder":"one","range":"5:11-5:14"}
5:15-19 {"placeholder":"two","range":"5:16-5:19"}
5:21-23 {"placeholder":"n","range":"5:22-5:23"}
6:19-21 {"placeholder":"r","range":"6:20-6:21"}
9:20-26 {"placeholder":"first","range":"9:21-9:26"}
9:28-31 {"placeholder":"in","range":"9:29-9:31"}
9:37-41 {"placeholder":"out","range":"9:38-9:41"}
10:15-19 {"placeholder":"out","range":"10:16-10:19"}
)j");
    CHECK(answers(kBlocks, "rename", {{"newName", "new"}}) == R"j(
0:25-27 {"documentChanges":[{"edits":[{"newText":"new","range":"0:26-0:27"},{"newText":"new","range":"1:22-1:23"}],"textDocument":{"version":1}}]}
0:52-54 {"documentChanges":[{"edits":[{"newText":"new","range":"0:53-0:54"},{"newText":"new","range":"1:36-1:37"},{"newText":"new","range":"6:18-6:19"}],"textDocument":{"version":1}}]}
0:89-91 {"documentChanges":[{"edits":[{"newText":"new","range":"0:90-0:91"}],"textDocument":{"version":1}}]}
1:21-23 {"documentChanges":[{"edits":[{"newText":"new","range":"0:26-0:27"},{"newText":"new","range":"1:22-1:23"}],"textDocument":{"version":1}}]}
1:32-34 {"documentChanges":[{"edits":[{"newText":"new","range":"1:33-1:34"},{"newText":"new","range":"2:3-2:4"}],"textDocument":{"version":1}}]}
1:35-37 {"documentChanges":[{"edits":[{"newText":"new","range":"0:53-0:54"},{"newText":"new","range":"1:36-1:37"},{"newText":"new","range":"6:18-6:19"}],"textDocument":{"version":1}}]}
1:69-71 {"documentChanges":[{"edits":[{"newText":"new","range":"1:70-1:71"},{"newText":"new","range":"5:3-5:4"}],"textDocument":{"version":1}}]}
2:2-4 {"documentChanges":[{"edits":[{"newText":"new","range":"1:33-1:34"},{"newText":"new","range":"2:3-2:4"}],"textDocument":{"version":1}}]}
2:5-7 {"documentChanges":[{"edits":[{"newText":"new","range":"2:6-2:7"},{"newText":"new","range":"3:23-3:24"}],"textDocument":{"version":1}}]}
3:22-24 {"documentChanges":[{"edits":[{"newText":"new","range":"2:6-2:7"},{"newText":"new","range":"3:23-3:24"}],"textDocument":{"version":1}}]}
3:30-32 {"documentChanges":[{"edits":[{"newText":"new","range":"3:31-3:32"},{"newText":"new","range":"4:18-4:19"}],"textDocument":{"version":1}}]}
4:17-19 {"documentChanges":[{"edits":[{"newText":"new","range":"3:31-3:32"},{"newText":"new","range":"4:18-4:19"}],"textDocument":{"version":1}}]}
5:2-4 {"documentChanges":[{"edits":[{"newText":"new","range":"1:70-1:71"},{"newText":"new","range":"5:3-5:4"}],"textDocument":{"version":1}}]}
6:17-19 {"documentChanges":[{"edits":[{"newText":"new","range":"0:53-0:54"},{"newText":"new","range":"1:36-1:37"},{"newText":"new","range":"6:18-6:19"}],"textDocument":{"version":1}}]}
)j");
    CHECK(answers(kDump, "rename", {{"newName", "new name"}}) == R"j(
)j");
    CHECK(answers(kDump, "rename", {{"newName", "2"}}) == R"j(
1:62-66 {"documentChanges":[{"edits":[{"newText":"2","range":"1:63-1:66"},{"newText":"2","range":"1:78-1:81"}],"textDocument":{"version":1}}]}
1:77-81 {"documentChanges":[{"edits":[{"newText":"2","range":"1:63-1:66"},{"newText":"2","range":"1:78-1:81"}],"textDocument":{"version":1}}]}
2:85-87 {"documentChanges":[{"edits":[{"newText":"2","range":"2:86-2:87"},{"newText":"2","range":"2:135-2:136"}],"textDocument":{"version":1}}]}
2:94-96 {"documentChanges":[{"edits":[{"newText":"2","range":"2:95-2:96"},{"newText":"2","range":"3:21-3:22"}],"textDocument":{"version":1}}]}
2:134-136 {"documentChanges":[{"edits":[{"newText":"2","range":"2:86-2:87"},{"newText":"2","range":"2:135-2:136"}],"textDocument":{"version":1}}]}
3:20-22 {"documentChanges":[{"edits":[{"newText":"2","range":"2:95-2:96"},{"newText":"2","range":"3:21-3:22"}],"textDocument":{"version":1}}]}
4:16-21 {"documentChanges":[{"edits":[{"newText":"2","range":"4:17-4:21"}],"textDocument":{"version":1}}]}
5:30-42 {"documentChanges":[{"edits":[{"newText":"2","range":"5:31-5:42"}],"textDocument":{"version":1}}]}
6:22-26 {"documentChanges":[{"edits":[{"newText":"2","range":"6:23-6:26"},{"newText":"2","range":"7:24-7:27"}],"textDocument":{"version":1}}]}
7:23-27 {"documentChanges":[{"edits":[{"newText":"2","range":"6:23-6:26"},{"newText":"2","range":"7:24-7:27"}],"textDocument":{"version":1}}]}
12:20-22 {"documentChanges":[{"edits":[{"newText":"2","range":"12:21-12:22"}],"textDocument":{"version":1}}]}
)j");
  }

  TEST_CASE("selections grow from the word at each place") {
    CHECK(selections(kOps, 2, 50) == R"j(
0 0:0-4:1 0:0-5:0
2 2:2-2:22 2:2-2:47 0:0-4:1 0:0-5:0
13 2:13-2:22 2:2-2:22 2:2-2:47 0:0-4:1 0:0-5:0
23 2:2-2:47 0:0-4:1 0:0-5:0
34 2:34-2:36 2:2-2:47 0:0-4:1 0:0-5:0
37 2:2-2:47 0:0-4:1 0:0-5:0
42 2:42-2:46 2:2-2:47 0:0-4:1 0:0-5:0
47 2:2-2:47 0:0-4:1 0:0-5:0
)j");
    CHECK(selections(kDump, 1, 84) == R"j(
0 0:0-10:1 0:0-14:0
2 1:2-1:21 1:2-1:83 0:0-10:1 0:0-14:0
13 1:13-1:21 1:2-1:21 1:2-1:83 0:0-10:1 0:0-14:0
22 1:2-1:83 0:0-10:1 0:0-14:0
29 1:29-1:31 1:29-1:60 1:2-1:83 0:0-10:1 0:0-14:0
32 1:2-1:83 0:0-10:1 0:0-14:0
63 1:63-1:66 1:2-1:83 0:0-10:1 0:0-14:0
67 1:2-1:83 0:0-10:1 0:0-14:0
78 1:78-1:81 1:2-1:83 0:0-10:1 0:0-14:0
82 1:2-1:83 0:0-10:1 0:0-14:0
)j");
    CHECK(selections(kPortable, 3, 47) == R"j(
0 2:0-20:1 0:0-21:0
2 3:2-3:18 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
8 3:8-3:18 3:2-3:18 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
19 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
20 3:20-3:25 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
26 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
40 3:40-3:45 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
46 3:2-3:46 3:2-10:3 2:0-20:1 0:0-21:0
)j");
    CHECK(selections(kDamaged, 5, 26) == R"j(
0 1:2-8:3 0:0-11:1 0:0-14:0
6 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
11 5:11-5:14 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
15 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
16 5:16-5:19 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
20 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
21 5:21-5:23 5:6-5:23 1:2-8:3 0:0-11:1 0:0-14:0
)j");
  }

  TEST_CASE("signatures show the parameter at each place") {
    CHECK(answers(kOps, "signatureHelp") == R"j(
1:20-23 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Sum of two tensors with broadcasting.","label":"linalg.CPU.AddOp (operand 0, operand 1)","parameters":[{"label":[18,27]},{"label":[29,38]}]}]}
1:24-28 {"activeParameter":1,"activeSignature":0,"signatures":[{"documentation":"Sum of two tensors with broadcasting.","label":"linalg.CPU.AddOp (operand 0, operand 1)","parameters":[{"label":[18,27]},{"label":[29,38]}]}]}
1:34-36 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Sum of two tensors with broadcasting.","label":"linalg.CPU.AddOp (...) -> (result 0)","parameters":[{"label":[27,35]}]}]}
2:24-31 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Exponentials along an axis divided by their sum.","label":"linalg.CPU.SoftmaxOp [axis: integer = -1]","parameters":[{"documentation":"dimension that sums to one","label":[22,40]}]}]}
2:34-36 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Exponentials along an axis divided by their sum.","label":"linalg.CPU.SoftmaxOp (operand 0)","parameters":[{"label":[22,31]}]}]}
2:42-46 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Exponentials along an axis divided by their sum.","label":"linalg.CPU.SoftmaxOp (...) -> (result 0)","parameters":[{"label":[31,39]}]}]}
3:15-19 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Ends a graph and returns its operands to the caller.","label":"cf.ReturnOp (...)","parameters":[{"label":[13,16]}]}]}
3:25-25 {"activeParameter":0,"activeSignature":0,"signatures":[{"documentation":"Ends a graph and returns its operands to the caller.","label":"cf.ReturnOp (...) -> ()","parameters":[]}]}
)j");
  }

  TEST_CASE("completion offers what can be typed at each place") {
    CHECK(answers(kValues, "completion") == R"j(
0:1-1 items @f 9 @f graph.SubGraphOp 0:0-0:1
0:2-2 items @f 9 @f graph.SubGraphOp 0:0-0:2
0:3-3 items @f 9 @f graph.SubGraphOp 0:0-0:3
0:4-4 items @f 9 @f graph.SubGraphOp 0:0-0:4
0:5-5 items @f 9 @f graph.SubGraphOp 0:0-0:5
0:26-26 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:26 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:26 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:26 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:26 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:26
0:27-27 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:27 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:27 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:27 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:27 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:27
0:28-28 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:28 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:28 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:28 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:28 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:28
0:29-29 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:29 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:29 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:29 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:29 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:29
0:30-30 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:30 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:30 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:30 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:30 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:30
0:31-31 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:31 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:31 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:31 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:31 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:31
0:32-32 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 0:26-0:32 !builtin.any 7 1!builtin.any !builtin.any 0:26-0:32 !builtin.index 7 1!builtin.index !builtin.index 0:26-0:32 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 0:26-0:32 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 0:26-0:32
1:20-20 items @f 9 @f graph.SubGraphOp 1:19-1:20
1:21-21 items @f 9 @f graph.SubGraphOp 1:19-1:21
2:8-8 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:8 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:8 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:8 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:8 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:8
2:9-9 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:9 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:9 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:9 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:9 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:9
2:10-10 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:10 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:10 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:10 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:10 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:10
2:11-11 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:11 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:11 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:11 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:11 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:11
2:12-12 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:12 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:12 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:12 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:12 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:12
2:13-13 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:13 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:13 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:13 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:13 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:13
2:14-14 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 2:8-2:14 !builtin.any 7 1!builtin.any !builtin.any 2:8-2:14 !builtin.index 7 1!builtin.index !builtin.index 2:8-2:14 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 2:8-2:14 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 2:8-2:14
3:25-25 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:25-3:25
3:26-26 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:25-3:26
3:27-27 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:25-3:27
3:33-33 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:33-3:33
3:34-34 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:33-3:34
3:35-35 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 3:33-3:35
4:24-24 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:24-4:24 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:24-4:24
4:25-25 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:24-4:25 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:24-4:25
4:26-26 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:24-4:26 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:24-4:26
4:27-27 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:27-4:27 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:27-4:27
4:28-28 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:28-4:28 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:28-4:28
4:29-29 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:28-4:29 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:28-4:29
4:30-30 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:28-4:30 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:28-4:30
4:36-36 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:36-4:36 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:36-4:36
4:37-37 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:36-4:37 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:36-4:37
4:38-38 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 4:36-4:38 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 4:36-4:38
5:25-25 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:25-5:25 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:25-5:25 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:25-5:25
5:26-26 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:25-5:26 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:25-5:26 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:25-5:26
5:27-27 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:25-5:27 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:25-5:27 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:25-5:27
5:33-33 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:33-5:33 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:33-5:33 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:33-5:33
5:34-34 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:33-5:34 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:33-5:34 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:33-5:34
5:35-35 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:33-5:35 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:33-5:35 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:33-5:35
5:36-36 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:36 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:36 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:36 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:36 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:36
5:37-37 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:37 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:37 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:37 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:37 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:37
5:38-38 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:38 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:38 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:38 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:38 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:38
5:39-39 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:39 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:39 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:39 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:39 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:39
5:40-40 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:40 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:40 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:40 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:40 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:40
5:41-41 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:41 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:41 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:41 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:41 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:41
5:42-42 items !builtin.tensor 7 1!builtin.tensor tensor<[1, $S], Float32, CPU> 5:36-5:42 !builtin.any 7 1!builtin.any !builtin.any 5:36-5:42 !builtin.index 7 1!builtin.index !builtin.index 5:36-5:42 !builtin.scalar 7 1!builtin.scalar !builtin.scalar<Float32> 5:36-5:42 !builtin.function 7 1!builtin.function !builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], [!builtin.scalar<Bool>]> 5:36-5:42
5:43-43 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:43-5:43 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:43-5:43 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:43-5:43
5:44-44 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:44-5:44 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:44-5:44 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:44-5:44
5:45-45 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:44-5:45 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:44-5:45 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:44-5:45
5:46-46 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:46-5:46 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:46-5:46 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:46-5:46
5:47-47 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:47-5:47 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:47-5:47 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:47-5:47
5:56-56 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:56-5:56 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:56-5:56 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:56-5:56
5:57-57 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:57-5:57 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:57-5:57 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:57-5:57
5:58-58 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:57-5:58 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:57-5:58 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:57-5:58
5:59-59 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:57-5:59 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:57-5:59 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:57-5:59
5:60-60 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:57-5:60 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:57-5:60 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:57-5:60
5:61-61 items %x 6 04294967293%x tensor<[2, 4], Float32, CPU> 5:61-5:61 %y 6 04294967290%y tensor<[2, 4], Float32, CPU> 5:61-5:61 %z 6 04294967287%z tensor<[2, 4], Float32, CPU> 5:61-5:61
8:21-21 items @f 9 @f graph.SubGraphOp 8:20-8:21
8:22-22 items @f 9 @f graph.SubGraphOp 8:20-8:22
8:24-24 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:24-8:24
8:25-25 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:24-8:25
8:26-26 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:24-8:26
8:32-32 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:32-8:32
8:33-33 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:32-8:33
8:34-34 items %a 6 04294967295%a tensor<[2, 4], Float32, CPU> 8:32-8:34
)j");
  }

  TEST_CASE("symbols, folds, hints and tokens of whole texts") {
    CHECK(answer(kPortable, "documentSymbol") == R"j(
{"children":[{"detail":"graph.SubGraphOp","kind":12,"name":"@first","range":"3:2-10:3","selectionRange":"3:19-3:25"}],"detail":"module","kind":2,"name":"@main","range":"2:0-20:1","selectionRange":"2:0-2:5"}
)j");
    CHECK(answer(kPortable, "foldingRange") == R"j(
{"endLine":19,"startLine":2}
{"endLine":9,"startLine":3}
{"endLine":15,"startLine":11}
{"endLine":1,"kind":"comment","startLine":0}
)j");
    CHECK(answer(kDump, "documentSymbol") == R"j(
{"children":[{"detail":"tensor.CPU.register","kind":19,"name":"tensor.CPU.register","range":"1:2-1:83","selectionRange":"1:2-1:21"},{"children":[{"detail":"prog.label","kind":19,"name":"prog.label","range":"5:4-5:43","selectionRange":"5:13-5:23"}],"detail":"prog.fragment","kind":12,"name":"@code","range":"4:2-9:3","selectionRange":"4:16-4:21"}],"detail":"module","kind":2,"name":"@main","range":"0:0-10:1","selectionRange":"0:0-0:5"}
{"detail":"module","kind":2,"name":"@second","range":"11:0-13:1","selectionRange":"11:0-11:7"}
)j");
    CHECK(answer(kDump, "foldingRange") == R"j(
{"endLine":9,"startLine":0}
{"endLine":8,"startLine":4}
{"endLine":12,"startLine":11}
)j");
    CHECK(answer(kDamaged, "documentSymbol") == R"j(
{"children":[{"detail":"graph.SubGraphOp","kind":12,"name":"@first","range":"1:2-8:3","selectionRange":"1:19-1:25"}],"detail":"module","kind":2,"name":"@main","range":"0:0-11:1","selectionRange":"0:0-0:5"}
{"detail":"module","kind":2,"name":"@next [mir_version:1 (%in:tensor<[2, 4], Float32, CPU>) -> () {","range":"12:0-14:0","selectionRange":"12:0-12:63"}
)j");
    CHECK(answer(kDamaged, "foldingRange") == R"j(
{"endLine":10,"startLine":0}
{"endLine":7,"startLine":1}
{"endLine":13,"startLine":12}
)j");
    CHECK(answer(kPortable, "inlayHint",
                 {{"range",
                   {{"start", {{"line", 0}, {"character", 0}}},
                    {"end", {{"line", 99}, {"character", 0}}}}}}) == R"j(
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":48,"line":5}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":38,"line":6}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":36,"line":13}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":38,"line":17}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":46,"line":18}}
)j");
    CHECK(answer(kBlocks, "inlayHint",
                 {{"range",
                   {{"start", {{"line", 0}, {"character", 0}}},
                    {"end", {{"line", 99}, {"character", 0}}}}}}) == R"j(
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":32,"line":3}}
)j");
    CHECK(answer(kDamaged, "inlayHint",
                 {{"range",
                   {{"start", {{"line", 0}, {"character", 0}}},
                    {"end", {{"line", 99}, {"character", 0}}}}}}) == R"j(
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":38,"line":4}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":41,"line":9}}
)j");
    CHECK(answer(kValues, "inlayHint",
                 {{"range",
                   {{"start", {{"line", 0}, {"character", 0}}},
                    {"end", {{"line", 99}, {"character", 0}}}}}}) == R"j(
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":35,"line":3}}
{"kind":1,"label":":tensor<[2, 4], Float32, CPU>","position":{"character":38,"line":4}}
)j");
    CHECK(answer(kDump, "semanticTokens/full") == R"j(
{"data":[0,0,5,0,0,0,9,2,11,0,1,2,19,1,0,0,23,2,11,0,0,4,2,2,0,0,3,28,3,0,0,29,6,0,0,0,9,6,4,0,0,7,5,5,0,1,2,16,1,0,0,18,2,2,0,0,3,28,3,0,0,30,2,2,0,0,3,28,3,0,0,29,2,0,0,0,5,2,11,0,0,4,2,2,0,0,3,28,3,0,0,31,5,4,0,0,6,2,0,0,1,2,16,1,0,0,18,2,2,0,0,3,28,3,0,0,30,2,2,0,0,3,28,3,0,0,30,2,11,0,0,4,2,2,0,0,3,28,3,0,1,2,13,1,0,0,14,5,0,0,0,6,5,7,0,0,6,6,7,0,0,8,4,4,0,0,5,1,6,0,1,4,8,9,0,0,9,10,1,0,0,11,6,4,0,0,7,11,5,0,1,4,8,9,0,0,9,9,1,0,0,10,11,8,0,0,12,6,4,0,0,7,1,6,0,1,4,8,9,0,0,9,9,1,0,0,10,13,8,0,0,14,6,4,0,0,7,1,6,0,1,4,8,9,0,0,9,9,1,0,0,10,5,8,0,0,6,6,4,0,0,7,1,6,0,3,0,7,0,0,0,11,2,11,0,1,2,16,1,0,0,18,2,2,0,0,3,28,3,0,0,30,2,2,0,0,3,28,3,0,0,30,2,11,0,0,4,2,2,0,0,3,28,3,0],"resultId":"1"}
)j");
    CHECK(answer(kDamaged, "semanticTokens/full") == R"j(
{"data":[0,0,5,0,0,0,7,11,4,0,0,12,1,6,0,0,4,3,2,0,0,4,28,3,0,0,30,2,11,0,0,4,4,2,0,0,5,28,3,0,1,2,16,1,0,0,17,6,0,0,1,5,2,2,0,0,3,28,3,0,0,30,2,11,0,0,4,2,2,0,0,3,28,3,0,1,6,17,1,0,0,19,2,2,0,0,3,2,11,0,0,4,2,2,0,1,6,16,1,0,0,18,2,2,0,0,4,2,2,0,0,4,2,11,0,0,4,2,2,0,1,6,3,8,0,0,4,9,0,0,0,11,2,2,0,1,6,11,1,0,0,13,2,2,0,0,4,2,11,0,3,2,17,1,0,0,18,6,0,0,0,8,3,2,0,0,5,2,11,0,0,4,4,2,0,1,2,11,1,0,0,13,4,2,0,0,6,2,11,0,2,0,5,0,0,0,7,11,4,0,0,12,19,5,0,0,22,7,8,0,0,9,3,8,0,1,2,11,1,0,0,15,2,11,0],"resultId":"1"}
)j");
    CHECK(answer(kPortable, "documentSymbol", Json::object(), Json::object()) == R"j(
{"kind":2,"location":{"range":"2:0-20:1"},"name":"@main"}
{"kind":12,"location":{"range":"3:2-10:3"},"name":"@first"}
)j");
  }
}

}  // namespace outline_test
