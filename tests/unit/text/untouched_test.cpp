// Printing what nobody touched as its author wrote it.
#include <fstream>
#include <iterator>
#include <random>

#include "../ir/isomorphic.hpp"
#include "../ir/random_module.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "../syntax/corpus.hpp"
#include "mir/format.hpp"
#include "mir/parse.hpp"
#include "mir/upstream.hpp"

using namespace mir;
using mir::test::find_op;
using mir::test::Isomorphism;
using mir::test::ops_of;
using mir::test::RandomModule;
using mir::test::Reading;

namespace untouched_test {

namespace {

/// A text with its tree and its modules.
struct Source {
  explicit Source(std::string text) {
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("source.mir", std::move(text));
    REQUIRE(file != nullptr);
    tree = parse(*file, diagnostics);
    modules = resolve(*tree, context, diagnostics);
    REQUIRE(mir::test::lines_of(diagnostics, context) == std::vector<std::string>{});
    REQUIRE_FALSE(modules.empty());
  }
  Module& module() { return *modules.front(); }
  std::string print() const { return mir::print(modules, *tree); }

  IRContext context;
  Diagnostics diagnostics;
  std::optional<SyntaxTree> tree;
  std::vector<Module*> modules;
};

constexpr std::string_view kText = R"(// A file's first words.
#scale = {"factor":2}
// About the module.
@main () -> () {  // opens
    // About a.b.
    // More about a.b.
    a.b [k:#scale, n:01] () -> (%0:tensor<[2], F, D>)  // after a.b
    a.c [
            // inside a.c
            k:'x' "two"] (%0) -> ()
    graph.SubGraphOp @f <notype> {
        (%0:tensor<[$b+$a], F, D>) -> (%0:tensor<[$b+$a], F, D>) {  // of f
            cf.ReturnOp (%0:tensor<[$b+$a], F, D>) -> ()
            // f's last words
        }  // after the inner brace
        // before the outer brace
    } loc(  "f.cpp" : 3 )
    cf.CondBranchOp (%0) -> () [^yes, ^no] {
    // About yes.
    ^yes:  // after yes
        a.d () -> ()
    // the block's end
    ^no(%2:tensor<[1], F, D>):
    }
    // The module's last words.
}
#late = "unused"
// The end.
)";

}  // namespace

TEST_SUITE("untouched") {
  TEST_CASE("a module nobody touched prints as the formatter prints its text") {
    Source source{std::string(kText)};
    CHECK(source.print() == format(*source.tree));
    CHECK(source.print() == test::Part{"#scale"});
    CHECK(print(source.module()) != test::Part{"#scale"});
  }

  TEST_CASE("every dump prints from IR with its source as the formatter prints it") {
    for (const std::string& path : mir::test::corpus()) {
      CAPTURE(path);
      if (mir::test::is_ambiguous(path)) continue;
      std::ifstream in(path, std::ios::binary);
      Source source(std::string(std::istreambuf_iterator<char>(in), {}));
      CHECK(source.print() == format(*source.tree));
    }
  }

  TEST_CASE("a changed op prints anew and keeps its comments; its neighbours keep their tokens") {
    Source source{std::string(kText)};
    Op* op = find_op(source.module().body(), "a.b");
    Rewriter(source.module())
        .set_attribute(*op, source.context.intern("n"), source.context.integer(7));
    const std::string text = source.print();
    CHECK(text.find("    // About a.b.\n    // More about a.b.\n"
                    "    a.b() -> (%0:tensor<[2], F, D>)[k:{\"factor\":2}, n:7]  // after a.b\n") !=
          std::string::npos);
    CHECK(text == test::Part{"// inside a.c\n"});
    CHECK(text == test::Part{"(%0) -> ()\n"});
    CHECK(text == test::Part{"[$b+$a]"});
  }

  TEST_CASE("comments inside a changed head move above it, those of its braces stay inside") {
    Source source{std::string(kText)};
    Rewriter(source.module())
        .set_path(*find_op(source.module().body(), "a.c"), source.context.intern("model.c"));
    Op* graph = find_op(source.module().body(), "graph.SubGraphOp");
    Rewriter(source.module()).set_symbol(*graph, source.context.intern("g"));
    const std::string text = source.print();
    CHECK(text.find("    // inside a.c\n    a.c <name=\"model.c\">(%0:tensor<[2], F, D>) -> ()[") !=
          std::string::npos);
    CHECK(text.find("graph.SubGraphOp @g <notype> {\n"
                    "        (%0:tensor<[$a+$b], F, D>) -> (%0:tensor<[$a+$b], F, D>) {  // of f\n"
                    "            cf.ReturnOp (%0:tensor<[$b+$a], F, D>) -> ()\n"
                    "            // f's last words\n"
                    "            // after the inner brace\n"
                    "            // before the outer brace\n"
                    "        }\n"
                    "    } loc(\"f.cpp\":3)\n") != std::string::npos);
  }

  TEST_CASE("a removed op takes its comments along, a new op has none") {
    Source source{std::string(kText)};
    Op* op = find_op(source.module().body(), "a.c");
    IRWriter writer(source.module());
    writer.createAtPos(op, IRWriter::BEFORE, {.name = source.context.op_name("a.new")});
    writer.removeOp(op);
    const std::string text = source.print();
    CHECK(text != test::Part{"inside a.c"});
    CHECK(text == test::Part{"// after a.b\n    a.new() -> ()\n    graph.SubGraphOp"});
  }

  TEST_CASE("an op made where another comes from has none of its tokens and comments") {
    Source source{std::string(kText)};
    Op* op = find_op(source.module().body(), "a.b");
    IRWriter(source.module())
        .createAtPos(op, IRWriter::AFTER,
                     {.name = source.context.op_name("a.new"), .location = op->location()});
    const std::string text = source.print();
    CHECK(text.find("// About a.b.") == text.rfind("// About a.b."));
    CHECK(text == test::Part{"// after a.b\n    a.new() -> ()\n    a.c"});
  }

  TEST_CASE("an op that is said to come from elsewhere prints as a new one") {
    Source source{std::string(kText)};
    Op* first = find_op(source.module().body(), "a.b");
    Rewriter(source.module())
        .set_location(*find_op(source.module().body(), "a.c"), first->location());
    const std::string text = source.print();
    CHECK(text.find("// after a.b\n    a.c(%0:tensor<[2], F, D>) -> ()[k:'x' \"two\"]\n") !=
          std::string::npos);
    CHECK(text.find("// About a.b.") == text.rfind("// About a.b."));
  }

  TEST_CASE("changes of a value reach every op that mentions it") {
    Source source(
        "@main () -> () {\n"
        "    a.b () -> (%0:tensor<[02], F, D>)  // b\n"
        "    a.c (%0:tensor<[02], F, D>) -> ()\n"
        "    a.d [k:01] () -> ()\n"
        "}\n");
    Op* op = find_op(source.module().body(), "a.b");
    SUBCASE("type") {
      Rewriter(source.module()).set_type(*op->result(), *source.context.parse_type("!a.t"));
    }
    SUBCASE("name") {
      Rewriter(source.module()).set_name(*op->result(), ValueName::number(9));
    }
    SUBCASE("symbol") {
      Rewriter(source.module()).set_symbol(*op->result(), source.context.intern("w"));
    }
    SUBCASE("attributes") {
      const NamedAttr attribute{source.context.intern("k"), source.context.integer(1)};
      Rewriter(source.module()).set_attributes(*op->result(), std::span(&attribute, 1));
    }
    const std::string text = source.print();
    CHECK(text != test::Part{"[02]"});
    CHECK(text == test::Part{"a.d [k:01]"});
    Reading again(text);
    CHECK(Isomorphism(source.module(), again.module()).difference() == "");
  }

  TEST_CASE("what a free value is stays said when the op that said it goes") {
    Source source(
        "@main [mir_version:1] () -> () {\n"
        "    tensor.CPU.free (%c:tensor<[1], Float32, CPU>[constant:[1]]) -> ()\n"
        "    tensor.CPU.free (%c) -> ()\n"
        "    tensor.CPU.free (%c) -> ()\n"
        "    cf.ReturnOp () -> ()\n"
        "}\n");
    CHECK(source.print() == format(*source.tree));
    IRWriter(source.module()).removeOp(source.module().body().entry()->front());
    Reading again(source.print());
    CHECK(Isomorphism(source.module(), again.module()).difference() == "");
  }

  TEST_CASE("what another value of the op says is not said of this one") {
    Source source(
        "@main () -> () {\n"
        "    tensor.CPU.free (%1:tensor<[1], Float32, CPU>[@a]) -> ()\n"
        "    my.Op (%1:tensor<[1], Float32, CPU>, %2:tensor<[1], Float32, CPU>[@b]) -> ()\n"
        "}\n");
    IRWriter(source.module()).removeOp(source.module().body().entry()->front());
    Reading again(source.print());
    CHECK(Isomorphism(source.module(), again.module()).difference() == "");
  }

  TEST_CASE("a module that is printed twice has its comments once") {
    Source source("// Once.\n@main () -> () {\n}\n");
    Module* const twice[] = {&source.module(), &source.module()};
    CHECK(mir::print(twice, *source.tree) ==
          "// Once.\n@main () -> () {\n\n}\n@main () -> () {\n\n}\n");
  }

  TEST_CASE("a module that changes its form prints anew") {
    Source source(
        "@main (%x:tensor<[2], Float32, CPU>) -> () {\n"
        "    a.b @two words (%x) -> ()\n"
        "}\n");
    Rewriter(source.module()).set_version(1);
    CHECK(source.print() == test::Part{"@\"two words\""});
  }

  TEST_CASE("modules of several texts and new ones print one after the other") {
    Source source("@a () -> () {\n    a.b [k:01] () -> ()\n}\n@b () -> () {\n}\n// end\n");
    Module& made = source.context.create_module("made");
    Rewriter(made).create_block(made.body());
    std::vector<Module*> list{source.modules[1], &made, source.modules[0]};
    CHECK(print(list, *source.tree) ==
          "@b () -> () {\n\n}\n@made () -> () {\n\n}\n@a () -> () {\n    a.b() -> ()[k:01]\n}\n"
          "// end\n");
  }

  TEST_CASE("random changes of random modules read back as what they made") {
    for (const bool portable : {false, true}) {
      for (const std::uint64_t seed : test::seeds_of(300)) {
        CAPTURE(portable);
        CAPTURE(seed);
        IRContext made_in;
        register_builtin_dialects(made_in);
        Source source(print(RandomModule(made_in, seed, portable).module()));
        CHECK(source.print() == format(*source.tree));
        std::mt19937_64 random(seed);
        Module& module = source.module();
        IRWriter(module).walk<OpView>([&](IRWriter& writer, OpView op) {
          const bool unused = std::all_of(op->results().begin(), op->results().end(),
                                          [](const Value& v) { return !v.has_uses(); });
          switch (random() % 12) {
            case 0:
              if (unused && op->next() != nullptr && !op->is(OpId::kTensorRegister)) {
                writer.removeOp(op.op());
              }
              break;
            case 1:
              writer.rewriter().set_attribute(*op.op(), source.context.intern("changed"),
                                              source.context.integer(1));
              break;
            case 2:
              if (op->operand_count() > 1)
                writer.rewriter().set_operand(*op.op(), 0, op->operand(1));
              break;
            case 3:
              if (op->result_count() != 0)
                writer.rewriter().set_name(*op->result(), module.fresh_name());
              break;
            case 4:
              writer.createAtPos(op.op(), IRWriter::BEFORE,
                                 {.name = source.context.op_name("a.made")});
              break;
            default:
              break;
          }
          return IRWriter::WalkResult::WALK_CONTINUE;
        });
        const std::string text = source.print();
        CAPTURE(text);
        Reading again(text);
        REQUIRE(again.errors() == std::vector<std::string>{});
        REQUIRE(Isomorphism(module, *again.modules.front()).difference() == "");
      }
    }
  }
}

}  // namespace untouched_test
