#include "plan/schedule.hpp"

#include <fmt/format.h>

#include <regex>

#include "../interp/module_text.hpp"
#include "mir/codes/runs.hpp"
#include "plan/memory.hpp"

namespace mir::test {

namespace {

constexpr const char* kVector = "tensor<[4], Float32, CPU>";

/// A module around graphs and a body, all values of type [4].
std::string module_of(const std::string& graphs, const std::string& body) {
  std::string text = "@main [mir_version:1] (%x:V) -> (%y:V) {\n" + graphs + body +
                     "\ncf.ReturnOp (%y:V) -> ()\n}\n";
  for (auto at = text.find(":V"); at != text.npos; at = text.find(":V", at + 1)) {
    text.replace(at + 1, 1, kVector);
  }
  return text;
}

std::string graph(const std::string& name, const std::string& body) {
  return "graph.SubGraphOp @" + name + " <CPU> { (%a:V) -> (%b:V) {\n" + body +
         "\ncf.ReturnOp (%b:V) -> ()\n} }\n";
}

std::vector<std::string> problems_of(const std::string& text, const std::string& entry = {}) {
  Text source(text);
  Diagnostics diagnostics;
  CHECK_FALSE(Schedule::build(*source.module, entry, diagnostics).has_value());
  return errors_of(diagnostics);
}

}  // namespace

TEST_CASE("calls are nested up to a depth") {
  const auto nested = [](std::size_t depth) {
    std::string graphs = graph("g0", "linalg.CPU.NegOp(%a:V) -> (%b:V)");
    for (std::size_t i = 1; i < depth; ++i) {
      graphs += graph(fmt::format("g{}", i),
                      fmt::format("graph.CallGraphOp @g{} (%a:V) -> (%b:V)", i - 1));
    }
    return module_of(graphs, fmt::format("graph.CallGraphOp @g{} (%x:V) -> (%y:V)", depth - 1));
  };
  const Text text(nested(Schedule::kMaxDepth));
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  CHECK(schedule->calls().size() == Schedule::kMaxDepth + 1);
  CHECK(problems_of(nested(Schedule::kMaxDepth + 1)) ==
        std::vector<std::string>{"4 calls are nested deeper than 1000 or more than 1048576"});
}

TEST_CASE("calls are inlined and each step releases what nothing reads any more") {
  Text text(module_of(graph("f",
                            "linalg.CPU.NegOp(%a:V) -> (%t:V)\n"
                            "linalg.CPU.AbsOp(%t:V) -> (%b:V)"),
                      "graph.CallGraphOp @f (%x:V) -> (%u:V)\n"
                      "graph.CallGraphOp @f (%u:V) -> (%y:V)"));
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  REQUIRE(schedule->steps().size() == 4);
  CHECK(schedule->calls().size() == 3);
  CHECK(schedule->inputs().size() == 1);
  REQUIRE(schedule->outputs().size() == 1);
  CHECK(schedule->outputs()[0] == schedule->steps()[3].first_result);
  // A chain: every step reads what the one before it made and is its last reader.
  ValueIndex previous = schedule->inputs()[0];
  for (const Step& step : schedule->steps()) {
    REQUIRE(schedule->operands(step).size() == 1);
    CHECK(schedule->operands(step)[0] == previous);
    REQUIRE(schedule->releases(step).size() == 1);
    CHECK(schedule->releases(step)[0] == previous);
    previous = step.first_result;
  }
  CHECK(schedule->values()[previous].last_use == ScheduledValue::kNever);
  const auto memory = estimate_memory(*schedule, {});
  REQUIRE(memory.has_value());
  CHECK(memory->inputs == 16);
  CHECK(memory->outputs == 16);
  // What the second call makes, and its argument, which the caller holds.
  CHECK(memory->activations == 48);
}

TEST_CASE("a result that nothing reads is released by the step that makes it") {
  Text text(module_of("", "linalg.CPU.NegOp(%x:V) -> (%dead:V)\nlinalg.CPU.AbsOp(%x:V) -> (%y:V)"));
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  const Step& first = schedule->steps()[0];
  REQUIRE(schedule->releases(first).size() == 1);
  CHECK(schedule->releases(first)[0] == first.first_result);
}

TEST_CASE("views cost no memory and keep their storage alive") {
  Text text(module_of("",
                      "linalg.CPU.NegOp(%x:V) -> (%n:V)\n"
                      "linalg.CPU.ContiguousOp(%n:V) -> (%c:V)\n"
                      "linalg.CPU.AbsOp(%n:V) -> (%k:V)\n"
                      "linalg.CPU.AddOp(%c:V, %k:V) -> (%y:V)"));
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  const ValueIndex n = schedule->steps()[0].first_result;
  CHECK(schedule->values()[schedule->steps()[1].first_result].storage == n);
  const auto memory = estimate_memory(*schedule, {});
  REQUIRE(memory.has_value());
  CHECK(memory->activations == 48);  // n (through c), k and y
}

TEST_CASE("a graph that calls itself is refused with the cycle") {
  const auto problems =
      problems_of(module_of(graph("f", "graph.CallGraphOp @g (%a:V) -> (%b:V)") +
                                graph("g", "graph.CallGraphOp @f (%a:V) -> (%b:V)"),
                            "graph.CallGraphOp @f (%x:V) -> (%y:V)"));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] == "413 graph calls itself: @f -> @g -> @f");
}

TEST_CASE("calls that multiply without end hit a limit") {
  std::string graphs = graph("f0", "linalg.CPU.NegOp(%a:V) -> (%b:V)");
  for (int i = 1; i < 40; ++i) {
    const std::string callee = std::to_string(i - 1);
    graphs += graph("f" + std::to_string(i), "graph.CallGraphOp @f" + callee +
                                                 " (%a:V) -> (%t:V)\n"
                                                 "graph.CallGraphOp @f" +
                                                 callee + " (%t:V) -> (%b:V)");
  }
  const auto problems = problems_of(module_of(graphs, "graph.CallGraphOp @f39 (%x:V) -> (%y:V)"));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].starts_with("4 "));
}

TEST_CASE("what cannot be executed is named once with the calls that lead there") {
  Text text(module_of(graph("f", "linalg.CPU.CustomizedOp [name:f] (%a:V) -> (%b:V)"),
                      "graph.CallGraphOp @f (%x:V) -> (%u:V)\n"
                      "graph.CallGraphOp @f (%u:V) -> (%y:V)"));
  Diagnostics diagnostics;
  CHECK_FALSE(Schedule::build(*text.module, "", diagnostics).has_value());
  CHECK(diagnostics.error_count() == 1);
  const auto problems = diagnostics.sorted();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].code == diag::kNotExecutable);
  CHECK(problems[0].at.known());
  REQUIRE(problems[0].notes.size() == 1);
  CHECK(problems[0].notes[0].message == "called here");
}

TEST_CASE("blocks that only foreign ops lead to, or that never return, are refused once") {
  const auto graph_of = [](std::string_view blocks) {
    return fmt::format("graph.SubGraphOp @f <CPU> {{ (%a:V) -> (%b:V) {{\n{}\n}} }}\n", blocks);
  };
  const auto problems = [&](std::string_view blocks) {
    const std::string text =
        module_of(graph_of(blocks),
                  "graph.CallGraphOp @f (%x:V) -> (%u:V)\ngraph.CallGraphOp @f (%u:V) -> (%y:V)");
    CHECK(problems_of(text, "f") == problems_of(text));
    return problems_of(text);
  };
  using Problems = std::vector<std::string>;
  const std::string exit = "\n^exit:\ncf.ReturnOp (%a:V) -> ()";
  CHECK(problems("dbg.HintsOp () -> () [^exit]" + exit) ==
        Problems{"810 nothing executes the branch 'dbg.HintsOp'"});
  CHECK(problems("cf.BranchOp () -> () [^exit(%a)]" + exit) ==
        Problems{"810 nothing executes the branch 'cf.BranchOp'"});
  CHECK(problems("cf.BranchOp () -> () [^side]\n^side:\ndbg.HintsOp () -> () [^exit]" + exit) ==
        Problems{"810 nothing executes the branch 'dbg.HintsOp'"});
  CHECK(problems("cf.BranchOp () -> () [^open]\n^open:\nlinalg.CPU.NegOp(%a:V) -> (%n:V)" + exit) ==
        Problems{"810 block '^open' ends without a terminator"});
  CHECK(problems("cf.BranchOp () -> () [^loop]\n^loop:\ncf.BranchOp () -> () [^loop]" + exit) ==
        Problems{"810 no way from 'cf.BranchOp' leaves its region"});
  const std::string either =
      "cf.CondBranchOp (%k:tensor<[1], Bool, CPU>[constant:[true]]) -> () [^exit, ^other]" + exit +
      "\n^other:\n";
  const Problems different{
      "810 the ways from 'cf.CondBranchOp' return values of different types; pass them to one "
      "block "
      "that returns"};
  CHECK(problems(either + "cf.ReturnOp (%a:V, %a:V) -> ()") == different);
  CHECK(problems(either + "cf.ReturnOp () -> ()") == different);
  CHECK(problems("cf.BranchOp () -> () [^exit]" + exit + "\ncf.BranchOp () -> () [^exit]") ==
        Problems{"810 'cf.ReturnOp' is not the last op of its block"});
  // A block that nothing reaches is not looked at.
  Text fine(module_of(graph_of("cf.ReturnOp (%a:V) -> ()\n^side:\ndbg.HintsOp () -> () [^side]"),
                      "graph.CallGraphOp @f (%x:V) -> (%y:V)"));
  Diagnostics diagnostics;
  CHECK(Schedule::build(*fine.module, "", diagnostics).has_value());
}

TEST_CASE("a graph without blocks is refused by its name") {
  const std::vector<std::string> expected = {"810 graph '@f' has no blocks"};
  const std::string text = module_of("graph.SubGraphOp @f <CPU> {\n}\n",
                                     "graph.CallGraphOp @f () -> ()\n"
                                     "linalg.CPU.NegOp(%x:V) -> (%y:V)");
  CHECK(problems_of(text) == expected);
  CHECK(problems_of(text, "f") == expected);
}

TEST_CASE("graphs, parameters and values that do not exist are reported") {
  CHECK(problems_of(module_of("", "graph.CallGraphOp @none (%x:V) -> (%y:V)"))[0] ==
        "411 no graph is named '@none'");
  CHECK(problems_of(module_of("", "linalg.CPU.NegOp(%x:V) -> (%y:V)"), "none")[0] ==
        "823 module 'main' has no graph '@none'");
  CHECK(problems_of(module_of("", "linalg.CPU.AddOp(%x:V, %w:V[@w]) -> (%y:V)"))[0] ==
        "415 no parameter '@w' is registered");
  CHECK(problems_of(module_of(graph("f", "linalg.CPU.NegOp(%a:V) -> (%b:V)"),
                              "graph.CallGraphOp @f () -> (%y:V)"))[0] ==
        "412 call of '@f' has 0 operands, the graph takes 1");
  CHECK(problems_of("@main () -> () {\nlinalg.CPU.NegOp(%x:tensor<[4], Float32, CPU>) -> "
                    "(%y:tensor<[4], Float32, CPU>)\n}\n")[0]
            .starts_with("317 "));
}

TEST_CASE("integers that index are bounded by what they index") {
  const std::string ids = "tensor<[2], Int32, CPU>", table = "tensor<[7, 4], Float32, CPU>";
  Text text("@main [mir_version:1] (%i:" + ids + ", %j:" + ids + ", %t:" + table +
            ") -> (%y:tensor<[2, 4], Float32, CPU>) {\n"
            "linalg.CPU.CastTypeOp [dtype:Int64] (%i:" +
            ids +
            ") -> (%l:tensor<[2], Int64, CPU>)\n"
            "linalg.CPU.GatherOp [dim:0] (%t:" +
            table +
            ", %l:tensor<[2], Int64, CPU>) -> "
            "(%y:tensor<[2, 4], Float32, CPU>)\n"
            "linalg.CPU.NegOp (%j:" +
            ids + ") -> (%k:" + ids +
            ")\n"
            "cf.ReturnOp (%y:tensor<[2, 4], Float32, CPU>) -> ()\n}\n");
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  const auto bounds = index_bounds(*schedule, {});
  CHECK(bounds[schedule->inputs()[0]] == 7);
  CHECK_FALSE(bounds[schedule->inputs()[1]].has_value());
}

/// The bounds of the inputs of a module, "-" for none. `f[2, 3]` and `i[4]` are types of inputs,
/// `j[4]` is Int64.
std::string bounds_of_inputs(const std::string& inputs, const std::string& ops,
                             const std::string& graphs = {}) {
  std::string all = "@main [mir_version:1] (" + inputs + ") -> (%y:f[2, 4]) {\n" + graphs + ops +
                    "cf.ReturnOp (%y) -> ()\n}\n";
  for (const auto& [letter, dtype] : {std::pair("f", "Float32"), {"i", "Int32"}, {"j", "Int64"}}) {
    all = std::regex_replace(all, std::regex(":" + std::string(letter) + R"(\[([^\]]*)\])"),
                             ":tensor<[$1], " + std::string(dtype) + ", CPU>");
  }
  CAPTURE(all);
  Text text(all);
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  const auto errors = errors_of(diagnostics);
  REQUIRE_MESSAGE(schedule.has_value(), (errors.empty() ? "" : errors.front()));
  DimBindings dims;
  dims.bind(text.context.intern("S"), 6);
  const auto bounds = index_bounds(*schedule, dims);
  std::string found;
  for (const ValueIndex input : schedule->inputs()) {
    found += (found.empty() ? "" : " ") + (bounds[input] ? std::to_string(*bounds[input]) : "-");
  }
  return found;
}

TEST_CASE("each op bounds the operands that it takes for indices, by the dimension that it means") {
  const auto gathered = [](const std::string& attributes) {
    return bounds_of_inputs("%t:f[7, 4], %k:i[2, 4]",
                            "linalg.CPU.GatherOp " + attributes + " (%t, %k) -> (%y:f[2, 4])\n");
  };
  CHECK(gathered("[dim:0]") == "- 7");
  CHECK(gathered("[dim:1]") == "- 4");
  CHECK(gathered("[dim:-1]") == "- 4");
  CHECK(gathered("[dim:-2]") == "- 7");
  CHECK(gathered("[dim:2]") == "- -");
  CHECK(gathered("[dim:-3]") == "- -");
  CHECK(gathered("") == "- -");
  CHECK(bounds_of_inputs("%t:f[2, 4], %k:i[2, 4], %u:f[2, 4]",
                         "linalg.CPU.ScatterOp [dim:0] (%t, %k, %u) -> (%y:f[2, 4])\n") == "- 2 -");
  const auto indexed = [](const std::string& indices) {
    return bounds_of_inputs(
        "%t:f[7, 4, $S], %k:i[2], %l:i[2]",
        "linalg.CPU.IndexOp [indices:" + indices + "] (%t, %k, %l) -> (%y:f[2, 4])\n");
  };
  CHECK(indexed("[1, {}, {}]") == "- 7 -");
  CHECK(indexed("[1, 2]") == "- 7 4");
  CHECK(indexed("[2, {}, 1]") == "- 6 7");
  CHECK(indexed("[1, {}, 1]") == "- 6 -");
  CHECK(indexed("[{}, 1]") == "- 4 -");
  CHECK(indexed("[0, 2]") == "- - 4");
  CHECK(indexed("[3, -1, 1]") == "- 6 -");
  CHECK(bounds_of_inputs("%q:f[1, 2, 2, 1], %k:f[1, 9, 2, 1], %v:f[1, 9, 2, 1], %p:i[3]",
                         "linalg.CPU.PagedAttnOp (%q, %k, %v, %p) -> (%y:f[2, 4])\n") == "- - - 9");
  CHECK(bounds_of_inputs("%q:f[2, 2, 1], %k:i[3], %v:i[3], %a:f[9, 2, 1], %b:f[8, 2, 1]",
                         "linalg.CPU.RadixAttnRelaxOp (%q, %k, %v, %a, %b) -> (%y:f[2, 4])\n") ==
        "- 9 8 - -");
}

TEST_CASE("a vocabulary bounds indices as it is stated, or by the table that is registered") {
  const std::string graphs =
      "graph.SubGraphOp @init <CPU> {\n() -> () {\ntensor.CPU.register () -> "
      "(%w:f[11, 4][@e.weight])[symbol:e.weight]\n}\n}\n";
  const auto embedded = [&](const std::string& attributes) {
    return bounds_of_inputs(
        "%k:i[2]", "linalg.CPU.EmbeddingOp <name=\"e\"> " + attributes + " (%k) -> (%y:f[2, 4])\n",
        graphs);
  };
  CHECK(embedded("[vocab_size:5, hidden_size:4]") == "5");
  CHECK(embedded("[hidden_size:4]") == "11");
}

TEST_CASE("the least bound of all uses holds, through what only moves and converts indices") {
  const std::string ends =
      "linalg.CPU.GatherOp [dim:0] (%t, %a) -> (%b:f[2, 4])\n"
      "linalg.CPU.GatherOp [dim:1] (%b, %k) -> (%y:f[2, 4])\n";
  CHECK(bounds_of_inputs("%t:f[7, 4], %k:i[2, 4]",
                         "linalg.CPU.CastTypeOp [dtype:Int64] (%k) -> (%a:j[2, 4])\n" + ends) ==
        "- 4");
  CHECK(bounds_of_inputs("%t:f[3, 4], %k:i[2, 4]",
                         "linalg.CPU.CloneOp (%k) -> (%a:i[2, 4])\n" + ends) == "- 3");
  CHECK(bounds_of_inputs("%t:f[3, 4], %k:i[2, 4]",
                         "linalg.CPU.NegOp (%k) -> (%a:i[2, 4])\n" + ends) == "- 4");
}

TEST_CASE("sizes depend on the values of symbols") {
  Text text(kAttention);
  Diagnostics diagnostics;
  const auto schedule = Schedule::build(*text.module, "", diagnostics);
  REQUIRE(schedule.has_value());
  CHECK_FALSE(estimate_memory(*schedule, {}).has_value());
  DimBindings dims;
  dims.bind(text.context.intern("S"), 2);
  dims.bind(text.context.intern("past"), 3);
  const auto memory = estimate_memory(*schedule, dims);
  REQUIRE(memory.has_value());
  CHECK(memory->parameters == (16 + 8 + 2) * 4);
  CHECK(memory->constants == 4);
  CHECK(memory->caches == 2 * 5 * 2 * 4);
}

}  // namespace mir::test
