#include "syntax/edit.hpp"

#include <doctest/doctest.h>

#include "corpus.hpp"
#include "formatted.hpp"
#include "support/file_io.hpp"

using namespace mir;
using mir::test::formatted;
using mir::test::Parsed;

namespace {

std::string rewritten(std::string text, const Rewrites& rewrites) {
  const Parsed parsed(std::move(text));
  if (!parsed.tree) return "error: " + parsed.errors;
  const auto result = rewrite(*parsed.tree, rewrites);
  return result ? *result : "error: " + result.error().message;
}

std::string module_with(const std::string& ops) {
  return "@main () -> () {\n" + ops + "\n}\n";
}

/// Checks that `ops` become `wanted`, and that doing it again changes nothing.
void check_ops(const Rewrites& rewrites, const std::string& ops, const std::string& wanted) {
  const std::string text = rewritten(module_with(ops), rewrites);
  CHECK(text == formatted(module_with(wanted)));
  CHECK(rewritten(text, rewrites) == text);
}

constexpr Rewrites kRenumber = {.renumber = true};
constexpr Rewrites kModernize = {.modernize = true};
constexpr Rewrites kAlias = {.alias_attributes = true};
constexpr Rewrites kExpand = {.expand_attributes = true};

}  // namespace

TEST_CASE("storage ids are numbered in order of first appearance wherever they are written") {
  check_ops(kRenumber,
            "prog.bind[type:0, program_uuid:58, input_pos:58]\n"
            "a.b(%7:tensor<[7], Float32, CPU>[@constant_9][symbol:constant_9]) -> (%58)\n"
            "prog.kernel_symbol[symbol:constant_7, n:7] a.b(%9, %x) -> ()",
            "prog.bind[type:0, program_uuid:0, input_pos:58]\n"
            "a.b(%1:tensor<[7], Float32, CPU>[@constant_2][symbol:constant_2]) -> (%0)\n"
            "prog.kernel_symbol[symbol:constant_1, n:7] a.b(%2, %x) -> ()");
}

TEST_CASE("storage ids start anew in each module and spec ids do not") {
  const std::string module = "a.b(%5[q:QuantSpec(Raw(type: X), uuid=8, solved=0)]) -> ()";
  const std::string text = rewritten(
      module_with("a.b(%7, %5[q:QuantSpec(Raw(type: X), uuid = 4)]) -> ()") + module_with(module),
      kRenumber);
  CHECK(text ==
        formatted(module_with("a.b(%0, %1[q:QuantSpec(Raw(type: X), uuid=0)]) -> ()") +
                  module_with("a.b(%0[q:QuantSpec(Raw(type: X), uuid=1, solved=0)]) -> ()")));
}

TEST_CASE("only a spec has a uuid that is numbered") {
  check_ops(kRenumber, "a.b [uuid:7, program:7] (%7) -> ()", "a.b [uuid:7, program:7] (%0) -> ()");
}

TEST_CASE("dumps equal up to ids become equal") {
  const auto dump = [](int a, int b) {
    const std::string x = std::to_string(a);
    const std::string y = std::to_string(b);
    return module_with("a.b(%" + x + ", %" + y + "[symbol:constant_" + y + "]) -> (%" + x + ")");
  };
  CHECK(rewritten(dump(3, 17), kRenumber) == rewritten(dump(17, 3), kRenumber));
  CHECK(rewritten(dump(3, 17), kRenumber) != rewritten(dump(3, 3), kRenumber));
}

TEST_CASE("older spellings of devices, types and operations become today's") {
  check_ops(
      kModernize,
      "linalg.kCPU.LLMEmbeddingTokenOp(%0:tensor<[1], kFp32, kCPU>)->(%1:tensor<[1,2], kInt64, "
      "kQNN>)",
      "linalg.CPU.EmbeddingOp(%0:tensor<[1], Float32, CPU>) -> (%1:tensor<[1, 2], Int64, QNN>)");
  check_ops(kModernize, "a.b(%0:tensor<[1], kUnknown, kMine>, %1:tensor<[1], Float32, CPU>) -> ()",
            "a.b(%0:tensor<[1], kUnknown, kMine>, %1:tensor<[1], Float32, CPU>) -> ()");
  check_ops(kModernize, "prog.exit // end", "prog.exit() -> ()  // end");
}

TEST_CASE("an op's name moves into angles unless a plug-in owns the op") {
  check_ops(kModernize, "linalg.CPU.LinearOp [name=\"a.b\"](%0) -> (%1)",
            "linalg.CPU.LinearOp <name=\"a.b\">(%0) -> (%1)");
  check_ops(kModernize, "linalg.CPU.MyOp [name=\"a.b\"](%0) -> (%1)",
            "linalg.CPU.MyOp [name=\"a.b\"](%0) -> (%1)");
}

TEST_CASE("a constant printed twice is printed once if it is the same") {
  check_ops(kModernize,
            "a.b(%0:tensor<[1], Float32, CPU>[constant: [0.5]][constant:[0.5]][symbol:x]) -> ()",
            "a.b(%0:tensor<[1], Float32, CPU>[constant:[0.5]][symbol:x]) -> ()");
  check_ops(kModernize, "a.b(%0[constant:[0.5]], %1[constant:[0.5]][constant:[1]]) -> ()",
            "a.b(%0[constant:[0.5]], %1[constant:[0.5]][constant:[1]]) -> ()");
}

TEST_CASE("a subgraph without a symbol attribute gets it") {
  const std::string body = "{ () -> () { } }";
  check_ops(kModernize, "graph.SubGraphOp @m.x <kCPU> " + body,
            "graph.SubGraphOp @m.x <CPU> [symbol:m.x] " + body);
  check_ops(kModernize, "graph.SubGraphOp @m <CPU> [a:1] " + body,
            "graph.SubGraphOp @m <CPU> [a:1, symbol:m] " + body);
  check_ops(kModernize, "graph.SubGraphOp @m <CPU> [] " + body,
            "graph.SubGraphOp @m <CPU> [symbol:m] " + body);
  check_ops(kModernize, "graph.SubGraphOp @m <CPU> [symbol:y] " + body,
            "graph.SubGraphOp @m <CPU> [symbol:y] " + body);
  check_ops(kModernize, "graph.SubGraphOp @\"a b\" <CPU> " + body,
            "graph.SubGraphOp @\"a b\" <CPU> [symbol:\"a b\"] " + body);
  check_ops(kModernize, "graph.SubGraphOp @a b <CPU> " + body,
            "graph.SubGraphOp @a b <CPU> [symbol:\"a b\"] " + body);
  check_ops(kModernize, "graph.SubGraphOp @a\\b c <CPU> " + body,
            "graph.SubGraphOp @a\\b c <CPU> [symbol:\"a\\\\b c\"] " + body);
  // Its attributes are behind its operands: what follows is no head.
  for (const std::string attributes : {"", " [a:1]"}) {
    const std::string op = "graph.SubGraphOp @m <CPU> () -> ()" + attributes + " " + body;
    check_ops(kModernize, op, op);
  }
  check_ops(kModernize, "graph.CallGraphOp @m <kCPU> () -> ()\na.Other @m " + body,
            "graph.CallGraphOp @m <CPU> () -> ()\na.Other @m " + body);
}

TEST_CASE("a spec of no kind is closed") {
  check_ops(kModernize,
            "a.b(%0[q:QuantSpec(None(, uuid=5, solved=0)][q:QuantSpec(None, uuid=6)]) -> ()",
            "a.b(%0[q:QuantSpec(None(), uuid=5, solved=0)][q:QuantSpec(None(), uuid=6)]) -> ()");
}

TEST_CASE("specs that repeat get a definition and expand back") {
  const std::string text =
      formatted("// head\n" + module_with("a.b(%0[q:QuantSpec(Raw(type: X), uuid=5)], "
                                          "%1[q:QuantSpec(Raw(type:X), uuid = 5)]) -> ()\n"
                                          "a.b[k:QuantAnnotation(i:QuantSpec(Raw(type: X), uuid=5, "
                                          "solved=0), o:QuantSpec(Raw(type: X), uuid=5, solved=0), "
                                          ")](%2[q:QuantSpec(Raw(type: Y), uuid=6)]) -> ()"));
  const std::string wanted =
      "// head\n#q_x_raw_5 = QuantSpec(Raw(type: X), uuid=5)\n#q_x_raw_5_2 = QuantSpec(Raw(type: "
      "X), uuid=5, "
      "solved=0)\n" +
      module_with(
          "    a.b(%0[q:#q_x_raw_5], %1[q:#q_x_raw_5]) -> ()\n"
          "    a.b [k:QuantAnnotation(i:#q_x_raw_5_2, o:#q_x_raw_5_2, )] (%2[q:QuantSpec(Raw(type: "
          "Y), uuid=6)]) "
          "-> ()");
  CHECK(rewritten(text, kAlias) == wanted);
  CHECK(rewritten(wanted, kExpand) == text);
}

TEST_CASE("a spec that is used once keeps its place, whatever others do") {
  const std::string once = "QuantSpec(Raw(type: X), uuid=3)",
                    twice = "QuantSpec(Raw(type: Y), uuid=4)";
  CHECK(rewritten(
            module_with("a.b(%0[q:" + once + "], %1[q:" + twice + "]) -> (%2[q:" + twice + "])"),
            kAlias) ==
        formatted("#q_y_raw_4 = " + twice + "\n" +
                  module_with("a.b(%0[q:" + once + "], %1[q:#q_y_raw_4]) -> (%2[q:#q_y_raw_4])")));
}

TEST_CASE("a new alias never takes a name that is in use") {
  const std::string text =
      "#q_x_raw_5 = [1]\n" +
      module_with(
          "    a.b(%0[q:QuantSpec(Raw(type: X), uuid=5)], %1[q:QuantSpec(Raw(type: "
          "X), uuid=5)], %2[q:#q_x_raw_5]) -> ()");
  CHECK(rewritten(text, kAlias) ==
        "#q_x_raw_5 = [1]\n#q_x_raw_5_2 = QuantSpec(Raw(type: X), uuid=5)\n" +
            module_with("    a.b(%0[q:#q_x_raw_5_2], %1[q:#q_x_raw_5_2], %2[q:#q_x_raw_5]) -> ()"));
}

TEST_CASE("aliases of aliases expand, others stay with their definitions") {
  CHECK(rewritten("#a = [1]  // one\n#b = [#a, #a]\n" + module_with("a.b[k:#b, l:#c](%0) -> ()") +
                      "#c = [2]",
                  kExpand) ==
        "// one\n" + module_with("    a.b [k:[[1], [1]], l:#c] (%0) -> ()") + "#c = [2]\n");
  CHECK(rewritten("#a = [1]\n#a = [2]\n" + module_with("a.b[k:#a](%0) -> ()"), kExpand) ==
        "#a = [1]\n#a = [2]\n" + module_with("    a.b [k:#a] (%0) -> ()"));
  CHECK(rewritten("#a = [#a]\n" + module_with("a.b[k:#a](%0) -> ()"), kExpand) ==
        "#a = [#a]\n" + module_with("    a.b [k:[#a]] (%0) -> ()"));
}

TEST_CASE("an alias stays where the grammar does not take the attribute itself") {
  const std::string text =
      "#a = [1]\n#b = QuantSpec(Raw(type: X), uuid=1)\n" +
      module_with("    a.b [k:QuantAnnotation(i:#a)] (%0:tensor<[1], X, Y, #b>) -> ()");
  CHECK(rewritten(text, kExpand) == text);
}

TEST_CASE("aliases that would expand without bound are refused") {
  std::string text = "#a0 = [1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string use = "#a" + std::to_string(i - 1);
    text += "#a" + std::to_string(i) + " = [" + use + ", " + use + "]\n";
  }
  CHECK(rewritten(text + module_with("a.b[k:#a29](%0) -> ()"), kExpand) ==
        "error: expanding the aliases adds more than 16777216 tokens");
}

TEST_CASE("comments keep their places in every rewrite") {
  const std::string text = formatted(std::string(test::kEveryConstruct));
  for (const Rewrites& rewrites : {kRenumber, kModernize, kAlias}) {
    const std::string result = rewritten(text, rewrites);
    for (const char* comment :
         {"// head comment\n#", "{  // trail\n", "            // inside\n", "}  // end\n",
          ",  // first\n", "  // third\n    // own\n", "}\n// between\n@", "}\n// tail\n"}) {
      CHECK_MESSAGE(result.find(comment) != result.npos, comment);
    }
  }
}

TEST_CASE("rewrites of a dump are stable, and naming specs is undone by expanding" *
          doctest::skip(test::corpus().empty())) {
  for (const std::string& path : test::corpus()) {
    CAPTURE(path);
    auto text = read_file(path, std::uint64_t{1} << 24);
    REQUIRE(text);
    const std::string plain = formatted(*text);
    if (plain.starts_with("error")) continue;
    const std::string aliased = rewritten(plain, kAlias);
    CHECK(aliased.size() <= plain.size() + 256);
    CHECK(rewritten(aliased, kExpand) == plain);
    for (const Rewrites& rewrites : {kRenumber, kModernize}) {
      const std::string once = rewritten(plain, rewrites);
      CHECK(rewritten(once, rewrites) == once);
    }
  }
}
