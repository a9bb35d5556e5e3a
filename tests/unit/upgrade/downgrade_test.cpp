// Portable modules as the dumps that upstream would print.
#include <algorithm>
#include <tuple>

#include "mir/upgrade.hpp"
#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace downgrade_test {

namespace {

/// The print of a dump that was upgraded and downgraded, or the errors.
std::string there_and_back(const std::string& text, Generation generation = Generation::k2025_12) {
  Upgraded upgraded(text);
  REQUIRE(upgraded.errors() == Lines{});
  LossReport report;
  Diagnostics problems(0);
  if (!downgrade(upgraded.module(), generation, report, problems)) {
    return lines_of(problems, upgraded.reading.context).front();
  }
  CHECK_FALSE(upgraded.module().is_portable());
  for (const LossEntry& entry : report.entries) CHECK(entry.source == Source::kDropped);
  return print(upgraded.module());
}

/// A model whose values lie in few storages: views, a slice, two graphs.
std::string model(const std::string& name, const std::string& symbol, const std::string& twice) {
  return "@main () -> () {\n"
         "    graph.SubGraphOp @init <notype>" +
         symbol +
         " {\n"
         "        () -> () {\n"
         "            tensor.CPU.register () -> (%5:tensor<[8, 4], Float32, CPU>[@net.fc.weight]" +
         twice +
         ")[symbol:net.fc.weight]\n"
         "        }\n"
         "    }\n"
         "    graph.CallGraphOp @net (%0:tensor<[1, 6, 4], Float32, CPU>) -> "
         "(%2:tensor<[1, 6, 8], Float32, CPU>)\n"
         "    graph.SubGraphOp @net <CPU> {\n"
         "        (%0:tensor<[1, 6, 4], Float32, CPU>) -> (%2:tensor<[1, 6, 8], Float32, CPU>) {\n"
         "            linalg.CPU.LinearOp" +
         name +
         "(%0:tensor<[1, 6, 4], Float32, CPU>) -> (%1:tensor<[1, 6, 8], Float32, CPU>)\n"
         "            linalg.CPU.ViewOp(%1:tensor<[1, 6, 8], Float32, CPU>) -> "
         "(%1:tensor<[1, 6, 2, 4], Float32, CPU>)\n"
         "            linalg.CPU.TransposeOp(%1:tensor<[1, 6, 2, 4], Float32, CPU>) -> "
         "(%3:tensor<[1, 2, 6, 4], Float32, CPU>)\n"
         "            linalg.CPU.SliceOp(%3:tensor<[1, 2, 6, 4], Float32, CPU>) -> "
         "(%3:tensor<[1, 2, 6, 4], Float32, CPU>)\n"
         "            linalg.CPU.SiLUOp(%3:tensor<[1, 2, 6, 4], Float32, CPU>) -> "
         "(%4:tensor<[1, 2, 3, 4], Float32, CPU>)\n"
         "            linalg.CPU.MulOp(%4:tensor<[1, 2, 3, 4], Float32, CPU>, "
         "%6:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%2:tensor<[1, 2, 3, 4], Float32, "
         "CPU>)\n"
         "            cf.ReturnOp (%2:tensor<[1, 2, 3, 4], Float32, CPU>) -> ()\n"
         "        }\n"
         "    }\n"
         "}\n";
}

std::string with_result(std::string text) {
  const std::string stale = "(%2:tensor<[1, 6, 8], Float32, CPU>)";
  for (auto at = text.find(stale); at != text.npos; at = text.find(stale)) {
    text.replace(at, stale.size(), "(%2:tensor<[1, 2, 3, 4], Float32, CPU>)");
  }
  return text;
}

}  // namespace

TEST_SUITE("downgrade") {
  TEST_CASE("views and slices with storages of their own keep them") {
    const std::string text =
        "@main () -> () {\n"
        "    linalg.CPU.ViewOp(%0:tensor<[2, 6], Float32, CPU>) -> (%1:tensor<[4, 3], Float32, "
        "CPU>)\n"
        "    linalg.CPU.SliceOp(%1:tensor<[4, 3], Float32, CPU>) -> (%2:tensor<[1, 3], Float32, "
        "CPU>)\n"
        "    linalg.CPU.ViewOp(%1:tensor<[4, 3], Float32, CPU>) -> (%1:tensor<[12], Float32, "
        "CPU>)\n"
        "}\n";
    CHECK(there_and_back(text) == text);
    Upgraded upgraded(text);
    const Lines derived = upgraded.entries(Source::kDerived);
    CHECK(std::ranges::count_if(derived, [](const std::string& each) {
            return each.find("enable_ssa=true") != each.npos;
          }) == 2);
  }

  TEST_CASE("upgraded and downgraded to the same version, a dump has its text again") {
    for (const auto& [generation, name, symbol, twice] :
         {std::tuple(Generation::k2025_12, " <name=\"net.fc\">", " [symbol:init]",
                     "[symbol:net.fc.weight]"),
          std::tuple(Generation::k2025_10, " [name=\"net.fc\"]", "", ""),
          std::tuple(Generation::k2025_07, "", "", "")}) {
      const std::string text = with_result(model(name, symbol, twice));
      CHECK(there_and_back(text, generation) == text);
    }
  }

  TEST_CASE("what an older version does not print is dropped, and the report says so") {
    Upgraded upgraded(with_result(model(" <name=\"net.fc\">", " [symbol:init]", "")));
    LossReport report;
    Diagnostics problems;
    REQUIRE(downgrade(upgraded.module(), Generation::k2025_07, report, problems));
    upgraded.report = report;
    const Lines dropped = upgraded.entries(Source::kDropped);
    const auto lists = [&](const std::string& entry) {
      return std::ranges::find(dropped, entry) != dropped.end();
    };
    CHECK(lists("linalg.LinearOp 'net.fc' name=net.fc"));
    CHECK(lists("linalg.LinearOp 'net.fc' in_channels=4"));
    CHECK(lists("linalg.TransposeOp dim0=1"));
    CHECK(lists("linalg.SliceOp type of result 0=tensor<[1, 2, 3, 4], Float32, CPU>"));
    CHECK(report.summary().find("dropped") != std::string::npos);
    CHECK_FALSE(has(print(upgraded.module()), "name="));
  }

  TEST_CASE("a storage that changes is read as it is last: what was there before has no name") {
    // The slice and the whole are both read: a dump has one name for them.
    Reading reading(
        "@main [mir_version:1] (%0:tensor<[4], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>, "
        "%3:tensor<[4], Float32, CPU>) {\n"
        "linalg.CPU.SliceOp [indices:[{\"end\":2}]] (%0:tensor<[4], Float32, CPU>) -> "
        "(%1:tensor<[2], Float32, CPU>)\n"
        "linalg.CPU.NegOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)\n"
        "linalg.CPU.NegOp(%0:tensor<[4], Float32, CPU>) -> (%3:tensor<[4], Float32, CPU>)\n"
        "cf.ReturnOp (%2:tensor<[2], Float32, CPU>, %3:tensor<[4], Float32, CPU>) -> ()\n}\n");
    Module& module = *reading.modules.front();
    LossReport report;
    Diagnostics problems;
    REQUIRE(downgrade(module, Generation::k2025_12, report, problems));
    const auto is_second_reader = [](const LossEntry& entry) {
      return entry.op == "linalg.NegOp" && entry.fact == "operand 0";
    };
    CHECK(std::ranges::count_if(report.entries, is_second_reader) == 1);
    CHECK(has(print(module), "NegOp(%0:tensor<[4], Float32, CPU>) -> (%3"));
  }

  TEST_CASE("symbolic extents and blocks have no dump") {
    const auto refused = [](const std::string& text) {
      Reading reading(text);
      LossReport report;
      Diagnostics problems(0);
      CHECK_FALSE(downgrade(*reading.modules.front(), Generation::k2025_12, report, problems));
      return lines_of(problems, reading.context).front();
    };
    CHECK(has(refused("@main [mir_version:1] (%0:tensor<[$S], Float32, CPU>) -> () {\n"
                      "cf.ReturnOp () -> ()\n}\n"),
              "dump form is lost: dumps print the extents of one trace"));
  }
}

}  // namespace downgrade_test
