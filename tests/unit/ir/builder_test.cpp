#include <cmath>

#include "isomorphic.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Isomorphism;
using mir::test::lines_of;
using mir::test::Reading;

namespace {

struct Fixture {
  Fixture() {
    register_builtin_dialects(context);
    Rewriter(module).set_version(1);
  }

  std::vector<std::string> errors() const { return lines_of(diagnostics, context); }
  /// The module reads back as itself.
  void check_print() {
    const std::string text = print(module);
    CAPTURE(text);
    Reading again(text);
    CHECK(Isomorphism(module, again.module()).difference() == "");
  }

  IRContext context;
  Diagnostics diagnostics{0};
  Module& module = context.create_module();
  const TensorType* type = context.tensor(std::vector{Dim(2), Dim(3)}, DType::kFloat32);
};

}  // namespace

TEST_SUITE("builder") {
  TEST_CASE_FIXTURE(Fixture, "a whole module is built, prints, and reads back") {
    // example [builder]
    const Type* inputs[] = {type};
    Builder builder(module, diagnostics, inputs);
    builder.subgraph("f", inputs);
    Value* x = &builder.insertion_block()->arguments()[0];
    Value* half = builder.constant(builder.tensor({Dim(1)}), std::vector{0.5});
    Value* scaled = linalg::Mul::build(builder, x, half);
    const Attr* shape = context.array(std::vector{context.integer(6)});
    Value* up = linalg::View::build(builder, scaled, {.to_shape = shape});
    builder.return_op(std::vector{up});
    builder.set_insertion_point_to_end(module.body().only_block());
    Op* call = builder.call("f", std::vector{&module.body().only_block().arguments()[0]},
                            std::vector{up->type()});
    builder.return_op(std::vector{call->result()});
    // end
    CHECK(errors().empty());
    CHECK(up->type()->spelling() == "tensor<[6], Float32, CPU>");
    CHECK(isa<SubGraphOp>(module.lookup_symbol("f").op));
    CHECK(module.lookup_symbol("f").op->region()->result_types().size() == 1);
    CHECK(print(module) ==
          "@main [mir_version:1] (%0:tensor<[2, 3], Float32, CPU>) -> (%5:tensor<[6], Float32, "
          "CPU>) {\n"
          "    graph.SubGraphOp @f <CPU> {\n"
          "        (%1:tensor<[2, 3], Float32, CPU>) -> (%4:tensor<[6], Float32, CPU>) {\n"
          "            linalg.CPU.MulOp(%1:tensor<[2, 3], Float32, CPU>, %2:tensor<[1], Float32, "
          "CPU>[constant:[0.5]]) -> (%3:tensor<[2, 3], Float32, CPU>)\n"
          "            linalg.CPU.ViewOp [to_shape:[6]] (%3:tensor<[2, 3], Float32, CPU>) -> "
          "(%4:tensor<[6], Float32, CPU>)\n"
          "            cf.ReturnOp (%4:tensor<[6], Float32, CPU>) -> ()\n"
          "        }\n"
          "    }\n"
          "    graph.CallGraphOp @f (%0:tensor<[2, 3], Float32, CPU>) -> (%5:tensor<[6], Float32, "
          "CPU>)\n"
          "    cf.ReturnOp (%5:tensor<[6], Float32, CPU>) -> ()\n"
          "}\n");
    check_print();
  }

  TEST_CASE_FIXTURE(Fixture,
                    "parameters are registered under their symbols, quoted where they must be") {
    Builder builder(module, diagnostics);
    Value* weight = builder.parameter("model.up.weight", type);
    builder.parameter("0.weight", type);
    CHECK(module.lookup_symbol("model.up.weight").value == weight);
    CHECK(weight->symbol() == context.intern("model.up.weight"));
    CHECK(print(module).find(
              "(%1:tensor<[2, 3], Float32, CPU>[@\"0.weight\"])[symbol:\"0.weight\"]") !=
          std::string::npos);
    check_print();
  }

  TEST_CASE_FIXTURE(Fixture, "calls and parameters have the types of what they name") {
    Builder builder(module, diagnostics, std::vector<const Type*>{type});
    builder.parameter("up.weight", type);
    builder.subgraph("f", std::vector<const Type*>{type});
    builder.return_op(std::vector{&builder.insertion_block()->arguments()[0]});
    builder.set_insertion_point_to_end(module.body().only_block());
    const Op* call = builder.call("f", std::vector{&module.body().only_block().arguments()[0]}, {});
    REQUIRE(call != nullptr);
    REQUIRE(call->result_count() == 1);
    CHECK(call->result()->type() == type);
    const auto param = [&](const char* name) {
      return builder.build("linalg.CPU.ParamOp", {},
                           {{"name", context.word(name)}, {"shape", context.array({})}});
    };
    REQUIRE(param("up.weight") != nullptr);
    CHECK(module.body().entry()->back()->result()->type() == type);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(param("down.weight") == nullptr);
    CHECK(diagnostics.error_count() == 1);
    check_print();
  }

  TEST_CASE_FIXTURE(Fixture, "constants print with all their elements") {
    Builder builder(module, diagnostics);
    const auto elements = [&](std::vector<double> values) {
      Value* value =
          builder.constant(builder.tensor({Dim(static_cast<std::int64_t>(values.size()))}), values);
      builder.create({.name = context.op_name("a.use"), .operands = {&value, 1}});
      return std::string(value->attribute(context.intern("constant"))->spelling());
    };
    CHECK(elements({1, -2, 0.5}) == "[1, -2, 0.5]");
    CHECK(elements({1e300, 0.1}) == "[1e+300, 0.1]");
    CHECK(elements({-0.0}) == "[-0.0]");
    CHECK(elements({HUGE_VAL, -HUGE_VAL}) == "[inf, -inf]");
    CHECK(elements({}) == "[]");
    check_print();
  }

  TEST_CASE_FIXTURE(Fixture, "ops are inserted before an op, too") {
    Builder builder(module, diagnostics, std::vector<const Type*>{type});
    Value* x = &module.body().only_block().arguments()[0];
    Op* last = builder.build("linalg.CPU.SiLUOp", std::vector{x});
    builder.set_insertion_point(*last);
    Op* first = builder.build("linalg.CPU.NegOp", std::vector{x}, {}, "model.neg");
    CHECK(last->previous() == first);
    CHECK(context.text(first->path()) == "model.neg");
    CHECK_FALSE(last->has_path());
  }

  TEST_CASE_FIXTURE(Fixture, "what cannot be inferred is reported and gives null") {
    Builder builder(module, diagnostics, std::vector<const Type*>{type});
    Value* x = &module.body().only_block().arguments()[0];
    CHECK(builder.build("graph.CallGraphOp", std::vector{x}) == nullptr);
    CHECK(
        errors() ==
        std::vector<std::string>{
            "- MIR0310 result types of 'graph.CallGraphOp' cannot be inferred and must be given"});
    CHECK(builder.build("linalg.CPU.AddOp", std::vector{x}) == nullptr);
    CHECK(errors().back() == "- MIR0401 'linalg.AddOp' does not take 1 operands");
    CHECK(linalg::View::build(builder, x, {}) == nullptr);  // declares its type
    CHECK(errors().size() == 3);
    Value* three = builder.constant(builder.tensor({Dim(5)}), std::vector<double>(5, 1.0));
    CHECK(linalg::Add::build(builder, x, three) == nullptr);
    CHECK(errors().size() == 4);
    CHECK(module.body().only_block().ops().empty());
  }

  TEST_CASE_FIXTURE(Fixture, "a chain of calls reports its first failure only") {
    Builder builder(module, diagnostics, std::vector<const Type*>{type});
    Value* x = &module.body().only_block().arguments()[0];
    Value* broken = linalg::View::build(builder, x, {});
    Value* after = linalg::Add::build(builder, x, linalg::SiLU::build(builder, broken));
    CHECK(after == nullptr);
    CHECK(builder.return_op(std::vector{after}) == nullptr);
    CHECK(builder.call("f", std::vector{after}, {}) == nullptr);
    CHECK(errors().size() == 1);
  }
}
