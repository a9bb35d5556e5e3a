#include "mir/op.hpp"

#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::Reading;

namespace op_test {

namespace {

struct Fixture {
  Fixture() { register_builtin_dialects(context); }

  Op* make(std::string_view name, std::vector<Value*> operands = {}, std::size_t results = 1) {
    const std::vector<const Type*> types(results, type);
    rewriter.set_insertion_point_to_end(*block);
    return rewriter.create(
        {.name = context.op_name(name), .operands = operands, .result_types = types});
  }

  IRContext context;
  Module& module = context.create_module("m");
  Rewriter rewriter{module};
  Block* block = rewriter.create_block(module.body());
  const Type* type = context.tensor(std::vector{Dim(2)}, DType::kFloat32);
};

std::vector<Op*> users(const Value& value) {
  std::vector<Op*> list;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next())
    list.push_back(use->user());
  return list;
}

std::vector<Op*> forward(OpRange range) {
  std::vector<Op*> list;
  for (Op* op : range) list.push_back(op);
  return list;
}

}  // namespace

TEST_SUITE("op") {
  TEST_CASE_FIXTURE(Fixture, "a value knows its uses, one for each operand slot") {
    Op* one = make("a.one");
    Value* value = one->result();
    CHECK_FALSE(value->has_uses());
    CHECK(value->use_count() == 0);
    Op* two = make("a.two", {value, value});
    Op* three = make("a.three", {value});
    CHECK(value->use_count() == 3);
    CHECK(users(*value) == std::vector{three, two, two});  // the latest first
    CHECK(two->operand_uses()[1].index() == 1);
    CHECK(two->operand_uses()[1].value() == value);
    CHECK(two->operand_uses()[1].user() == two);
  }

  TEST_CASE_FIXTURE(Fixture, "setting an operand moves its use from one list to the other") {
    Op* a = make("a.a");
    Op* b = make("a.b");
    Op* user = make("a.user", {a->result(), a->result(), b->result()});
    rewriter.set_operand(*user, 1, b->result());
    CHECK(a->result()->use_count() == 1);
    CHECK(b->result()->use_count() == 2);
    rewriter.set_operand(*user, 1, b->result());
    CHECK(b->result()->use_count() == 2);
    rewriter.set_operand(*user, 2, nullptr);
    CHECK(b->result()->use_count() == 1);
    CHECK(user->operand(2) == nullptr);
  }

  TEST_CASE_FIXTURE(Fixture, "every use of a value becomes a use of another one") {
    Op* a = make("a.a");
    Op* b = make("a.b");
    Op* first = make("a.user", {a->result(), b->result()});
    Op* second = make("a.user", {a->result(), a->result()});
    rewriter.replace_all_uses(*a->result(), *b->result());
    CHECK_FALSE(a->result()->has_uses());
    CHECK(b->result()->use_count() == 4);
    CHECK(first->operand(0) == b->result());
    CHECK(second->operand(1) == b->result());
    rewriter.replace_all_uses(*b->result(), *b->result());
    CHECK(b->result()->use_count() == 4);
  }

  TEST_CASE_FIXTURE(Fixture, "an op's operands can be set anew, more or fewer of them") {
    Op* a = make("a.a");
    Op* b = make("a.b");
    Op* user = make("a.user", {a->result()});
    rewriter.set_operands(*user, std::vector{b->result(), a->result(), b->result()});
    CHECK(user->operand_count() == 3);
    CHECK(a->result()->use_count() == 1);
    CHECK(b->result()->use_count() == 2);
    CHECK(user->operand_uses()[2].index() == 2);
    rewriter.set_operands(*user, {});
    CHECK(user->operand_count() == 0);
    CHECK_FALSE(a->result()->has_uses());
    CHECK_FALSE(b->result()->has_uses());
  }

  TEST_CASE_FIXTURE(Fixture, "a block links ops at its ends and in between, and moves them") {
    Op* a = make("a.a");
    Op* c = make("a.c");
    Op* b = rewriter.create_detached({.name = context.op_name("a.b")});
    CHECK(b->block() == nullptr);
    CHECK(b->parent_op() == nullptr);
    rewriter.insert(*b, *block, c);
    Op* first = rewriter.create_detached({.name = context.op_name("a.first")});
    rewriter.insert(*first, *block, a);
    CHECK(forward(block->ops()) == std::vector{first, a, b, c});
    CHECK(forward(block->reversed()) == std::vector{c, b, a, first});
    CHECK(block->front() == first);
    CHECK(block->back() == c);
    CHECK(first->previous() == nullptr);
    CHECK(b->next() == c);
    CHECK(a->is_before_in_block(c));
    CHECK_FALSE(c->is_before_in_block(a));
    CHECK_FALSE(a->is_before_in_block(a));
    rewriter.move_before(*b, *a);
    CHECK(forward(block->ops()) == std::vector{first, b, a, c});
    rewriter.move_after(*first, *c);
    CHECK(forward(block->ops()) == std::vector{b, a, c, first});
    CHECK(forward(block->reversed()) == std::vector{first, c, a, b});
    rewriter.move_to_end(*b, *block);
    CHECK(forward(block->ops()) == std::vector{a, c, first, b});
    CHECK(first->is_before_in_block(b));
    for (Op* op : block->ops()) rewriter.erase(*op);
    CHECK(block->empty());
    CHECK(block->ops().empty());
  }

  TEST_CASE_FIXTURE(Fixture, "the current op may be erased while iterating in either direction") {
    for (int i = 0; i < 3; ++i) make("a.a", {}, 0);
    for (Op* op : block->ops()) rewriter.erase(*op);
    CHECK(block->empty());
    for (int i = 0; i < 3; ++i) make("a.a", {}, 0);
    for (Op* op : block->reversed()) rewriter.erase(*op);
    CHECK(block->empty());
  }

  TEST_CASE_FIXTURE(Fixture, "values tell results, arguments and free values apart") {
    Op* op = make("a.a", {}, 2);
    CHECK(op->result(1)->defining_op() == op);
    CHECK(op->result(1)->index() == 1);
    CHECK(op->result(1)->is_result());
    CHECK(op->result(1)->argument_of() == nullptr);
    CHECK(op->result(1)->free_in() == nullptr);
    Block* other =
        rewriter.create_block(module.body(), std::vector{type, type}, context.intern("b"));
    Value& argument = other->arguments()[1];
    CHECK(argument.is_argument());
    CHECK(argument.argument_of() == other);
    CHECK(argument.defining_op() == nullptr);
    CHECK(argument.index() == 1);
    Value* free = rewriter.create_free_value(module.body(), type, ValueName::number(3));
    CHECK(free->is_free());
    CHECK(free->free_in() == &module.body());
    CHECK(free->defining_op() == nullptr);
    CHECK(op->result(0)->id() != op->result(1)->id());
    CHECK(argument.id() < module.value_id_end());
    CHECK(free->id() < module.value_id_end());
  }

  TEST_CASE_FIXTURE(Fixture, "unused free values go, the others keep their order") {
    std::vector<Value*> values;
    for (std::uint32_t i = 0; i < 20; ++i) {
      values.push_back(rewriter.create_free_value(module.body(), type, ValueName::number(i)));
    }
    make("a.user", {values[3], values[0], values[17]});
    rewriter.erase_unused_free_values(module.body());
    const auto left = module.body().free_values();
    REQUIRE(left.size() == 3);
    CHECK(left[0] == values[0]);
    CHECK(left[1] == values[3]);
    CHECK(left[2] == values[17]);
    CHECK(left[2]->index() == 2);
    CHECK(rewriter.create_free_value(module.body(), type, {})->index() == 3);
  }

  TEST_CASE_FIXTURE(Fixture,
                    "an erased op leaves its block, its operands' use lists and its symbols") {
    Op* a = make("a.a");
    Op* b = make("tensor.CPU.register", {a->result()});
    rewriter.set_symbol(*b->result(), context.intern("w"));
    REQUIRE(module.lookup_symbol("w").value == b->result());
    rewriter.erase(*b);
    CHECK(b->is_erased());
    CHECK_FALSE(a->is_erased());
    CHECK_FALSE(a->result()->has_uses());
    CHECK(forward(block->ops()) == std::vector{a});
    CHECK_FALSE(module.lookup_symbol("w"));
    Op* c = make("tensor.CPU.register");
    rewriter.set_symbol(*c->result(), context.intern("w"));
    CHECK(module.lookup_symbol("w").value == c->result());
  }

  TEST_CASE("erasing an op erases what is inside it, however its values are used there") {
    Reading reading(
        "@main () -> () {\n"
        "    a.before() -> (%9:tensor<[1], F, D>)\n"
        "    a.outer () -> (%0:tensor<[1], F, D>) {\n"
        "        a.one (%9, %0) -> (%1:tensor<[1], F, D>)\n"
        "        a.two (%1) -> () {\n"
        "            a.three (%1, %9:tensor<[2], F, D>) -> (%2:tensor<[1], F, D>)\n"
        "            prog.label[symbol:inside]\n"
        "        }\n"
        "    }\n"
        "}\n");
    Module& module = reading.module();
    Op* outer = find_op(module.body(), "a.outer");
    Op* three = find_op(module.body(), "a.three");
    Op* before = find_op(module.body(), "a.before");
    CHECK(before->result()->use_count() == 2);
    CHECK(module.lookup_symbol("inside"));
    Rewriter(module).erase(*outer);
    CHECK(outer->is_erased());
    CHECK(three->is_erased());
    CHECK_FALSE(before->result()->has_uses());
    CHECK_FALSE(module.lookup_symbol("inside"));
    CHECK(print(module) == "@main () -> () {\n    a.before() -> (%9:tensor<[1], F, D>)\n}\n");
  }

  TEST_CASE_FIXTURE(Fixture, "attributes are set, replaced and removed by key") {
    Op* op = make("a.a");
    CHECK_FALSE(op->has_attribute_list());
    const Symbol k = context.intern("k"), l = context.intern("l");
    rewriter.set_attribute(*op, k, context.integer(1));
    rewriter.set_attribute(*op, l, context.integer(2));
    rewriter.set_attribute(*op, k, context.integer(3));
    REQUIRE(op->attributes().size() == 2);
    CHECK(op->attributes()[0] == NamedAttr{k, context.integer(3)});
    CHECK(op->attribute("l")->integer() == 2);
    CHECK(op->attribute("m") == nullptr);
    CHECK(op->has_attribute_list());
    CHECK(rewriter.remove_attribute(*op, k));
    CHECK_FALSE(rewriter.remove_attribute(*op, k));
    CHECK(op->attribute(k) == nullptr);
    CHECK(op->attribute(l)->integer() == 2);
  }

  TEST_CASE_FIXTURE(Fixture, "regions are counted and reached in order") {
    Op* op = make("a.a");
    CHECK(op->region_count() == 0);
    CHECK(op->first_region() == nullptr);
    std::vector<Region*> regions;
    for (int i = 0; i < 4; ++i) regions.push_back(rewriter.add_region(*op));
    CHECK(op->region_count() == 4);
    CHECK(op->region(0) == regions[0]);
    CHECK(op->region(3) == regions[3]);
    CHECK(regions[3]->next() == nullptr);
    CHECK(regions[1]->parent() == op);
    Block* inner = rewriter.create_block(*regions[2]);
    Op* nested = rewriter.create_detached({.name = context.op_name("a.b")});
    rewriter.insert(*nested, *inner, nullptr);
    CHECK(nested->parent_region() == regions[2]);
    CHECK(nested->parent_op() == op);
    CHECK(op->parent_op() == module.top());
    CHECK(&regions[2]->only_block() == inner);
    CHECK(regions[0]->blocks().empty());
    CHECK(regions[0]->entry_arguments().empty());
  }

  TEST_CASE_FIXTURE(Fixture, "a block ends in a terminator when its last op's row says so") {
    CHECK(block->terminator() == nullptr);
    make("a.a");
    CHECK(block->terminator() == nullptr);
    Op* last = make("cf.ReturnOp", {}, 0);
    CHECK(block->terminator() == last);
    make("a.a");
    CHECK(block->terminator() == nullptr);
  }

  TEST_CASE_FIXTURE(Fixture, "names of ops tell dialect, device and row") {
    Op* linear = make("linalg.CUDA.LinearOp");
    CHECK(linear->name() == "linalg.LinearOp");
    CHECK(linear->is(OpId::kLinalgLinear));
    CHECK(context.text(linear->device()) == "CUDA");
    CHECK(linear->row()->type_name == "Linear");
    CHECK(make("linalg.CPU.LLMEmbeddingTokenOp")->is(OpId::kLinalgEmbedding));  // an alias
    CHECK(make("linalg.CPU.NewOp")->row() == nullptr);
    CHECK(make("other.deep.Op")->name() == "other.deep.Op");
    CHECK_FALSE(make("other.deep.Op")->device());
    CHECK(make("graph.CallGraphOp")->name() == "graph.CallGraphOp");
    CHECK(make("linalg.CPU.LinearOp")->kind() == linear->kind());
    const OpName again = context.op_name(linear->kind(), context.intern("CPU"));
    CHECK(context.text(again.spelling) == "linalg.CPU.LinearOp");
    CHECK(again.kind == linear->kind());
  }
}

}  // namespace op_test
