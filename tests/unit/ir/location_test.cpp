#include "isomorphic.hpp"
#include "mir/context.hpp"
#include "mir/rewriter.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::Reading;

namespace location_test {

namespace {

struct Fixture {
  IRContext context;
  LocationTable& table = context.locations();

  std::string again(std::string_view said) { return table.spelling(table.parse(said)); }
};

}  // namespace

TEST_SUITE("location") {
  TEST_CASE_FIXTURE(Fixture, "every kind of location reads and is spelled in one way") {
    for (const std::string_view said : {
             "loc(\"a.py\":3)",
             "loc(\"a.py\":3:14)",
             "loc(\"a.py\":3:14 to :20)",
             "loc(\"a.py\":3:14 to 5:1)",
             "loc(\"model.layers.0\")",
             "loc(\"matmul\"(\"a.py\":3:14))",
             "loc(callsite(\"f\":1:2 at callsite(\"g\":3:4 at \"main\")))",
             "loc(fused[\"a\", \"b.cpp\":1:2])",
             "loc(fused<\"tiled by 4\">[\"a\"])",
             "loc(callsite(\"f\" at unknown))",
         }) {
      CHECK(again(said) == said);
    }
    CHECK(again("loc( \"a\\u0041\" : 3 : 1 to 3 : 9 )") == "loc(\"aA\":3:1 to :9)");
    CHECK(again("loc(?)") == "");
    CHECK(table.kind(table.parse("loc(unknown)")) == LocationKind::kUnknown);
  }

  TEST_CASE_FIXTURE(Fixture, "what is no location of the language is kept as written") {
    for (const std::string_view said :
         {"loc(somewhere else)", "loc(\"a\":)", "loc(\"a\":1:)", "loc(fused[\"a\",])", "loc()",
          "loc(callsite(\"a\"))", "loc(fused<>[\"a\"])", "loc(\"a\":99999999999)",
          "loc(unknowns)"}) {
      CHECK(again(said) == said);
      CHECK(table.kind(table.parse(said)) == LocationKind::kOpaque);
    }
    std::string deep = "\"a\"";
    for (int i = 0; i < 100; ++i) deep = "\"n\"(" + deep + ")";
    CHECK(again("loc(" + deep + ")") == "loc(" + deep + ")");
  }

  TEST_CASE_FIXTURE(Fixture, "equal locations are one") {
    CHECK(table.named("a") == table.named("a"));
    CHECK(table.named("a") != table.named("b"));
    CHECK(table.named("a") != table.named("a", table.named("b")));
    CHECK(table.file("f", {1, 2}) == table.parse("loc(\"f\":1:2)"));
    CHECK(table.range({3, 9}) == table.range({3, 9}));
    CHECK(table.range({3, 9}) != table.range({3, 8}));
    CHECK(table.kind({}) == LocationKind::kUnknown);
  }

  TEST_CASE_FIXTURE(Fixture,
                    "fusing flattens, drops the unknown and repeated, and keeps one as it is") {
    const Location a = table.named("a"), b = table.named("b"), c = table.position(7);
    const Location ab[] = {a, {}, b, a};
    const Location fused = table.fused(ab);
    CHECK(table.parts(fused).size() == 2);
    const Location more[] = {fused, c, b};
    const auto parts = table.parts(table.fused(more));
    CHECK(std::vector(parts.begin(), parts.end()) == std::vector{a, b, c});
    CHECK(table.fused(std::span(&a, 1)) == a);
    CHECK_FALSE(table.fused({}));
    CHECK(table.kind(table.fused(std::span(&a, 1), "why")) == LocationKind::kFused);
    const Location nested[] = {table.fused(std::span(&a, 1), "why"), b};
    CHECK(table.spelling(table.fused(nested)) == "loc(fused[fused<\"why\">[\"a\"], \"b\"])");
  }

  TEST_CASE_FIXTURE(Fixture, "places that say the same are spelled once, as they read again") {
    auto at = [&, place = SourcePos{10}](std::string_view said) mutable {
      return table.stated(place += 10, said);
    };
    const Location parts[] = {at("loc(\"a\")"), at("loc(unknown)"), at("loc(fused[\"b\", \"a\"])"),
                              at("loc(callsite(unknown at unknown))"), at("loc(\"a\")")};
    for (const auto& [location, spelled] : std::initializer_list<std::pair<Location, const char*>>{
             {table.fused(parts), "loc(fused[\"a\", \"b\"])"},
             {table.fused(parts, "why"), "loc(fused<\"why\">[\"a\", \"b\"])"},
             {table.fused(std::span(parts).first(2)), "loc(\"a\")"},
             {table.call_site(parts[0], table.named("f", parts[1])),
              "loc(callsite(\"a\" at \"f\"))"},
             {table.call_site(parts[1], table.named("f", parts[1])), ""},
         }) {
      CHECK(table.spelling(location) == spelled);
      CHECK(again(spelled) == spelled);
    }
  }

  TEST_CASE_FIXTURE(Fixture, "a location leads to its first place in a text") {
    const Location at = table.position(5);
    CHECK(table.span(at) == Span{5, 5});
    CHECK(table.span(table.range({4, 9})) == Span{4, 9});
    CHECK(table.span(table.call_site(table.named("f", at), table.position(9))) == Span{5, 5});
    CHECK_FALSE(table.span(table.named("f")).known());
    const SourcePos far = 0xc000'0000u;  // beyond what a handle can hold
    CHECK(table.span(table.position(far)) == Span{far, far});
  }

  TEST_CASE_FIXTURE(Fixture, "a location knows the calls that were inlined around it") {
    const Location op = table.position(5), first = table.named("f", table.position(9)),
                   second = table.named("g", table.position(12));
    const Location inner = table.call_site(op, first);
    CHECK(table.inlined_calls(op).empty());
    CHECK(table.inlined_calls(inner) == std::vector<InlinedCall>{{"f", first}});
    CHECK(table.inlined_calls(table.call_site(inner, second)) ==
          std::vector<InlinedCall>{{"f", first}, {"g", second}});
    const Location unnamed = table.position(20);
    CHECK(table.inlined_calls(table.call_site(op, unnamed)) ==
          std::vector<InlinedCall>{{"", unnamed}});
    const Location parts[] = {inner, second};
    CHECK(table.inlined_calls(table.fused(parts)) == std::vector<InlinedCall>{{"f", first}});
    // Nothing of it was stated, and what was stated is no call of the module.
    CHECK(table.spelling(inner).empty());
    CHECK(table.inlined_calls(table.stated(5, "loc(callsite(\"f\" at \"g\"))")).empty());
  }

  TEST_CASE_FIXTURE(Fixture, "chains that nobody could follow are cut") {
    Location at = table.named("n");
    for (int i = 0; i < 100'000; ++i) at = table.named("n" + std::to_string(i % 7), at);
    CHECK_FALSE(table.spelling(at).empty());
  }

  TEST_CASE("an op knows where its text names it and what the text says of it") {
    Reading reading(
        "@main () -> () {\n"
        "    a.b () -> () loc(fused[\"x.py\":3, \"y\"])\n"
        "    a.c () -> () { a.d () -> () } loc( \"z\" )\n"
        "}\n");
    Module& module = reading.module();
    const LocationTable& table = reading.context.locations();
    Op* b = find_op(module.body(), "a.b");
    Op* c = find_op(module.body(), "a.c");
    Op* d = find_op(module.body(), "a.d");
    const SourceFile* file = reading.context.sources().file_of(1);
    CHECK(file->slice(b->span()) == "a.b");
    CHECK(file->slice(c->span()) == "a.c");
    CHECK(file->slice(module.top()->span()) == "@main");
    CHECK(d->location().is_position());
    CHECK(table.spelling(b->location()) == "loc(fused[\"x.py\":3, \"y\"])");
    CHECK(table.spelling(c->location()) == "loc(\"z\")");
    CHECK(table.spelling(d->location()) == "");
    CHECK(table.spelling(d->location(), &reading.context.sources()) == "loc(\"test.mir\":3:20)");
    CHECK_FALSE(c->is_modified());
  }

  TEST_CASE("an op made from others says where they come from") {
    Reading reading(
        "@main () -> () {\n"
        "    a.b () -> () loc(\"x\")\n"
        "    a.c () -> ()\n"
        "}\n");
    Module& module = reading.module();
    LocationTable& table = reading.context.locations();
    const Location both[] = {find_op(module.body(), "a.b")->location(),
                             find_op(module.body(), "a.c")->location()};
    Op* made = Rewriter(module).create_detached(
        {.name = reading.context.op_name("a.bc"), .location = table.fused(both)});
    Rewriter(module).insert(*made, *module.body().entry(), nullptr);
    CHECK(print(module) == test::Part{"a.bc() -> () loc(\"x\")\n"});
    CHECK(table.spelling(made->location(), &reading.context.sources()) ==
          "loc(fused[\"x\", \"test.mir\":3:5])");
    const SourcePos begin = find_op(module.body(), "a.b")->span().begin;
    CHECK(made->span() == Span{begin, begin + 3});
  }
}

}  // namespace location_test
