// Events of edits, cursors under edits, and what new ops inherit from the ops they replace.
#include <fmt/format.h>

#include "mir/dominance.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using namespace mir::test;

namespace edit_events_test {

namespace {

constexpr std::string_view kType = "tensor<[2], Float32, CPU>";

/// `body` in a portable module that is given `%x` and `%y`; `$` stands for a type.
std::string module_text(std::string_view body) {
  std::string text = "@main [mir_version:1] (%x:$, %y:$) -> () {\n" + std::string(body) + "}\n";
  for (auto at = text.find('$'); at != text.npos; at = text.find('$', at)) {
    text.replace(at, 1, kType);
  }
  return text;
}

Op* op_at(const Region& region, std::size_t i) {
  Op* op = region.entry()->front();
  while (i-- != 0) op = op->next();
  return op;
}

/// A line for each event, with the state before where the event carries it.
class Events : public RewriteListener {
 public:
  void did_insert(Op& op) override { add("insert {}", op.name()); }
  void did_move(Op& op, Block& from) override {
    add("move {} from {}", op.name(), from.parent()->parent()->name());
  }
  void did_drop_use(Value& value, Op& user) override {
    const Op* definition = value.defining_op();
    add("{} drops a use of {}", user.name(), definition == nullptr ? "?" : definition->name());
  }
  void did_change_value(Value& value, const ValueFacts& before) override {
    if (value.type() != before.type) {
      add("{} becomes {}", before.type->spelling(), value.type()->spelling());
    } else {
      add("{} attributes become {}", before.attributes.size(), value.attributes().size());
    }
  }
  void did_insert_free_value(Value&) override { add("insert a free value"); }
  void will_erase_free_value(Value&) override { add("erase a free value"); }
  void did_move_block(Block&, Region& from) override {
    add("move a block from {}", from.parent()->name());
  }
  std::vector<std::string> lines;

 private:
  template <class... T>
  void add(fmt::format_string<T...> text, T&&... values) {
    lines.push_back(fmt::format(text, std::forward<T>(values)...));
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_SUITE("edit events") {
  TEST_CASE("a replaced or dropped operand is reported with the value that lost the use") {
    Reading reading(
        module_text("a.one (%x) -> (%1:$)\n"
                    "a.two (%x) -> (%2:$)\n"
                    "a.three (%1, %2) -> (%3:$)\n"
                    "a.four (%3) -> ()\n"));
    Module& module = reading.module();
    Region& body = module.body();
    Events events;
    const ListenerScope listening(module, events);
    Rewriter rewriter(module);
    rewriter.set_operand(*op_at(body, 2), 0, op_at(body, 1)->result());
    CHECK(events.lines == Lines{"a.three drops a use of a.one"});
    events.lines.clear();
    rewriter.set_operand(*op_at(body, 2), 0, op_at(body, 1)->result());
    CHECK(events.lines == Lines{});
    Value* const kept[] = {op_at(body, 1)->result()};
    rewriter.set_operands(*op_at(body, 2), kept);
    CHECK(events.lines == Lines{"a.three drops a use of a.two"});
    events.lines.clear();
    rewriter.replace_all_uses(*op_at(body, 2)->result(), *op_at(body, 0)->result());
    CHECK(events.lines == Lines{"a.four drops a use of a.three"});
    events.lines.clear();
    rewriter.erase(*op_at(body, 2));
    CHECK(events.lines == Lines{"a.three drops a use of a.two"});
  }

  TEST_CASE("changed types, moves and free values are reported with the state before") {
    Reading reading(
        module_text("a.one (%x) -> (%1:$) {\n"
                    "    a.in (%x, %c:$[constant:[1, 2]]) -> ()\n"
                    "}\n"
                    "a.two (%x) -> () {}\n"));
    Module& module = reading.module();
    Region& body = module.body();
    Rewriter rewriter(module);
    const Type* wide = module.context().tensor(std::vector{Dim(4)}, DType::kFloat32);
    Region& from = *op_at(body, 0)->region();
    Region& to = *op_at(body, 1)->region();
    Events events;
    const ListenerScope listening(module, events);
    rewriter.set_type(*op_at(body, 0)->result(), wide);
    CHECK(events.lines == Lines{"tensor<[2], Float32, CPU> becomes tensor<[4], Float32, CPU>"});
    events.lines.clear();
    rewriter.take_body(to, from);
    // The constant follows its user.
    CHECK(events.lines == Lines{"insert a free value", "0 attributes become 1",
                                "a.in drops a use of ?", "move a block from a.one"});
    events.lines.clear();
    rewriter.erase_unused_free_values(from);
    CHECK(events.lines == Lines{"erase a free value"});
    events.lines.clear();
    rewriter.move_before(*to.entry()->front(), *op_at(body, 0));
    CHECK(events.lines == Lines{"insert a free value", "0 attributes become 1",
                                "a.in drops a use of ?", "move a.in from a.two"});
  }

  TEST_CASE("a copy maps the operands of nested ops once") {
    Reading reading(module_text("a.wrap (%x, %y) -> () {\n    a.in (%x, %y) -> ()\n}\n"));
    Module& module = reading.module();
    Value &x = module.body().entry_arguments()[0], &y = module.body().entry_arguments()[1];
    Rewriter rewriter(module);
    rewriter.set_insertion_point_to_end(*module.body().entry());
    RewriteMapping swapped;
    swapped.map(x, y);
    swapped.map(y, x);
    const Op* copy = rewriter.clone(*op_at(module.body(), 0), swapped);
    const Op* inner = copy->region()->entry()->front();
    for (const Op* op : {copy, inner}) {
      CHECK(op->operand(0) == &y);
      CHECK(op->operand(1) == &x);
    }
  }

  TEST_CASE("a copy maps uses above their definition, also of results that the caller mapped") {
    Reading reading(
        module_text("a.before (%x) -> (%0:$)\n"
                    "a.wrap (%x) -> () {\n"
                    "    a.early (%2, %0) -> ()\n"
                    "    a.late (%x) -> (%2:$)\n"
                    "}\n"));
    Module& module = reading.module();
    Region& body = module.body();
    Rewriter rewriter(module);
    rewriter.set_insertion_point_to_end(*body.entry());
    RewriteMapping mapping;
    mapping.map(*op_at(body, 0)->result(), body.entry_arguments()[1]);
    const Op* copy = rewriter.clone(*op_at(body, 1), mapping);
    const Op* early = copy->region()->entry()->front();
    CHECK(early->operand(0) == early->next()->result());
    CHECK(early->operand(1) == &body.entry_arguments()[1]);
  }

  // -- places -------------------------------------------------------------------------------------

  TEST_CASE("an insertion point follows its block, and is lost when its region is erased") {
    Reading reading(
        module_text("a.from () -> () {\n    a.x () -> ()\n    a.y () -> ()\n}\n"
                    "a.to () -> () {}\n"));
    Module& module = reading.module();
    Region& body = module.body();
    Op *from = op_at(body, 0), *to = op_at(body, 1);
    Rewriter rewriter(module), other(module);
    Block* block = from->region()->entry();
    rewriter.set_insertion_point(*block->back());
    other.take_body(*to->region(), *from->region());
    CHECK(rewriter.insertion_block() == block);
    rewriter.create({.name = reading.context.op_name("a.new")});
    CHECK(op_at(*to->region(), 1)->name() == "a.new");
    other.erase(*to);
    CHECK(rewriter.insertion_block() == nullptr);
  }

  TEST_CASE("a walk in a region that is erased ends") {
    Reading reading(
        module_text("a.wrap () -> () {\n    a.x () -> ()\n    a.y () -> ()\n}\n"
                    "a.last () -> ()\n"));
    Module& module = reading.module();
    std::vector<std::string_view> seen;
    Rewriter rewriter(module);
    Op* wrap = op_at(module.body(), 0);
    walk(module, [&](Op& op) {
      seen.push_back(op.name());
      if (op.name() == "a.x") rewriter.erase(*wrap);
      return WalkResult::kContinue;
    });
    CHECK(seen == std::vector<std::string_view>{"a.wrap", "a.x", "a.last"});
  }

  TEST_CASE("a graph that a thread takes keeps its cursors, and its listeners are the thread's") {
    Reading reading(
        module_text("graph.SubGraphOp @f <CPU> {\n"
                    "    () -> () {\n        a.x () -> ()\n    }\n}\n"
                    "a.last () -> ()\n"));
    Module& module = reading.module();
    Region& body = module.body();
    Op* graph = op_at(body, 0);
    Block& inside = *graph->first_region()->entry();
    Rewriter in_graph(module), outside(module);
    in_graph.set_insertion_point(*inside.front());
    outside.set_insertion_point(*op_at(body, 1));
    Events events;
    Editor editor;
    module.begin_graphs();
    module.take(*graph, editor);
    {
      const ListenerScope listening(*inside.parent(), events);
      Rewriter rewriter(module);
      rewriter.erase(*inside.front());
      rewriter.set_insertion_point_to_end(inside);
      rewriter.create({.name = reading.context.op_name("a.taken")});
    }
    CHECK(editor.edits() == 2);
    module.take(*graph, module.editor());
    module.end_graphs({&editor, 1});
    CHECK(events.lines == Lines{"insert a.taken"});
    in_graph.create({.name = reading.context.op_name("a.back")});
    outside.create({.name = reading.context.op_name("a.outside")});
    CHECK(op_at(*graph->first_region(), 0)->name() == "a.taken");
    CHECK(op_at(*graph->first_region(), 1)->name() == "a.back");
    CHECK(op_at(body, 1)->name() == "a.outside");
    CHECK(events.lines == Lines{"insert a.taken"});
  }

  TEST_CASE("an insertion point follows its block to another graph") {
    Reading reading(module_text(
        "graph.SubGraphOp @f <CPU> {\n"
        "    () -> () {\n        a.wrap () -> () {\n            a.x () -> ()\n        }\n"
        "        a.y () -> ()\n    }\n}\n"
        "graph.SubGraphOp @g <CPU> {\n    () -> () {\n        a.z () -> ()\n    }\n}\n"));
    Module& module = reading.module();
    Block& in_f = *op_at(module.body(), 0)->region()->entry();
    Block& in_g = *op_at(module.body(), 1)->region()->entry();
    Op* x = in_f.front()->region()->entry()->front();
    Rewriter at_x(module), at_y(module), other(module);
    at_x.set_insertion_point(*x);
    at_y.set_insertion_point(*in_f.back());
    other.move_before(*x->parent_op(), *in_g.front());
    other.merge_blocks(in_f, in_g, {});
    other.erase(*x);
    other.erase(*in_g.back());
    at_x.create({.name = reading.context.op_name("a.in")});
    at_y.create({.name = reading.context.op_name("a.end")});
    CHECK(in_g.front()->region()->entry()->back()->name() == "a.in");
    CHECK(in_g.back()->name() == "a.end");
  }

  TEST_CASE("inlining a region of a detached op declares its symbols") {
    Reading reading(module_text("a.mark () -> ()\n"));
    Module& module = reading.module();
    IRContext& context = reading.context;
    Rewriter rewriter(module);
    Op* holder = rewriter.create_detached({.name = context.op_name("a.holder"), .regions = 1});
    rewriter.set_insertion_point_to_end(*rewriter.create_block(*holder->region()));
    Op* graph = rewriter.create(
        {.name = context.op_name("graph.SubGraphOp"), .regions = 1, .symbol = context.intern("f")});
    CHECK_FALSE(module.lookup_symbol("f"));
    rewriter.inline_region(*holder->region(), *op_at(module.body(), 0), {});
    CHECK(module.lookup_symbol("f").op == graph);
  }

  // -- locations ----------------------------------------------------------------------------------

  TEST_CASE("a new op gets the default location, a replacement that of the replaced op") {
    Reading reading(module_text("a.old (%x) -> (%1:$) loc(\"here\")\na.use (%1) -> ()\n"));
    Module& module = reading.module();
    LocationTable& locations = reading.context.locations();
    Op* old = op_at(module.body(), 0);
    const Location there = locations.named("there");
    Rewriter rewriter(module);
    rewriter.set_insertion_point(*old);
    CHECK_FALSE(rewriter.create({.name = reading.context.op_name("a.plain")})->location());
    rewriter.set_default_location(there);
    CHECK(rewriter.create({.name = reading.context.op_name("a.plain")})->location() == there);
    rewriter.set_default_location({});
    const Type* type = old->result()->type();
    Op* made = rewriter.create_detached(
        {.name = reading.context.op_name("a.new"), .result_types = {&type, 1}});
    const SourcePos begin = old->span().begin;
    rewriter.replace(*old, *made);
    CHECK(locations.spelling(made->location()) == "loc(\"here\")");
    // The place is that of the old op, by its own name.
    CHECK(made->span() == Span{begin, begin + 5});
  }

  // -- facts --------------------------------------------------------------------------------------

  TEST_CASE("an op is dead if it is pure, no terminator, without symbol and without used results") {
    Reading reading(
        module_text("linalg.CPU.NegOp (%x) -> (%1:$)\n"
                    "linalg.CPU.NegOp (%1) -> (%2:$)\n"
                    "a.unknown (%x) -> (%3:$)\n"
                    "linalg.CPU.NegOp (%x) -> (%4:$[@w])\n"
                    "tensor.CPU.register () -> (%5:$[@p])[symbol:p]\n"
                    "cf.ReturnOp () -> ()\n"));
    std::vector<bool> dead;
    for (Op* op = reading.module().body().entry()->front(); op != nullptr; op = op->next()) {
      dead.push_back(is_dead(*op));
    }
    CHECK(dead == std::vector{false, true, false, false, false, false});
  }

  TEST_CASE("dominance of a body does not depend on what is in its graphs") {
    const auto text = [](std::string_view inside) {
      return module_text(
          fmt::format("graph.SubGraphOp @f <CPU> {{\n    () -> () {{\n{}    }}\n}}\n"
                      "a.wrap () -> () {{\n"
                      "    a.br () -> () [^one]\n"
                      "^one:\n    a.stop () -> ()\n}}\n",
                      inside));
    };
    Reading reading(text("a.x () -> ()\na.br () -> () [^end]\n^end:\na.stop () -> ()\n"));
    Module& module = reading.module();
    const Dominance before(module.body());
    Block& inner = *op_at(module.body(), 0)->first_region()->entry();
    Rewriter(module).split_block(*inner.back());
    CHECK(Dominance(module.body()) == before);
    Rewriter(module).split_block(*op_at(module.body(), 1)->region()->last_block()->back());
    CHECK_FALSE(Dominance(module.body()) == before);
  }
}

}  // namespace edit_events_test
