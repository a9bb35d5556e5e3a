// Declared symbols: their declarations, and what is proved with them.
#include <doctest/doctest.h>

#include <algorithm>

#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace declared_symbols_test {

namespace {

/// A module with these declarations, whose inputs are [$S, 4] and [$T, 4].
std::string text_of(const std::string& declarations, const Lines& ops, int version = 2) {
  std::string text =
      "@main [mir_version:" + std::to_string(version) + ", symbols:" + declarations +
      "] (%0:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$T, 4], Float32, CPU>) -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "cf.ReturnOp () -> ()\n}\n";
}

Lines declared(const std::string& declarations, const Lines& ops = {}) {
  return verified(text_of(declarations, ops));
}

/// Errors of reading, where results without types are inferred.
Lines refused(const std::string& declarations, const Lines& ops) {
  return Reading(text_of(declarations, ops)).errors();
}

VerifyOptions with_undecided() {
  VerifyOptions options;
  REQUIRE(options.policy.deny("symbol_c7"));
  return options;
}

std::string slice(const std::string& start, const std::string& end) {
  return R"(linalg.CPU.SliceOp [indices:[{"start":)" + start + R"(, "end":)" + end +
         R"(, "step":1}, all]] (%0) -> (%1))";
}

}  // namespace

TEST_SUITE("declared symbols") {
  TEST_CASE("symbol_c4: MIR0433 a declaration that is wrong") {
    CHECK(declared("{S:{min:1}}") == Lines{});
    CHECK(declared("{S:{min:8, max:8, multiple:8}, T:{}}") == Lines{});
    CHECK(declared("{S:{min:9, max:15, multiple:8}}") ==
          Lines{"1:1 MIR0433 '$S' has no value: no multiple of 8 is from 9 to 15"});
    CHECK(declared("{S:{min:9, max:8}}") ==
          Lines{"1:1 MIR0433 'min' of '$S' is 9, which is above its 'max' 8"});
    CHECK(declared("{S:{multiple:0}}") ==
          Lines{"1:1 MIR0433 'multiple' of '$S' is 0, expected an integer of at least 1"});
    CHECK(declared("{S:{min:-1}}") ==
          Lines{"1:1 MIR0433 'min' of '$S' is -1, expected an integer of at least 0"});
    CHECK(declared("{S:{max:1.5}}") ==
          Lines{"1:1 MIR0433 'max' of '$S' is 1.5, expected an integer of at least 0"});
    CHECK(declared("{S:{most:4}}") ==
          Lines{"1:1 MIR0433 the declaration of '$S' has an unknown key "
                "'most', expected min, max or multiple"});
    CHECK(declared("{S:4}") == Lines{"1:1 MIR0433 '$S' is declared as 4, expected {min:..., "
                                     "max:..., multiple:...}"});
    CHECK(declared("{\"$S\":{min:1}}") ==
          Lines{"1:1 MIR0433 'symbols' declares '$S', expected a name such as S, without $"});
    // Two errors of one attribute are both reported.
    CHECK(declared("{S:{min:-1}, T:{multiple:0}}").size() == 2);
  }

  TEST_CASE("attribute_c3: MIR0312 symbols that are no dictionary") {
    CHECK(declared("[S]").size() == 1);
  }

  TEST_CASE("symbol_c5: MIR0434 a declared symbol that no extent has") {
    CHECK(declared("{Q:{min:1}}") ==
          Lines{"1:1 MIR0434 warning no extent of the module has the declared symbol '$Q'"});
  }

  TEST_CASE("symbol_c4: MIR0433 a relation that is wrong") {
    const auto related = [](const std::string& where) {
      return declared("{S:{min:1, max:64}}, where:" + where);
    };
    CHECK(related(R"("$S <= $T")") == Lines{});
    CHECK(related(R"(["$T % $S == 0", "2*$S < $T"])") == Lines{});
    CHECK(
        related(R"(["$S <=", "$S", "1 < $S < 4", "$S != 4", "4 == 4", "? == $S"])") ==
        Lines{"1:58 MIR0433 the relation '$S <=' cannot be read: cannot read dimension '': "
              "expected an integer, a symbol or '(' at its end",
              "1:58 MIR0433 the relation '$S' has no comparison, expected ==, <=, >=, < or >",
              "1:58 MIR0433 the relation '1 < $S < 4' has two comparisons, expected one",
              "1:58 MIR0433 the relation '$S != 4' has no comparison, expected ==, <=, >=, < or >",
              "1:58 MIR0433 the relation '4 == 4' has no symbol",
              "1:58 MIR0433 the relation '? == $S' compares '?', expected an expression of symbols "
              "and numbers"});
    CHECK(related("4") == Lines{"1:58 MIR0433 'where' is 4, expected a relation such as \"$S <= "
                                "$T\", or a list of relations"});
    CHECK(related(R"(["$S <= $T", {a:1}])").size() == 1);
    CHECK(related(R"("$S <= $TT")") ==
          Lines{"1:58 MIR0433 no extent of the module has the symbol '$TT' of the relation '$S <= "
                "$TT'"});
    const auto none = [](const std::string& relation) {
      return Lines{"1:58 MIR0433 the relation '" + relation +
                   "' holds for no values that declarations and other relations admit"};
    };
    CHECK(related(R"("$S > 64")") == none("$S > 64"));
    CHECK(related(R"(["$S <= $T", "$T < $S"])") == none("$S <= $T"));
    CHECK(related(R"(["$T >= 4", "$S % 2 == 1", "2*$T == $S"])") == none("$S%2 == 1"));
    CHECK(related(R"("$S % ($T - $T) == 0")").size() == 1);
    // A declared symbol need not occur.
    CHECK(declared("{S:{}, Q:{}}, where:\"$S <= $Q\"").size() == 1);
  }

  TEST_CASE("relations prove conditions of ops") {
    const std::string view = "linalg.CPU.ViewOp [to_shape:[$T, -1]] (%0) -> (%1)";
    CHECK(refused("{S:{min:1}, T:{min:1}}", {view}).size() == 1);
    CHECK(refused("{S:{min:1}, T:{min:1}}, where:\"$S % $T == 0\"", {view}) == Lines{});
    const std::string sum = "linalg.CPU.AddOp (%0, %t) -> (%1:tensor<[$S, 4], Float32, CPU>)";
    CHECK(declared("{S:{min:2}, T:{min:2}}", {sum}).size() == 1);
    CHECK(declared("{S:{min:2}, T:{min:2}}, where:\"$S == $T\"", {sum}) == Lines{});
    CHECK(refused("{S:{}, T:{}}", {slice("0", "$T")}).size() == 1);
    CHECK(declared("{S:{}, T:{}}, where:\"$T <= $S\"", {slice("0", "$T")}) == Lines{});
    // Without declared ranges, too.
    const auto text = [&](const std::string& where) {
      return verified("@main [mir_version:2" + where +
                          "] (%0:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$T], Float32, CPU>) -> "
                          "() {\n" +
                          slice("0", "$T") + "\ncf.ReturnOp () -> ()\n}\n",
                      with_undecided());
    };
    CHECK(text(", where:\"2*$T <= $S\"") == Lines{});
    CHECK(text(", where:\"$T <= 2*$S\"").size() == 1);  // checked at run time
  }

  TEST_CASE("version_c1: MIR0321 declarations in version 1, with a fix") {
    Reading reading(text_of("{S:{min:1}}", {}, 1));
    REQUIRE(reading.errors() == Lines{});
    Diagnostics diagnostics(0);
    CHECK_FALSE(verify(*reading.modules.front(), diagnostics));
    REQUIRE(diagnostics.sorted().size() == 1);
    const Diagnostic error = diagnostics.sorted().front();
    CHECK(error.message == "'symbols' in the head of a module needs mir_version:2");
    REQUIRE(error.fixes.size() == 1);
    CHECK(error.fixes[0].replacement == "2");
    CHECK(error.fixes[0].at.end - error.fixes[0].at.begin == 1);
    const Lines related = verified(
        "@main [mir_version:1, where:\"$S <= 4\"] (%0:tensor<[$S], Float32, CPU>) -> () {\n"
        "cf.ReturnOp () -> ()\n}\n");
    CHECK(related == Lines{"1:1 MIR0321 'where' in the head of a module needs mir_version:2"});
  }

  TEST_CASE("version_c1: MIR0321 minima and maxima in version 1, each once") {
    const std::string body =
        "(%0:tensor<[$S min 4, 2], Float32, CPU>, %1:tensor<[4 min $S], Float32, CPU>) -> () {\n"
        "linalg.CPU.ViewOp [to_shape:[$S max 4]] (%1) -> (%2:tensor<[$S min 4], Float32, CPU>)\n"
        "cf.ReturnOp () -> ()\n}\n";
    const Lines lines = verified("@main [mir_version:1] " + body);
    REQUIRE(lines.size() >= 1);
    CHECK(lines[0] ==
          "1:1 MIR0321 extent ($S min 4) has a minimum or a maximum, so the module needs "
          "mir_version:2");
    CHECK(std::ranges::count_if(lines, [](const std::string& line) {
            return line.find("MIR0321") != line.npos;
          }) == 2);
    for (const std::string& line : verified("@main [mir_version:2] " + body)) {
      CHECK(line.find("MIR0321") == line.npos);
    }
  }

  TEST_CASE("symbol_c6: MIR0435 an extent that is negative or divides by 0") {
    const std::string head = "@main [mir_version:2, symbols:{S:{min:1}, T:{}}] ";
    const std::string end = " -> () {\ncf.ReturnOp () -> ()\n}\n";
    CHECK(verified(head + "(%0:tensor<[$S, $T, $S-2], Float32, CPU>)" + end) ==
          Lines{"1:1 MIR0435 extent $S-2 is not valid for all values of its symbols: $S = 1 makes "
                "$S-2 -1"});
    CHECK(
        verified(head + "(%0:tensor<[$S, $T, $S/$T], Float32, CPU>)" + end) ==
        Lines{"1:1 MIR0435 extent $S/$T is not valid for all values of its symbols: $S = 1, $T = 0 "
              "divides by 0"});
    CHECK(verified(head + "(%0:tensor<[$S, $T, $T/$S], Float32, CPU>)" + end) == Lines{});
    CHECK(verified(head + "(%0:tensor<[$S, $T, $S-1], Float32, CPU>)" + end) == Lines{});
  }

  TEST_CASE("symbol_c7: MIR0436 a condition that nothing decides, where it is asked for") {
    const std::string undecided = text_of("{S:{min:1}}", {slice("0", "($S*$S)%4")});
    CHECK(verified(undecided) == Lines{});
    CHECK(verified(undecided, with_undecided()) ==
          Lines{"2:1 MIR0436 'linalg.SliceOp' needs $S >= $S*$S%4, which is neither proved nor "
                "refuted and is checked at run time"});
    CHECK(verified(text_of("{S:{min:1}}", {slice("0", "$S/4")}), with_undecided()) == Lines{});
    // Without declarations nothing is proved.
    CHECK(verified("@main [mir_version:1] (%0:tensor<[$S, 4], Float32, CPU>) -> () {\n" +
                       slice("0", "($S*$S)%4") + "\ncf.ReturnOp () -> ()\n}\n",
                   with_undecided()) == Lines{});
  }

  TEST_CASE("call_c3: MIR0412 extents that a call passes, against the graph's declarations") {
    const auto call = [](const std::string& declarations, const std::string& graph,
                         VerifyOptions options = {}) {
      return verified(
          text_of(declarations, {"graph.SubGraphOp @g <CPU> {",
                                 "(%a:tensor<[" + graph + ", 4], Float32, CPU>) -> (%b:tensor<[" +
                                     graph + ", 4], Float32, CPU>) {",
                                 "linalg.CPU.NegOp (%a) -> (%b)", "cf.ReturnOp (%b) -> ()", "}",
                                 "}", "graph.CallGraphOp @g (%t) -> (%r)"}),
          options);
    };
    const auto refused = [](const std::string& range) {
      return Lines{
          "8:1 MIR0412 'graph.CallGraphOp' passes extent $T as '$S', whose declaration "
          "admits " +
          range};
    };
    CHECK(call("{S:{min:4, max:64}, T:{min:1, max:3}}", "$S") == refused("4 to 64"));
    CHECK(call("{S:{min:4, max:64}, T:{min:4, max:65}}", "$S") == refused("4 to 64"));
    CHECK(call("{S:{multiple:4}, T:{max:9}}", "$S") == refused("0 or more, a multiple of 4"));
    CHECK(call("{S:{min:4, max:64}, T:{min:8, max:16}}", "$S") == Lines{});
    CHECK(call("{S:{multiple:4}, T:{multiple:8}}", "$S") == Lines{});
    // Nothing says which values `$T` has: the run checks it.
    CHECK(call("{S:{min:4, multiple:4}}", "$S") == Lines{});
    CHECK(
        call("{S:{min:4, multiple:4}}", "$S", with_undecided()) ==
        Lines{"8:1 MIR0436 'graph.CallGraphOp' passes extent $T as '$S', whose declaration admits "
              "4 or more, a multiple of 4, which is checked at run time"});
    CHECK(call("{S:{min:4}, T:{max:3}}", "$N") == Lines{});
  }

  TEST_CASE("symbol_c2: MIR0427 a symbol that only another graph binds") {
    const auto module_of = [](int version, const std::string& use) {
      return "@main [mir_version:" + std::to_string(version) +
             "] (%x:tensor<[4], Float32, CPU>) -> () {\n"
             "graph.SubGraphOp @g <CPU> {\n(%a:tensor<[$K], Float32, CPU>) -> (%b:tensor<[$K], "
             "Float32, CPU>) {\nlinalg.CPU.NegOp (%a) -> (%b)\ncf.ReturnOp (%b) -> ()\n}\n}\n"
             "graph.SubGraphOp @h <CPU> {\n() -> (%b:tensor<[$K], Float32, CPU>) {\n"
             "linalg.CPU.IotaOp [shape:[$K], dtype:Float32, dim:0] () -> (%b)\n"
             "cf.ReturnOp (%b) -> ()\n}\n}\n" +
             use + "cf.ReturnOp () -> ()\n}\n";
    };
    const std::string by_g = "graph.CallGraphOp @g (%x) -> (%r:tensor<[4], Float32, CPU>)\n";
    const std::string by_h = "graph.CallGraphOp @h () -> (%s:tensor<[$K], Float32, CPU>)\n";
    const Lines unbound = verified(module_of(2, by_g + by_h));
    REQUIRE(unbound.size() == 1);
    CHECK(unbound[0].ends_with("MIR0427 no input and no cache binds '$K'"));
  }

  TEST_CASE("slices are within their dimension") {
    CHECK(declared("{S:{min:4}}", {slice("0", "4")}) == Lines{});
    CHECK(declared("{S:{min:1}}", {slice("0", "$S/2")}) == Lines{});
    CHECK(declared("{S:{min:1}}", {slice("$S-1", "$S")}) == Lines{});
    CHECK(declared("{S:{min:4}, T:{max:4}}", {slice("$T", "$S")}) == Lines{});
    CHECK(refused("{S:{min:3}}", {slice("0", "4")}) ==
          Lines{"2:29 MIR0504 'indices' of 'SliceOp' has {\"start\":0,\"end\":4,\"step\":1} for "
                "dimension 0, expected bounds within extent $S; $S = 3 makes $S 3"});
    CHECK(refused("{S:{max:32}, T:{}}", {slice("0", "$T")})
              .front()
              .ends_with("$S = 0, $T = 1 makes them 0 and 1"));
    // Nothing says which values a symbol without a declaration has: the run checks it.
    CHECK(refused("{S:{max:32}}", {slice("0", "$T")}) == Lines{});
    CHECK(refused("{T:{}}", {slice("$S-1", "$S")}) == Lines{});
    CHECK(refused("{S:{}}", {slice("$S-1", "$S")}).front().ends_with("$S = 0 makes $S-1 -1"));
  }

  TEST_CASE("equal extents") {
    const std::string sum = "linalg.CPU.AddOp (%0, %t) -> (%1)";
    CHECK(declared("{S:{min:8, max:8}, T:{min:8, max:8}}", {sum}) == Lines{});
    CHECK(declared("{S:{min:1, max:1}}", {sum}) == Lines{});
    CHECK(refused("{S:{min:1, max:9}, T:{min:1, max:9}}", {sum})
              .front()
              .ends_with("; $S = 2, $T = 3 makes them 2 and 3"));
    const std::string view = "linalg.CPU.ViewOp [to_shape:[$S/8, 32]] (%0) -> (%1)";
    CHECK(declared("{S:{multiple:8}}", {view}) == Lines{});
    CHECK(declared("{S:{multiple:16}}",
                   {view,
                    "linalg.CPU.ViewOp [to_shape:[$S, 4]] (%1) -> (%2:tensor<[8*($S/8), 4], "
                    "Float32, CPU>)"}) == Lines{});
    CHECK(refused("{S:{multiple:12}}", {view}).front().ends_with("$S = 12 makes them 48 and 32"));
    CHECK(refused("{S:{}}", {"linalg.CPU.ViewOp [to_shape:[-1, 8]] (%0) -> (%1)"})
              .front()
              .ends_with("$S = 1 makes 4*$S 4"));
    CHECK(declared("{S:{multiple:2}}", {"linalg.CPU.ViewOp [to_shape:[-1, 8]] (%0) -> (%1)"}) ==
          Lines{});
  }
}

}  // namespace declared_symbols_test
