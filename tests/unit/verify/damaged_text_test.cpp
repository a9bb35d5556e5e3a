// A mistake hides nothing elsewhere: errors of syntax beside errors of meaning.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/verify.hpp"
#include "syntax/damage.hpp"

using namespace mir;

namespace {

using ErrorLines = std::vector<std::string>;

/// All errors of a text as `line MIRnnnn`, or its warnings.
ErrorLines reported(std::string text, Severity severity) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile& file = *context.sources().add("test.mir", std::move(text));
  Diagnostics diagnostics(0);
  const std::vector<Module*> modules = read_modules(file, context, diagnostics);
  if (diagnostics.has_errors()) {
    verify_unsound(modules, diagnostics);
  } else {
    for (const Module* module : modules) verify(*module, diagnostics);
  }
  ErrorLines lines;
  for (const Diagnostic& each : diagnostics.sorted()) {
    if (each.severity != severity) continue;
    lines.push_back(std::to_string(file.line_column(each.at.begin).line) + " " +
                    spelling(each.code));
  }
  return lines;
}

ErrorLines errors_of(std::string text) {
  return reported(std::move(text), Severity::kError);
}
ErrorLines findings_of(std::string text) {
  return reported(std::move(text), Severity::kWarning);
}

const std::string kTyped = ":tensor<[2, 4], Float32, CPU>";

/// One op for each line of a graph, from line 4 on, around which all is well.
std::string damaged_graph(const std::vector<std::string>& ops) {
  std::string text = "@main [mir_version:1] (%in" + kTyped + ") -> (%out" + kTyped +
                     ") {\n"
                     "  graph.SubGraphOp @g <CPU> {\n"
                     "    (%a" +
                     kTyped + ") -> (%r" + kTyped + ") {\n";
  for (const std::string& op : ops) text += "      " + op + "\n";
  return text + "      linalg.CPU.ReLUOp (%a) -> (%r" + kTyped +
         ")\n"
         "      cf.ReturnOp (%r) -> ()\n"
         "    }\n"
         "  }\n"
         "  graph.CallGraphOp @g (%in) -> (%out" +
         kTyped +
         ")\n"
         "  cf.ReturnOp (%out) -> ()\n"
         "}\n";
}

struct PlantedMistake {
  std::string op;
  std::string code;
};

const PlantedMistake kSyntax[] = {
    {"linalg.CPU.ReLUOp (%a -> (%s" + kTyped + ")", "MIR0201"},
    {"linalg.CPU.ReLUOp (%a) (%s" + kTyped + ")", "MIR0201"},
    {"linalg.CPU.SoftmaxOp (%a) -> (%s" + kTyped + ")[axis=1]", "MIR0103"},
    {"words that are no op", "MIR0203"},
    {"linalg.CPU.ReLUOp (%a) -> (%s:tensor<[2, 4, Float32, CPU>)", "MIR0103"},
    {"linalg.CPU.ReLUOp (%a) -> (%s" + kTyped + ") \"text\"", "MIR0103"},
    {"addr:0x1 word", "MIR0203"},
};

const PlantedMistake kMeaning[] = {
    {"linalg.CPU.MullOp (%a, %a) -> (%m" + kTyped + ")", "MIR0400"},
    {"linalg.CPU.ReLUOp (%nothing) -> (%m" + kTyped + ")", "MIR0302"},
    {"linalg.CPU.ReLUOp (%a) -> (%m:tensor<[2, 5], Float32, CPU>)", "MIR0410"},
    {"linalg.CPU.AddOp (%a) -> (%m" + kTyped + ")", "MIR0401"},
    {"linalg.CPU.SoftmaxOp (%a) -> (%m" + kTyped + ")[axs:1]", "MIR0408"},
    {"linalg.CPU.SoftmaxOp (%a) -> (%m" + kTyped + ")[axis:7]", ""},
    {"graph.CallGraphOp @none (%a) -> (%m" + kTyped + ")", "MIR0411"},
};

}  // namespace

TEST_SUITE("damaged text") {
  TEST_CASE("an error of syntax hides no error of meaning, above or below it") {
    for (const PlantedMistake& syntax : kSyntax) {
      CAPTURE(syntax.op);
      CHECK(errors_of(damaged_graph({syntax.op})) == ErrorLines{"4 " + syntax.code});
      for (const PlantedMistake& meaning : kMeaning) {
        CAPTURE(meaning.op);
        const ErrorLines alone = errors_of(damaged_graph({meaning.op}));
        REQUIRE(!alone.empty());
        if (!meaning.code.empty()) CHECK(alone.front() == "4 " + meaning.code);
        const ErrorLines below = errors_of(damaged_graph({syntax.op, meaning.op}));
        CHECK(below.size() == alone.size() + 1);
        CHECK(below.front() == "4 " + syntax.code);
        const ErrorLines above = errors_of(damaged_graph({meaning.op, syntax.op}));
        CHECK(above.size() == alone.size() + 1);
        CHECK(above.back() == "5 " + syntax.code);
        CHECK(above.front() == alone.front());
      }
    }
  }

  TEST_CASE("a block below an op that cannot be read keeps its name") {
    const auto around = [](const std::vector<std::string>& ops) {
      std::vector<std::string> all = {"dbg.HintsOp () -> () [^next]"};
      all.insert(all.end(), ops.begin(), ops.end());
      all.push_back("^next:");
      return errors_of(damaged_graph(all));
    };
    CHECK(around({}) == ErrorLines{});
    for (const PlantedMistake& syntax : kSyntax) {
      CAPTURE(syntax.op);
      CHECK(around({syntax.op}) == ErrorLines{"5 " + syntax.code});
    }
  }

  TEST_CASE("what an op that cannot be read may define is not undefined") {
    const std::string user = "linalg.CPU.ReLUOp (%s" + kTyped + ") -> (%t" + kTyped + ")";
    for (const PlantedMistake& syntax : kSyntax) {
      if (syntax.op.find("%s") == std::string::npos) continue;
      CAPTURE(syntax.op);
      CHECK(errors_of(damaged_graph({syntax.op, user})) == ErrorLines{"4 " + syntax.code});
      CHECK(errors_of(damaged_graph({user, syntax.op})) == ErrorLines{"5 " + syntax.code});
    }
  }

  TEST_CASE("a result type is not missed of an op that is wrong by itself") {
    for (const PlantedMistake& meaning : kMeaning) {
      if (meaning.code.empty()) continue;
      std::string op = meaning.op;
      const auto typed = op.find("(%m" + kTyped);
      if (typed == op.npos) continue;
      op.erase(typed + 3, kTyped.size());
      CAPTURE(op);
      CHECK(errors_of(damaged_graph({op})) == ErrorLines{"4 " + meaning.code});
    }
  }

  TEST_CASE("a head that cannot be read hides neither its body nor its symbol") {
    std::string text = damaged_graph({kMeaning[0].op});
    text.replace(text.find("<CPU>"), 5, "<CPU");
    CHECK(errors_of(text) == ErrorLines{"2 MIR0106", "4 MIR0400"});
    text = damaged_graph({kMeaning[0].op});
    text.replace(text.find("(%in"), 1, "");
    CHECK(errors_of(text) == ErrorLines{"1 MIR0201", "4 MIR0400"});
  }

  TEST_CASE("bounds of a loop are checked where the type of the first is not known") {
    const std::string loop =
        "cf.ForOp (%no, %a, %n:tensor<[1], Int32, CPU>[constant:[1]], %a) -> (%s" + kTyped +
        ") { (%i:tensor<[1], Int32, CPU>, %b" + kTyped + ") -> (%b" + kTyped +
        ") { cf.YieldOp (%b) -> () } }";
    CHECK(errors_of(damaged_graph({loop})) == ErrorLines{"4 MIR0302"});
  }

  TEST_CASE("a line that cannot be read hides no finding of a dump elsewhere") {
    const auto dump = [](const std::string& op) {
      std::string text =
          "@main () -> () {\n"
          "  graph.SubGraphOp @g <CPU> {\n"
          "    (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n";
      for (const std::string& each :
           {std::string("linalg.CPU.SiLUOp(%0:tensor<[2], Float32, CPU>) -> "
                        "(%0:tensor<[2], Float32, CPU>)"),
            op,
            std::string("linalg.CPU.SiLUOp(%0:tensor<[2], Float32, CPU>) -> "
                        "(%1:tensor<[3], Float32, CPU>)")}) {
        text += "      " + each + "\n";
      }
      return text + "      cf.ReturnOp (%1:tensor<[3], Float32, CPU>) -> ()\n    }\n  }\n}\n";
    };
    CHECK(findings_of(dump("// nothing")) == ErrorLines{"4 MIR0470", "6 MIR0410"});
    for (const char* op : {"linalg.CPU.NegOp(%7", "words", "x.y (%7", "linalg.CPU.NegOp(%7) ->"}) {
      CAPTURE(std::string(op));
      CHECK(findings_of(dump(op)) == ErrorLines{"4 MIR0470", "6 MIR0410"});
    }
  }

  TEST_CASE("errors of a sound module beside one that cannot be read are all reported") {
    const std::string unused =
        "@other () -> () {\n  graph.SubGraphOp @f <CPU> {\n    () -> () {\n    }\n  }\n"
        "  graph.SubGraphOp @g <CPU> {\n    () -> () {\n    }\n  }\n"
        "  graph.CallGraphOp @f () -> ()\n}\n";
    CHECK(findings_of("@a () -> () {\n}\n" + unused) == ErrorLines{"8 MIR0430"});
    CHECK(findings_of("@a () -> () {\n words (\n}\n" + unused) == ErrorLines{"9 MIR0430"});
  }

  TEST_CASE("a body that is not closed is checked") {
    const std::string text = damaged_graph({kMeaning[0].op});
    for (std::size_t lines = 4; lines < 10; ++lines) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < lines; ++i) end = text.find('\n', end) + 1;
      CAPTURE(lines);
      const ErrorLines found = errors_of(text.substr(0, end));
      REQUIRE(found.size() >= 2);
      CHECK(found.front() == "4 MIR0400");
      CHECK(found.back().ends_with("MIR0201"));
    }
  }

  TEST_CASE("a brace that layout shows to be missing or too many moves no op") {
    const std::string dump =
        "@main () -> () {\n"
        "    graph.SubGraphOp @a <CPU> {\n"
        "        (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) {\n"
        "            linalg.CPU.AddOp(%0:tensor<[3], Float32, CPU>, %0:tensor<[2], Float32, CPU>) "
        "-> "
        "(%1:tensor<[2], Float32, CPU>)\n"
        "            cf.ReturnOp (%1:tensor<[2], Float32, CPU>) -> ()\n"
        "        }\n    }\n";
    const ErrorLines whole = findings_of(dump + "}\n");
    CHECK(whole == ErrorLines{"4 MIR0500", "4 MIR0476"});
    CHECK(findings_of(dump) == whole);
    CHECK(findings_of(dump + "    // end }\n\n") == whole);
    CHECK(errors_of(dump) == ErrorLines{"7 MIR0201"});
    for (const char* stray : {"}", "    }"}) {
      std::string text = dump + "}\n";
      text.insert(text.find('\n') + 1, std::string(stray) + '\n');
      CHECK(findings_of(text) == ErrorLines{"5 MIR0500", "5 MIR0476"});
    }
    for (const char* head : {" {\n        (", " {\n            linalg"}) {
      std::string headless = dump + "}\n";
      headless.erase(headless.find(head), 2);
      CHECK(findings_of(headless) == whole);
      CHECK(errors_of(headless).size() == 1);
    }
    std::string open = dump + "}\n";
    open.erase(open.rfind("    }\n}"), 6);
    CHECK(findings_of(open) == whole);
    CHECK(errors_of(open) == ErrorLines{"6 MIR0207"});
    // Another brace may be the one that is missing.
    std::string shifted = dump;
    shifted.replace(shifted.rfind("        }"), 9, "    }");
    CHECK(findings_of(shifted) == ErrorLines{"4 MIR0500"});
  }

  TEST_CASE("a dictionary without one of its braces is one error") {
    const auto with = [](const std::string& attributes) {
      return errors_of(
          damaged_graph({"linalg.CPU.GenericOp [" + attributes + "] (%a) -> (%m" + kTyped + ")"}));
    };
    const std::string sizes = "sizes:{n:2, m:3}", loops = "loops:{i:2, j:4}";
    for (const std::string& list : {loops + ", " + sizes, sizes + ", " + loops}) {
      for (std::size_t at = 0; at < list.size(); ++at) {
        if (list[at] != '{' && list[at] != '}') continue;
        std::string damaged = list;
        damaged.erase(at, 1);
        CAPTURE(damaged);
        CHECK(with(damaged).size() == 1);
      }
    }
    // A text that only lacks its quotes hides nothing.
    CHECK(with("loops:a b, axs:1, " + sizes).size() > 1);
  }

  TEST_CASE("braces close at the indents of their lines") {
    CHECK(closes_at_indents(""));
    CHECK(closes_at_indents("a {\n  b {c:{}} {\n  }\n}\n"));
    CHECK(closes_at_indents("a {\n  b {\n  }\n// }\n"));
    CHECK(closes_at_indents("a \"{\" {\n}"));
    CHECK_FALSE(closes_at_indents("a {\n  b {\n}\n"));
    CHECK_FALSE(closes_at_indents("a {\n}\n}\n"));
    CHECK_FALSE(closes_at_indents("a\n{\n}\n"));
    CHECK(closes_at_indents("a {\n  }\n  b {\n  }\n}\n", 6));
    CHECK(closes_at_indents("  a {b:{c:{}}, d:{}} {\n    e {f:{}} {\n    }\n  }\n"));
    CHECK_FALSE(closes_at_indents("  a {b:{c:{}}, d:{}} {\n }\n"));
    // The time of a long line grows with its length.
    std::string long_line = "a ";
    for (int i = 0; i < 400000; ++i) long_line += "{}";
    CHECK(closes_at_indents(long_line));
  }

  TEST_CASE("the tree of a text that is damaged at any byte has its tokens in order") {
    const std::string text = damaged_graph({kSyntax[0].op, kMeaning[0].op});
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const std::string_view put : {"", "{", "}", "\"", ")", "@", "\x1b"}) {
        std::string damaged = text;
        damaged.replace(at, 1, put);
        SourceManager sources;
        const SourceFile& file = *sources.add("test.mir", damaged);
        Diagnostics diagnostics(0);
        const SyntaxTree tree = parse_damaged(file, diagnostics);
        SourcePos end = file.base();
        for (const Unit& unit : tree.units()) {
          for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) {
            REQUIRE(unit.span(i).begin >= end);
            end = unit.span(i).end;
          }
        }
        REQUIRE(end <= file.base() + file.size());
        const ErrorLines found = errors_of(damaged);
        REQUIRE(found.size() < 20);
      }
    }
  }
}
