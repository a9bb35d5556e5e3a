// Dialects that are made at run time, and their types and attributes.
#include <thread>

#include "mir/codes/names.hpp"
#include "mir/codes/verification.hpp"
#include "mir/infer.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::lines_of;

namespace dialect_test {

namespace {

bool has_even_rows(TypeContext& type) {
  if (type.parameter("rows").integer() % 2 == 0) return true;
  return type.fail(std::string("rows of '") + std::string(type.name()) + "' must be even");
}

/// A dialect from texts that are gone when it has been added.
struct Fixture {
  Fixture() { register_builtin_dialects(context); }

  Result<const Dialect*> add() {
    const std::string name = "my", buffer = "buffer", rows = "rows";
    const std::vector<std::string> words = {"row", "column"};
    const std::vector<std::string_view> orders(words.begin(), words.end());
    const std::string row = "FooOp";
    return context.add_dialect(
        {.name = name,
         .device_in_path = true,
         .ops = {{.row = {.name = "FooOp",
                          .type_name = "Foo",
                          .operands = exactly(1),
                          .results = exactly(1),
                          .traits = Trait::kPure},
                  .aliases = {"OldFooOp"},
                  .attributes = {{.name = "factor", .type = AttrType::kFloat, .required = true}},
                  .infer =
                      [row](InferContext& op) {
                        op.result(op.operand_type(0));
                        return op.row().name == row;
                      }},
                 {.row = {.name = "NamedOp", .traits = Trait::kSymbol}}},
         .types =
             {{.row = {.name = buffer, .verify = has_even_rows},
               .parameters =
                   {{.name = rows, .type = AttrType::kInt, .required = true, .range = {.low = 0}},
                    {.name = "order",
                     .type = AttrType::kString,
                     .default_text = "row",
                     .choices = orders},
                    {.name = "scale", .type = AttrType::kFloat, .default_text = "1"}}},
              {.row = {.name = "list"},
               .parameters = {{.name = "of", .type = AttrType::kType, .required = true}}}},
         .attribute_kinds = {
             {.row = {.name = "layout"},
              .parameters = {{.name = "tile", .type = AttrType::kInts, .required = true},
                             {.name = "any", .default_text = "null"}}}}});
  }

  const Type* type(std::string_view text) {
    const auto read = context.parse_type(text);
    if (!read) MESSAGE(read.error().message);
    return read ? *read : nullptr;
  }
  const DialectType* dialect_type(std::string_view text) {
    return dyn_cast<DialectType>(type(text));
  }

  /// What reading a text reports.
  std::vector<std::string> read(std::string text) {
    Diagnostics found(0);
    modules = read_modules(*context.sources().add("t", std::move(text)), context, found);
    return lines_of(found, context);
  }
  std::vector<std::string> errors_of_type(const std::string& text) {
    return read("@m () -> () {\na.b (%0:" + text + ") -> ()\n}\n");
  }

  IRContext context;
  std::vector<Module*> modules;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_SUITE("types of dialects") {
  TEST_CASE_FIXTURE(Fixture, "parameters are read by index and by name, defaults included") {
    REQUIRE(add());
    const DialectType* buffer = dialect_type("!my.buffer<4, column>");
    REQUIRE(buffer != nullptr);
    CHECK(buffer->is_structured());
    CHECK(buffer->kind().name == "my.buffer");
    CHECK(buffer->kind().row->parameters.size() == 3);
    CHECK(buffer->kind().dialect->name == "my");
    REQUIRE(buffer->parameters().size() == 3);
    CHECK(buffer->parameter(0) == context.integer(4));
    CHECK(buffer->parameter("order")->text() == "column");
    CHECK(buffer->parameter("scale")->number() == 1.0);
    CHECK(buffer->parameter("nothing") == nullptr);
  }

  TEST_CASE_FIXTURE(Fixture, "equal types are one object, whatever spells them") {
    REQUIRE(add());
    const Type* plain = type("!my.buffer<4>");
    CHECK(plain->spelling() == "!my.buffer<4>");
    for (const char* text : {"!my.buffer< 4 >", "!my.buffer<4, row>", "!my.buffer<4,\"row\",1>",
                             "!my.buffer<4, \"row\", 1.00>"}) {
      CAPTURE(text);
      CHECK(type(text) == plain);
    }
    const Attr* four = context.integer(4);
    CHECK(*context.dialect_type("my.buffer", std::vector{four}) == plain);
    CHECK(type("!my.buffer<4, column>") != plain);
    CHECK(type("!my.buffer<4, \"column\", 2>")->spelling() == "!my.buffer<4, column, 2.0>");
    CHECK(type("!my.buffer<4, row, 2>")->spelling() == "!my.buffer<4, row, 2.0>");
    CHECK(type("!my.list<!my.buffer<4, row>>")->spelling() == "!my.list<!my.buffer<4>>");
    CHECK(dialect_type("!my.list<tensor<[ $S+$S ], Float32, CPU>>")->parameter("of")->type() ==
          type("tensor<[2*$S], Float32, CPU>"));
  }

  TEST_CASE_FIXTURE(Fixture, "wrong parameters are reported where they are") {
    REQUIRE(add());
    CHECK(errors_of_type("!my.buffer<4, x>") ==
          Lines{"2:23 MIR0318 parameter 'order' of '!my.buffer' is x, expected one of 'row', "
                "'column'"});
    CHECK(errors_of_type("!my.buffer<\"4\">") ==
          Lines{"2:20 MIR0318 parameter 'rows' of '!my.buffer' is \"4\", expected an integer of at "
                "least 0"});
    CHECK(errors_of_type("!my.buffer<-2>") ==
          Lines{"2:20 MIR0318 parameter 'rows' of '!my.buffer' is -2, expected an integer of at "
                "least 0"});
    CHECK(errors_of_type("!my.buffer") ==
          Lines{"2:9 MIR0318 '!my.buffer' needs parameter 'rows', an integer of at least 0"});
    CHECK(errors_of_type("!my.buffer<4, row, 1, [5], 6>") ==
          Lines{"2:31 MIR0318 '!my.buffer' takes at most 3 parameters, found 5"});
    CHECK(errors_of_type("!my.list<!my.buffer<2>, 1>") ==
          Lines{"2:33 MIR0318 '!my.list' takes 1 parameter, found 2"});
    CHECK(errors_of_type("!my.buffer<3>") ==
          Lines{"2:9 MIR0318 rows of '!my.buffer' must be even"});
    CHECK(errors_of_type("!my.list<!my.buffer<3>>") ==
          Lines{"2:18 MIR0318 rows of '!my.buffer' must be even"});
    CHECK(errors_of_type("!my.list<!my.list<[1, 3]>>") ==
          Lines{"2:27 MIR0318 parameter 'of' of '!my.list' is [1, 3], expected a type"});
    CHECK(errors_of_type("!my.list<{\"a\":1}>") ==
          Lines{"2:18 MIR0318 parameter 'of' of '!my.list' is {\"a\":1}, expected a type"});
    CHECK(errors_of_type("!my.buffer<4 5>") ==
          Lines{"2:22 MIR0201 expected ',' or ']', found integer '5'"});
    CHECK(errors_of_type("!my.buffer<4] // >") ==
          Lines{"2:20 MIR0318 unbalanced bracket in a list of values"});
    CHECK(errors_of_type("!my.list<tensor<[1/0], Float32, CPU>>").size() == 1);
    CHECK(errors_of_type("!my.buffer<#rows>") ==
          Lines{"2:20 MIR0305 alias '#rows' cannot be used inside '<...>'"});
  }

  TEST_CASE_FIXTURE(Fixture, "a text that is refused is kept") {
    REQUIRE(add());
    CHECK_FALSE(errors_of_type("!my.buffer<x y>").empty());
    const Type* kept = modules.front()->body().entry()->front()->operand(0)->type();
    CHECK(kept->spelling() == "!my.buffer<x y>");
    CHECK_FALSE(dyn_cast<DialectType>(kept)->is_structured());
  }

  TEST_CASE_FIXTURE(Fixture, "the interface refuses what text does") {
    REQUIRE(add());
    CHECK(context.dialect_type("my.buffer").error().message ==
          "'!my.buffer' needs parameter 'rows', an integer of at least 0");
    CHECK(context.dialect_type("my.none").error().message == "no dialect declares '!my.none'");
    CHECK(context.dialect_type("builtin.tensor").error().message ==
          "no dialect declares '!builtin.tensor'");
    CHECK(context.dialect_attribute("my.buffer").error().message ==
          "no dialect declares '#my.buffer'");
    CHECK_FALSE(context.dialect_type("my.list", std::vector<const Attr*>{nullptr}));
    CHECK_FALSE(context.parse_type("!my.buffer<3>"));
    CHECK_FALSE(context.parse_type("!my.buffer<4> "));
    CHECK_FALSE(context.parse_type("3"));
    CHECK_FALSE(context.parse_type("tensor<[2], Float32, CPU>, !a.b"));
    CHECK_FALSE(context.parse_type(""));
    const Attr* edge = context.symbol_ref("a-");
    CHECK(context.dialect_attribute("my.layout", std::vector{context.array({}), edge})
              .error()
              .message == "parameters of '#my.layout' cannot be written");
  }

  TEST_CASE_FIXTURE(Fixture, "attributes of a dialect are read as its types are") {
    REQUIRE(add());
    const Attr* layout = context.scalar(AttrKind::kDialect, "#my.layout<[32, 32], null>");
    REQUIRE(layout != nullptr);
    CHECK(layout->spelling() == "#my.layout<[32, 32]>");
    REQUIRE(layout->row() != nullptr);
    CHECK(layout->row()->name == "layout");
    CHECK(layout->parameter("tile")->elements().size() == 2);
    CHECK(layout->parameter(1) == context.null());
    CHECK(*context.dialect_attribute("my.layout", layout->parameters()) == layout);
    CHECK(context.scalar(AttrKind::kDialect, "#my.layout<x>") == nullptr);
    const Attr* other = context.scalar(AttrKind::kDialect, "#tt.layout<(d0) -> d0>");
    CHECK(other->row() == nullptr);
    CHECK(other->parameters().empty());
    CHECK(read("@m () -> () {\na.b () -> ()[k:#my.layout<[1, x]>, l:[#my.layout<[2]>]]\n}\n") ==
          Lines{"2:27 MIR0318 parameter 'tile' of '#my.layout' is [1, x], expected an array of "
                "integers"});
  }

  TEST_CASE_FIXTURE(Fixture,
                    "what text states is printed back, and new ops print canonical types") {
    REQUIRE(add());
    const std::string text =
        "#q = #my.layout<[8],  null>\n"
        "@m () -> () {\n"
        "    a.b(%0:!my.buffer<4,  row>) -> (%1:tensor<[2], Float32, CPU, #q>)[k:#q]\n"
        "}\n";
    Diagnostics found;
    const auto tree = parse(*context.sources().add("t", text), found);
    REQUIRE(tree);
    const auto made = resolve(*tree, context, found);
    CHECK(lines_of(found, context) == Lines{});
    CHECK(print(made, *tree) == text);
    CHECK(print(*made.front()) ==
          "@m () -> () {\n"
          "    a.b(%0:!my.buffer<4>) -> (%1:tensor<[2], Float32, CPU, "
          "#my.layout<[8]>>)[k:#my.layout<[8]>]\n"
          "}\n");
  }

  TEST_CASE("the built-in types are types of a dialect") {
    IRContext context;
    register_builtin_dialects(context);
    CHECK(index_type(context)->spelling() == "!builtin.index");
    CHECK(scalar_type(context, DType::kFloat32)->spelling() == "!builtin.scalar<Float32>");
    CHECK(*context.parse_type("!builtin.scalar<kFp32>") == scalar_type(context, DType::kFloat32));
    const Type* tensor = context.tensor(std::vector{Dim(2)}, DType::kFloat32);
    const DialectType* function =
        function_type(context, std::vector<const Type*>{tensor, index_type(context)}, {});
    CHECK(function->spelling() ==
          "!builtin.function<[tensor<[2], Float32, CPU>, !builtin.index], []>");
    CHECK(*context.parse_type(function->spelling()) == function);
    CHECK(function->parameter("inputs")->elements()[0]->type() == tensor);
    CHECK(tensor->kind().name == "builtin.tensor");
    CHECK(tensor->kind().row->name == "tensor");
    for (const TypeRow& row : context.find_dialect("builtin")->types) {
      CAPTURE(row.name);
      const auto type = context.parse_type(row.example);
      REQUIRE(type);
      CHECK((*type)->kind().row.get() == &row);
      CHECK((*type)->spelling() == row.example);
    }
    CHECK_FALSE(context.parse_type("!builtin.scalar<Float33>"));
    const auto kept = context.parse_type("!builtin.tensor<4>");
    REQUIRE(kept);
    CHECK_FALSE(dyn_cast<DialectType>(*kept)->is_structured());
  }

  TEST_CASE("without the dialect its types are kept as they are written") {
    IRContext context;
    const auto type = context.parse_type("!builtin.scalar<[>");
    REQUIRE(type);
    CHECK((*type)->spelling() == "!builtin.scalar<[>");
    CHECK((*type)->kind().row == nullptr);
    CHECK((*type)->kind().name == "builtin.scalar");
    CHECK(&(*context.parse_type("!builtin.scalar"))->kind() == &(*type)->kind());
  }
}

TEST_SUITE("registration") {
  TEST_CASE_FIXTURE(Fixture, "ops that exist become known when their dialect is registered") {
    CHECK(read("@m () -> () {\n"
               "    my.CPU.FooOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n"
               "    my.QNN.OldFooOp (%1) -> (%2:tensor<[2], Float32, CPU>)\n"
               "    my.CPU.NamedOp @here () -> () {\n        my.CPU.NoneOp () -> ()\n    }\n"
               "}\n") == Lines{});
    Module& module = *modules.front();
    const auto ops = mir::test::ops_of(module.body());
    const OpName held = context.op_name("my.CPU.FooOp");
    Rewriter rewriter(module);
    Op* outside = rewriter.create_detached({.name = held});
    CHECK(ops[0]->row() == nullptr);
    CHECK(ops[0]->name() == "my.CPU.FooOp");
    CHECK(context.lookup_symbol("here").op == nullptr);

    REQUIRE(add());
    const Dialect* dialect = context.find_dialect("my");
    REQUIRE(dialect != nullptr);
    for (const Op* op : {ops[0], ops[1]}) {
      CHECK(op->row() == &dialect->rows[0]);
      CHECK(op->name() == "my.FooOp");
      CHECK(op->kind() == *context.find_kind("my.FooOp"));
    }
    CHECK(context.text(ops[0]->device()) == "CPU");
    CHECK(context.text(ops[1]->device()) == "QNN");
    CHECK(context.text(ops[1]->op_name().spelling) == "my.QNN.OldFooOp");
    CHECK(context.lookup_symbol("here").op == ops[2]);
    const Op* inner = ops[2]->region()->entry()->front();
    CHECK(inner->row() == nullptr);
    CHECK(inner->info().dialect.get() == dialect);
    CHECK(inner->name() == "my.NoneOp");

    CHECK(context.op_name("my.CPU.FooOp").kind == ops[0]->kind());
    CHECK(context.find_kind("my.CPU.FooOp") == ops[0]->kind());
    CHECK(context.find_kernel("Foo", 1) == ops[0]->kind());
    CHECK(held.info->row.get() == &dialect->rows[0]);
    CHECK(outside->row() == &dialect->rows[0]);
    Rewriter(module).set_symbol(*ops[2], context.intern("there"));
    CHECK(context.lookup_symbol("here").op == nullptr);
    CHECK(context.lookup_symbol("there").op == ops[2]);
  }

  TEST_CASE_FIXTURE(Fixture, "values of a dialect become structured when it is registered") {
    const auto* canonical = dialect_type("!my.buffer<4>");
    const auto* spelled = dialect_type("!my.buffer<4,row>");
    const auto* wrong = dialect_type("!my.buffer<(d0) -> d0>");
    const Attr* layout = context.scalar(AttrKind::kDialect, "#my.layout<[1,2]>");
    CHECK_FALSE(canonical->is_structured());
    CHECK_FALSE(compatible(canonical, spelled));
    REQUIRE(add());
    CHECK(canonical->is_structured());
    CHECK(type("!my.buffer<4>") == canonical);
    CHECK(type("!my.buffer<4,row>") == canonical);
    CHECK(spelled->spelling() == "!my.buffer<4,row>");
    CHECK(spelled->parameter("rows") == context.integer(4));
    CHECK(compatible(canonical, spelled));
    CHECK_FALSE(compatible(canonical, type("!my.buffer<6>")));
    CHECK_FALSE(wrong->is_structured());
    CHECK_FALSE(compatible(wrong, canonical));
    CHECK(compatible(wrong, wrong));
    REQUIRE(layout->row() != nullptr);
    CHECK(layout->parameter("tile")->elements().size() == 2);
    CHECK(context.scalar(AttrKind::kDialect, "#my.layout<[1,2]>")->spelling() ==
          "#my.layout<[1, 2]>");
  }

  TEST_CASE_FIXTURE(Fixture, "a dialect is registered once") {
    REQUIRE(add());
    CHECK(add().error().message == "dialect 'my' is registered already");
    CHECK(context.register_dialect(*builtin_dialects().front()).error().message ==
          "dialect 'builtin' is registered already");
    CHECK(std::ranges::count(context.dialects(), "my", &Dialect::name) == 1);
  }

  TEST_CASE("a dialect whose rows are not sound is refused as a whole") {
    const auto refusal = [](const DialectSpec& spec) {
      IRContext context;
      const auto added = context.add_dialect(spec);
      if (added) return std::string("accepted");
      CHECK(context.dialects().empty());
      CHECK(added.error().code == diag::kBadDialect);
      return added.error().message;
    };
    const auto of_op = [&](OpRowSpec spec) { return refusal({.name = "d", .ops = {spec}}); };
    const auto of_attribute = [&](AttrRow row) {
      return of_op({.row = {.name = "Op"}, .attributes = {row}});
    };
    const auto of_parameters = [&](std::vector<AttrRow> rows) {
      return refusal({.name = "d", .types = {{.row = {.name = "t"}, .parameters = rows}}});
    };
    const std::vector<std::string_view> words = {"a"};
    CHECK(refusal({.name = ""}) == "dialect '' is not a name of a dialect");
    CHECK(refusal({.name = "a.b"}) == "dialect 'a.b' is not a name of a dialect");
    CHECK(refusal({.name = "0a"}) == "dialect '0a' is not a name of a dialect");
    CHECK(of_op({.row = {.name = ""}}) == "dialect 'd' is not a name of an op");
    CHECK(of_op({.row = {.name = "a b"}}) == "dialect 'd': 'a b' is not a name of an op");
    CHECK(of_op({.row = {.name = "a..b"}}) == "dialect 'd': 'a..b' is not a name of an op");
    CHECK(of_op({.row = {.name = "a."}}) == "dialect 'd': 'a.' is not a name of an op");
    CHECK(of_op({.row = {.name = "A"}, .aliases = {"("}}) ==
          "dialect 'd': 'A': '(' is not a name of an op");
    CHECK(of_op({.row = {.name = "A"}, .aliases = {"A"}}) == "dialect 'd': 'A': 'A' occurs twice");
    CHECK(of_op({.row = {.name = "A"}, .aliases = {"B", "B"}}) ==
          "dialect 'd': 'A': 'B' occurs twice");
    CHECK(of_op({.row = {.name = "A", .operands = {2, 1}}}) ==
          "dialect 'd': 'A' has an arity whose minimum is above its maximum");
    CHECK(of_op({.row = {.name = "A"}, .weights = {{.suffix = "w"}}}) ==
          "dialect 'd': 'A': 'w' does not begin with '.'");
    CHECK(refusal({.name = "d", .ops = {{.row = {.name = "A"}}, {.row = {.name = "A"}}}}) ==
          "dialect 'd': 'A' occurs twice");
    CHECK(refusal({.name = "d",
                   .ops = {{.row = {.name = "A"}, .aliases = {"C"}},
                           {.row = {.name = "B"}, .aliases = {"C"}}}}) ==
          "dialect 'd': 'B': 'C' occurs twice");
    CHECK(refusal({.name = "d",
                   .ops = {{.row = {.name = "A"}, .aliases = {"B"}}, {.row = {.name = "B"}}}}) ==
          "dialect 'd': 'B' occurs twice");
    CHECK(of_attribute({}) == "dialect 'd': 'Op' has an attribute or parameter without a name");
    CHECK(of_attribute({.name = "k", .required = true, .default_text = "1"}) ==
          "dialect 'd': 'Op': 'k' is required and has a default");
    CHECK(of_attribute({.name = "k", .type = AttrType::kInt, .choices = words}) ==
          "dialect 'd': 'Op': 'k' has choices and is no string");
    CHECK(of_attribute({.name = "k", .type = AttrType::kBool, .range = {.low = 0}}) ==
          "dialect 'd': 'Op': 'k' has a range and is no number");
    CHECK(of_attribute({.name = "k", .type = AttrType::kInt, .range = {.low = 2, .high = 1}}) ==
          "dialect 'd': 'Op': 'k' has an empty range");
    CHECK(of_op({.row = {.name = "Op"}, .attributes = {{.name = "k"}, {.name = "k"}}}) ==
          "dialect 'd': 'Op': 'k' occurs twice");
    CHECK(refusal({.name = "d", .types = {{.row = {.name = "t<"}}}}) ==
          "dialect 'd': 't<' is not a name of a type");
    CHECK(refusal({.name = "d", .types = {{.row = {.name = "t"}}, {.row = {.name = "t"}}}}) ==
          "dialect 'd': 't' occurs twice");
    CHECK(refusal(
              {.name = "d", .attribute_kinds = {{.row = {.name = "t"}}, {.row = {.name = "t"}}}}) ==
          "dialect 'd': 't' occurs twice");
    CHECK(of_parameters({{.name = "p", .default_text = "1"}, {.name = "q", .required = true}}) ==
          "dialect 'd': 't': 'q' is required and follows a parameter that is not");
    CHECK(of_parameters({{.name = "p"}}) ==
          "dialect 'd': 't': 'p' is not required and has no default");
    CHECK(of_parameters({{.name = "p", .type = AttrType::kInt, .default_text = "x"}}) ==
          "dialect 'd': 't': 'p' has a default that it does not admit");
    CHECK(of_parameters({{.name = "p", .default_text = "1, 2"}}) ==
          "dialect 'd': 't': 'p' has a default that it does not admit");
    CHECK(refusal({.name = "d",
                   .ops = {{.row = {.name = "sub.Op"}}},
                   .types = {{.row = {.name = "t"}}},
                   .attribute_kinds = {{.row = {.name = "t"}}}}) == "accepted");
  }

  TEST_CASE("dialects are registered while other threads intern what they declare") {
    for (int round = 0; round < 20; ++round) {
      Fixture fixture;
      IRContext& context = fixture.context;
      std::vector<std::thread> threads;
      std::vector<const Type*> last(3);
      for (std::size_t t = 0; t < last.size(); ++t) {
        threads.emplace_back([&context, &last, t] {
          for (int i = 0; i < 60; ++i) {
            const OpName name = context.op_name("my.CPU.FooOp");
            const OpRow* row = name.info->row;
            if (row != nullptr && row->name != "FooOp") std::abort();
            const auto type = context.parse_type("!my.buffer<" + std::to_string(2 * i) + ">");
            const auto* read = dyn_cast<DialectType>(*type);
            if (read->is_structured() && read->parameter("rows")->integer() != 2 * i) std::abort();
            context.scalar(AttrKind::kDialect, "#my.layout<[" + std::to_string(i) + "]>");
            last[t] = read;
          }
        });
      }
      CHECK(fixture.add());
      for (std::thread& each : threads) each.join();
      CHECK(last[0] == last[1]);
      CHECK(last[0] == last[2]);
      CHECK(context.op_name("my.CPU.FooOp").info->name == "my.FooOp");
      for (int i = 0; i < 60; ++i) {
        const auto type = context.parse_type("!my.buffer<" + std::to_string(2 * i) + ">");
        CHECK(dyn_cast<DialectType>(*type)->is_structured());
      }
    }
  }

  TEST_CASE_FIXTURE(Fixture, "functions of rows are called with their row and their data") {
    int asked = 0;
    const auto count = [&asked](InferContext& op) {
      ++asked;
      op.result(op.operand_type(0));
      return op.row().name == "CountOp" && op.attribute("k") != nullptr;
    };
    const AttrRow attributes[] = {{.name = "k"}};
    const OpRow rows[] = {{.name = "CountOp",
                           .operands = exactly(1),
                           .results = exactly(1),
                           .attributes = attributes,
                           .infer = InferFn::refer_to(count)}};
    const Dialect dialect{.name = "counted", .rows = rows};
    REQUIRE(context.register_dialect(dialect));
    CHECK(read("@m [mir_version:1] (%0:!builtin.index) -> () {\n"
               "    counted.CountOp (%0) -> (%1)[k:1]\n"
               "    cf.ReturnOp () -> ()\n}\n") == Lines{});
    CHECK(asked == 1);
    CHECK(mir::test::ops_of(modules.front()->body())[0]->result()->type() == index_type(context));
    CHECK(InferFn::refer_to(count) == rows[0].infer);
    CHECK(InferFn::refer_to(count) != InferFn());
    CHECK_FALSE(InferFn(nullptr));
  }

  TEST_CASE_FIXTURE(Fixture, "an op must satisfy the function of its row, each time it occurs") {
    const auto added = context.add_dialect(
        {.name = "r",
         .ops = {
             {.row = {.name = "LoopOp", .regions = exactly(1)}, .verify = [](VerifyContext& check) {
                if (!check.op().region()->empty() || check.attribute("open") != nullptr) {
                  return true;
                }
                return check.fail(diag::kWrongArity, std::string(check.row().name) + " is empty");
              }}}});
    REQUIRE(added);
    const auto problems = [&](const std::string& head, const std::string& body) {
      CHECK(read("@m " + head + "() -> () {\n" + body + "}\n") == Lines{});
      Diagnostics found(0);
      verify(*modules.front(), found);
      return lines_of(found, context);
    };
    const std::string full = "r.LoopOp () -> () { r.LoopOp () -> () { cf.ReturnOp () -> () } }\n";
    CHECK(problems("[mir_version:1] ", full) == Lines{});
    CHECK(problems("[mir_version:1] ", full + "r.LoopOp () -> () { }\nr.LoopOp () -> () { }\n") ==
          Lines{"3:1 MIR0401 LoopOp is empty", "4:1 MIR0401 LoopOp is empty"});
    CHECK(problems("", "r.LoopOp () -> () { }\n") == Lines{"2:1 MIR0401 warning LoopOp is empty"});
    CHECK(problems("[mir_version:1] ", "r.LoopOp () -> ()\n").size() == 1);
  }
}

}  // namespace dialect_test
