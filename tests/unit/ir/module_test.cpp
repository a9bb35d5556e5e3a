#include "mir/module.hpp"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "read.hpp"

using namespace mir;
using mir::test::Reading;

namespace module_test {

namespace {

struct Fixture {
  Fixture() { register_builtin_dialects(context); }
  IRContext context;
  Module& module = context.create_module("m");
};

}  // namespace

TEST_SUITE("module") {
  TEST_CASE_FIXTURE(Fixture, "a new module is a dump with an empty region") {
    CHECK(context.text(module.name()) == "m");
    CHECK(module.top()->is(OpId::kBuiltinModule));
    CHECK(module.body().empty());
    CHECK(module.body().parent() == module.top());
    CHECK_FALSE(module.is_portable());
    CHECK(module.lookupSymbol("m").op == nullptr);
    CHECK(print(module) == "@m () -> () {\n\n}\n");
  }

  TEST_CASE_FIXTURE(Fixture, "the version makes a module portable and stands in its head") {
    module.set_version(1);
    CHECK(module.is_portable());
    CHECK(module.version() == 1);
    CHECK(print(module).starts_with("@m [mir_version:1] () -> ()"));
    module.set_version(0);
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
    Op* one = module.create({.name = context.op_name("graph.SubGraphOp")});
    Op* two = module.create({.name = context.op_name("graph.SubGraphOp")});
    Value* value = module.create_free_value(module.body(), nullptr, {});
    module.declare(name, one);
    module.declare(name, two);
    module.declare(name, value);
    CHECK(module.lookupSymbol("s").op == one);
    CHECK(module.lookupSymbol("s").value == value);
    CHECK(module.lookup_op(name) == one);
    CHECK(module.lookup_value(name) == value);
    CHECK_FALSE(module.lookupSymbol("t"));
    CHECK_FALSE(module.lookupSymbol(""));
  }

  TEST_CASE_FIXTURE(Fixture, "an empty symbol is a symbol") {
    Op* op = module.create({.name = context.op_name("graph.SubGraphOp")});
    module.declare(Symbol{}, op);
    CHECK(module.lookupSymbol("").op == op);
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
    Op* op = module.create({.name = context.op_name("a.b")});
    module.set_attributes(op, list);
    CHECK(op->attributes().size() == 70000);
  }

  TEST_CASE_FIXTURE(Fixture, "an op may have any number of regions, made in linear time") {
    Op* op = module.create({.name = context.op_name("a.b")});
    for (int i = 0; i < 200000; ++i) module.add_region(op);
    CHECK(op->region_count() == 200000);
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
