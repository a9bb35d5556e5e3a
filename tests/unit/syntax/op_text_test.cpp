#include "syntax/op_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mir;

namespace {

/// The parts of the second op of a text, found from its name on.
struct Found {
  explicit Found(const std::string& op)
      : file("f", "@m () -> () {\n a.First [key:0] () -> ()\n " + op + "\n}\n", 7),
        at(file.base() + static_cast<SourcePos>(file.text().find(op))),
        text(file, {at, at + static_cast<SourcePos>(op.find(' '))}) {}

  std::string of(Span span) const { return span.known() ? std::string(text.text(span)) : "none"; }
  std::string key(std::string_view name) const { return of(text.key(name)); }
  std::string value(std::string_view name) const { return of(text.value(name)); }

  SourceFile file;
  SourcePos at;
  OpText text;
};

}  // namespace

TEST_CASE("an op's keys and values are found in its text, not in its operands or neighbours") {
  const Found op(
      "a.Second @sym <name=\"n\"> [axis : 1, list:[2, 3], word: two, d:{\"axis\":9}] "
      "(%0[inner:4]) -> () [after:5]\n a.Third [third:6] () -> ()");
  CHECK(op.key("axis") == "axis");
  CHECK(op.value("axis") == "1");
  CHECK(op.value("word") == "two");
  CHECK(op.value("after") == "5");
  CHECK(op.key("list") == "list");
  CHECK(op.value("list") == "none");  // more than one word
  for (const char* other : {"inner", "third", "key", "none", ""}) {
    CAPTURE(other);
    CHECK(op.key(other) == "none");
    CHECK(op.value(other) == "none");
  }
  CHECK(op.of(op.text.first(TokenKind::kSymbol)) == "@sym");
  CHECK(op.of(op.text.first(TokenKind::kNameAngle)) == "<name=\"n\">");
  CHECK(op.of(op.text.first(TokenKind::kLoc)) == "none");
}

TEST_CASE("an op's text ends at its body, at a mistake and at the end of the file") {
  CHECK(Found("a.Second @s () -> () {\n a.Inner [inner:1] () -> ()\n }").key("inner") == "none");
  CHECK(Found("a.Second [bad=1] [axis:1]").key("axis") == "none");
  CHECK(Found("a.Second [axis:1").value("axis") == "none");
  CHECK(Found("a.Second [axis:").key("axis") == "axis");
}
