// Graphs that threads edit.
#include <thread>

#include "check_module.hpp"
#include "mir/control_flow.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using namespace mir::test;

namespace graph_work_test {

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

TEST_SUITE("work on graphs") {
  TEST_CASE("what a thread makes has ids of its own, and names once the work has ended") {
    Reading reading(portable(graph("f", "a.x () -> ()\n") + graph("g", "a.y () -> ()\n")));
    Module& module = reading.module();
    Block& in_f = *op_called(module.body(), "a.x")->block();
    Block& in_g = *op_called(module.body(), "a.y")->block();
    Op &f = *in_f.parent()->parent(), &g = *in_g.parent()->parent();
    const std::uint32_t before = module.op_id_end();
    std::vector<Editor> editors(2);
    module.begin_graphs();
    module.take(g, editors[0]);
    module.take(f, editors[1]);
    const Value* second = made_in(module, in_g, "a.made");
    const Value* first = made_in(module, in_f, "a.made");
    CHECK(first->name().is_none());
    CHECK(first->defining_op()->id() >= before);
    CHECK(first->defining_op()->id() != second->defining_op()->id());
    const std::uint32_t id = first->id();
    for (Op* taken : {&f, &g}) module.take(*taken, module.editor());
    module.end_graphs(editors);
    for (Op* taken : {&f, &g}) module.name_new_values(*taken);
    CHECK(first->id() == id);
    CHECK(first->name() == ValueName::number(0));
    CHECK(second->name() == ValueName::number(1));
    // The ids that the last one had left over are free again.
    CHECK(made_in(module, in_f, "a.made")->id() == first->id() + 1);
    CHECK(module.editor().edits() > 0);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("names and graphs that a thread makes are known to the module") {
    Reading reading(portable(graph("f", "a.x () -> (%3:tensor<[], Float32, CPU>)\n")));
    Module& module = reading.module();
    IRContext& context = reading.context;
    Block& inside = *op_called(module.body(), "a.x")->block();
    Op& f = *inside.parent()->parent();
    Editor editor;
    module.begin_graphs();
    module.take(f, editor);
    Rewriter rewriter(module);
    rewriter.set_name(*inside.front()->result(), ValueName::number(70));
    rewriter.set_insertion_point_to_end(inside);
    Op* made = rewriter.create({.name = context.op_name("graph.SubGraphOp"),
                                .regions = 1,
                                .symbol = context.intern("made")});
    const Value* deep = made_in(module, *rewriter.create_block(*made->region()), "a.deep");
    module.take(f, module.editor());
    module.end_graphs({&editor, 1});
    module.name_new_values(f);
    CHECK(deep->name() == ValueName::number(71));
    CHECK(module.fresh_name() == ValueName::number(72));
    CHECK(module.lookup_op(context.intern("made")) == made);
    // The module edits the new graph now.
    const std::uint64_t edits = module.editor().edits();
    made_in(module, *made->region()->entry(), "a.late");
    CHECK(module.editor().edits() > edits);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("other graphs are not seen while graphs are worked on") {
    Reading reading(portable(graph("f", "") + "graph.CallGraphOp @f () -> ()\n"));
    Module& module = reading.module();
    const Op& call = *op_called(module.body(), "graph.CallGraphOp");
    CHECK(called_graph(call) != nullptr);
    module.begin_graphs();
    CHECK(called_graph(call) == nullptr);
    module.end_graphs({});
    CHECK(called_graph(call) != nullptr);
  }

  TEST_CASE("two threads edit two graphs") {
    Reading reading(portable(graph("f", "a.x () -> ()\n") + graph("g", "a.y () -> ()\n")));
    Module& module = reading.module();
    IRContext& context = reading.context;
    const Type* type = context.tensor({}, DType::kFloat32);
    const NamedAttr number[] = {{context.intern("constant"), context.number(1.5)}};
    const auto edit = [&](Region& body) {
      Rewriter rewriter(module);
      rewriter.set_insertion_point_to_end(*body.entry());
      std::vector<Op*> made;
      for (int i = 0; i < 500; ++i) {
        Value* constant = rewriter.constant(body, {.type = type, .attributes = number});
        made.push_back(rewriter.create({.name = context.op_name("a.made"),
                                        .operands = std::span(&constant, 1),
                                        .result_types = std::span(&type, 1),
                                        .attributes = number}));
        Op* symbol = rewriter.create({.name = context.op_name("graph.SubGraphOp"),
                                      .regions = 1,
                                      .symbol = context.intern(std::to_string(i))});
        if (i % 3 != 0) rewriter.erase(*symbol);
        if (i % 2 == 1) rewriter.replace(*made[static_cast<std::size_t>(i)], *made.front());
        rewriter.set_result_types(body, std::vector<const Type*>(std::size_t(i % 4), type));
      }
      rewriter.set_result_types(body, {});
    };
    std::vector<Op*> graphs;
    for (const std::string_view name : {"a.x", "a.y"}) {
      graphs.push_back(op_called(module.body(), name)->parent_op());
    }
    // example [threads]
    std::vector<Editor> editors(2);
    module.begin_graphs();
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 2; ++i) {
        threads.emplace_back([&, i] {
          module.take(*graphs[i], editors[i]);
          edit(*graphs[i]->region());
          module.take(*graphs[i], module.editor());
        });
      }
    }
    module.end_graphs(editors);
    for (Op* each : graphs) module.name_new_values(*each);
    // end
    for (const Op* each : graphs) CHECK(each->region()->free_values().size() == 1);
    CHECK(ModuleChecker().check(module) == "");
  }

  TEST_CASE("an op whose name becomes that of an isolated op can be taken") {
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
    Editor editor;
    module.begin_graphs();
    module.take(*box, editor);
    Rewriter(module).erase(*op_called(module.body(), "a.deep"));
    CHECK(editor.edits() == 1);
    Rewriter(module).erase(*op_called(module.body(), "a.y"));
    CHECK(editor.edits() == 1);
    module.take(*box, module.editor());
    module.end_graphs({&editor, 1});
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
  }
}

}  // namespace graph_work_test
