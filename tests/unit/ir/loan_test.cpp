// To which module ops belong, and graphs that are lent.
#include "check_module.hpp"
#include "ir/rewrite/graph_loan.hpp"
#include "mir/control_flow.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using namespace mir::test;

namespace loan_test {

namespace {

std::string graph(std::string_view name, std::string_view lines) {
  return "graph.SubGraphOp @" + std::string(name) + " <CPU> {\n() -> () {\n" + std::string(lines) +
         "}\n}\n";
}

std::string portable(const std::string& lines) {
  return "@main [mir_version:1] () -> () {\n" + lines + "}\n";
}

Op* op_called(const Region& region, std::string_view name) {
  for (Op* op : ops_of(region)) {
    if (op->name() == name) return op;
    for (Region* in = op->first_region(); in != nullptr; in = in->next()) {
      if (Op* found = op_called(*in, name)) return found;
    }
  }
  return nullptr;
}

Value* made_in(Module& module, Block& block, std::string_view op) {
  Rewriter rewriter(module);
  rewriter.set_insertion_point_to_end(block);
  const Type* type = module.context().tensor({}, DType::kFloat32);
  return rewriter
      .create({.name = module.context().op_name(op), .result_types = std::span(&type, 1)})
      ->result();
}

}  // namespace

TEST_SUITE("graphs on loan") {
  TEST_CASE("what is inside belongs to the loan, with what is nested, and nothing else does") {
    Reading reading(
        portable(graph("f", "a.in_f () -> ()\na.wrap () -> () {\na.in_wrap () -> ()\n}\n" +
                                graph("inner", "a.in_inner () -> ()\n")) +
                 graph("g", "a.in_g () -> ()\n") + "a.last () -> ()\n"));
    Module& module = reading.module();
    Op* f = module.lookup_op(reading.context.intern("f"));
    const auto home = [&](std::string_view name) {
      return &op_called(module.body(), name)->module();
    };
    const std::vector<std::string_view> inside{"a.in_f", "a.wrap", "a.in_wrap", "a.in_inner"};
    const std::vector<std::string_view> outside{"a.in_g", "a.last", "graph.SubGraphOp"};
    const std::uint32_t id = op_called(module.body(), "a.in_inner")->id();
    {
      GraphLoan loan(*f);
      for (const auto name : inside) CHECK_MESSAGE(home(name) == &loan.module(), name);
      for (const auto name : outside) CHECK_MESSAGE(home(name) == &module, name);
      CHECK_FALSE(module.lookup_op(reading.context.intern("inner")));
      CHECK(op_called(module.body(), "a.in_inner")->id() == id);
    }
    for (const auto name : inside) CHECK_MESSAGE(home(name) == &module, name);
    CHECK(module.lookup_op(reading.context.intern("inner")) != nullptr);
    CHECK(op_called(module.body(), "a.in_inner")->id() == id);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("what a loan adds gets ids and names of the module when it is given back") {
    Reading reading(portable(graph("f", "a.x () -> ()\n") + graph("g", "a.y () -> ()\n")));
    Module& module = reading.module();
    Block& in_f = *op_called(module.body(), "a.x")->block();
    Block& in_g = *op_called(module.body(), "a.y")->block();
    const std::uint32_t before = module.op_id_end();
    Value *first = nullptr, *second = nullptr;
    {
      GraphLoan of_f(*in_f.parent()->parent()), of_g(*in_g.parent()->parent());
      second = made_in(of_f.module(), in_f, "a.made");
      CHECK(second->name().is_none());
      first = made_in(of_g.module(), in_g, "a.made");
      CHECK(first->defining_op()->id() == second->defining_op()->id());
      // The loan that is made last ends first.
    }
    CHECK(first->defining_op()->id() == before);
    CHECK(second->defining_op()->id() == before + 1);
    CHECK(first->name() == ValueName::number(0));
    CHECK(second->name() == ValueName::number(1));
    CHECK(&first->defining_op()->module() == &module);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("names and graphs that a loan makes are known to the module") {
    Reading reading(portable(graph("f", "a.x () -> (%3:tensor<[], Float32, CPU>)\n")));
    Module& module = reading.module();
    IRContext& context = reading.context;
    Block& inside = *op_called(module.body(), "a.x")->block();
    {
      GraphLoan loan(*inside.parent()->parent());
      Rewriter rewriter(loan.module());
      rewriter.set_name(*inside.front()->result(), ValueName::number(70));
      rewriter.set_insertion_point_to_end(inside);
      Op* made = rewriter.create({.name = context.op_name("graph.SubGraphOp"),
                                  .regions = 1,
                                  .symbol = context.intern("made")});
      rewriter.set_insertion_point_to_end(*rewriter.create_block(*made->region()));
      rewriter.create({.name = context.op_name("a.deep")});
      CHECK(module.lookup_op(context.intern("made")) == nullptr);
    }
    CHECK(module.fresh_name() == ValueName::number(71));
    CHECK(module.lookup_op(context.intern("made")) != nullptr);
    CHECK(&op_called(module.body(), "a.deep")->module() == &module);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("a loan can be used for other graphs after it has given back some") {
    Reading reading(portable(graph("f", "a.x () -> ()\n") + graph("g", "a.y () -> ()\n")));
    Module& module = reading.module();
    GraphLoan loan(module);
    for (const std::string_view name : {"a.x", "a.y"}) {
      Op* op = op_called(module.body(), name);
      loan.lend(*op->parent_op());
      CHECK(&op->module() == &loan.module());
      CHECK(made_in(loan.module(), *op->block(), "a.made")->name().is_none());
      loan.give_back();
      CHECK(&op->module() == &module);
    }
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("an op whose name becomes that of an isolated op can be lent") {
    Reading reading(
        portable("late.BoxOp () -> () {\na.x () -> () {\na.deep () -> ()\n}\n}\n"
                 "a.wrap () -> () {\nlate.BoxOp () -> () {\na.y () -> ()\n}\n}\n"));
    Module& module = reading.module();
    Op* box = op_called(module.body(), "late.BoxOp");
    CHECK(module.body().may_have_graphs());
    REQUIRE(reading.context.add_dialect(
        {.name = "late",
         .ops = {{.row = {.name = "BoxOp",
                          .regions = exactly(1),
                          .traits = Trait::kIsolated | Trait::kCallable}}}}));
    REQUIRE(is_graph(*box));
    CHECK(module.body().may_have_graphs());
    {
      GraphLoan loan(*box);
      CHECK(&op_called(module.body(), "a.deep")->module() == &loan.module());
      CHECK(&box->module() == &module);
      CHECK(&op_called(module.body(), "a.y")->module() == &module);
    }
    CHECK(&op_called(module.body(), "a.deep")->module() == &module);
    CHECK(ModuleChecker().check(module) == "");
  }
}

TEST_SUITE("what a region may have") {
  const std::string known = "tensor.CPU.alloc () -> (%v:tensor<[2], Float32, CPU>)\n";

  TEST_CASE("calls and graphs are noted where they come") {
    Reading reading(portable(graph("f", known) + graph("g", "graph.CallGraphOp @f () -> ()\n")));
    Module& module = reading.module();
    const auto body_of = [&](std::string_view name) -> Region& {
      return *module.lookup_op(reading.context.intern(name))->region();
    };
    CHECK_FALSE(body_of("f").may_have_calls());
    CHECK_FALSE(body_of("f").may_have_graphs());
    CHECK(body_of("g").may_have_calls());
    CHECK_FALSE(body_of("g").may_have_graphs());
    CHECK(module.body().may_have_graphs());
    CHECK_FALSE(module.body().may_have_calls());

    Rewriter rewriter(module);
    rewriter.move_before(*body_of("g").entry()->front(), *body_of("f").entry()->front());
    CHECK(body_of("f").may_have_calls());
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("an op without a row may be any") {
    Reading reading(portable(graph("f", known) + graph("g", "a.x () -> ()\n")));
    Region& g = *reading.module().lookup_op(reading.context.intern("g"))->region();
    CHECK(g.may_have_calls());
    CHECK(g.may_have_graphs());
  }

  TEST_CASE("a block brings them") {
    Reading reading(portable(graph("f", known) +
                             "a.wrap () -> () {\ngraph.CallGraphOp @f () -> ()\n" +
                             graph("inner", "a.y () -> ()\n") + "}\n"));
    Module& module = reading.module();
    Region& f = *module.lookup_op(reading.context.intern("f"))->region();
    CHECK_FALSE(f.may_have_calls());
    Rewriter rewriter(module);
    rewriter.move_block(*op_called(module.body(), "a.wrap")->region()->entry(), f);
    CHECK(f.may_have_calls());
    CHECK(f.may_have_graphs());
    CHECK(ModuleChecker().check(module) == "");
    GraphLoan loan(*f.parent());
    CHECK(&op_called(f, "a.y")->module() == &loan.module());
  }
}

}  // namespace loan_test
