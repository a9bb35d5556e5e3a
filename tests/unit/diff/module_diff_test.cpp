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
    CHECK(differences(bind(5), bind(6)).size() == 2);  // the binding, and who reads the slot
  }

  TEST_CASE("an op in between is one difference, and who reads another value is named") {
    CHECK(differences(unary("NegOp", 0, 1) + unary("ExpOp", 1, 2),
                      unary("NegOp", 0, 1) + unary("SiLUOp", 1, 5) + unary("ExpOp", 5, 2)) ==
          Lines{"+" + line("SiLUOp"),
                "~linalg.ExpOp: operand 0: result 0 of linalg.NegOp -> result 0 of linalg.SiLUOp"});
    CHECK(differences(unary("NegOp", 0, 1) + unary("SiLUOp", 0, 2), unary("SiLUOp", 0, 2)) ==
          Lines{"-" + line("NegOp")});
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

  TEST_CASE("constants and parameters are told apart") {
    const auto times = [](const std::string& more) {
      return "linalg.CPU.MulOp(%0:" + t("1") + ", %1:" + t("1") + more + ") -> (%2:" + t("1") +
             ")\n";
    };
    CHECK(differences(times("[constant:[1]]"), times("[constant:[2]]")) ==
          Lines{"~linalg.MulOp: operand 1: [1] -> [2]"});
    CHECK(differences(times("[@a]"), times("[@b]")) == Lines{"~linalg.MulOp: operand 1: @a -> @b"});
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
