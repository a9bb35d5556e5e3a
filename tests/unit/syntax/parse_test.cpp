#include <doctest/doctest.h>

#include "read.hpp"

using namespace mir;
using mir::test::errors;
using mir::test::module_of;
using mir::test::nodes;

namespace {

/// The nodes of one top-level op.
std::string op_nodes(const std::string& op) {
  constexpr std::string_view kBefore = "Operands Results ModuleBegin ";
  constexpr std::string_view kAfter = " ModuleEnd";
  const std::string all = nodes("@main () -> () {\n" + op + "\n}\n");
  if (!all.starts_with(kBefore)) return "<errors>";
  return all.substr(kBefore.size(), all.size() - kBefore.size() - kAfter.size());
}

}  // namespace

TEST_SUITE("parse") {
  TEST_CASE("an op's parts come in text order and its end last") {
    CHECK(op_nodes("addr:0x0 a.b @s <CPU> <x> <name=\"n\"> [k:1] () -> () [l:2] [^b] loc(x)") ==
          "Address OpName Symbol Angle Angle Name Leaf:1 Attribute Attributes:1 Operands Results "
          "Leaf:1 Attribute Attributes:1 Operands Successor Successors:1 Loc OpEnd");
    CHECK(op_nodes("prog.jump m.__entry[offset:3]") ==
          "OpName Label Leaf:1 Attribute Attributes:1 OpEnd");
    CHECK(op_nodes("prog.ret") == "OpName OpEnd");
  }

  TEST_CASE("ops without a signature are told apart by what follows") {
    CHECK(op_nodes("prog.ret\naddr:0x1 prog.exit () -> ()\nprog.label[symbol:a]") ==
          "OpName OpEnd Address OpName Operands Results OpEnd OpName Leaf:1 Attribute "
          "Attributes:1 OpEnd");
  }

  TEST_CASE("values carry symbols and attribute lists in any number") {
    CHECK(op_nodes("a.b (%1:tensor<[1], F, C>[@w][symbol:w][k:1, l:2], %2) -> (%3)") ==
          "OpName Value ValueSymbol Leaf:1 Attribute ValueAttributes:1 Leaf:1 Attribute Leaf:1 "
          "Attribute ValueAttributes:2 Value Operands:2 Value Results:1 OpEnd");
  }

  TEST_CASE("types in any spacing are one node with its number of tokens") {
    CHECK(op_nodes("a.b (%1: tensor<[1, 2], F, C>) -> ()") ==
          "OpName Type:1 Value Operands:1 Results OpEnd");
    CHECK(op_nodes("a.b (%1:tensor<[1,2],F,C>) -> ()") ==
          "OpName Type:12 Value Operands:1 Results OpEnd");
    CHECK(op_nodes("a.b (%1:tensor<[1], F, C, #l>) -> (%2:!x.y<z>)") ==
          "OpName Leaf:1 EncodedType:12 Value Operands:1 Type:1 Value Results:1 OpEnd");
  }

  TEST_CASE("attribute values nest") {
    CHECK(op_nodes("a.b [k:{\"x\":[1, 2], y:{}}, l:[], m:tensor<[1], F, C>]") ==
          "OpName Leaf:1 Leaf:1 Array:2 DictEntry Dict DictEntry Dict:2 Attribute Array Attribute "
          "Type:1 TypeValue Attribute Attributes:3 OpEnd");
  }

  TEST_CASE("quantisation attributes keep empty entries and unclosed kinds") {
    CHECK(op_nodes("a.b [q:QuantAnnotation(inputs_0:QuantSpec(Raw(type: Int8), uuid=1), , )]") ==
          "OpName Leaf:1 QuantEntry EmptyEntry EmptyEntry QuantAnnotation:3 Attribute Attributes:1 "
          "OpEnd");
    CHECK(op_nodes("a.b [q:QuantSpec(None(, uuid=5, solved=0)]") ==
          "OpName Leaf:11 Attribute Attributes:1 OpEnd");
    CHECK(op_nodes("a.b [q:QuantSpec(None)]") == "OpName Leaf:3 Attribute Attributes:1 OpEnd");
    CHECK(op_nodes("a.b [q:QuantSpec(None(), uuid=5)]") != "<errors>");
  }

  TEST_CASE("regions have a signature, are bare, or are lists of blocks") {
    CHECK(op_nodes("a.b { (%1) -> (%2) { a.c } }") ==
          "OpName BodyBegin Value Operands:1 Value Results:1 RegionBegin OpName OpEnd RegionEnd "
          "BodyEnd OpEnd");
    CHECK(op_nodes("a.b { () -> () {} () -> () {} }") ==
          "OpName BodyBegin Operands Results RegionBegin RegionEnd Operands Results RegionBegin "
          "RegionEnd BodyEnd OpEnd");
    CHECK(op_nodes("a.b { a.c } { a.d }") ==
          "OpName BodyBegin OpName OpEnd BodyEnd BodyBegin OpName OpEnd BodyEnd OpEnd");
    CHECK(op_nodes("a.b { a.c () -> () [^x] ^x(%1): a.d ^y: }") ==
          "OpName BodyBegin OpName Operands Results Operands Successor Successors:1 OpEnd Value "
          "Operands:1 Block OpName OpEnd Operands Block "
          "BodyEnd OpEnd");
  }

  TEST_CASE("a file holds modules and aliases, each module's head and end a unit") {
    CHECK(nodes("#a = \"x\"\n@m [mir_version:1] (%0) -> () {}\n@n () -> () {}") ==
          "Leaf:1 Alias Leaf:1 Attribute Attributes:1 Value Operands:1 Results ModuleBegin "
          "ModuleEnd Operands Results ModuleBegin ModuleEnd");
  }

  TEST_CASE("a module may be written on one line") {
    CHECK(nodes("@main()->(){graph.S @a<CPU>{()->(){cf.ReturnOp()->()}}}") ==
          "Operands Results ModuleBegin OpName Symbol Angle BodyBegin Operands Results RegionBegin "
          "OpName Operands Results OpEnd RegionEnd BodyEnd OpEnd ModuleEnd");
  }

  TEST_CASE("every unit's text is found again from its tokens") {
    SourceManager sources;
    const std::string text = "// note\n@main () -> () {\n  a.b (%1) -> ()\n  // last\n}\n";
    const SourceFile& file = *sources.add("test.mir", text);
    Diagnostics diagnostics;
    const auto tree = parse(file, diagnostics);
    REQUIRE(tree);
    REQUIRE(tree->units().size() == 3);
    std::string joined;
    for (const Unit& unit : tree->units()) {
      for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) joined += tree->text(unit, i);
    }
    CHECK(joined == "@main()->(){a.b(%1)->()}");
    CHECK(file.slice(tree->units()[1].span(0)) == "a.b");
    CHECK(tree->units()[1].memory() > 0);
  }

  TEST_CASE("units are delivered one by one and the receiver may stop") {
    SourceManager sources;
    const SourceFile& file = *sources.add("test.mir", "@main () -> () { a.b a.c a.d }");
    Diagnostics diagnostics;
    int units = 0;
    parse_units(file, diagnostics, [&](Unit&&) { return ++units < 2; });
    CHECK(units == 2);
  }

  TEST_CASE("no unit is delivered after an error") {
    SourceManager sources;
    const SourceFile& file = *sources.add("test.mir", "@main () -> () {\na.b\na.b (\na.c\n}");
    Diagnostics diagnostics;
    int units = 0;
    CHECK_FALSE(parse_units(file, diagnostics, [&](Unit&&) { return ++units, true; }));
    CHECK(units <= 2);
  }

  TEST_CASE("a legal line of a megabyte is read") {
    std::string values = "%0";
    while (values.size() < (1u << 20)) values += ", %123456:tensor<[1, 2, 3], Float32, CPU>";
    CHECK(errors(module_of({"a.b (" + values + ") -> ()"})).empty());
  }

  TEST_CASE("nesting is read up to 256 levels and refused beyond") {
    const auto nested = [](int depth) {
      std::string text = "@main () -> () {\n";
      for (int i = 0; i < depth; ++i) text += "a.b {\n";
      for (int i = 0; i < depth; ++i) text += "}\n";
      return text + "}\n";
    };
    CHECK(errors(nested(255)).empty());
    CHECK(errors(nested(256)) ==
          std::vector<std::string>{"257:5 MIR0202 nested deeper than 256 levels"});
    CHECK(errors(nested(10000)).size() == 1);
    const std::string arrays(10000, '[');
    CHECK(errors(module_of({"a.b [k:" + arrays + "]"})).size() == 1);
    const std::string groups(10000, '<');
    CHECK(errors(module_of({"a.b " + groups})) ==
          std::vector<std::string>{"4:5 MIR0202 nested deeper than 256 levels"});
  }
}
