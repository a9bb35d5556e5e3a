// What dumps lose, and what their types must satisfy all the same.
#include <algorithm>

#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

std::string t(const std::string& shape, const std::string& dtype = "Float32") {
  return ":tensor<" + shape + ", " + dtype + ", CPU>";
}

/// What a dump of these ops reports; they begin on line 2.
Lines dump(const Lines& ops, const VerifyOptions& options = {}) {
  std::string text = "@main () -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return verified(text + "}\n", options);
}

std::string op(const std::string& name, const std::string& in, const std::string& out) {
  return "linalg.CPU." + name + "Op(" + in + ") -> (" + out + ")";
}

std::string launch(const std::string& type, const std::string& options, const std::string& in,
                   const std::string& out) {
  return "prog.kernel_launch(" + in + ") -> (" + out + ")[op_type:" + type +
         ", op_options:" + options + "]";
}

}  // namespace

TEST_SUITE("dump findings") {
  TEST_CASE("dump_c1: MIR0470 a result that takes over a storage id") {
    CHECK(dump({op("View", "%1" + t("[2, 4]"), "%1" + t("[8]"))}) ==
          Lines{"2:56 MIR0470 warning result %1 takes over the storage id of an earlier value"});
    CHECK(dump({op("View", "%1" + t("[2, 4]"), "%2" + t("[8]"))}) == Lines{});
  }

  TEST_CASE("dump_c1: MIR0470 a graph may name its caller's values") {
    CHECK(dump({"graph.CallGraphOp @g (%1" + t("[2]") + ") -> (%2" + t("[2]") + ")",
                "graph.SubGraphOp @g <CPU> {", "(%1" + t("[2]") + ") -> (%2" + t("[2]") + ") {",
                op("SiLU", "%1" + t("[2]"), "%2" + t("[2]")),
                "cf.ReturnOp (%2" + t("[2]") + ") -> ()", "}", "}"}) == Lines{});
  }

  TEST_CASE("dump_c1: MIR0470 names of a graph do not hide those around it") {
    const Lines found = dump(
        {op("SiLU", "%1" + t("[2]"), "%2" + t("[2]")), "graph.SubGraphOp @g <CPU> {",
         "(%1" + t("[2]") + ") -> (%2" + t("[2]") + ") {",
         op("SiLU", "%1" + t("[2]"), "%2" + t("[2]")), op("SiLU", "%1" + t("[2]"), "%3" + t("[2]")),
         "cf.ReturnOp (%2" + t("[2]") + ") -> ()", "}", "}",
         op("SiLU", "%1" + t("[2]"), "%3" + t("[2]")),
         op("SiLU", "%1" + t("[2]"), "%2" + t("[2]"))});
    CHECK(found == Lines{"11:53 MIR0470 warning result %2 takes over the storage id of an earlier "
                         "value"});
  }

  TEST_CASE("dump_c2: MIR0471 a part that is printed with the type of the whole") {
    const std::string x = "%1" + t("[1, 8, 4]");
    const Lines found = dump({op("Slice", x, x), op("Linear", x, "%2" + t("[1, 1, 7]"))});
    CHECK(found ==
          Lines{"2:60 MIR0471 warning result %1 repeats the type of its operand: what part "
                "it is, is lost",
                "2:60 MIR0470 warning result %1 takes over the storage id of an earlier "
                "value"});  // and nothing of what follows from it
    CHECK(dump({op("Slice", x, "%3" + t("[1, 8, 4]"))}) == Lines{});
  }

  TEST_CASE("dump_c2: what is written into a stale part is as stale") {
    const std::string x = "%1" + t("[1, 64, 8]"), y = "%2" + t("[1, 4, 16]");
    const Lines found = dump({op("Slice", x, x), op("Linear", y + ", " + x, x),
                              op("View", x, "%1" + t("[1, 4, 2, 4]"))});
    CHECK(std::ranges::none_of(
        found, [](const std::string& line) { return line.find("MIR05") != line.npos; }));
  }

  TEST_CASE("type_c1: MIR0410 an op in place is no part, so its type is not stale") {
    const std::string x = "%1" + t("[1, 8, 4]"), y = "%2" + t("[2, 4]");
    const std::string transposed =
        "linalg.CPU.TransposeOp [dim0:0, dim1:1] (" + y + ") -> (" + y + ")";
    const auto is_found = [](const Lines& found) {
      return std::ranges::any_of(
          found, [](const std::string& line) { return line.find("MIR0410") != line.npos; });
    };
    CHECK(is_found(dump({transposed})));
    CHECK(is_found(dump({op("Slice", x, x), transposed})));
    const std::string other =
        "linalg.CPU.TransposeOp [dim0:0, dim1:1] (" + y + ") -> (%2" + t("[3, 5]") + ")";
    CHECK(is_found(dump({op("Slice", x, x), other})));
  }

  TEST_CASE("dump_c3: MIR0472 a constant that lost its value") {
    const auto add = [](const std::string& constant) {
      return dump({op("Add", "%1" + t("[2]") + ", %7" + t("[1]") + constant, "%2" + t("[2]"))});
    };
    CHECK(add("") ==
          Lines{"2:48 MIR0472 warning value %7 of type tensor<[1], Float32, CPU> is used "
                "and nothing defines it"});
    CHECK(add("[constant:[0.5]]") == Lines{});
    CHECK(add("[@w]") == Lines{});
  }

  TEST_CASE("dump_c4: MIR0475 SiLU with three operands is VisionRoPE") {
    const std::string x = "%1" + t("[1, 2, 1, 4]"), table = t("[2, 2]");
    CHECK(dump({launch("SiLU", "null", x + ", %2" + table + ", %3" + table,
                       "%4" + t("[1, 2, 1, 4]"))}) ==
          Lines{"2:1 MIR0475 warning 'prog.kernel_launch' of type SiLU has three operands: it is "
                "VisionRoPE"});
    CHECK(dump({launch("SiLU", "null", x, "%4" + t("[1, 2, 1, 4]"))}) == Lines{});
  }

  TEST_CASE("launches that are alike but for their options are looked at one by one") {
    const auto softmax = [](const std::string& axis, const std::string& out) {
      return launch("Softmax", "{\"axis\":" + axis + "}", "%1" + t("[2, 3]"), out + t("[2, 3]"));
    };
    CHECK(dump({softmax("1", "%2"), softmax("1", "%3")}) == Lines{});
    const Lines found = dump({softmax("1", "%2"), softmax("5", "%3")});
    REQUIRE(found.size() == 1);
    const std::string options = "{\"axis\":";
    const std::size_t column = softmax("5", "%3").find(options) + options.size() + 1;
    CHECK(found[0].starts_with("3:" + std::to_string(column) + " "));
    CHECK(found[0].find("axis") != std::string::npos);
  }

  TEST_CASE("dump_c5: MIR0476 a mention with another type than the latest definition") {
    CHECK(
        dump({op("SiLU", "%1" + t("[2]"), "%2" + t("[2]")),
              op("SiLU", "%2" + t("[3]"), "%3" + t("[3]"))}) ==
        Lines{
            "3:19 MIR0476 warning operand 0 of 'linalg.SiLUOp' is printed as tensor<[3], Float32, "
            "CPU>, its latest definition has tensor<[2], Float32, CPU>"});
  }

  TEST_CASE("type_c2: MIR0473 operands of different element types") {
    CHECK(dump({op("Add", "%1" + t("[2]", "UInt16PerTensor") + ", %2" + t("[2]"),
                   "%3" + t("[2]", "UInt16PerTensor"))}) ==
          Lines{"2:1 MIR0473 warning operands 0 and 1 of 'linalg.AddOp' are UInt16PerTensor and "
                "Float32"});
    CHECK(dump({op("Add", "%1" + t("[2]") + ", %2" + t("[2]", "Int32"), "%3" + t("[2]"))}) ==
          Lines{"2:1 MIR0502 warning 'AddOp' takes operands 0 and 1 of one element type, found "
                "Float32 and Int32"});
  }
}

TEST_SUITE("types of dumps") {
  TEST_CASE("type_c3: MIR0500 printed types that no options explain") {
    CHECK(
        dump({op("Slice", "%1" + t("[2, 8]"), "%2" + t("[8]"))}) ==
        Lines{"2:1 MIR0500 warning result 0 of 'SliceOp' is tensor<[8], Float32, CPU>, expected "
              "the rank of operand 0 and no larger extent, which is tensor<[2, 8], Float32, CPU>"});
    CHECK(dump({op("Slice", "%1" + t("[2, 8]"), "%2" + t("[2, 9]"))}).size() == 1);
    CHECK(dump({op("Slice", "%1" + t("[2, 8]"), "%2" + t("[1, 8]"))}) == Lines{});
    CHECK(dump({op("View", "%1" + t("[2, 8]"), "%2" + t("[15]"))}).size() == 1);
    CHECK(dump({op("View", "%1" + t("[2, 8]"), "%2" + t("[16]"))}) == Lines{});
    CHECK(dump({op("Transpose", "%1" + t("[2, 8]"), "%2" + t("[8, 3]"))}).size() == 1);
    CHECK(dump({op("Transpose", "%1" + t("[2, 8]"), "%2" + t("[8, 2]"))}) == Lines{});
  }

  TEST_CASE("a product fits with operand 1 as it is or transposed") {
    const auto product = [](const std::string& b, const std::string& c) {
      return dump({op("MatMul", "%1" + t("[2, 3]") + ", %2" + t(b), "%3" + t(c))}).size();
    };
    CHECK(product("[3, 4]", "[2, 4]") == 0);
    CHECK(product("[4, 3]", "[2, 4]") == 0);
    CHECK(product("[4, 5]", "[2, 4]") == 1);
    CHECK(product("[3, 4]", "[2, 3]") == 1);
  }

  TEST_CASE("type_c1: MIR0410 options that a launch prints are used") {
    const auto slice = [](const std::string& end, const std::string& result) {
      return dump({launch("Slice", "{\"indices\":[{\"end\":" + end + ",\"start\":0,\"step\":1}]}",
                          "%1" + t("[8]"), "%2" + t(result))});
    };
    CHECK(slice("4", "[4]") == Lines{});
    CHECK(slice("4", "[5]") ==
          Lines{"2:1 MIR0410 warning result 0 of 'prog.kernel_launch' is stated as tensor<[5], "
                "Float32, CPU>, its operands and attributes give tensor<[4], Float32, CPU>"});
    CHECK(slice("9", "[8]").size() == 1);
    CHECK(dump({launch("Slice", "{\"indices\":[]}", "%1" + t("[8]"), "%2" + t("[8]"))}).size() ==
          1);
  }
}
