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
  CHECK(op.value("list") == "[2, 3]");
  CHECK(op.value("d") == "{\"axis\":9}");
  for (const char* other : {"inner", "third", "key", "none", ""}) {
    CAPTURE(other);
    CHECK(op.key(other) == "none");
    CHECK(op.value(other) == "none");
  }
  CHECK(op.of(op.text.first(TokenKind::kSymbol)) == "@sym");
  CHECK(op.of(op.text.first(TokenKind::kNameAngle)) == "<name=\"n\">");
  CHECK(op.of(op.text.first(TokenKind::kLoc)) == "none");
}

TEST_CASE("entries of a dictionary and attributes of a value are found in the text of an op") {
  const Found op(
      "a.Second [d:{\"axis\":[1, {k:2}], k:3}, q:QuantAnnotation(inputs_0:QuantSpec(Raw()), )] "
      "(%0:tensor<[1], F, D>[axis:4], %1 [axis:5, l:[6, 7]]) -> () [axis:8]");
  CHECK(op.of(op.text.entry_key("d", "axis")) == "\"axis\"");
  CHECK(op.of(op.text.entry_value("d", "axis")) == "[1, {k:2}]");
  CHECK(op.of(op.text.entry_value("d", "k")) == "3");
  CHECK(op.of(op.text.entry_value("axis", "k")) == "none");
  CHECK(op.of(op.text.entry_value("none", "k")) == "none");
  CHECK(op.of(op.text.entry_key("q", "inputs_0")) == "inputs_0");
  CHECK(op.of(op.text.mention_value("0", "axis")) == "4");
  CHECK(op.of(op.text.mention_value("1", "l")) == "[6, 7]");
  CHECK(op.of(op.text.mention_key("1", "axis")) == "axis");
  CHECK(op.of(op.text.mention_key("0", "l")) == "none");
  CHECK(op.of(op.text.mention_value("2", "axis")) == "none");
  CHECK(op.value("axis") == "8");
}

TEST_CASE("an op's text ends at its body, at a mistake and at the end of the file") {
  CHECK(Found("a.Second @s () -> () {\n a.Inner [inner:1] () -> ()\n }").key("inner") == "none");
  CHECK(Found("a.Second [bad=1] [axis:1]").key("axis") == "none");
  CHECK(Found("a.Second [axis:1").value("axis") == "none");
  CHECK(Found("a.Second [axis:").key("axis") == "axis");
  CHECK(Found("a.Second [axis:").value("axis") == "none");
  const Found broken("a.Second [bad=1]\n ^next:");
  CHECK(broken.of(broken.text.first(TokenKind::kBlockName)) == "none");
  const Found whole("a.Second [axis:1] ^next");
  CHECK(whole.of(whole.text.first(TokenKind::kBlockName)) == "^next");
  for (const Found* each : {&broken, &whole}) {
    for (const TokenKind kind : {TokenKind::kEnd, TokenKind::kError, TokenKind::kRBrace}) {
      CHECK(each->of(each->text.first(kind)) == "none");
    }
  }
}

TEST_CASE("an op's text begins with its address or its name and ends before the next one's") {
  const Found addressed("addr:0x1 [axis:1]\n addr:0x2 a.Third [third:1]");
  CHECK(addressed.of(addressed.text.first(TokenKind::kAddress)) == "addr:0x1");
  CHECK(addressed.key("third") == "none");
}

TEST_CASE("a mention is the name alone, up to its colon or its end") {
  const Found op(
      "a.Second (%12:tensor<[2], Float32, CPU>, %1, %long name) -> (%3 :tensor<[2],Float32,CPU>)");
  CHECK(op.of(op.text.mention("12")) == "%12");
  CHECK(op.of(op.text.mention("1")) == "%1");
  CHECK(op.of(op.text.mention("3")) == "%3");
  CHECK(op.of(op.text.mention("long name")) == "%long name");
  for (const char* other : {"2", "", "123", "lon", "long name "}) {
    CAPTURE(other);
    CHECK(op.of(op.text.mention(other)) == "none");
  }
}

TEST_CASE("mentions of one value are counted, those of a region's signature too") {
  const Found op(
      "a.Second @sym (%0:tensor<[1], F, D>, %1, %0) -> (%0, %10) {\n"
      "  (%2:tensor<[1], G, E>, %0) -> (%3) {\n a.Third (%4) -> ()\n }\n }");
  const auto place = [&](Span span) { return span.known() ? span.begin - op.at : 0; };
  const auto at = [&](const char* piece, std::size_t from = 0) {
    return op.file.text().find(piece, op.at - op.file.base() + from) - (op.at - op.file.base());
  };
  CHECK(place(op.text.mention("0")) == at("%0"));
  CHECK(place(op.text.mention("0", 1)) == at("%0) ->"));
  CHECK(place(op.text.mention("0", 2)) == at("%0, %10"));
  CHECK(place(op.text.mention("0", 3)) == at("%0) -> (%3"));
  CHECK_FALSE(op.text.mention("0", 4).known());
  CHECK(op.of(op.text.mention("2")) == "%2");
  CHECK_FALSE(op.text.mention("4").known());
}

TEST_CASE("element types and devices are found as whole words in names and types") {
  const Found op("a.CPU.Second <QNN> (%F:tensor<[1, 2], F, CPU2>, %1 : tensor<[2], G , D>) -> ()");
  const auto around = [&](std::string_view word) {
    const Span found = op.text.type_word(word);
    return found.known() ? op.of({found.begin - 1, found.end + 1}) : "none";
  };
  CHECK(around("CPU") == ".CPU.");
  CHECK(around("CPU2") == " CPU2>");
  CHECK(around("QNN") == "<QNN>");
  CHECK(around("F") == " F,");
  CHECK(around("G") == " G ");
  CHECK(around("D") == " D>");
  CHECK(around("U2") == "none");
  CHECK(around("") == "none");
}

TEST_CASE("the ends of an op's lists are found, not those of its values or regions") {
  const Found op("a.Second @sym (%0[k:1]) -> (%1) [axis:2] {\n (%2) -> () {\n }\n }");
  CHECK(op.of({op.text.attribute_list().begin, op.text.attribute_list().end + 4}) == "[axis");
  CHECK(op.of({op.text.last_list_end().begin - 2, op.text.last_list_end().end}) == "%1)");
  const Found bare("a.Second (%0[k:1])");
  CHECK_FALSE(bare.text.attribute_list().known());
  CHECK(bare.of(bare.text.last_list_end()) == ")");
}
