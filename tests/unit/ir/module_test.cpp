#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Reading;

namespace module_test {

namespace {

struct Fixture {
  Fixture() { register_builtin_dialects(context); }
  IRContext context;
  Module& module = context.create_module("m");
  Rewriter rewriter{module};
  const Type* type = context.tensor(std::vector{Dim(2)}, DType::kFloat32);

  Op* graph(std::string_view symbol) {
    rewriter.set_insertion_point_to_end(body());
    return rewriter.create({.name = context.op_name("graph.SubGraphOp"),
                            .symbol = context.intern(symbol),
                            .has_signature = false});
  }
  Block& body() {
    Block* entry = module.body().entry();
    return entry != nullptr ? *entry : *rewriter.create_block(module.body());
  }
};

}  // namespace

TEST_SUITE("module") {
  TEST_CASE_FIXTURE(Fixture, "a new module is a dump with an empty region") {
    CHECK(context.text(module.name()) == "m");
    CHECK(module.top()->is(OpId::kBuiltinModule));
    CHECK(module.body().empty());
    CHECK(module.body().parent() == module.top());
    CHECK_FALSE(module.is_portable());
    CHECK(module.lookup_symbol("m").op == nullptr);
    CHECK(print(module) == "@m () -> () {\n\n}\n");
  }

  TEST_CASE_FIXTURE(Fixture, "the version makes a module portable and is printed in its head") {
    rewriter.set_version(1);
    CHECK(module.is_portable());
    CHECK(module.version() == 1);
    CHECK(print(module).starts_with("@m [mir_version:1] () -> ()"));
    rewriter.set_version(0);
    CHECK_FALSE(module.is_portable());
    CHECK(module.top()->attributes().empty());
  }

  TEST_CASE_FIXTURE(Fixture, "fresh names are numbers above all that were taken") {
    CHECK(module.fresh_name() == ValueName::number(0));
    module.reserve_name(ValueName::number(40));
    module.reserve_name(ValueName::number(7));
    module.reserve_name(ValueName::symbol(context.intern("x")));
    module.reserve_name({});
    CHECK(module.upcoming_name(2) == ValueName::number(43));
    CHECK(module.fresh_name() == ValueName::number(41));
    CHECK(module.fresh_name() == ValueName::number(42));
  }

  TEST_CASE_FIXTURE(Fixture, "numbers that values get are taken") {
    rewriter.set_insertion_point_to_end(body());
    Op* op = rewriter.create(
        {.name = context.op_name("linalg.CPU.NegOp"), .operands = {}, .result_types = {&type, 1}});
    rewriter.set_name(*op->result(), ValueName::number(70));
    CHECK(module.fresh_name() == ValueName::number(71));
    rewriter.create_free_value(module.body(), type, ValueName::number(90));
    CHECK(module.fresh_name() == ValueName::number(91));
  }

  TEST_CASE_FIXTURE(Fixture, "when numbers are used up, fresh names are words that nobody has") {
    module.reserve_name(ValueName::symbol(context.intern("fresh_7")));
    module.reserve_name(ValueName::symbol(context.intern("fresh_x")));
    module.reserve_name(ValueName::number(ValueName::kMaxNumber - 1));
    CHECK(module.upcoming_name(1) == ValueName::symbol(context.intern("fresh_8")));
    CHECK(module.fresh_name() == ValueName::number(ValueName::kMaxNumber));
    CHECK(module.fresh_name() == ValueName::symbol(context.intern("fresh_8")));
    CHECK(module.upcoming_name(1) == ValueName::symbol(context.intern("fresh_10")));
    CHECK(module.fresh_name() == ValueName::symbol(context.intern("fresh_9")));
  }

  TEST_CASE_FIXTURE(Fixture,
                    "the first declaration of a symbol counts, ops and values side by side") {
    const Symbol name = context.intern("s");
    Op* one = graph("s");
    graph("s");
    Op* op = rewriter.create(
        {.name = context.op_name("tensor.CPU.register"), .result_types = std::vector{type}});
    rewriter.set_symbol(*op->result(), name);
    CHECK(module.lookup_symbol("s").op == one);
    CHECK(module.lookup_symbol("s").value == op->result());
    CHECK(module.lookup_op(name) == one);
    CHECK(module.lookup_value(name) == op->result());
    CHECK_FALSE(module.lookup_symbol("t"));
    CHECK_FALSE(module.lookup_symbol(""));
  }

  TEST_CASE_FIXTURE(Fixture,
                    "a symbol on a result declares nothing unless the op declares symbols") {
    const Symbol name = context.intern("s");
    rewriter.set_insertion_point_to_end(body());
    for (const char* kind : {"linalg.CPU.NegOp", "tensor.CPU.alloc", "a.unknown"}) {
      CAPTURE(kind);
      Op* op = rewriter.create({.name = context.op_name(kind), .result_types = std::vector{type}});
      rewriter.set_symbol(*op->result(), name);
      CHECK(module.lookup_value(name) == nullptr);
    }
    Op* declaring = rewriter.create(
        {.name = context.op_name("tensor.CPU.register"), .result_types = std::vector{type}});
    rewriter.set_symbol(*declaring->result(), name);
    CHECK(module.lookup_value(name) == declaring->result());
    rewriter.clear_symbol(*declaring->result());
    CHECK_FALSE(module.declares_values());
  }

  TEST_CASE_FIXTURE(Fixture, "an empty symbol is a symbol") {
    Op* op = graph("other");
    rewriter.set_symbol(*op, Symbol{});
    CHECK(module.lookup_symbol("").op == op);
  }

  TEST_CASE_FIXTURE(Fixture,
                    "modules live in their context until they are released, and keep their order") {
    Module& second = context.create_module("second");
    Module& third = context.create_module("third");
    CHECK(context.modules().size() == 3);
    context.release(second);
    REQUIRE(context.modules().size() == 2);
    CHECK(context.modules()[0] == &module);
    CHECK(context.modules()[1] == &third);
  }

  TEST_CASE_FIXTURE(Fixture, "a list of attributes longer than 65536 keeps them all") {
    std::vector<NamedAttr> list(70000, {context.intern("k"), context.null()});
    Op* op = rewriter.create_detached({.name = context.op_name("a.b")});
    rewriter.set_attributes(*op, list);
    CHECK(op->attributes().size() == 70000);
  }

  TEST_CASE_FIXTURE(Fixture, "an op may have any number of regions, made in linear time") {
    Op* op = rewriter.create_detached({.name = context.op_name("a.b")});
    for (int i = 0; i < 200000; ++i) rewriter.add_region(*op);
    CHECK(op->region_count() == 200000);
  }

  TEST_CASE_FIXTURE(Fixture, "symbols that change or go leave every lookup right") {
    const Symbol f = context.intern("f"), g = context.intern("g");
    Op *first = graph("f"), *second = graph("f");
    Region* inside = rewriter.add_region(*first);
    CHECK(module.lookup_op(f) == first);
    rewriter.set_symbol(*first, g);
    CHECK(module.lookup_op(f) == second);
    CHECK(module.lookup_op(g) == first);
    rewriter.erase(*second);
    CHECK(module.lookup_op(f) == nullptr);
    rewriter.set_symbol(*first, f);
    CHECK(module.lookup_op(g) == nullptr);

    Op* holder = rewriter.create(
        {.name = context.op_name("tensor.CPU.register"), .result_types = std::vector{type}});
    rewriter.set_symbol(*holder->result(), f);
    rewriter.set_symbol(*holder->result(), g);
    CHECK(module.lookup_value(f) == nullptr);
    CHECK(module.lookup_value(g) == holder->result());
    // With what is inside an op, and with a block.
    rewriter.move_to_end(*holder, *rewriter.create_block(*inside));
    CHECK(module.lookup_value(g) == holder->result());
    rewriter.erase(*first);
    CHECK(module.lookup_op(f) == nullptr);
    CHECK(module.lookup_value(g) == nullptr);
    CHECK(module.declared_symbol_count() == 0);
    Op* outer = rewriter.create({.name = context.op_name("my.Region"), .regions = 1});
    Block* inner = rewriter.create_block(*outer->region());
    rewriter.move_to_end(*graph("f"), *inner);
    rewriter.erase_block(*inner);
    CHECK(module.lookup_op(f) == nullptr);
    CHECK_FALSE(context.lookup_symbol("f"));
  }

  TEST_CASE("what is known of a kind is read while other threads make kinds") {
    IRContext context;
    register_builtin_dialects(context);
    std::vector<std::thread> makers;
    for (int t = 0; t < 4; ++t) {
      makers.emplace_back([&context, t] {
        for (int i = 0; i < 2000; ++i) {
          const OpName made =
              context.op_name("made" + std::to_string(i) + ".by" + std::to_string(t));
          if (context.info(made.kind).mnemonic != "by" + std::to_string(t)) std::abort();
        }
      });
    }
    for (int i = 0; i < 2000; ++i) {
      CHECK(context.info(OpId::kLinalgAdd).mnemonic == "AddOp");
      CHECK(context.memory() != 0);
    }
    for (std::thread& each : makers) each.join();
  }

  TEST_CASE("threads that intern the same texts get the same objects") {
    IRContext context;
    register_builtin_dialects(context);
    const auto intern_all = [&](std::vector<const void*>& out) {
      for (int i = 0; i < 300; ++i) {
        const std::string name = "linalg.CPU.Thing" + std::to_string(i % 100);
        const OpName op = context.op_name(name);
        CHECK(op.info->mnemonic == "Thing" + std::to_string(i % 100));
        out.push_back(op.info);
        out.push_back(
            context.tensor(std::vector{Dim(i % 50), context.dims().symbol("S")}, DType::kFloat32));
        out.push_back(context.integer(i % 70));
        out.push_back(context.string(name));
        out.push_back(context.array(std::vector{context.integer(i % 9), context.word("w")}));
        out.push_back(context.text(context.intern(name)).data());
      }
    };
    std::vector<std::vector<const void*>> seen(4);
    std::vector<std::thread> threads;
    for (auto& out : seen) threads.emplace_back([&] { intern_all(out); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& out : seen) CHECK(out == seen[0]);
  }
}

}  // namespace module_test
