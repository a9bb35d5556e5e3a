#include "syntax/layout.hpp"

#include <doctest/doctest.h>

#include <string>

#include "formatted.hpp"

using namespace mir;
using mir::test::formatted;
using mir::test::formatted_ops;
using K = TokenKind;

TEST_CASE("a linalg op has a blank before its operands only after its attributes") {
  CHECK(formatted_ops("linalg.CPU.AddOp (%0) -> (%1)") == "linalg.CPU.AddOp(%0) -> (%1)");
  CHECK(formatted_ops("linalg.CPU.AddOp<name=\"x\"> (%0) -> (%1)") ==
        "linalg.CPU.AddOp <name=\"x\">(%0) -> (%1)");
  CHECK(formatted_ops("linalg.CPU.AddOp<name=\"x\">[a:b](%0) -> (%1)") ==
        "linalg.CPU.AddOp <name=\"x\"> [a:b] (%0) -> (%1)");
  CHECK(formatted_ops("linalg.CPU.AddOp[a:b](%0) -> (%1)") ==
        "linalg.CPU.AddOp [a:b] (%0) -> (%1)");
  CHECK(formatted_ops("linalg.CPU.MyOp[name=\"x\"] (%0) -> (%1)") ==
        "linalg.CPU.MyOp [name=\"x\"](%0) -> (%1)");
}

TEST_CASE("each upstream dialect keeps its own look") {
  CHECK(formatted_ops("linalg.CPU.register <Linear> () -> () [symbol:x]") ==
        "linalg.CPU.register<Linear>() -> ()[symbol:x]");
  CHECK(formatted_ops("tensor.CPU.register() -> (%1) [symbol:w]") ==
        "tensor.CPU.register () -> (%1)[symbol:w]");
  CHECK(formatted_ops("cf.ReturnOp(%1) -> ()") == "cf.ReturnOp (%1) -> ()");
  CHECK(formatted_ops("graph.CallGraphOp @S(%1)->(%2)") == "graph.CallGraphOp @S (%1) -> (%2)");
  CHECK(formatted_ops("prog.label [symbol:x]") == "prog.label[symbol:x]");
  CHECK(formatted_ops("prog.jump L [offset:3]") == "prog.jump L[offset:3]");
  CHECK(formatted_ops("addr : 0x0a prog.kernel_launch (%1) -> (%2) [op_type:X]") ==
        "addr:0x0a prog.kernel_launch(%1) -> (%2)[op_type:X]");
}

TEST_CASE("an op of an unknown dialect looks like a linalg op") {
  CHECK(formatted_ops("a.b.C (%0) -> (%1) [k:1]") == "a.b.C(%0) -> (%1)[k:1]");
  CHECK(formatted_ops("a.b.C @sym(%0) -> (%1)") == "a.b.C @sym (%0) -> (%1)");
  CHECK(formatted_ops("a.b.C<x>(%0) -> (%1)") == "a.b.C <x> (%0) -> (%1)");
  CHECK(formatted_ops("a.b.C[k:1](%0) -> (%1)[^b0,^b1(%1)]") ==
        "a.b.C [k:1] (%0) -> (%1) [^b0, ^b1(%1)]");
}

TEST_CASE("bodies are indented by four and an empty one holds one empty line") {
  CHECK(formatted("@main()->(){graph.SubGraphOp @S<CPU>[symbol:S]{()->(){}}}") ==
        "@main () -> () {\n"
        "    graph.SubGraphOp @S <CPU> [symbol:S] {\n"
        "        () -> () {\n"
        "\n"
        "        }\n"
        "    }\n"
        "}\n");
  CHECK(formatted_ops("prog.fragment @S <CPU> <code>{prog.ret prog.ret}") ==
        "prog.fragment @S <CPU> <code> {\n    prog.ret\n    prog.ret\n}");
}

TEST_CASE("a block label is printed one step left of its ops") {
  CHECK(formatted_ops("x.y { a.b ^bb0(%0:tensor<[],A,B>): a.b ^bb1: }") ==
        "x.y {\n    a.b\n^bb0(%0:tensor<[], A, B>):\n    a.b\n^bb1:\n}");
}

TEST_CASE("dictionaries are compact at any depth and arrays outside them are not") {
  CHECK(formatted_ops("a.b [k:{\"a\": 1, \"b\": [1, {\"c\": 2}]}, l:[1,2,[3,4]]] (%0) -> ()") ==
        "a.b [k:{\"a\":1,\"b\":[1,{\"c\":2}]}, l:[1, 2, [3, 4]]] (%0) -> ()");
  CHECK(formatted_ops("a.b [k:[{\"t\": tensor<[1,2],A,B>}, 1]] (%0) -> ()") ==
        "a.b [k:[{\"t\":tensor<[1, 2], A, B>}, 1]] (%0) -> ()");
}

TEST_CASE("an empty slot of an annotation keeps the blank after its comma") {
  CHECK(formatted_ops("a.b [k:QuantAnnotation(,o:QuantSpec(Raw(type:X),uuid = 1),)] (%0) -> ()") ==
        "a.b [k:QuantAnnotation(, o:QuantSpec(Raw(type: X), uuid=1), )] (%0) -> ()");
}

TEST_CASE("comments keep their line, move with it, and lose blanks at their end only") {
  CHECK(formatted_ops("      // own \t\n\n\n prog.ret // same  ") == "// own\nprog.ret  // same");
  CHECK(formatted_ops("x.y { // open\n }  // close") == "x.y {  // open\n}  // close");
  CHECK(formatted_ops("x.y {\n// inside\n}") == "x.y {\n    // inside\n}");
}

TEST_CASE("a comment inside an operation breaks the line there") {
  CHECK(formatted_ops("a.b(%0, // first\n// own\n%1) -> ()") ==
        "a.b(%0,  // first\n        // own\n        %1) -> ()");
  CHECK(formatted_ops("a.b // name\n(%0) -> ()") == "a.b  // name\n        (%0) -> ()");
}

TEST_CASE("what free text could swallow moves to the next line") {
  CHECK(formatted_ops("linalg.CPU.X\nloc(a)") == "linalg.CPU.X\n        loc(a)");
  CHECK(formatted_ops("prog.ret\nloc(a)") == "prog.ret loc(a)");
  CHECK(formatted_ops("x.y[a:b c\n, my key:1] (%0) -> ()") ==
        "x.y [a:b c\n        , my key:1] (%0) -> ()");
}

TEST_CASE("a comment after an unquoted string leaves the string as it is") {
  const auto check = [](const std::string& attributes, const std::string& wanted) {
    CHECK(formatted_ops("x.y " + attributes + " (%0) -> ()") == "x.y " + wanted + " (%0) -> ()");
  };
  check("[a:b c\n// d\n, e:1]", "[a:b c\n        // d\n        , e:1]");
  check("[a:b c\n, // d\n e:1]", "[a:b c\n        ,  // d\n        e:1]");
  check("[a:b c\n, e // d\n :1]", "[a:b c\n        , e  // d\n        :1]");
  check("[a:b c\n, e:1]", "[a:b c, e:1]");
}

TEST_CASE("a token with blanks inside has one canonical text") {
  CHECK(canonical_text(K::kNameAngle, "< name =\t\"a  b\" >") == "<name=\"a  b\">");
  CHECK(canonical_text(K::kNameSquare, "[ name=\"a\"]") == "[name=\"a\"]");
  CHECK(canonical_text(K::kAddress, "addr :\n0x0A") == "addr:0x0A");
  CHECK(canonical_text(K::kDim, "( $a + 2 ) * $b") == "($a+2)*$b");
  CHECK(canonical_text(K::kDim, "( ( $a - 2 )  max 0 ) min  ( 4 - $max )") ==
        "(($a-2) max 0) min (4-$max)");
  CHECK(canonical_text(K::kDim, "$min\tmax -1") == "$min max -1");
  CHECK(canonical_text(K::kQuantSpecOpen, "QuantSpec (") == "QuantSpec(");
  CHECK(canonical_text(K::kLoc, "loc ( \"a  b\" :\n 3 )") == "loc(\"a  b\" : 3)");
  CHECK(canonical_text(K::kAngle, "<  CPU >") == "<CPU>");
  CHECK(canonical_text(K::kAngle, "< a - >") == "<a - >");
  CHECK(canonical_text(K::kAngle, "< \"a\\\"  b\"  c >") == "<\"a\\\"  b\" c>");
  CHECK(canonical_text(K::kHash, "#d.x<a,\n  b  c>") == "#d.x<a, b  c>");
  CHECK(canonical_text(K::kBare, "a  b") == "a  b");
}

TEST_CASE("an extent keeps one blank between two names or numbers") {
  for (const std::string word : {"a", "z", "A", "Z", "0", "9", "_", "$S"}) {
    CHECK(canonical_text(K::kDim, word + " \t\n" + word) == word + " " + word);
    CHECK(canonical_text(K::kDim, "( " + word + " )") == "(" + word + ")");
  }
}

TEST_CASE("whole tokens and their parts print alike") {
  LayoutPrinter whole;
  whole.token(K::kTypedValue, "%8:tensor<[1, 2], Float32, CPU>");
  LayoutPrinter halves;
  halves.token(K::kValue, "%8");
  halves.token(K::kColon);
  halves.token(K::kType, "tensor<[1, 2], Float32, CPU>");
  LayoutPrinter parts;
  parts.token(K::kValue, "%8");
  for (const K kind : {K::kColon, K::kTensor, K::kLess, K::kShapeOpen}) parts.token(kind);
  parts.token(K::kDim, "1");
  parts.token(K::kComma);
  parts.token(K::kDim, "2");
  parts.token(K::kShapeClose);
  for (const char* word : {"Float32", "CPU"}) {
    parts.token(K::kComma);
    parts.token(K::kWord, word);
  }
  parts.token(K::kGreater);
  CHECK(whole.text() == halves.text());
  CHECK(whole.text() == parts.text());
}

TEST_CASE("text taken in pieces is the text taken at once") {
  const test::Parsed parsed{std::string(test::kEveryConstruct)};
  REQUIRE(parsed.tree);
  LayoutPrinter at_once;
  LayoutPrinter printer;
  std::string pieces;
  for (const Unit& unit : parsed.tree->units()) {
    for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) {
      at_once.token(unit.tokens()[i].kind(), parsed.tree->text(unit, i));
      printer.token(unit.tokens()[i].kind(), parsed.tree->text(unit, i));
      if (i % 7 == 0) {
        pieces += printer.text();
        printer.clear();
      }
    }
  }
  CHECK(pieces + printer.finish() == at_once.finish());
}

TEST_CASE("a comment that is not one in the text is made one") {
  LayoutPrinter printer;
  printer.comment("one\n// two  \n", true);
  CHECK(printer.finish() == "// one\n// two\n//\n");
}

TEST_CASE("a printer that has finished prints the next text alike") {
  LayoutPrinter printer;
  printer.token(K::kOpName, "a.b");
  printer.token(K::kLBrace);
  printer.token(K::kOpName, "a.c");
  CHECK(printer.finish() == "a.b {\n    a.c\n");
  printer.token(K::kOpName, "a.b");
  CHECK(printer.finish() == "a.b\n");
  CHECK(printer.finish().empty());
}

TEST_CASE("a printer with a sink hands on all of its text, in pieces") {
  std::string text;
  std::size_t pieces = 0;
  LayoutPrinter printer([&](std::string_view piece) {
    text += piece;
    ++pieces;
  });
  LayoutPrinter at_once;
  const std::string name = "%" + std::string(3000, 'x'), longest = "%" + std::string(300000, 'y');
  for (int i = 0; i < 300; ++i) {
    for (LayoutPrinter* each : {&printer, &at_once}) {
      each->token(K::kValue, i == 150 ? longest : name);
      each->token(K::kComma);
    }
  }
  text += printer.text();
  CHECK(text == at_once.text());
  CHECK(pieces > 1);
}
