// The programming interface of the MLLM IR document, in its words.
#include "isomorphic.hpp"
#include "mir/upstream.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::ops_of;
using mir::test::Reading;

namespace {

using Walk = IRWriter::WalkResult;
using Names = std::vector<std::string>;

constexpr const char* kDump =
    "@main () -> () {\n"
    "    graph.CallGraphOp @f (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n"
    "    graph.SubGraphOp @f <CPU> {\n"
    "        (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n"
    "            linalg.CPU.AddOp(%0:tensor<[2], Float32, CPU>, %0:tensor<[2], Float32, CPU>) -> "
    "(%1:tensor<[2], Float32, CPU>)\n"
    "            linalg.CPU.SiLUOp(%1:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, "
    "CPU>)\n"
    "            cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()\n"
    "        }\n"
    "    }\n"
    "    graph.CallGraphOp @f (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)\n"
    "}\n";

/// `a.x { ... }` for nested names without lists: "a.p { a.q } a.r".
Reading nested(const std::string& ops) {
  return Reading("@main () -> () { " + ops + " }\n");
}

std::string_view spelling(OpView op) {
  return op->module().context().text(op->op_name().spelling);
}

template <class T>
Names visited(Module& module) {
  Names names;
  IRWriter(module).walk<T>([&](IRWriter&, T op) {
    names.emplace_back(spelling(op));
    return Walk::WALK_CONTINUE;
  });
  return names;
}

}  // namespace

TEST_SUITE("writer") {
  // -- walking ------------------------------------------------------------------------------------

  TEST_CASE("a walk visits the ops of a kind, nested ones after their parent") {
    Reading reading(kDump);
    Module& module = reading.module();
    CHECK(visited<OpView>(module) == Names{"graph.CallGraphOp", "graph.SubGraphOp",
                                           "linalg.CPU.AddOp", "linalg.CPU.SiLUOp", "cf.ReturnOp",
                                           "graph.CallGraphOp"});
    CHECK(visited<LinalgOp>(module) == Names{"linalg.CPU.AddOp", "linalg.CPU.SiLUOp"});
    CHECK(visited<SubGraphOp>(module) == Names{"graph.SubGraphOp"});
    CHECK(visited<ReturnOp>(module).size() == 1);
    CHECK(visited<RegisterOp>(module).empty());
  }

  TEST_CASE("the document's example: find the top call") {
    Reading reading(kDump);
    Module& module = reading.module();
    // example [walk]
    CallGraphOp call_main_graph_op;
    IRWriter writer(module);
    writer.walk<CallGraphOp>([&](IRWriter&, CallGraphOp op) {
      if (call_main_graph_op) return IRWriter::WalkResult::WALK_INTERRUPT;
      call_main_graph_op = op;
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    // end
    CHECK(call_main_graph_op.op() == module.body().entry()->front());
    CHECK(call_main_graph_op.target().op() == module.lookupSymbol("f").op);
  }

  TEST_CASE("WALK_SKIP leaves out an op's regions, WALK_INTERRUPT ends the walk") {
    Reading reading(kDump);
    Names names;
    const auto skip = [&](IRWriter&, OpView op) {
      names.emplace_back(spelling(op));
      return isa<SubGraphOp>(op.op()) ? Walk::WALK_SKIP : Walk::WALK_CONTINUE;
    };
    CHECK(IRWriter(reading.module()).walk<OpView>(skip));
    CHECK(names == Names{"graph.CallGraphOp", "graph.SubGraphOp", "graph.CallGraphOp"});
    names.clear();
    const auto interrupt = [&](IRWriter&, OpView op) {
      names.emplace_back(spelling(op));
      return op->is(OpId::kLinalgAdd) ? Walk::WALK_INTERRUPT : Walk::WALK_CONTINUE;
    };
    CHECK_FALSE(IRWriter(reading.module()).walk<OpView>(interrupt));
    CHECK(names == Names{"graph.CallGraphOp", "graph.SubGraphOp", "linalg.CPU.AddOp"});
  }

  TEST_CASE("a walk covers all blocks and all regions") {
    Reading reading = nested("a.p { a.q ^x: a.r ^y: } { a.s } a.t");
    CHECK(visited<OpView>(reading.module()) == Names{"a.p", "a.q", "a.r", "a.s", "a.t"});
  }

  TEST_CASE("a writer over one region walks only there") {
    Reading reading(kDump);
    Module& module = reading.module();
    Names names;
    IRWriter(module, *SubGraphOp(module.lookupSymbol("f").op).body())
        .walk<OpView>([&](IRWriter&, OpView op) {
          names.emplace_back(spelling(op));
          return Walk::WALK_CONTINUE;
        });
    CHECK(names == Names{"linalg.CPU.AddOp", "linalg.CPU.SiLUOp", "cf.ReturnOp"});
  }

  TEST_CASE("regions are traversed by hand in both directions") {
    Reading reading(kDump);
    Region* region = SubGraphOp(reading.module().lookupSymbol("f").op).body();
    Names names;
    // example [traverse]
    for (const Block* block : region->blocks()) {
      for (Op* op : block->ops()) names.emplace_back(op->name());
      for (Op* op : block->reversed()) names.emplace_back(op->name());
    }
    // end
    CHECK(names == Names{"linalg.AddOp", "linalg.SiLUOp", "cf.ReturnOp", "cf.ReturnOp",
                         "linalg.SiLUOp", "linalg.AddOp"});
  }

  // -- kinds --------------------------------------------------------------------------------------

  TEST_CASE("isa, cast and dyn_cast tell kinds by the row, whatever the device") {
    Reading reading(kDump);
    Op* op = reading.module().lookupSymbol("f").op;
    // example [isa]
    if (isa<SubGraphOp>(op)) {
      auto graph = cast<SubGraphOp>(op);
      CHECK(graph.device() == "CPU");
    }
    // end
    CHECK(op->isa_<SubGraphOp>());
    CHECK(op->cast_<SubGraphOp>().op() == op);
    CHECK(op->isa_<OpView>());
    CHECK_FALSE(op->isa_<CallGraphOp>());
    CHECK(dyn_cast<SubGraphOp>(op).op() == op);
    CHECK_FALSE(dyn_cast<CallGraphOp>(op));
    CHECK_FALSE(dyn_cast<SubGraphOp>(static_cast<Op*>(nullptr)));
    CHECK_FALSE(isa<SubGraphOp>(nullptr));
    CHECK(cast<SubGraphOp>(op).symbol() == reading.context.intern("f"));
    CHECK(isa<ModuleOp>(reading.module().top()));
    CHECK(cast<ModuleOp>(reading.module().top()).body() == &reading.module().body());
    CHECK(isa<LinalgOp>(find_op(reading.module().body(), "linalg.CPU.AddOp")));
  }

  TEST_CASE("a call finds no target where no graph has its name") {
    Reading reading(
        "@main () -> () { graph.CallGraphOp @g () -> () prog.fragment @g <CPU> <code> { } }\n");
    CHECK_FALSE(CallGraphOp(reading.module().body().entry()->front()).target());
    CHECK(FragmentOp(reading.module().lookupSymbol("g").op).kind() == "code");
  }

  // -- editing ------------------------------------------------------------------------------------

  TEST_CASE("an op is made before or after another one, with names for its results") {
    Reading reading(kDump);
    Module& module = reading.module();
    Op* target = find_op(module.body(), "linalg.CPU.SiLUOp");
    // example [create]
    IRWriter writer(module);
    Op* made = writer.createAtPos(target, IRWriter::AFTER,
                                  {.name = module.context().op_name("linalg.CPU.NegOp"),
                                   .operands = std::vector{target->result()},
                                   .result_types = std::vector{target->result()->type()}});
    // end
    CHECK(target->next() == made);
    CHECK(made->result()->name() == ValueName::number(3));
    Op* before =
        writer.createAtPos(target, IRWriter::BEFORE, {.name = module.context().op_name("a.b")});
    CHECK(target->previous() == before);
    Op* last = writer.create({.name = module.context().op_name("a.last")});
    CHECK(module.body().entry()->back() == last);
  }

  TEST_CASE("an op made with a symbol is found by it") {
    Reading reading(kDump);
    Module& module = reading.module();
    IRWriter writer(module);
    Op* graph = writer.create({.name = module.context().op_name("graph.SubGraphOp"),
                               .regions = 1,
                               .symbol = module.context().intern("g"),
                               .has_signature = false});
    CHECK(module.lookupSymbol("g").op == graph);
    writer.removeOp(graph);
    CHECK_FALSE(module.lookupSymbol("g"));
  }

  TEST_CASE("replacing an op moves the uses of its results and takes its place") {
    Reading reading(kDump);
    Module& module = reading.module();
    Op* old_op = find_op(module.body(), "linalg.CPU.AddOp");
    Op* silu = find_op(module.body(), "linalg.CPU.SiLUOp");
    Op* new_op = Rewriter(module).create_detached(
        {.name = module.context().op_name("linalg.CPU.MulOp"),
         .operands = std::vector{old_op->operand(0), old_op->operand(1)},
         .result_types = std::vector{old_op->result()->type()}});
    // example [replace]
    IRWriter writer(module);
    writer.replaceOp(old_op, new_op);
    // end
    CHECK(silu->operand(0) == new_op->result());
    CHECK(silu->previous() == new_op);
    CHECK(old_op->is_erased());
    CHECK(new_op->operand(0)->use_count() == 2);
    Reading again(print(module));
    CHECK(mir::test::Isomorphism(module, again.module()).difference() == "");
  }

  TEST_CASE("ops may be removed while walking: the current one, the next, others") {
    for (const std::string victim : {"a.p", "a.q", "a.r", "a.s", "a.t", "a.u"}) {
      for (const std::string at : {"a.p", "a.q", "a.r", "a.s", "a.t", "a.u"}) {
        CAPTURE(at);
        CAPTURE(victim);
        Reading reading = nested("a.p a.q { a.r a.s { a.t } ^x: } a.u");
        Module& module = reading.module();
        Op* removed = find_op(module.body(), victim);
        Names seen;
        IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
          CHECK_FALSE(op->is_erased());
          seen.emplace_back(spelling(op));
          if (seen.back() == at && !removed->is_erased()) writer.removeOp(removed);
          return Walk::WALK_CONTINUE;
        });
        // All but what went before it was reached.
        Names expected;
        bool is_gone = false;
        for (const std::string name : {"a.p", "a.q", "a.r", "a.s", "a.t", "a.u"}) {
          const std::string inside_q = "a.r a.s a.t", inside_s = "a.t";
          const bool inside = (victim == "a.q" && inside_q.find(name) != inside_q.npos) ||
                              (victim == "a.s" && inside_s.find(name) != inside_s.npos);
          if (!is_gone || (name != victim && !inside)) expected.push_back(name);
          is_gone = is_gone || name == at;
        }
        CHECK(seen == expected);
      }
    }
  }

  TEST_CASE("every op of a kind may be removed in one walk") {
    Reading reading = nested("a.x a.x { a.x a.y { a.x } a.x } a.y a.x");
    Module& module = reading.module();
    // example [remove]
    IRWriter(module).walk<OpView>([](IRWriter& writer, OpView op) {
      if (op->name() == "a.x") writer.removeOp(op.op());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    // end
    CHECK(visited<OpView>(module) == Names{"a.y"});
  }

  TEST_CASE("ops made after the current op are visited, ops made before it are not") {
    Reading reading = nested("a.x a.y");
    Module& module = reading.module();
    const OpName name = reading.context.op_name("a.new");
    Names seen;
    IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
      seen.emplace_back(spelling(op));
      if (op->name() == "a.x") {
        writer.createAtPos(op.op(), IRWriter::BEFORE, {.name = name});
        writer.createAtPos(op.op(), IRWriter::AFTER, {.name = name});
        writer.createAtPos(op.op(), IRWriter::AFTER, {.name = name});
      }
      return Walk::WALK_CONTINUE;
    });
    CHECK(seen == Names{"a.x", "a.new", "a.new", "a.y"});
  }

  TEST_CASE("replacing the current op while walking goes on after it") {
    Reading reading = nested("a.x a.x a.y");
    Module& module = reading.module();
    const OpName z = reading.context.op_name("a.z");
    Names seen;
    IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
      seen.emplace_back(spelling(op));
      if (op->name() == "a.x")
        writer.replaceOp(op.op(), Rewriter(module).create_detached({.name = z}));
      return Walk::WALK_CONTINUE;
    });
    CHECK(seen == Names{"a.x", "a.x", "a.y"});
    CHECK(visited<OpView>(module) == Names{"a.z", "a.z", "a.y"});
    // A replacement made after the current op is an op made after it.
    seen.clear();
    IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
      seen.emplace_back(spelling(op));
      if (op->name() == "a.z") {
        Op* made =
            writer.createAtPos(op.op(), IRWriter::AFTER, {.name = reading.context.op_name("a.w")});
        writer.replaceOp(op.op(), made);
      }
      return Walk::WALK_CONTINUE;
    });
    CHECK(seen == Names{"a.z", "a.w", "a.z", "a.w", "a.y"});
  }

  TEST_CASE("walks nest, and a removal in the inner one is seen by the outer") {
    Reading reading = nested("a.x a.y a.z");
    Module& module = reading.module();
    Names seen;
    IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
      seen.emplace_back(spelling(op));
      if (op->name() == "a.x") {
        writer.walk<OpView>([](IRWriter& inner, OpView other) {
          if (other->name() != "a.z") inner.removeOp(other.op());
          return Walk::WALK_CONTINUE;
        });
      }
      return Walk::WALK_CONTINUE;
    });
    CHECK(seen == Names{"a.x", "a.z"});
  }

  TEST_CASE("a writer can be used again after an interrupted walk") {
    Reading reading = nested("a.x { a.y } a.z");
    IRWriter writer(reading.module());
    CHECK_FALSE(writer.walk<OpView>([](IRWriter&, OpView op) {
      return op->name() == "a.y" ? Walk::WALK_INTERRUPT : Walk::WALK_CONTINUE;
    }));
    writer.removeOp(find_op(reading.module().body(), "a.y"));
    Names seen;
    CHECK(writer.walk<OpView>([&](IRWriter&, OpView op) {
      seen.emplace_back(spelling(op));
      return Walk::WALK_CONTINUE;
    }));
    CHECK(seen == Names{"a.x", "a.z"});
  }

  TEST_CASE("symbols are looked up in the context and in the module") {
    Reading reading(kDump);
    IRContext& context = reading.context;
    // example [lookup]
    if (auto found = context.lookup_symbol("f")) {
      CHECK(isa<SubGraphOp>(found.op));
    }
    // end
    CHECK(context.lookupSymbol("f").op != nullptr);
    CHECK(context.lookupSymbol("f").value == nullptr);
    CHECK_FALSE(context.lookupSymbol("g"));
  }
}
