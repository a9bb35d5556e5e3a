// Types that a text leaves out come back when it is read.
#include "text/type_mentions.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "../syntax/corpus.hpp"
#include "module_generator.hpp"
#include "syntax/token_stream.hpp"

using namespace mir;
using mir::test::corpus;
using mir::test::GeneratorOptions;
using mir::test::Isomorphism;
using mir::test::Reading;

namespace type_mentions_test {

namespace {

using Rewrite = void (*)(TokenStream&, const SourceFile&, const std::vector<TypeMention>&);

std::string rewritten(Rewrite rewrite, std::string text) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", std::move(text));
  Diagnostics diagnostics;
  const auto tree = parse(*file, diagnostics);
  REQUIRE(tree);
  const MentionedTypes found = type_mentions(*tree, context, diagnostics);
  TokenStream stream(*tree);
  rewrite(stream, *file, found.mentions);
  for (const std::string& line : mir::test::lines_of(diagnostics, context)) MESSAGE(line);
  REQUIRE(!diagnostics.has_errors());
  return stream.print();
}

std::string shortened(std::string text) {
  return rewritten(leave_types_out, std::move(text));
}
std::string full(std::string text) {
  return rewritten(write_types, std::move(text));
}

/// A portable module around some ops on `%x`.
std::string module_of(const std::string& ops) {
  return "@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32, "
         "CPU>) {\n" +
         ops + "    cf.ReturnOp (%y) -> ()\n}\n";
}

/// Without types and with all of them, a text means the same modules. Returns both.
std::pair<std::string, std::string> check_meaning(const std::string& text) {
  const Reading first(text);
  REQUIRE(first.errors() == std::vector<std::string>{});
  std::string brief = shortened(text);
  std::string typed = full(brief);
  for (const std::string& each : {brief, typed}) {
    const Reading second(each);
    REQUIRE(second.errors() == std::vector<std::string>{});
    REQUIRE(second.modules.size() == first.modules.size());
    for (std::size_t i = 0; i < first.modules.size(); ++i) {
      CHECK(Isomorphism(*first.modules[i], *second.modules[i]).difference() == "");
    }
  }
  return {std::move(brief), std::move(typed)};
}

/// Also: both rewrites are idempotent and undo each other. Comments inside types stay, so `text`
/// has none.
void check_round_trip(const std::string& text) {
  const auto [brief, typed] = check_meaning(text);
  CHECK(shortened(brief) == brief);
  CHECK(full(typed) == typed);
  CHECK(full(text) == typed);
  CHECK(shortened(typed) == brief);
}

}  // namespace

TEST_SUITE("types left out") {
  TEST_CASE("operands and results lose the types that inference finds") {
    const std::string whole = module_of(
        "    linalg.CPU.SiLUOp(%x:tensor<[2, 3], Float32, CPU>) -> (%0:tensor<[2, 3], Float32, "
        "CPU>)\n"
        "    linalg.CPU.AddOp(%0:tensor<[2, 3], Float32, CPU>, %x:tensor<[2, 3], Float32, CPU>) -> "
        "(%y:tensor<[2, 3], Float32, CPU>)\n");
    const std::string brief = module_of(
        "    linalg.CPU.SiLUOp(%x) -> (%0)\n"
        "    linalg.CPU.AddOp(%0, %x) -> (%y)\n");
    CHECK(shortened(whole) == brief);
    CHECK(shortened(brief) == brief);
    check_round_trip(whole);
  }

  TEST_CASE(
      "a result whose type no rule finds keeps it, and so does the first mention of a constant") {
    const std::string text = module_of(
        "    my.CPU.UnknownOp (%x) -> (%0:tensor<[2, 3], Float32, CPU>)\n"
        "    linalg.CPU.MulOp(%0, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%1)\n"
        "    linalg.CPU.MulOp(%1, %c:tensor<[1], Float32, CPU>) -> (%y)\n");
    const std::string brief = shortened(text);
    CHECK(brief.find("(%x) -> (%0:tensor<[2, 3], Float32, CPU>)") != brief.npos);
    CHECK(brief.find("%c:tensor<[1], Float32, CPU>[constant:[0.5]]") != brief.npos);
    CHECK(brief.find("MulOp(%1, %c) -> (%y)") != brief.npos);
    check_round_trip(text);
  }

  TEST_CASE("a result type that differs from the rule's stays") {
    const std::string text =
        "@main () -> () {\n"
        "    linalg.CPU.SiLUOp(%3:tensor<[2], Float32, CPU>) -> (%3:tensor<[4], Float32, CPU>)\n"
        "    linalg.CPU.SiLUOp(%3:tensor<[2], Float32, CPU>) -> (%3:tensor<[4], Float32, CPU>)\n"
        "}\n";
    const std::string brief = shortened(text);
    CHECK(brief.find("SiLUOp(%3:tensor<[2], Float32, CPU>) -> (%3:tensor<[4]") != brief.npos);
    check_round_trip(text);
  }

  TEST_CASE("a type in any spacing goes, comments inside it and encodings of types included") {
    const std::string text = module_of(
        "    linalg.CPU.SiLUOp(%x : tensor < [2, 3],  // rows\n"
        "        Float32, CPU >) -> (%0)\n"
        "    my.CPU.TileOp (%0) -> (%1:tensor<[2, 3], Float32, CPU, #tt.layout<tile = 32>>)\n"
        "    my.CPU.UntileOp (%1:tensor<[2, 3], Float32, CPU, #tt.layout<tile = 32>>) -> "
        "(%y:tensor<[2, 3], Float32, CPU>)\n");
    const std::string brief = shortened(text);
    CHECK(brief.find("SiLUOp(%x  // rows\n") != brief.npos);
    CHECK(brief.find("UntileOp(%1) ->") != brief.npos);
    check_meaning(text);
  }

  TEST_CASE("results of a call get the types of a graph below it, and so do their users") {
    const std::string graph =
        "    graph.SubGraphOp @f <CPU> {\n"
        "        (%a:tensor<[2, 3], Float32, CPU>) -> (%b:tensor<[3, 2], Float32, CPU>) {\n"
        "            linalg.CPU.TransposeOp [dim0:0, dim1:1] (%a) -> (%b)\n"
        "            cf.ReturnOp (%b) -> ()\n"
        "        }\n"
        "    }\n";
    const std::string whole = module_of(
        "    graph.CallGraphOp @f (%x:tensor<[2, 3], Float32, CPU>) -> (%0:tensor<[3, 2], Float32, "
        "CPU>)\n"
        "    linalg.CPU.SiLUOp(%0:tensor<[3, 2], Float32, CPU>) -> (%1:tensor<[3, 2], Float32, "
        "CPU>)\n"
        "    linalg.CPU.TransposeOp [dim0:0, dim1:1] (%1:tensor<[3, 2], Float32, CPU>) -> "
        "(%y:tensor<[2, 3], Float32, CPU>)\n" +
        graph);
    const std::string brief = shortened(whole);
    CHECK(brief.find("@f (%x) -> (%0)\n") != brief.npos);
    CHECK(brief.find("SiLUOp(%0) -> (%1)\n") != brief.npos);
    check_round_trip(whole);

    // Types that do not agree, a graph that is missing, and an op that does not fit.
    using Errors = std::vector<std::string>;
    CHECK(mir::test::errors(
              module_of("    graph.CallGraphOp @f (%x) -> (%0)\n"
                        "    linalg.CPU.SiLUOp(%0:tensor<[9], Float32, CPU>) -> (%y)\n" +
                        graph)) ==
          Errors{"3:23 MIR0309 value is used as tensor<[9], Float32, CPU>, defined as tensor<[3, "
                 "2], Float32, CPU>"});
    CHECK(mir::test::errors(module_of("    graph.CallGraphOp @g (%x) -> (%0)\n"
                                      "    linalg.CPU.SiLUOp(%0) -> (%y)\n" +
                                      graph)) ==
          Errors{"2:35 MIR0304 result needs a type: no rule infers it here"});
    CHECK(mir::test::errors(module_of("    graph.CallGraphOp @f (%x) -> (%0)\n"
                                      "    linalg.CPU.AddOp(%0, %x) -> (%y)\n" +
                                      graph))
              .size() == 1);
  }

  TEST_CASE("a name that needs its type keeps it") {
    const std::string text =
        "@main () -> () {\n"
        "    a.b(%a b-c:tensor<[1], F, D>) -> ()\n"
        "    a.b(%a b-c:tensor<[1], F, D>) -> ()\n"
        "}\n";
    CHECK(shortened(text) == text);
  }

  TEST_CASE("texts that do not resolve are reported") {
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* file =
        context.sources().add("test.mir", module_of("    linalg.CPU.SiLUOp(%z) -> (%y)\n"));
    Diagnostics diagnostics;
    const auto tree = parse(*file, diagnostics);
    REQUIRE(tree);
    CHECK(type_mentions(*tree, context, diagnostics).mentions.empty());
    CHECK(diagnostics.has_errors());
  }

  TEST_CASE("generated modules of each form come back") {
    using Form = GeneratorOptions::Form;
    std::size_t whole = 0, brief = 0;
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (const std::uint64_t seed : test::seeds_of(100)) {
        CAPTURE(seed);
        const std::string text =
            mir::test::generate_module({.seed = seed, .form = form, .graphs = 2, .ops = 8});
        check_round_trip(text);
        if (form != Form::kPortable) continue;
        whole += full(text).size();
        brief += shortened(text).size();
      }
    }
    CHECK(brief * 10 < whole * 8);
  }

  TEST_CASE("the dumps of the corpus come back") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (mir::test::is_ambiguous(path)) continue;
      std::ifstream in(path, std::ios::binary);
      check_meaning({std::istreambuf_iterator<char>(in), {}});
    }
  }
}

}  // namespace type_mentions_test
