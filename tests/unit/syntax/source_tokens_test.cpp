#include "syntax/source_tokens.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "syntax/layout.hpp"

using namespace mir;

namespace {

/// Whether the op `a.b <op>` states `%1`, and then its symbol, its attributes and both.
std::string stated_by(const std::string& op) {
  SourceManager sources;
  Diagnostics diagnostics;
  const auto tree = parse(*sources.add("f", "@m () -> () {\na.b " + op + "\n}\n"), diagnostics);
  REQUIRE_MESSAGE(tree, op);
  const SourceTokens tokens(*tree);
  const auto at = tree->file().base() + static_cast<SourcePos>(tree->file().text().find("a.b"));
  const auto pieces = tokens.pieces(at);
  REQUIRE(pieces.size() == 1);
  const auto mentions = tokens.mentions(pieces[0]);
  const auto says = [&](const char* word, bool symbol, bool attributes) {
    const auto states = [&](const TypedMention& each) {
      return each.name == "1" && each.has_symbol >= symbol && each.has_attributes >= attributes;
    };
    return std::ranges::any_of(mentions, states) ? std::string(word) : std::string();
  };
  return says("type", false, false) + says(" symbol", true, false) +
         says(" attributes", false, true) + says(" both", true, true);
}

}  // namespace

TEST_CASE("a mention states what follows it, up to the next value or the end of its list") {
  const std::string type = "tensor<[2], Float32, CPU>", one = "%1:" + type, two = "%2:" + type;
  CHECK(stated_by("(%1) -> ()").empty());
  CHECK(stated_by("(" + two + "[@w][k:1]) -> ()").empty());
  CHECK(stated_by("(%11:" + type + "[@w]) -> ()").empty());
  CHECK(stated_by("(" + one + ") -> ()") == "type");
  CHECK(stated_by("(" + one + "[@w]) -> ()") == "type symbol");
  CHECK(stated_by("(" + one + "[k:1]) -> ()") == "type attributes");
  CHECK(stated_by("(" + one + "[@w][k:1]) -> ()") == "type symbol attributes both");
  CHECK(stated_by("() -> (" + one + "[@w])") == "type symbol");
  for (const std::string& next : {two, std::string("%2")}) {
    CAPTURE(next);
    CHECK(stated_by("(" + one + ", " + next + "[@w][k:1]) -> ()") == "type");
  }
  CHECK(stated_by("(" + one + ") -> (" + two + "[@w][k:1])") == "type");
  CHECK(stated_by("(" + one + ") -> () [k:1]") == "type");
  CHECK(stated_by("(%1, " + one + "[@w]) -> ()") == "type symbol");
  CHECK(stated_by("(" + one + "[@w], " + one + "[k:1]) -> ()") == "type symbol attributes");
}

namespace {

/// A text with its index; "a:2" is the second "a" of the text.
struct Indexed {
  explicit Indexed(const std::string& text) {
    tree = parse(*sources.add("f", text), diagnostics);
    REQUIRE_MESSAGE(tree, text);
    tokens.emplace(*tree);
  }
  SourcePos at(std::string_view word, int skip = 0) const {
    std::size_t found = tree->file().text().find(word);
    while (skip-- > 0) found = tree->file().text().find(word, found + 1);
    return tree->file().base() + static_cast<SourcePos>(found);
  }
  std::string printed(TokenRange range) const {
    LayoutPrinter out;
    tokens->print(range, out);
    return finished(out);
  }
  static std::string finished(LayoutPrinter& out) {
    std::string text(out.finish());
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }
  std::string block(SourcePos op, std::uint32_t region, std::string_view name) const {
    const auto found = tokens->block(op, region, name);
    return found ? printed(*found) : "none";
  }

  SourceManager sources;
  Diagnostics diagnostics;
  std::optional<SyntaxTree> tree;
  std::optional<SourceTokens> tokens;
};

const std::string kBlocks =
    "@m [mir_version:1] () -> () { // open\n"
    "  // own\n"
    "  a.b (%0) -> (%1) // same\n"
    "  x.y {\n() -> () {\n^q(%2:tensor<[], A, B>):\na.c\n^p:\na.d\n}\n() -> () {\n^p:\na.e\n}\n}\n"
    "  z.y {\n() -> () {\n^r:\na.f // f\n}\n}\n"
    "^last:\n  a.g\n  // below\n}\n// end 1\n// end 2\n@n () -> () {\n}\n";

}  // namespace

TEST_CASE("a block is found by its op, its region and its name") {
  const Indexed text(kBlocks);
  const SourcePos op = text.at("x.y"), other = text.at("z.y");
  CHECK(text.block(op, 0, "p") == "^p:");
  CHECK(text.block(op, 0, "q") == "^q(%2:tensor<[], A, B>):");
  CHECK(text.block(op, 1, "p") == "^p:");
  CHECK(text.block(op, 1, "q") == "none");
  CHECK(text.block(op, 0, "r") == "none");
  CHECK(text.block(op, 2, "p") == "none");
  CHECK(text.block(other, 0, "r") == "^r:");
  CHECK(text.block(other, 0, "p") == "none");
  CHECK(text.block(text.at("@m"), 0, "last") == "^last:");
  CHECK(text.block(text.at("@n"), 0, "last") == "none");
  CHECK(text.tokens->block(op, 0, "p")->begin != text.tokens->block(op, 1, "p")->begin);
}

TEST_CASE("an op has a piece before, between and after its regions") {
  const Indexed text(kBlocks);
  CHECK(text.tokens->pieces(text.at("a.b")).size() == 1);
  const auto pieces = text.tokens->pieces(text.at("x.y"));
  REQUIRE(pieces.size() == 3);
  CHECK(text.printed(pieces[0]) == "x.y {\n    () -> () {");
  CHECK(text.tokens->begin(pieces[0]) == text.at("x.y"));
  CHECK(text.tokens->pieces(text.at("x.y") + 1).empty());
  CHECK(text.tokens->is_portable(text.at("@m")));
  CHECK_FALSE(text.tokens->is_portable(text.at("@n")));
  CHECK_FALSE(text.tokens->is_portable(text.at("x.y")));
  CHECK(text.tokens->pieces(text.at("@m")).size() == 2);
}

TEST_CASE("comments are printed with their op: those above it, in it, and after it on its line") {
  const Indexed text(kBlocks);
  CHECK(text.printed(text.tokens->pieces(text.at("a.b"))[0]) == "// own\na.b(%0) -> (%1)  // same");
  CHECK(text.printed(text.tokens->pieces(text.at("a.f"))[0]) == "a.f  // f");
  LayoutPrinter comments;
  text.tokens->print_comments(text.tokens->pieces(text.at("a.b"))[0], comments);
  CHECK(Indexed::finished(comments) == "// own");
  LayoutPrinter trailing;
  text.tokens->print_trailing(text.tokens->pieces(text.at("a.g"))[0], trailing);
  CHECK(Indexed::finished(trailing) == "");
  const Indexed inner(
      "@m () -> () {\na.b (%0, // first\n// second\n%1) -> ()\n} // close\n// end\n");
  LayoutPrinter all;
  inner.tokens->print_comments(inner.tokens->pieces(inner.at("a.b"))[0], all);
  CHECK(Indexed::finished(all) == "// first\n// second");
  LayoutPrinter end;
  inner.tokens->print_end(end);
  CHECK(Indexed::finished(end) == "// end");
  CHECK(inner.printed(inner.tokens->pieces(inner.at("@m"))[1]) == "}  // close");
}

TEST_CASE("an alias of a type is used where a type has neither a dialect nor parameters") {
  const auto uses = [](const std::string& type) {
    const Indexed text("!v = tensor<[2], Float32, CPU>\n@m () -> () {\na.b (%0:" + type +
                       ") -> ()\n}\n");
    CHECK(text.tokens->aliases().size() == 1);
    return text.tokens->has_type_alias(text.tokens->pieces(text.at("a.b"))[0]);
  };
  CHECK(uses("!v"));
  CHECK_FALSE(uses("!d.v"));
  CHECK_FALSE(uses("!d.v<3>"));
  CHECK_FALSE(uses("tensor<[2], Float32, CPU>"));
}

TEST_CASE("an op that the layout prints as it is, and that needs no other text, is a plain line") {
  const auto line = [](const std::string& op, const std::string& after = "") {
    const Indexed text("@m () -> () {\n    " + op + after + "\n    a.end() -> ()\n}\n");
    const std::size_t name = op.find("a.b");
    const TokenPieces pieces = text.tokens->pieces(text.at(op) + static_cast<SourcePos>(name));
    REQUIRE(!pieces.empty());
    if (pieces[0].is_line()) {
      CHECK(text.printed(pieces[0]) == op);
      CHECK(text.tokens->begin(pieces[0]) == text.at(op));
    }
    return pieces[0].is_line();
  };
  const std::string type = "tensor<[2, $S], Float32, CPU>";
  CHECK(line("a.b() -> ()"));
  CHECK(line("a.b(%0:" + type + ", %1:" + type + ") -> (%2:" + type + ")"));
  CHECK(line("a.b(%0) -> (%1:" + type + "[@w])[k:1, n:[1, 2], d:{\"a\":1}]"));
  CHECK(line("a.b @s <name=\"x\">(%0) -> ()"));
  CHECK(line("a.b() -> () loc(\"f\":3)"));
  CHECK(line("a.b() -> ()[k:word, x:$S]"));
  // Other spacing.
  CHECK_FALSE(line("a.b () -> ()"));
  CHECK_FALSE(line("a.b() ->  ()"));
  CHECK_FALSE(line("a.b() ->\n()"));
  // The indent of a further line depends on the depth of the op.
  CHECK_FALSE(line("a.b @s\n        loc(\"f\":3)"));
  CHECK_FALSE(line("a.b @s\n            loc(\"f\":3)"));
  CHECK_FALSE(line("a.b(%0:tensor<[2,$S], Float32, CPU>) -> ()"));
  CHECK_FALSE(line("a.b <name=\"x\" >() -> ()"));
  CHECK_FALSE(line("a.b() -> () loc( \"f\":3)"));
  // Comments.
  CHECK_FALSE(line("a.b() -> ()", "  // c"));
  CHECK_FALSE(line("// c\n    a.b() -> ()"));
  CHECK_FALSE(line("a.b( // c\n) -> ()"));
  CHECK(line("a.b() -> ()", "\n    // of the next one"));
  // Short forms.
  CHECK_FALSE(line("a.b(%0:!v) -> ()"));
  CHECK_FALSE(line("a.b() -> ()[*]"));
  CHECK_FALSE(line("a.b() -> ()[#spec]"));
  CHECK_FALSE(line("a.b <.x>() -> ()"));
  // Regions.
  CHECK_FALSE(line("a.b() -> () {\n    }"));
}
