// Ports: how text states them, and that edits keep them.
#include <string>

#include "ir/rewrite/settle_ports.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using mir::test::errors;
using mir::test::ops_of;
using mir::test::Reading;

namespace ports_test {

namespace {

using namespace mir;
using Lines = std::vector<std::string>;

/// Two chains of an op, whose results are returned.
std::string two_outputs(int version) {
  return "@main [mir_version:" + std::to_string(version) +
         "] (%x:tensor<[2], F, D>) -> (%p:tensor<[2], F, D>, %q:tensor<[2], F, D>) {\n"
         "    a.b(%x:tensor<[2], F, D>) -> (%p:tensor<[2], F, D>)\n"
         "    a.c(%x:tensor<[2], F, D>) -> (%q:tensor<[2], F, D>)\n"
         "    cf.ReturnOp (%p:tensor<[2], F, D>, %q:tensor<[2], F, D>) -> ()\n"
         "}\n";
}

std::string head_of(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The ports of the body: inputs, `->`, outputs.
std::string ports(const Module& module) {
  std::string text;
  bool are_outputs = false;
  for (const SignaturePort& port : ports_of(module.body())) {
    if (port.is_output && !are_outputs) text += " ->";
    are_outputs = port.is_output;
    text += " " + name_text(port.name, module.context());
  }
  return text;
}

}  // namespace

TEST_SUITE("ports") {
  TEST_CASE("text states the ports that are not the names of their values") {
    const std::string text =
        "@main [mir_version:2] (%0:tensor<[2], F, D>[input_ids], %1:tensor<[2], F, D>) -> "
        "(%0:tensor<[2], F, D>[\"onnx::ids\"], %1:tensor<[2], F, D>) {\n"
        "    cf.ReturnOp (%0:tensor<[2], F, D>, %1:tensor<[2], F, D>) -> ()\n"
        "}\n";
    Reading reading(text);
    CHECK(print(reading.module()) == text);
    CHECK(ports(reading.module()) == " input_ids 1 -> onnx::ids 1");
    // A port that repeats the name of its value is left out.
    Reading repeated(
        "@main [mir_version:2] (%x:tensor<[2], F, D>[x]) -> () {\ncf.ReturnOp () -> ()\n}\n");
    CHECK(head_of(print(repeated.module())) ==
          "@main [mir_version:2] (%x:tensor<[2], F, D>) -> () {");
  }

  TEST_CASE("a port comes after all else that a signature says of a value") {
    const std::string text =
        "@main [mir_version:2] (%0:tensor<[2], F, D>[k:1][x]) -> () {\n"
        "    cf.ReturnOp () -> ()\n"
        "}\n";
    Reading reading(text);
    CHECK(print(reading.module()) == text);
    CHECK(errors("@main [mir_version:2] (%0:tensor<[2], F, D>[x][k:1]) -> () {\n}\n").size() == 1);
    CHECK(errors("@main [mir_version:2] () -> () {\na.b(%0:tensor<[2], F, D>[x]) -> ()\n}\n")
              .size() == 1);
  }

  TEST_CASE("MIR0321 version 1 and dumps have no ports") {
    const std::string text = "(%0:tensor<[2], F, D>[x]) -> () {\n    cf.ReturnOp () -> ()\n}\n";
    CHECK(errors("@main [mir_version:1] " + text) ==
          Lines{"1:24 MIR0321 a port needs mir_version:2"});
    CHECK(errors("@main " + text) == Lines{"1:8 MIR0321 a port needs mir_version:2"});
  }

  TEST_CASE("replacing the op of an output keeps its port") {
    for (const int version : {1, 2}) {
      CAPTURE(version);
      Reading reading(two_outputs(version));
      Module& module = reading.module();
      Op& op = *ops_of(module.body())[0];
      Rewriter rewriter(module);
      rewriter.set_insertion_point(op);
      Op& other = *rewriter.create({.name = reading.context.op_name("a.d"),
                                    .operands = std::vector{op.operand(0)},
                                    .result_types = std::vector{op.result()->type()}});
      rewriter.replace(op, other);
      CHECK(ports(module) == " x -> p q");
      // In version 1, the name of the value is the port.
      CHECK(head_of(print(module))
                .find(version == 1 ? "(%p:tensor<[2], F, D>, %q"
                                   : "(%0:tensor<[2], F, D>[p], %q") != std::string::npos);
      Reading again(print(module));
      CHECK(ports(again.module()) == " x -> p q");
    }
  }

  TEST_CASE("one value for two outputs needs version 2") {
    Reading reading(two_outputs(1));
    Module& module = reading.module();
    Op &one = *ops_of(module.body())[0], &other = *ops_of(module.body())[1];
    CHECK_FALSE(needs_ports(module));
    Rewriter(module).replace(other, std::vector{one.result()});
    CHECK(needs_ports(module));
    // Until then, the text is one of version 1, which cannot say it.
    CHECK(head_of(print(module)).find("[q]") == std::string::npos);
    settle_ports(module);
    CHECK(module.version() == 2);
    CHECK(
        head_of(print(module)) ==
        "@main [mir_version:2] (%x:tensor<[2], F, D>) -> (%p:tensor<[2], F, D>, %p:tensor<[2], F, "
        "D>[q]) {");
  }

  TEST_CASE("an output keeps its name where another value has it") {
    Reading reading(
        "@main [mir_version:1] (%x:tensor<[2], F, D>) -> (%y:tensor<[2], F, D>) {\n"
        "    a.b(%x:tensor<[2], F, D>) -> (%y:tensor<[2], F, D>)\n"
        "    a.c(%y:tensor<[2], F, D>) -> (%z:tensor<[2], F, D>)\n"
        "    cf.ReturnOp (%y:tensor<[2], F, D>) -> ()\n"
        "}\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Rewriter(module).set_operand(*ops[2], 0, ops[1]->result());
    const std::string text = print(module);
    CHECK(head_of(text).ends_with("-> (%y:tensor<[2], F, D>) {"));
    CHECK(text.find("a.c(%0:tensor<[2], F, D>) -> (%y:tensor<[2], F, D>)") != text.npos);
  }

  TEST_CASE("arguments that come and go leave the ports of others") {
    Reading reading(
        "@main [mir_version:2] (%a:tensor<[2], F, D>[x], %b:tensor<[2], F, D>[y]) -> () {\n"
        "    cf.ReturnOp () -> ()\n"
        "}\n");
    Module& module = reading.module();
    Block& block = *module.body().entry();
    Rewriter rewriter(module);
    rewriter.insert_argument(block, 0, block.arguments()[0].type());
    CHECK(ports(module) == "  x y");
    rewriter.erase_argument(block, 1);
    CHECK(head_of(print(module)).find("(%0:tensor<[2], F, D>, %b:tensor<[2], F, D>[y])") !=
          std::string::npos);
  }

  TEST_CASE("any text may be a port") {
    Reading reading(two_outputs(2));
    Module& module = reading.module();
    for (const std::string_view port :
         {"two words", "x(%0)", "quote\"d", "tab\t", "", "07", "a/b", "@s", "name", "k:1", "7"}) {
      CAPTURE(port);
      const ValueName name =
          port == "7" ? ValueName::number(7) : ValueName::symbol(reading.context.intern(port));
      const ValueName outputs[] = {name, name};
      Rewriter(module).set_ports(module.body(), {.outputs = outputs});
      Reading again(print(module));
      CHECK(name_text(again.module().body().output_port(1), again.context) == port);
      CHECK(print(again.module()) == print(module));
    }
  }

  TEST_CASE("copies have the ports of their module, and dumps have none") {
    Reading reading(
        "@main [mir_version:2] (%a:tensor<[2], F, D>[x]) -> () {\n    cf.ReturnOp () -> ()\n}\n");
    const auto copy = clone(reading.module());
    CHECK(print(*copy) == print(reading.module()));
    REQUIRE(Rewriter(*copy).set_version(0));
    CHECK(head_of(print(*copy)) == "@main (%a:tensor<[2], F, D>) -> () {");
  }
}

}  // namespace ports_test
