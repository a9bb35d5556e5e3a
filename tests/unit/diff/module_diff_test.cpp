// Modules compared op by op, and their normal form.
#include "diff/module_diff.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "../syntax/corpus.hpp"
#include "../upgrade/upgraded.hpp"
#include "diff/normal_form.hpp"
#include "mir/module.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// `kind graph: op: field: before -> after` of each difference between the bodies of two modules.
Lines differences(const std::string& before, const std::string& after,
                  const std::string& head = "@main () -> () {\n") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics(0);
  const auto read = [&](const std::string& name, const std::string& ops) {
    return read_modules(*context.sources().add(name, head + ops + "}\n"), context, diagnostics);
  };
  const auto first = read("before", before), second = read("after", after);
  REQUIRE(lines_of(diagnostics, context) == Lines{});
  Lines list;
  for (const DiffEntry& entry : diff_modules(first, second).entries) {
    const char sign = "~-+"[static_cast<int>(entry.kind)];
    std::string line = fmt::format("{}{}{}", sign, entry.graph, entry.graph.empty() ? "" : ": ");
    if (entry.field.empty()) {
      line += entry.before + entry.after;
    } else {
      line += fmt::format("{}: {}: {} -> {}", entry.op, entry.field, entry.before, entry.after);
    }
    list.push_back(line);
  }
  return list;
}

std::string unary(const std::string& type, int from, int to, const std::string& more = "") {
  return "linalg.CPU." + type + more + "(%" + std::to_string(from) + ":" + t("2") + ") -> (%" +
         std::to_string(to) + ":" + t("2") + ")\n";
}

std::string line(const std::string& type) {
  return "linalg." + type + " (" + t("2") + ") -> (" + t("2") + ")";
}

}  // namespace

TEST_SUITE("module diff") {
  TEST_CASE("ids, layout and the order of attributes and graphs are no difference") {
    CHECK(differences(unary("NegOp", 0, 1, " [k:1, l:2] ") + unary("NegOp", 1, 2),
                      "// c\n" + unary("NegOp", 7, 3, " [l:2,\n k:1] ") + unary("NegOp", 3, 9)) ==
          Lines{});
    const auto graph = [](const std::string& name, int id) {
      return "graph.SubGraphOp @" + name + " <CPU> {\n(%" + std::to_string(id) + ":" + t("2") +
             ") -> () {\n}\n}\n";
    };
    CHECK(differences(graph("a", 1) + graph("b", 2), graph("b", 8) + graph("a", 9)) == Lines{});
    const auto recipe = [](int uuid) {
      return " [quant_recipe:QuantSpec(Raw(type: Float32), uuid=" + std::to_string(uuid) + ")] ";
    };
    CHECK(differences(unary("NegOp", 0, 1, recipe(1)) + unary("NegOp", 1, 2, recipe(1)),
                      unary("NegOp", 0, 1, recipe(7)) + unary("NegOp", 1, 2, recipe(7))) ==
          Lines{});
    CHECK(differences(unary("NegOp", 0, 1, recipe(1)) + unary("NegOp", 1, 2, recipe(1)),
                      unary("NegOp", 0, 1, recipe(7)) + unary("NegOp", 1, 2, recipe(8)))
              .size() == 1);
  }

  TEST_CASE("ids count in that equal ones stay equal") {
    const auto bind = [](int id) {
      return "prog.fragment @c <CPU> <code> {\nprog.bind[type:0, program_uuid:" +
             std::to_string(id) + ", input_pos:0]\nprog.kernel_launch(%5:" + t("2") +
             ") -> (%6:" + t("2") + ")[op_type:Neg]\nprog.exit() -> ()\n}\n";
    };
    CHECK(differences(bind(5), bind(5)) == Lines{});
    CHECK(differences(bind(5), bind(6)) ==
          Lines{"~c: prog.kernel_launch: storage of operand 0: its own (%5 at 4:1) -> "
                "its own (%5 at 4:1), an id that stands for another one above"});
  }

  TEST_CASE("an op in between is one difference, and who reads another value is named") {
    CHECK(differences(unary("NegOp", 0, 1) + unary("ExpOp", 1, 2),
                      unary("NegOp", 0, 1) + unary("SiLUOp", 1, 5) + unary("ExpOp", 5, 2)) ==
          Lines{"+" + line("SiLUOp"),
                "~linalg.ExpOp: operand 0: result 0 of linalg.NegOp -> result 0 of linalg.SiLUOp"});
    CHECK(differences(unary("NegOp", 0, 1) + unary("SiLUOp", 0, 2), unary("SiLUOp", 0, 2)) ==
          Lines{"-" + line("NegOp")});
  }

  TEST_CASE("an op of another kind that gives the same value is one change") {
    CHECK(differences(unary("NegOp", 0, 1) + unary("ReLUOp", 1, 2) + unary("ExpOp", 2, 3),
                      unary("NegOp", 0, 1) + unary("AbsOp", 1, 2) + unary("ExpOp", 2, 3)) ==
          Lines{"~linalg.ReLUOp: operation: linalg.CPU.ReLUOp -> linalg.CPU.AbsOp"});
    // Names of results decide, unless they are numbers.
    const std::string two = t("2");
    const auto op = [&](const std::string& type, const std::string& result) {
      return "linalg.CPU." + type + "(%0:" + two + ") -> (%" + result + ":" + two + ")\n";
    };
    CHECK(differences(op("ReLUOp", "q") + op("ReLUOp", "k"),
                      op("SliceOp [a:1] ", "q") + op("ReLUOp [b:1] ", "k")) ==
          Lines{"~linalg.ReLUOp: operation: linalg.CPU.ReLUOp -> linalg.CPU.SliceOp",
                "~linalg.ReLUOp: attribute 'a':  -> 1", "~linalg.ReLUOp: attribute 'b':  -> 1"});
    CHECK(differences(unary("ReLUOp", 0, 1), unary("SliceOp", 0, 1, " [a:1] ")) ==
          Lines{"-" + line("ReLUOp"), "+linalg.SliceOp [a:1] (" + two + ") -> (" + two + ")"});
  }

  TEST_CASE("of ops that look alike, those with equal operands and users are pairs") {
    const auto add = [](int a, int b, int to) {
      return "linalg.CPU.AddOp(%" + std::to_string(a) + ":" + t("2") + ", %" + std::to_string(b) +
             ":" + t("2") + ") -> (%" + std::to_string(to) + ":" + t("2") + ")\n";
    };
    // Many ops before and after: they are split at equal ops first.
    for (const int more : {0, 300}) {
      CAPTURE(more);
      std::string head = unary("NegOp", 0, 1), tail;
      for (int i = 0; i < more; ++i) {
        head += unary("NegOp", 1000 + i, 1001 + i);
        tail += unary("NegOp", 3000 + i, 3001 + i);
      }
      const std::string alike =
          unary("ReLUOp", 1, 2) + unary("ReLUOp", 1, 3) + unary("ReLUOp", 2, 4);
      const std::string users = add(1, 3, 5) + add(4, 5, 6) + add(3, 6, 7);
      CHECK(differences(head + unary("ReLUOp", 1, 9) + alike + users + tail,
                        head + alike + users + tail) == Lines{"-" + line("ReLUOp")});
      CHECK(differences(head + unary("ReLUOp", 1, 2) + unary("ReLUOp", 1, 9) +
                            unary("ReLUOp", 1, 3) + unary("ReLUOp", 2, 4) + users + tail,
                        head + alike + users + tail) == Lines{"-" + line("ReLUOp")});
      CHECK(differences(head + alike + users + tail,
                        head + alike + add(1, 2, 5) + add(4, 5, 6) + add(3, 6, 7) + tail) ==
            Lines{"~linalg.AddOp: operand 1: result 0 of linalg.ReLUOp (%3 at " +
                  std::to_string(4 + more) + ":1) -> result 0 of linalg.ReLUOp (%2 at " +
                  std::to_string(3 + more) + ":1)"});
    }
  }

  TEST_CASE("many ops of a long chain that became others are one change each") {
    const auto chain = [](const std::string& other, auto is_other, int gone = -1) {
      std::string text;
      for (int i = 0; i < 300; ++i) {
        if (i == gone) continue;
        text += unary(is_other(i) ? other : "NegOp", i - (i - 1 == gone ? 1 : 0), i + 1);
      }
      return text;
    };
    const auto third = [](int i) { return i % 3 == 1; };
    const auto all = [](int) { return true; };
    const Lines changed(100, "~linalg.NegOp: operation: linalg.CPU.NegOp -> linalg.CPU.AbsOp");
    CHECK(differences(chain("NegOp", third), chain("AbsOp", third)) == changed);
    CHECK(differences(chain("NegOp", all), chain("AbsOp", all)).size() == 300);
    // The chain is shorter by its last op, which nothing reads.
    CHECK(differences(chain("NegOp", third), chain("AbsOp", third, 150)).size() == 101);
  }

  TEST_CASE("fields are named: attributes, types, names, devices, graphs") {
    CHECK(differences(unary("NegOp", 0, 1, " [a:1, b:2] "), unary("NegOp", 0, 1, " [b:3, c:4] ")) ==
          Lines{"~linalg.NegOp: attribute 'a': 1 -> ", "~linalg.NegOp: attribute 'b': 2 -> 3",
                "~linalg.NegOp: attribute 'c':  -> 4"});
    CHECK(differences(unary("NegOp", 0, 1, " <name=\"x\"> "), unary("NegOp", 0, 1)) ==
          Lines{"~linalg.NegOp 'x': name: x -> "});
    CHECK(differences("linalg.CPU.NegOp(%0) -> (%1:" + t("2") + ")\n",
                      "linalg.QNN.NegOp(%0) -> (%1:" + t("3") + ")\n") ==
          Lines{"~linalg.NegOp: device: CPU -> QNN",
                "~linalg.NegOp: type of result 0: " + t("2") + " -> " + t("3")});
    const auto graph = [](const std::string& op) {
      return "graph.SubGraphOp @g <CPU> {\n(%0:" + t("2") + ") -> (%1:" + t("2") + ") {\n" + op +
             "cf.ReturnOp (%1:" + t("2") + ") -> ()\n}\n}\n";
    };
    CHECK(differences(graph(unary("NegOp", 0, 1)), graph(unary("NegOp", 0, 1, " [a:1] "))) ==
          Lines{"~g: linalg.NegOp: attribute 'a':  -> 1"});
    CHECK(differences("", graph(unary("NegOp", 0, 1))) == Lines{"+graph.SubGraphOp @g () -> ()"});
  }

  TEST_CASE("of two ops that differ in one part of their text, the one that is left is found") {
    const std::string in = t("2"), out = t("3");
    const auto op = [&](const std::string& head, const std::string& operand = "%0:" + t("2"),
                        const std::string& result = t("2"), const std::string& more = "") {
      static int next = 100;
      return "linalg.CPU." + head + "(" + operand + ") -> (%" + std::to_string(next++) + ":" +
             result + ")" + more + "\n";
    };
    const std::string source = unary("NegOp", 0, 1);
    const std::pair<std::string, std::string> pairs[] = {
        {op("ExpOp"), op("LogOp")},
        {op("ExpOp <name=\"a\"> "), op("ExpOp <name=\"b\"> ")},
        {op("ExpOp @a "), op("ExpOp @b ")},
        {op("ExpOp [k:1] "), op("ExpOp [k:2] ")},
        {op("ExpOp [k:1] "), op("ExpOp [l:1] ")},
        {op("ExpOp", "%0:" + in), op("ExpOp", "%1:" + in)},
        {op("ExpOp", "%8:" + in), op("ExpOp", "%9:" + out)},
        {op("ExpOp", "%8:" + in + "[@a]"), op("ExpOp", "%9:" + in + "[@b]")},
        {op("ExpOp", "%0:" + in, in), op("ExpOp", "%0:" + in, out)},
    };
    for (const auto& each : pairs) {
      const std::string &first = each.first, &second = each.second;
      CAPTURE(first);
      CAPTURE(second);
      const Lines left = differences(source + first + second, source + second);
      REQUIRE(left.size() == 1);
      CHECK(left.front().starts_with("-"));
    }
  }

  TEST_CASE("counts that differ are fields") {
    const auto graph = [](const std::string& op) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\n" + op + "\n^a:\n}\n}\n";
    };
    CHECK(differences(graph("dbg.HintsOp () -> ()"), graph("dbg.HintsOp (%1) -> ()")) ==
          Lines{"~g: dbg.HintsOp: operands: 0 -> 1"});
    CHECK(differences(graph("dbg.HintsOp () -> ()"),
                      graph("dbg.HintsOp () -> (%1:" + t("2") + ")")) ==
          Lines{"~g: dbg.HintsOp: results: 0 -> 1"});
    CHECK(differences(graph("dbg.HintsOp () -> () [^a]"), graph("dbg.HintsOp () -> () [^a, ^a]")) ==
          Lines{"~g: dbg.HintsOp: successors: 1 -> 2"});
    CHECK(differences(graph("dbg.HintsOp () -> ()"),
                      graph("dbg.HintsOp () -> () {\n() -> () {\n}\n}")) ==
          Lines{"~g: dbg.HintsOp: regions: 0 -> 1"});
  }

  TEST_CASE("a block that one side alone has is one difference, wherever it stands") {
    const auto graph = [](const std::string& blocks) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\n" + blocks + "}\n}\n";
    };
    const auto block = [](const std::string& name, const std::string& type) {
      return "^" + name + ":\n" + unary(type, 0, 1);
    };
    const std::string first = unary("NegOp", 0, 9), a = block("a", "ExpOp"),
                      b = block("b", "LogOp"), c = block("c", "SinOp");
    const std::string all = graph(first + a + b + c);
    for (const auto& each :
         {std::pair<std::string, std::string>{"a", b + c}, {"b", a + c}, {"c", a + b}}) {
      const std::string &name = each.first, &others = each.second;
      CAPTURE(name);
      const std::string line = "g: block ^" + name + " of 1 operations";
      CHECK(differences(graph(first + others), all) == Lines{"+" + line});
      CHECK(differences(all, graph(first + others)) == Lines{"-" + line});
    }
  }

  TEST_CASE("a value that nothing defines has one partner") {
    const std::string one = unary("NegOp", 7, 1) + unary("ExpOp", 7, 2),
                      two = unary("NegOp", 7, 1) + unary("ExpOp", 8, 2);
    CHECK(differences(one, unary("NegOp", 17, 1) + unary("ExpOp", 17, 2)) == Lines{});
    CHECK(differences(two, unary("NegOp", 18, 1) + unary("ExpOp", 17, 2)) == Lines{});
    const std::string nothing = "a value that nothing defines", seven = nothing + " (%7 at 3:1)",
                      eight = nothing + " (%8 at 3:1)";
    CHECK(differences(one, two) == Lines{"~linalg.ExpOp: operand 0: " + seven + " -> " + eight});
    CHECK(differences(two, one) == Lines{"~linalg.ExpOp: operand 0: " + eight + " -> " + seven});
  }

  TEST_CASE("constants and parameters are told apart") {
    const auto times = [](const std::string& more) {
      return "linalg.CPU.MulOp(%0:" + t("1") + ", %1:" + t("1") + more + ") -> (%2:" + t("1") +
             ")\n";
    };
    CHECK(differences(times("[constant:[1]]"), times("[constant:[2]]")) ==
          Lines{"~linalg.MulOp: operand 1: [1] -> [2]"});
    CHECK(differences(times("[@a]"), times("[@b]")) == Lines{"~linalg.MulOp: operand 1: @a -> @b"});
  }

  TEST_CASE("what stands in angles, symbols of values and successors are fields") {
    const auto graph = [](const std::string& device) {
      return "graph.SubGraphOp @g <" + device + "> {\n() -> () {\n}\n}\n";
    };
    CHECK(differences(graph("CPU"), graph("QNN")) ==
          Lines{"~graph.SubGraphOp: angle 0: <CPU> -> <QNN>"});
    CHECK(differences(graph("CPU"), graph("CPU> <first")) ==
          Lines{"~graph.SubGraphOp: angle 1:  -> <first>"});
    CHECK(differences(graph("CPU> <first"), graph("CPU")) ==
          Lines{"~graph.SubGraphOp: angle 1: <first> -> "});
    const auto parameter = [](const std::string& symbol) {
      return "tensor.CPU.register () -> (%0:" + t("2") + symbol + ")\n";
    };
    CHECK(differences(parameter("[@w]"), parameter("[@v]")) ==
          Lines{"~tensor.register: symbol of result 0: @w -> @v"});
    CHECK(differences(parameter("[@w]"), parameter("")) ==
          Lines{"~tensor.register: symbol of result 0: @w -> "});
    const auto branch = [](const std::string& successors) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [" + successors +
             "]\n^a:\ndbg.HintsOp () -> ()\n^b:\n}\n}\n";
    };
    CHECK(differences(branch("^a, ^b"), branch("^b, ^a")) ==
          Lines{"~g: dbg.HintsOp: successor 0: ^a, block 1 -> ^b, block 2",
                "~g: dbg.HintsOp: successor 1: ^b, block 2 -> ^a, block 1"});
  }

  TEST_CASE("successors that no block has differ by their names") {
    const auto hint = [](const std::string& successor) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [" + successor +
             "]\n^a:\ncf.ReturnOp () -> ()\n}\n}\n";
    };
    CHECK(differences(hint("^x"), hint("^x")) == Lines{});
    CHECK(differences(hint("^x"), hint("^y")) ==
          Lines{"~g: dbg.HintsOp: successor 0: ^x, which the region lacks -> ^y, which the region "
                "lacks"});
    CHECK(differences(hint("^x"), hint("^a")).size() == 1);
    CHECK(differences(hint("^a"), hint("^x")).size() == 1);
  }

  TEST_CASE("a mention that differs from the definition is a difference, on either side") {
    const auto two = [](const std::string& mentioned) {
      return unary("NegOp", 0, 1) + "linalg.CPU.AbsOp(%1:" + t(mentioned) + ") -> (%2:" + t("2") +
             ")\nlinalg.CPU.ExpOp(%1:" + t("2") + ") -> (%3:" + t("2") + ")\n";
    };
    const auto line_of = [](const std::string& one, const std::string& other) {
      return Lines{"~linalg.AbsOp: type of operand 0: " + t(one) + " -> " + t(other)};
    };
    CHECK(differences(two("3"), two("3")) == Lines{});
    CHECK(differences(two("3"), two("2")) == line_of("3", "2"));
    CHECK(differences(two("2"), two("3")) == line_of("2", "3"));
    CHECK(differences(two("3"), two("4")) == line_of("3", "4"));
  }

  TEST_CASE("a module that one side lacks is one difference") {
    const std::string op = unary("NegOp", 0, 1), more = op + "}\n@b () -> () {\n" + op;
    const Lines added = differences(op, more), removed = differences(more, op);
    REQUIRE(added.size() == 1);
    CHECK(added[0] == test::Part{"@b"});
    CHECK(added[0].starts_with("+"));
    REQUIRE(removed.size() == 1);
    CHECK(removed[0] == "-" + added[0].substr(1));
  }

  TEST_CASE("two blocks that one side lacks are two differences") {
    const auto blocks = [](const std::string& more) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [^a]\n^a:\n" +
             unary("NegOp", 0, 1) + more + "}\n}\n";
    };
    const std::string two = "^b:\n" + unary("SinOp", 0, 2) + "^c:\n" + unary("CosOp", 0, 3);
    CHECK(differences(blocks(""), blocks(two)) ==
          Lines{"+g: block ^b of 1 operations", "+g: block ^c of 1 operations"});
    CHECK(differences(blocks(two), blocks("")) ==
          Lines{"-g: block ^b of 1 operations", "-g: block ^c of 1 operations"});
  }

  TEST_CASE("whether the first block has a name is a difference") {
    const auto graph = [](const std::string& name) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\n" + name + "dbg.HintsOp () -> ()\n}\n}\n";
    };
    CHECK(differences(graph("^a:\n"), graph("^b:\n")) == Lines{});
    const Lines named = differences(graph(""), graph("^a:\n"));
    CAPTURE(named);
    CHECK(std::ranges::count_if(named, [](const std::string& each) {
            return each.find("name of the first block") != each.npos;
          }) == 1);
  }

  TEST_CASE("blocks are paired by what is in them before the names of their ops count") {
    const auto blocks = [](const std::string& list, const std::string& more) {
      return "graph.SubGraphOp @g <CPU> {\n() -> () {\ndbg.HintsOp () -> () [" + list + "]\n" +
             more + "}\n}\n";
    };
    const std::string a = unary("NegOp", 0, 1, " [k:1] "), b = unary("NegOp", 0, 2, " [k:2] ");
    const Lines found =
        differences(blocks("^a, ^b", "^a:\n" + a + "^b:\n" + b), blocks("^b", "^b:\n" + b));
    CAPTURE(found);
    CHECK(std::ranges::count(found, "-g: block ^a of 1 operations") == 1);
    CHECK(std::ranges::none_of(
        found, [](const std::string& each) { return each.find("attribute") != each.npos; }));
  }

  TEST_CASE("the normal form orders the attributes of mentions too") {
    const auto normal = [](const std::string& attributes) {
      Reading reading(
          dump({"linalg.CPU.NegOp(%0:" + t("2") + ") -> (%1:" + t("2") + ")",
                "linalg.CPU.NegOp(%1:" + t("2") + attributes + ") -> (%2:" + t("2") + ")"}));
      REQUIRE(reading.errors() == Lines{});
      return normal_form(reading.modules).value();
    };
    CHECK(normal("[k:1, l:2]") == normal("[l:2, k:1]"));
    CHECK(normal("[k:1, l:2]") != normal("[k:2, l:1]"));
    CHECK(normal("[k:1]") != normal(""));
  }

  TEST_CASE("symbols of constants are ids in dumps alone, and only with their storage") {
    const auto times = [](const std::string& constant) {
      return "linalg.CPU.MulOp(%0:" + t("1") + ", " + constant + ") -> (%2:" + t("1") + ")\n";
    };
    const std::string seven = "%7:" + t("1") + "[@constant_7]";
    CHECK(differences(times(seven), times("%70:" + t("1") + "[@constant_70]")) == Lines{});
    CHECK(differences(times(seven), times("%7:" + t("1") + "[@constant_70]")) ==
          Lines{"~linalg.MulOp: symbol of operand 1: @constant_7 -> @constant_70"});
    CHECK(differences(times(seven), times("%70:" + t("1") + "[@constant_70]"),
                      "@main [mir_version:1] (%0:" + t("1") + ") -> () {\n")
              .size() == 1);
  }

  TEST_CASE("a text that nobody changed has no difference") {
    const std::string graph = "graph.SubGraphOp @g <CPU> {\n() -> () {\n}\n}\n";
    CHECK(differences(graph + graph, graph + graph) == Lines{});
    const std::string hint = "dbg.HintsOp () -> (%1:" + t("2") + ")\n" + unary("NegOp", 1, 2);
    CHECK(differences(hint, hint) == Lines{});
    const std::string below = "linalg.CPU.ExpOp (%1) -> (%2:" + t("2") + ")\n" +
                              "linalg.CPU.NegOp (%0) -> (%1:" + t("2") + ")\n";
    const std::string head = "@main [mir_version:1] (%0:" + t("2") + ") -> () {\n";
    CHECK(differences(below, below, head) == Lines{});
  }

  TEST_CASE("values that read the same are told apart by name and line") {
    const std::string two = unary("NegOp", 0, 1) + unary("NegOp", 0, 2);
    CHECK(differences(two + unary("ExpOp", 1, 3), two + unary("ExpOp", 2, 3)) ==
          Lines{"~linalg.ExpOp: operand 0: result 0 of linalg.NegOp (%1 at 2:1) -> "
                "result 0 of linalg.NegOp (%2 at 3:1)"});
    CHECK(differences(unary("ViewOp", 0, 0), unary("ViewOp", 0, 1)) ==
          Lines{"~linalg.ViewOp: storage of result 0: that of a value that nothing defines "
                "(%0 at 2:1) -> its own (%1 at 2:1)"});
  }

  TEST_CASE("changed ops of one type are paired by their names") {
    const std::string a = unary("NegOp", 0, 1, " <name=\"a\"> [k:1] "),
                      b = unary("NegOp", 0, 2, " <name=\"b\"> [k:2] "),
                      changed = unary("NegOp", 0, 2, " <name=\"b\"> [k:3] ");
    const Lines found = differences(a + b, changed);
    CAPTURE(found);
    CHECK(std::ranges::count_if(found, [](const std::string& each) {
            return each.find("'k': 2 -> 3") != each.npos;
          }) == 1);
    CHECK(found.size() == 2);  // the op 'a' is gone
  }

  TEST_CASE("the normal form orders the attributes of inputs too") {
    const auto normal = [](const std::string& attributes) {
      Reading reading("@main [mir_version:1] (%x:" + t("2") + attributes + ") -> (%y:" + t("2") +
                      ") {\nlinalg.CPU.NegOp(%x) -> (%y:" + t("2") +
                      ")\ncf.ReturnOp (%y) -> ()\n}\n");
      REQUIRE(reading.errors() == Lines{});
      return normal_form(reading.modules).value();
    };
    CHECK(normal("[symbol:s, layout:k]") == normal("[layout:k, symbol:s]"));
    CHECK(normal("[symbol:s, layout:k]") != normal("[layout:l, symbol:s]"));
  }

  TEST_CASE("a graph with another symbol alone is the same graph") {
    const auto graph = [](const std::string& symbol) {
      return "graph.SubGraphOp @" + symbol + " <CPU> {\n(%0:" + t("2") + ") -> () {\n" +
             unary("NegOp", 0, 1) + "}\n}\n";
    };
    CHECK(differences(graph("f"), graph("g")) == Lines{"~graph.SubGraphOp: symbol: @f -> @g"});
  }

  TEST_CASE("one part that differs in a graph that is otherwise equal is found") {
    const auto graph = [](const std::string& input, int first, int second,
                          const std::string& constant = "c") {
      const std::string c = "%9:" + t("2") + "[constant:" + constant + "]";
      return "graph.SubGraphOp @g <CPU> {\n(%1:" + t("2") + ", %2:" + t("2") +
             ") -> (%5:" + t("2") + ") {\n" + "linalg.CPU.AddOp (%" + input + ":" + t("2") + ", " +
             c + ") -> (%3:" + t("2") + ")\n" + "linalg.CPU.SubOp (%" + std::to_string(first) +
             ":" + t("2") + ", %" + std::to_string(second) + ":" + t("2") + ") -> (%5:" + t("2") +
             ")\ncf.ReturnOp (%5:" + t("2") + ") -> ()\n}\n}\n";
    };
    CHECK(differences(graph("1", 1, 3), graph("1", 1, 3)) == Lines{});
    CHECK(differences(graph("1", 1, 3), graph("1", 3, 1)).size() == 2);
    CHECK(differences(graph("1", 1, 3), graph("2", 1, 3)) ==
          Lines{"~g: linalg.AddOp: operand 0: input 0 of graph.SubGraphOp @g -> "
                "input 1 of graph.SubGraphOp @g"});
    CHECK(differences(graph("1", 1, 3), graph("1", 1, 3, "d")) ==
          Lines{"~g: linalg.AddOp: operand 1: c -> d"});
  }

  TEST_CASE("ops of a graph that is equal but for operands are paired by these") {
    const auto graph = [](int first, int second) {
      return "graph.SubGraphOp @g <CPU> {\n(%1:" + t("2") + ", %2:" + t("2") +
             ") -> (%5:" + t("2") + ") {\n" + unary("NegOp", first, 3) + unary("NegOp", second, 4) +
             "linalg.CPU.AddOp (%3:" + t("2") + ", %4:" + t("2") + ") -> (%5:" + t("2") +
             ")\ncf.ReturnOp (%5:" + t("2") + ") -> ()\n}\n}\n";
    };
    // One NegOp goes, another comes, and the AddOp reads others: no NegOp reads another input.
    const Lines found = differences(graph(1, 2), graph(2, 1));
    REQUIRE(found.size() == 4);
    CHECK(found[0] == "-g: " + line("NegOp"));
    CHECK(found[1] == "+g: " + line("NegOp"));
  }

  TEST_CASE("ids in equal graphs stay paired across graphs") {
    const auto graphs = [](int inner, int outer) {
      const auto graph = [](const std::string& name, int id) {
        return "graph.SubGraphOp @" + name + " <CPU> {\n(%" + std::to_string(id) + ":" + t("2") +
               ") -> (%" + std::to_string(id) + ":" + t("2") + ") {\ncf.ReturnOp (%" +
               std::to_string(id) + ":" + t("2") + ") -> ()\n}\n}\n";
      };
      return graph("f", inner) + graph("g", outer);
    };
    CHECK(differences(graphs(1, 1), graphs(2, 2)) == Lines{});
    CHECK(differences(graphs(1, 1), graphs(1, 2)).size() == 1);
  }

  TEST_CASE("every dump equals its normal form, which is its own") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (is_ambiguous(path) || path.find("1.7B") != path.npos) continue;
      std::ifstream in(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      Reading reading(text);
      const auto normal = normal_form(reading.modules);
      REQUIRE(normal);
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const auto first = read_modules(*context.sources().add("a", text), context, diagnostics);
      const auto second = read_modules(*context.sources().add("b", *normal), context, diagnostics);
      REQUIRE(lines_of(diagnostics, context) == Lines{});
      CHECK(diff_modules(first, second).entries.size() == 0);
      CHECK(normal_form(second).value() == *normal);
    }
  }
}
