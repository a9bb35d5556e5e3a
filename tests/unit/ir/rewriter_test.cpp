// The door, edit by edit; rewriter_property_test.cpp has sequences of them.
#include "mir/rewriter.hpp"

#include <algorithm>

#include "isomorphic.hpp"
#include "mir/op.hpp"
#include "read.hpp"

using namespace mir;
using namespace mir::test;

namespace rewriter_test {

namespace {

using Names = std::vector<std::string>;

const std::string kType = "tensor<[2], Float32, CPU>";

Reading portable(const std::string& ops) {
  return Reading("@main [mir_version:1] (%x:" + kType + ") -> () {\n" + ops + "}\n");
}

std::string graph(const std::string& name, const std::string& mark) {
  return "graph.SubGraphOp @" + name + " <CPU> { () -> () {\n" + mark + "\n} }\n";
}

/// Two ways from the entry that join in a block with one argument.
const std::string kFlow =
    "my.flow (%x) -> () {\n"
    "    my.cond (%x) -> () [^a, ^b]\n"
    "^a:\n"
    "    my.one (%x) -> (%1:" +
    kType +
    ")\n"
    "    my.br () -> () [^b(%1)]\n"
    "^b(%2:" +
    kType +
    "):\n"
    "    my.two (%2) -> ()\n"
    "}\n";

std::vector<Block*> blocks_of(const Region& region) {
  std::vector<Block*> list;
  for (Block* block : region.blocks()) {
    list.push_back(block);
  }
  return list;
}

/// Events in the order in which they are told.
class Log : public RewriteListener {
 public:
  void did_insert(Op& op) override { add("insert ", op); }
  void will_erase(Op& op) override { add(op.block() ? "erase " : "erase unlinked ", op); }
  void did_move(Op& op, Block&) override { add("move ", op); }
  void did_change(Op& op, OpChange) override { add("change ", op); }
  void will_replace_uses(Value&, Value&) override { events.emplace_back("replace uses"); }
  void did_insert_block(Block&) override { events.emplace_back("insert block"); }
  void will_erase_block(Block&) override { events.emplace_back("erase block"); }
  void did_move_block(Block&, Region&) override { events.emplace_back("move block"); }
  void did_change_arguments(Block&) override { events.emplace_back("change block"); }
  Names events;

 private:
  void add(std::string what, const Op& op) { events.push_back(what += op.name()); }
};

}  // namespace

TEST_SUITE("rewriter") {
  // -- symbols ------------------------------------------------------------------------------------

  TEST_CASE("a symbol that is set is found, and the old one is not") {
    Reading reading("@main () -> () {\n" + graph("f", "a.x") + "}\n");
    Module& module = reading.module();
    Op* op = module.lookup_symbol("f").op;
    Rewriter(module).set_symbol(*op, reading.context.intern("g"));
    CHECK(module.lookup_symbol("g").op == op);
    CHECK_FALSE(module.lookup_symbol("f"));
    Rewriter(module).erase(*op);
    CHECK_FALSE(module.lookup_symbol("g"));
    CHECK(module.declared_symbol_count() == 0);
  }

  TEST_CASE("when the first that declares a symbol goes, the next one counts") {
    Reading reading("@main () -> () {\n" + graph("f", "a.x") + graph("f", "a.y") +
                    graph("f", "a.z") + "}\n");
    Module& module = reading.module();
    const auto graphs = ops_of(module.body());
    Rewriter rewriter(module);
    rewriter.set_attribute(*graphs[0], reading.context.intern("k"), reading.context.integer(1));
    CHECK(module.lookup_symbol("f").op == graphs[0]);  // keeps its rank
    rewriter.erase(*graphs[0]);
    CHECK(module.lookup_symbol("f").op == graphs[1]);
    rewriter.set_symbol(*graphs[1], reading.context.intern("g"));
    CHECK(module.lookup_symbol("f").op == graphs[2]);
    CHECK(module.lookup_symbol("g").op == graphs[1]);
    rewriter.erase(*graphs[2]);
    CHECK_FALSE(module.lookup_symbol("f"));
  }

  TEST_CASE("symbols that attributes and results declare follow their edits") {
    Reading reading(
        "@main () -> () {\nprog.label[symbol:a]\n"
        "tensor.CPU.register () -> (%1:" +
        kType + "[@w])[symbol:w]\n}\n");
    Module& module = reading.module();
    IRContext& context = reading.context;
    const auto ops = ops_of(module.body());
    Rewriter rewriter(module);
    rewriter.set_attribute(*ops[0], context.intern("symbol"), context.word("b"));
    CHECK(module.lookup_symbol("b").op == ops[0]);
    CHECK_FALSE(module.lookup_symbol("a"));
    rewriter.set_symbol(*ops[1]->result(), context.intern("v"));
    CHECK(module.lookup_symbol("v").value == ops[1]->result());
    CHECK(module.lookup_symbol("w").value == nullptr);
    rewriter.erase_result(*ops[1], 0);
    CHECK_FALSE(module.lookup_symbol("v"));
  }

  TEST_CASE("what is linked nowhere declares nothing, with all that is inside it") {
    Reading reading("@main () -> () {\n}\n");
    Module& module = reading.module();
    Rewriter rewriter(module);
    Op* outer = rewriter.create_detached({.name = reading.context.op_name("a.b"), .regions = 1});
    rewriter.set_insertion_point_to_end(*rewriter.create_block(*outer->region()));
    Op* label = rewriter.create({.name = reading.context.op_name("prog.label"),
                                 .symbol = reading.context.intern("l"),
                                 .has_signature = false});
    CHECK_FALSE(module.lookup_symbol("l"));
    rewriter.insert(*outer, *module.body().entry(), nullptr);
    CHECK(module.lookup_symbol("l").op == label);
    Op* detached = rewriter.create_detached({.name = reading.context.op_name("a.b"), .regions = 1});
    rewriter.move_to_end(*label, *rewriter.create_block(*detached->region()));
    CHECK_FALSE(module.lookup_symbol("l"));
  }

  // -- lists of values ----------------------------------------------------------------------------

  TEST_CASE("arguments stay where they are and keep their ids when others come and go") {
    Reading reading = portable(kFlow);
    Module& module = reading.module();
    Block& join = *ops_of(module.body())[0]->region()->last_block();
    Value& known = join.arguments()[0];
    const std::uint32_t id = known.id();
    Rewriter rewriter(module);
    Value* before = rewriter.insert_argument(join, 0, known.type());
    Value* last = rewriter.add_argument(join, known.type());
    CHECK(&join.arguments()[1] == &known);
    CHECK(known.index() == 1);
    CHECK(known.id() == id);
    CHECK(known.use_count() == 1);
    CHECK(before->id() != last->id());
    std::vector<Value*> many;
    for (int i = 0; i < 40; ++i) many.push_back(rewriter.insert_argument(join, 2, known.type()));
    CHECK(&join.arguments()[1] == &known);
    CHECK(&join.arguments()[2] == many.back());
    for (int i = 0; i < 40; ++i) rewriter.erase_argument(join, 2);
    rewriter.erase_argument(join, 0);
    REQUIRE(join.arguments().size() == 2);
    CHECK(&join.arguments()[0] == &known);
    CHECK(&join.arguments()[1] == last);
    CHECK(last->index() == 1);
    const std::uint32_t end = module.value_id_end();
    CHECK(rewriter.add_argument(join, known.type())->id() == end);
  }

  TEST_CASE("an op's results can become more or fewer, and those that stay keep their uses") {
    Reading reading = portable("my.one (%x) -> (%1:" + kType + ", %2:" + kType +
                               ")\n"
                               "my.two (%2, %1) -> ()\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Value* second = ops[0]->result(1);
    Rewriter rewriter(module);
    Value* made = rewriter.insert_result(*ops[0], 1, second->type());
    CHECK(ops[0]->result_count() == 3);
    CHECK(ops[0]->result(2) == second);
    CHECK(ops[1]->operand(0) == second);
    CHECK(made->defining_op() == ops[0]);
    rewriter.replace_all_uses(*ops[0]->result(0), *made);
    rewriter.erase_result(*ops[0], 0);
    CHECK(ops[0]->result(0) == made);
    CHECK(second->index() == 1);
    Reading again(print(module));
    CHECK(Isomorphism(module, again.module()).difference() == "");
  }

  // -- places -------------------------------------------------------------------------------------

  TEST_CASE("a place before an op is still a place when another rewriter takes the op away") {
    Reading reading = portable("a.x a.y a.z\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Rewriter rewriter(module);
    rewriter.set_insertion_point(*ops[1]);
    Rewriter(module).erase(*ops[1]);
    Op* made = rewriter.create({.name = reading.context.op_name("a.new")});
    CHECK(ops_of(module.body()) == std::vector{ops[0], made, ops[2]});
    Rewriter(module).move_before(*ops[2], *ops[0]);
    Op* last = rewriter.create({.name = reading.context.op_name("a.new")});
    CHECK(ops_of(module.body()) == std::vector{ops[2], ops[0], made, last});
  }

  TEST_CASE("a rewriter may outlive its module") {
    IRContext context;
    Module& module = context.create_module();
    Rewriter rewriter(module);
    context.release(module);
  }

  // -- blocks -------------------------------------------------------------------------------------

  TEST_CASE("successors are blocks, and predecessors follow from them") {
    Reading reading = portable(kFlow);
    Module& module = reading.module();
    const auto blocks = blocks_of(*ops_of(module.body())[0]->region());
    REQUIRE(blocks.size() == 3);
    CHECK(blocks[0]->successors()[0].block == blocks[1]);
    CHECK(blocks[0]->successors()[1].block == blocks[2]);
    CHECK(blocks[2]->predecessors() == std::vector{blocks[0], blocks[1]});
    CHECK(blocks[0]->predecessors().empty());
    CHECK(blocks[2]->successors().empty());
    Rewriter(module).move_block(*blocks[2], *blocks[0]->parent(), blocks[1]);
    CHECK(blocks[2]->predecessors() == std::vector{blocks[0], blocks[1]});
  }

  TEST_CASE("a block is split in two, and merged again") {
    Reading reading = portable(kFlow);
    Module& module = reading.module();
    const std::string before = print(module);
    Region& region = *ops_of(module.body())[0]->region();
    Block& way = *region.entry()->next();
    Op* branch = way.back();
    Rewriter rewriter(module);
    Block* rest = rewriter.split_block(*branch);
    CHECK(way.next() == rest);
    CHECK(branch->block() == rest);
    CHECK(way.successors().empty());
    CHECK(region.last_block()->predecessors() == std::vector{region.entry(), rest});
    rewriter.set_insertion_point_to_end(way);
    Op* go_on = rewriter.create({.name = reading.context.op_name("my.br")});
    const SuccessorSpec to{.block = rest};
    rewriter.set_successors(*go_on, std::span(&to, 1));
    // A block without a name has one in text.
    CHECK(print(module) == test::Part{"    my.br() -> () [^bb0]\n    ^bb0:\n"});
    Reading again(print(module));
    CHECK(Isomorphism(module, again.module(), Isomorphism::Match::kEdited).difference() == "");
    rewriter.erase(*go_on);
    rewriter.merge_blocks(*rest, way, {});
    CHECK(print(module) == before);
  }

  TEST_CASE("a region of one block takes the place of its op") {
    Reading reading = portable("my.wrap (%x) -> (%1:" + kType +
                               ") {\n"
                               "    my.in (%x, %k:" +
                               kType + "[constant:[1, 2]]) -> (%2:" + kType +
                               ")\n"
                               "    cf.ReturnOp (%2) -> ()\n"
                               "}\n"
                               "my.out (%1, %c:" +
                               kType + "[constant:[1, 2]]) -> ()\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Op* inner = ops[0]->region()->entry()->front();
    Rewriter rewriter(module);
    const auto values = rewriter.inline_region(*ops[0]->region(), *ops[0], {});
    rewriter.replace(*ops[0], values);
    CHECK(ops_of(module.body()) == std::vector{inner, ops[1]});
    CHECK(ops[1]->operand(0) == inner->result());
    // The constant is the one that the region has.
    CHECK(inner->operand(1) == ops[1]->operand(1));
    CHECK(inner->operand(1)->free_in() == &module.body());
  }

  TEST_CASE("a graph's body with arguments is put in place of its call") {
    Reading reading = portable("graph.CallGraphOp @f (%x) -> (%1:" + kType +
                               ")\n"
                               "graph.SubGraphOp @f <CPU> { (%a:" +
                               kType + ") -> (%b:" + kType +
                               ") {\n"
                               "    linalg.CPU.NegOp (%a) -> (%b:" +
                               kType +
                               ")\n"
                               "    cf.ReturnOp (%b) -> ()\n"
                               "} }\n"
                               "my.out (%1) -> ()\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Rewriter rewriter(module);
    RewriteMapping mapping;
    rewriter.set_insertion_point_after(*ops[1]);
    Op* copy = rewriter.clone(*ops[1], mapping);
    Value* operands[] = {ops[0]->operand(0)};
    const auto values = rewriter.inline_region(*copy->region(), *ops[0], operands);
    rewriter.replace(*ops[0], values);
    rewriter.erase(*copy);
    Op* negated = module.body().entry()->front();
    CHECK(negated->is(OpId::kLinalgNeg));
    CHECK(negated->operand(0) == &module.body().only_block().arguments()[0]);
    CHECK(ops[2]->operand(0) == negated->result());
    CHECK(module.lookup_symbol("f").op == ops[1]);
    Reading again(print(module));
    CHECK(Isomorphism(module, again.module()).difference() == "");
  }

  TEST_CASE("blocks move to another region, with what a walk over the old one has yet to meet") {
    Reading reading = portable(kFlow + "my.other (%x) -> () { }\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Region &from = *ops[0]->region(), &to = *ops[1]->region();
    const auto blocks = blocks_of(from);
    Rewriter rewriter(module);
    rewriter.take_body(to, from);
    CHECK(from.empty());
    CHECK(blocks_of(to) == blocks);
    CHECK(blocks[2]->predecessors().size() == 2);
    CHECK(blocks[1]->parent() == &to);
  }

  // -- copies -------------------------------------------------------------------------------------

  TEST_CASE("a copy uses what is copied where that is inside it, the old values where it is not") {
    Reading reading = portable(kFlow);
    Module& module = reading.module();
    Op* op = ops_of(module.body())[0];
    Rewriter rewriter(module);
    rewriter.set_insertion_point_after(*op);
    RewriteMapping mapping;
    Op* copy = rewriter.clone(*op, mapping);
    const auto old_blocks = blocks_of(*op->region()), blocks = blocks_of(*copy->region());
    REQUIRE(blocks.size() == 3);
    CHECK(mapping.find(*old_blocks[2]) == blocks[2]);
    CHECK(blocks[0]->successors()[1].block == blocks[2]);
    CHECK(blocks[1]->back()->operand(0) == blocks[1]->front()->result());
    CHECK(blocks[1]->front()->operand(0) == &module.body().only_block().arguments()[0]);
    CHECK(blocks[2]->front()->operand(0) == &blocks[2]->arguments()[0]);
    Value* other = rewriter.add_argument(*module.body().entry(), op->operand(0)->type());
    RewriteMapping given;
    given.map(*op->operand(0), *other);
    CHECK(rewriter.clone(*op, given)->operand(0) == other);
  }

  TEST_CASE("a copy into another module of the context finds its constants there") {
    Reading reading = portable("my.use (%k:" + kType + "[constant:[1]]) -> (%1:" + kType +
                               ")\n"
                               "my.use (%k) -> ()\n");
    Module& module = reading.module();
    Module& other = reading.context.create_module("other");
    Rewriter rewriter(other);
    rewriter.set_insertion_point_to_end(*rewriter.create_block(other.body()));
    RewriteMapping mapping;
    std::vector<Op*> copies;
    for (Op* op : ops_of(module.body())) copies.push_back(rewriter.clone(*op, mapping));
    CHECK(&copies[0]->module() == &other);
    CHECK(copies[0]->operand(0)->free_in() == &other.body());
    CHECK(copies[0]->operand(0) == copies[1]->operand(0));
    CHECK(other.body().free_values().size() == 1);
  }

  // -- constants and effects ----------------------------------------------------------------------

  TEST_CASE("equal constants compare equal, and a region has one for each that is asked for") {
    Reading reading = portable("my.use (%a:" + kType + "[constant:[1]], %b:" + kType +
                               "[constant:[1]], %c:" + kType + "[constant:[2]], %w:" + kType +
                               "[@w], %v:" + kType +
                               "[@w], %x) -> ()\n"
                               "tensor.CPU.register () -> (%r:" +
                               kType + "[@w])[symbol:w]\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    const auto constant = [&](std::size_t i) { return constant_of(*ops[0]->operand(i)); };
    CHECK(constant(0) == constant(1));
    CHECK(constant(0) != constant(2));
    CHECK(constant(3) == constant(4));
    CHECK(constant(3) == constant_of(*ops[1]->result()));
    CHECK_FALSE(constant(5).has_value());
    Rewriter rewriter(module);
    CHECK(rewriter.constant(module.body(), *constant(1)) == ops[0]->operand(0));
    CHECK(rewriter.constant(module.body(), *constant(2)) == ops[0]->operand(2));
    // What a value says may change.
    rewriter.set_attributes(*ops[0]->operand(2), ops[0]->operand(0)->attributes());
    rewriter.set_operand(*ops[0], 0, ops[0]->operand(2));
    rewriter.set_operand(*ops[0], 1, ops[0]->operand(2));
    rewriter.erase_unused_free_values(module.body());
    CHECK(rewriter.constant(module.body(), *constant(0)) == ops[0]->operand(2));
  }

  TEST_CASE("a signature says of a result what is said of the returned value") {
    const std::string parameter = "%p:" + kType + "[@w]";
    const std::string text = "@main [mir_version:1] (%x:" + kType + ") -> (" + parameter +
                             ") {\n    cf.ReturnOp (" + parameter + ") -> ()\n}\n";
    const auto signature_after = [&](const auto& edit) {
      Reading reading(text);
      Module& module = reading.module();
      Rewriter rewriter(module);
      Op& last = *module.body().last_block()->terminator();
      edit(rewriter, last);
      const std::string printed = print(module);
      return printed.substr(0, printed.find('\n'));
    };
    const std::string head = "@main [mir_version:1] (%x:" + kType + ") -> ";
    CHECK(signature_after([](Rewriter&, Op&) {}) == head + "(" + parameter + ") {");
    CHECK(signature_after([](Rewriter& rewriter, Op& last) {
            Region& body = *last.parent_region();
            rewriter.set_operand(last, 0, &body.entry()->arguments()[0]);
          }) == head + "(%x:" + kType + ") {");
    CHECK(signature_after([](Rewriter& rewriter, Op& last) {
            rewriter.set_symbol(*last.operand(0), last.module().context().intern("v"));
          }) == head + "(%p:" + kType + "[@v]) {");
  }

  TEST_CASE("effects, purity and what may run early are told by rows") {
    Reading reading = portable("linalg.CPU.AddOp (%x, %x) -> (%1:" + kType +
                               ")\n"
                               "my.unknown (%x) -> ()\n"
                               "linalg.CPU.KVCacheOp [cache:@c, layer:0] (%x) -> (%2:" +
                               kType +
                               ")\n"
                               "linalg.CPU.GatherOp (%x, %x) -> (%3:" +
                               kType +
                               ")\n"
                               "linalg.CPU.NegOp (%y:tensor<[$S], Float32, CPU>[@y]) -> "
                               "(%4:tensor<[$S], Float32, CPU>)\n");
    const auto ops = ops_of(reading.module().body());
    CHECK(effects_of(*ops[0]) == Effect::kNone);
    CHECK(is_pure(*ops[0]));
    CHECK(is_speculatable(*ops[0]));
    CHECK_FALSE(effects_of(*ops[1]).has_value());
    CHECK_FALSE(is_pure(*ops[1]));
    CHECK(has(*effects_of(*ops[2]), Effect::kWritesState));
    CHECK_FALSE(is_pure(*ops[2]));
    CHECK(is_pure(*ops[3]));
    CHECK_FALSE(is_speculatable(*ops[3]));  // an index may be out of range
    CHECK(is_pure(*ops[4]));
    CHECK(is_speculatable(*ops[4]));  // its rule has no condition on extents
  }

  // -- the document's examples --------------------------------------------------------------------

  TEST_CASE("an op is made after another one and takes over its other uses") {
    Reading reading = portable("my.one (%x) -> (%1:" + kType + ")\nmy.two (%1) -> ()\n");
    Module& module = reading.module();
    IRContext& context = reading.context;
    Op* target = module.body().entry()->front();
    Op* user = target->next();
    // example [door]
    Rewriter rewriter(module);
    rewriter.set_insertion_point_after(*target);
    Op* half = rewriter.create({.name = context.op_name("linalg.CPU.NegOp"),
                                .operands = std::vector{target->result()},
                                .result_types = std::vector{target->result()->type()},
                                .location = target->location()});
    rewriter.replace_uses_if(*target->result(), *half->result(),
                             [&](const Use& use) { return use.user() != half; });
    // end
    CHECK(user->operand(0) == half->result());
    CHECK(half->operand(0) == target->result());
    Op* op = half;
    Value* other = &module.body().only_block().arguments()[0];
    // example [clone]
    RewriteMapping mapping;
    mapping.map(*op->operand(0), *other);
    Op* copy = rewriter.clone(*op, mapping);
    // end
    CHECK(copy->operand(0) == other);
    // example [listener]
    struct Counter : RewriteListener {
      void did_insert(Op&) override { ++made; }
      void will_erase(Op&) override { ++erased; }
      int made = 0, erased = 0;
    } counter;
    const ListenerScope listening(module, counter);
    // end
    // example [post-order]
    walk(module, WalkOrder::kPostOrder, [&](Op& each) {
      if (is_pure(each) && std::ranges::none_of(each.results(), &Value::has_uses))
        rewriter.erase(each);
    });
    // end
    CHECK(counter.erased == 1);
    CHECK(copy->is_erased());
  }

  // -- listeners ----------------------------------------------------------------------------------

  TEST_CASE("listeners hear of a replacement before the erasure, of nested ops before the op") {
    Reading reading = portable("a.old (%x) -> (%1:" + kType + ") { a.in }\na.user (%1) -> ()\n");
    Module& module = reading.module();
    const auto ops = ops_of(module.body());
    Log log;
    {
      const ListenerScope listening(module, log);
      Rewriter rewriter(module);
      Op* made = rewriter.create_detached({.name = reading.context.op_name("a.new"),
                                           .result_types = std::vector{ops[0]->result()->type()}});
      rewriter.replace(*ops[0], *made);
    }
    Rewriter(module).erase(*ops[1]);
    CHECK(log.events ==
          Names{"replace uses", "change a.user", "insert a.new", "erase a.in", "erase a.old"});
  }

  TEST_CASE("edits of blocks are told") {
    Reading reading = portable(kFlow);
    Module& module = reading.module();
    Region& region = *ops_of(module.body())[0]->region();
    Log log;
    const ListenerScope listening(module, log);
    Rewriter rewriter(module);
    Block* rest = rewriter.split_block(*region.entry()->next()->back());
    rewriter.move_block(*rest, region);
    rewriter.erase_block(*rest);
    rewriter.add_argument(*region.last_block(), nullptr);
    CHECK(log.events == Names{"insert block", "move my.br", "move block", "erase my.br",
                              "erase block", "change block"});
  }
}

}  // namespace rewriter_test
