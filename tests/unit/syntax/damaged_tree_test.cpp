// Trees of damaged texts: as damaged_trees.txt stores them, and the same after an edit as anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "../seeds.hpp"
#include "../stored_lines.hpp"
#include "syntax/damage.hpp"
#include "syntax/reparse.hpp"

using namespace mir;

namespace damaged_tree_test {

namespace {

constexpr std::string_view kText = R"(// head
@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {
  graph.SubGraphOp @g <CPU> [symbol:g] {
    (%a:tensor<[2], Float32, CPU>) -> (%b) {
      a.one (%a) -> (%b:tensor<[2], Float32, CPU>) // one
      // own
      a.two [k:1, d:{"e":[1, 2]}] (%b) -> () [^next] {
        ^next(%c:tensor<[2], Float32, CPU>): a.in (%c) -> ()
        ^last: a.in () -> () } { () -> () { } }
    }
  }
  addr:0x1 a.three "text" (%b) -> ()
  a.four (%x) -> () loc("f":1)
}
@second () -> () { a.five () -> () }
)";

/// The units of a tree with their tokens and nodes.
std::string listing(const SyntaxTree& tree) {
  std::string text;
  for (const Unit& unit : tree.units()) {
    text += fmt::format("unit {}\n", unit.base());
    for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) {
      const Span span = unit.span(i);
      text +=
          fmt::format("{} {}-{}\n", enumerator_name(unit.tokens()[i].kind()), span.begin, span.end);
    }
    for (const Node& node : unit.nodes()) {
      text += fmt::format("{} {} {}\n", enumerator_name(node.kind()), node.token, node.count());
    }
  }
  return text;
}

std::string listing(std::span<const Diagnostic> errors) {
  std::string text;
  for (const Diagnostic& each : errors) {
    text += fmt::format("{} {}-{} {} {}\n", spelling(each.code), each.at.begin, each.at.end,
                        each.message, each.hint);
  }
  return text;
}

/// A text and its tree.
struct Read {
  explicit Read(std::string text)
      : file("f", std::move(text), 7), diagnostics(0), tree(parse_damaged(file, diagnostics)) {}

  SourceFile file;
  Diagnostics diagnostics;
  SyntaxTree tree;
};

std::uint32_t checksum(std::string_view text) {
  std::uint32_t sum = 2166136261U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum;
}

}  // namespace

TEST_CASE("texts that are damaged at any place have the trees and errors that are stored") {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < kText.size(); at += 3) {
    for (const std::string_view put : {"", "}", "{", "\"", "(", ":"}) {
      std::string text(kText);
      text.replace(at, 1, put);
      const Read read(text);
      std::string line = fmt::format("{} '{}'", at, put);
      for (const Diagnostic& each : read.diagnostics.sorted()) {
        line += fmt::format(" {} {}-{}", spelling(each.code), each.at.begin, each.at.end);
      }
      std::size_t tokens = 0, nodes = 0;
      for (const Unit& unit : read.tree.units()) {
        tokens += unit.tokens().size();
        nodes += unit.nodes().size();
      }
      found.push_back(
          line + fmt::format(" | {} units, {} tokens, {} nodes, {:08x}", read.tree.units().size(),
                             tokens, nodes,
                             checksum(listing(read.tree) + listing(read.diagnostics.sorted()))));
    }
  }
  CHECK(found == mir::test::stored_lines("testdata/unit/syntax/damaged_trees.txt", found));
}

TEST_CASE("a tree after an edit is the one of the text read anew") {
  constexpr std::string_view kPieces[] = {"",
                                          " ",
                                          "x",
                                          "}",
                                          "{",
                                          "(",
                                          ")",
                                          "\"",
                                          "\n",
                                          "// note",
                                          "a.six (%x) -> ()\n",
                                          "^b:",
                                          "[k:2]",
                                          "%b",
                                          ", ",
                                          "@main",
                                          "addr:0x2 ",
                                          "a.seven () -> () {\n() -> () { }\n}\n",
                                          "[",
                                          "loc("};
  const std::uint64_t seeds = test::seed_count(400, test::About::kMemory);
  std::size_t reused = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    std::string text(kText);
    for (int step = 0; step < 12; ++step) {
      TextEdit edit;
      edit.begin = static_cast<std::uint32_t>(random() % text.size());
      const auto left = static_cast<std::uint32_t>(text.size()) - edit.begin;
      const auto removed = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 40 : 0);
      edit.end = edit.begin + std::min(left, removed);
      const std::string_view piece = kPieces[random() % std::size(kPieces)];
      edit.inserted = static_cast<std::uint32_t>(piece.size());
      std::string next = text;
      next.replace(edit.begin, edit.end - edit.begin, piece);
      Read before(text);
      const Read after(next);
      const auto errors = before.diagnostics.sorted();
      CAPTURE(text);
      CAPTURE(next);
      if (const auto again = reparse(before.tree.take_units(), errors, edit, after.file)) {
        ++reused;
        REQUIRE(listing(again->tree) == listing(after.tree));
        REQUIRE(listing(again->errors) == listing(after.diagnostics.sorted()));
      }
      if (after.diagnostics.sorted().size() < 4) text = std::move(next);
    }
  }
  CHECK(reused > 2 * seeds);
}

TEST_CASE("errors before an edit stay, those behind it move with their repairs") {
  const std::string bad = "  a.bad [k=1]\n", good = "  a.good () -> ()\n";
  const std::string head = "@m () -> () {\n" + good + bad + good + good,
                    tail = good + bad + good + "}\n";
  const std::string put = "  a.new () -> ()\n";
  Read before(head + tail);
  const Read after(head + put + tail);
  const auto errors = before.diagnostics.sorted();
  REQUIRE(errors.size() == 2);
  const auto at = static_cast<std::uint32_t>(head.size());
  const TextEdit edit{at, at, static_cast<std::uint32_t>(put.size())};
  const auto again = reparse(before.tree.take_units(), errors, edit, after.file);
  REQUIRE(again);
  CHECK(listing(again->tree) == listing(after.tree));
  CHECK(again->errors == after.diagnostics.sorted());
}

TEST_CASE("a text is read anew if an error may concern other ops") {
  const std::string good = "  a.good () -> ()\n";
  const std::string ops = good + good + "  a.here () -> ()\n" + good + good;
  const auto is_reused = [](const std::string& text) {
    const auto at = static_cast<std::uint32_t>(text.find("here"));
    std::string longer = text;
    longer.insert(at, "x");
    Read before(text);
    const Read after(longer);
    return reparse(before.tree.take_units(), before.diagnostics.sorted(), {at, at, 1}, after.file)
        .has_value();
  };
  const std::string head = "@m () -> () {\n", first = "@l () -> () {\n" + good + "}\n";
  CHECK(is_reused(head + ops + "}\n"));
  CHECK(is_reused(head + good + "  a.here () -> ()\n" + good + "}\n"));
  CHECK(is_reused("// note\n" + first + "// note\n" + head + ops + "} // note\n// note"));
  CHECK_FALSE(is_reused("// note\n" + ops));
  CHECK_FALSE(is_reused(head + ops));
  CHECK_FALSE(is_reused(head + ops + "}\nstray\n"));
  CHECK_FALSE(is_reused(first + "stray\n" + head + ops + "}\n"));
}

}  // namespace damaged_tree_test
