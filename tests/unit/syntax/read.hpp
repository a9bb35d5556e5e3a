// Short ways for tests to say "this text reads as ...".
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/parse.hpp"

namespace mir::test {

/// The tokens of `text` as `Kind 'text'` pairs; lexical errors are left out.
inline std::vector<std::pair<std::string, std::string>> tokens(std::string text) {
  SourceManager sources;
  const SourceFile& file = *sources.add("test.mir", std::move(text));
  Diagnostics diagnostics(0);
  std::vector<std::pair<std::string, std::string>> list;
  for (const Token& token : scan(file, diagnostics)) {
    list.emplace_back(enumerator_name(token.kind()),
                      file.text().substr(token.offset, token.length()));
  }
  return list;
}

/// The nodes of `text` in order, as `Kind` or `Kind:count`; empty when it has an error.
inline std::string nodes(std::string text) {
  SourceManager sources;
  Diagnostics diagnostics;
  const auto tree = parse(*sources.add("test.mir", std::move(text)), diagnostics);
  std::string list;
  if (!tree) return list;
  for (const Unit& unit : tree->units()) {
    for (const Node& node : unit.nodes()) {
      if (!list.empty()) list += ' ';
      list += enumerator_name(node.kind());
      if (node.count() != 0) list += ":" + std::to_string(node.count());
    }
  }
  return list;
}

/// What parsing reports, each as `line:column MIRnnnn message`.
inline std::vector<std::string> errors(std::string text) {
  SourceManager sources;
  const SourceFile& file = *sources.add("test.mir", std::move(text));
  Diagnostics diagnostics(0);
  parse(file, diagnostics);
  std::vector<std::string> list;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    const LineColumn at = file.line_column(diagnostic.at.begin);
    list.push_back(std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
                   spelling(diagnostic.code) + " " + diagnostic.message);
  }
  return list;
}

/// A module with `ops` as the body of its only region, each on a line of its own from line 4 on.
inline std::string module_of(std::vector<std::string> ops) {
  std::string text =
      "@main () -> () {\n"
      "  graph.SubGraphOp @g <CPU> [symbol:g] {\n"
      "    (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "    }\n  }\n}\n";
}

}  // namespace mir::test
