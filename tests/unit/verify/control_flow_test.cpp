// Constraints of structured control flow.
#include <fmt/format.h>

#include "verified.hpp"

namespace mir::test {

namespace {

constexpr std::string_view kIndex = "tensor<[1], Int32, CPU>";

std::string in_version_2(const Lines& ops) {
  std::string text = module_of(ops);
  text.replace(text.find("mir_version:1"), 13, "mir_version:2");
  return text;
}

/// What verification reports of a module of these ops.
Lines of_version_2(Lines ops) {
  ops.emplace_back("cf.ReturnOp () -> ()");
  return verified(in_version_2(ops));
}

/// A loop on the input with these operands, arguments and body.
Lines loop(std::string_view bounds, std::string_view arguments, std::string_view body) {
  return of_version_2({fmt::format("cf.ForOp ({}, %0) -> (%y:{}) {{", bounds, kType),
                       fmt::format("({}) -> (%b:{}) {{", arguments, kType), std::string(body),
                       "} }"});
}

std::string bounds(std::string_view first, std::string_view last, std::string_view step) {
  return fmt::format("%l:{}[constant:[0]], %h:{}[constant:[3]], %s:{}[constant:[1]]", first, last,
                     step);
}
std::string arguments(std::string_view index = kIndex) {
  return fmt::format("%i:{}, %a:{}", index, kType);
}
const std::string kBody =
    fmt::format("linalg.CPU.NegOp (%a) -> (%b:{})\ncf.YieldOp (%b) -> ()", kType);

}  // namespace

TEST_SUITE("control flow") {
  TEST_CASE("version_c1: conditions and loops need version 2") {
    const Lines empty{"cf.WhileOp () -> () {",
                      "() -> () { cf.ConditionOp (%c:tensor<[1], Bool, CPU>[constant:[0]]) -> () }",
                      "() -> () { cf.YieldOp () -> () } }"};
    CHECK(of_version_2(empty) == Lines{});
    CHECK(checked(empty) == Lines{"2:1 MIR0321 'cf.WhileOp' needs mir_version:2"});
  }

  TEST_CASE("control_c1: each region ends with the op that its place asks for") {
    CHECK(loop(bounds(kIndex, kIndex, kIndex), arguments(), kBody) == Lines{});
    CHECK(loop(bounds(kIndex, kIndex, kIndex), arguments(),
               fmt::format("linalg.CPU.NegOp (%a) -> (%b:{})", kType)) ==
          Lines{"2:1 MIR0431 region 0 of 'cf.ForOp' must end with 'cf.YieldOp'"});
    CHECK(loop(bounds(kIndex, kIndex, kIndex), arguments(),
               "cf.ConditionOp (%c:tensor<[1], Bool, CPU>[constant:[true]], %a) -> ()")
              .back()
              .find("region 0 of 'cf.ForOp' must end with 'cf.YieldOp'") != std::string::npos);
    CHECK(verified(in_version_2({"cf.YieldOp () -> ()"}))
              .front()
              .find("'cf.YieldOp' ends no region of 'builtin.ModuleOp'") != std::string::npos);
    CHECK(of_version_2({"cf.WhileOp () -> () {", "() -> () { cf.YieldOp () -> () }",
                        "() -> () { cf.YieldOp () -> () } }"})
              .front()
              .find("region 0 of 'cf.WhileOp' must end with 'cf.ConditionOp'") !=
          std::string::npos);
  }

  TEST_CASE("control_c2: a condition is one Bool") {
    const auto choice = [](std::string_view type) {
      return of_version_2({fmt::format("cf.IfOp (%c:{}[constant:[1]]) -> () {{", type),
                           "() -> () { cf.YieldOp () -> () }",
                           "() -> () { cf.YieldOp () -> () } }"});
    };
    CHECK(choice("tensor<[1], Bool, CPU>") == Lines{});
    CHECK(choice("tensor<[1], Int32, CPU>") ==
          Lines{"2:1 MIR0432 the condition of 'cf.IfOp' is tensor<[1], Int32, CPU>, expected one "
                "Bool"});
    const Lines many =
        of_version_2({"cf.WhileOp () -> () {",
                      "() -> () { cf.ConditionOp (%c:tensor<[2], Bool, CPU>[constant:[1, "
                      "0]]) -> () }",
                      "() -> () { cf.YieldOp () -> () } }"});
    CHECK(many.front().find("the condition of 'cf.ConditionOp' is tensor<[2], Bool, CPU>") !=
          std::string::npos);
  }

  TEST_CASE("control_c3: bounds, step and index are one integer of one type") {
    constexpr std::string_view kLong = "tensor<[1], Int64, CPU>";
    constexpr std::string_view kFloat = "tensor<[1], Float32, CPU>";
    CHECK(loop(bounds(kLong, kLong, kLong), arguments(kLong), kBody) == Lines{});
    CHECK(loop(bounds(kFloat, kFloat, kFloat), arguments(kFloat), kBody) ==
          Lines{"2:1 MIR0432 the lower bound of 'cf.ForOp' is tensor<[1], Float32, CPU>, expected "
                "one Int32 or Int64"});
    CHECK(
        loop(bounds(kIndex, kLong, kIndex), arguments(), kBody) ==
        Lines{"2:1 MIR0432 the upper bound of 'cf.ForOp' is tensor<[1], Int64, CPU>, expected one "
              "number of type tensor<[1], Int32, CPU>"});
    CHECK(loop(bounds(kIndex, kIndex, kIndex), arguments(kLong), kBody)
              .front()
              .find("takes an index of the type of the bounds and 1 more") != std::string::npos);
  }

  TEST_CASE("control_c4: a constant step is above 0") {
    const auto step = [](int number) {
      return loop(fmt::format("%l:{0}[constant:[0]], %h:{0}[constant:[3]], %s:{0}[constant:[{1}]]",
                              kIndex, number),
                  arguments(), kBody);
    };
    CHECK(step(2) == Lines{});
    CHECK(step(0) == Lines{"2:1 MIR0432 the step of 'cf.ForOp' is 0, expected a number above 0"});
  }

  TEST_CASE("version_c1: branches, and blocks in the body of a module, need version 2") {
    const Lines blocks{"cf.BranchOp () -> () [^next]", "^next:"};
    CHECK(of_version_2(blocks) == Lines{});
    CHECK(checked(blocks) == Lines{"1:1 MIR0321 blocks in the body of a module need mir_version:2",
                                   "2:1 MIR0321 'cf.BranchOp' needs mir_version:2"});
  }

  TEST_CASE("control_c2, control_c5: a branch chooses by one Bool, a switch by one integer") {
    const auto branch = [](std::string_view type) {
      return of_version_2(
          {fmt::format("cf.CondBranchOp (%c:{}[constant:[1]]) -> () [^a, ^a]", type), "^a:"});
    };
    CHECK(branch("tensor<[1], Bool, CPU>") == Lines{});
    CHECK(
        branch("tensor<[1], Int32, CPU>") ==
        Lines{"2:1 MIR0432 the condition of 'cf.CondBranchOp' is tensor<[1], Int32, CPU>, expected "
              "one Bool"});
    const auto choice = [](std::string_view type, std::string_view cases) {
      return of_version_2(
          {fmt::format("cf.SwitchOp [cases:{}] (%i:{}[constant:[1]]) -> () [^a, ^a, ^a]", cases,
                       type),
           "^a:"});
    };
    CHECK(choice(kIndex, "[-1, 7]") == Lines{});
    CHECK(choice("tensor<[1], Int64, CPU>", "[0, 1]") == Lines{});
    CHECK(choice("tensor<[1], Float32, CPU>", "[0, 1]") ==
          Lines{"2:1 MIR0432 the index of 'cf.SwitchOp' is tensor<[1], Float32, CPU>, expected one "
                "Int32 or Int64"});
    CHECK(
        choice(kIndex, "[0]") ==
        Lines{"2:20 MIR0432 'cf.SwitchOp' has 1 cases and 3 successors, expected one case for each "
              "but the first"});
    CHECK(
        choice(kIndex, "[0, 1, 2]") ==
        Lines{"2:20 MIR0432 'cf.SwitchOp' has 3 cases and 3 successors, expected one case for each "
              "but the first"});
    CHECK(choice(kIndex, "[4, 4]") ==
          Lines{"2:20 MIR0432 case 4 of 'cf.SwitchOp' is stated twice"});
    CHECK(choice(kIndex, "[2147483647, -2147483648]") == Lines{});
    CHECK(
        choice(kIndex, "[0, 4294967296]") ==
        Lines{"2:20 MIR0432 case 4294967296 of 'cf.SwitchOp' is not a value of its index, Int32"});
    CHECK(choice("tensor<[1], Int64, CPU>", "[0, 4294967296]") == Lines{});
  }

  TEST_CASE("signature_c1, signature_c2: a region states the results that its end passes") {
    const auto choice = [](std::string_view results) {
      return of_version_2(
          {fmt::format("cf.IfOp (%c:tensor<[1], Bool, CPU>[constant:[1]]) -> (%y:{}) {{", kType),
           fmt::format("() -> ({}) {{ cf.YieldOp (%0) -> () }}", results),
           fmt::format("() -> (%0:{}) {{ cf.YieldOp (%0) -> () }} }}", kType)});
    };
    CHECK(choice(fmt::format("%0:{}", kType)) == Lines{});
    CHECK(choice("").front().find("region 0 of 'cf.IfOp' returns 1 value (%0), its signature") !=
          std::string::npos);
    CHECK(
        choice("%0:tensor<[9], Float32, CPU>").front().find("result 0 of region 0 of 'cf.IfOp'") !=
        std::string::npos);
  }

  TEST_CASE("flow_c1, flow_c2: values that loops carry match in number and type") {
    CHECK(loop(bounds(kIndex, kIndex, kIndex), arguments(), "cf.YieldOp () -> ()")
              .front()
              .find("'cf.YieldOp' passes 0 values to the entry of region 0 of 'cf.ForOp', which "
                    "takes") != std::string::npos);
    CHECK(
        loop(bounds(kIndex, kIndex, kIndex), arguments(), "cf.YieldOp (%i) -> ()")
            .front()
            .find("that 'cf.YieldOp' passes to the entry of region 0 of 'cf.ForOp' is tensor<[1], "
                  "Int32, CPU>, expected tensor<[2, 4], Float32, CPU>") != std::string::npos);
  }

  TEST_CASE("flow_c2: regions of a condition pass different extents for a symbol of the results") {
    // The first region passes two values of extents `a` and `b`, the second one of 6 and 12.
    const auto choice = [](std::string_view head, std::string_view results, int a, int b) {
      const auto of = [](int extent) { return fmt::format("tensor<[{}], Float32, CPU>", extent); };
      const std::string text = fmt::format(
          "@main [mir_version:2{}] (%c:tensor<[1], Bool, CPU>, %x:tensor<[$S], Float32, CPU>, "
          "%0:{}, %1:{}, %2:{}, %3:{}) -> () {{\n"
          "cf.IfOp (%c) -> ({}) {{\n"
          "() -> (%0:{}, %1:{}) {{\ncf.YieldOp (%0, %1) -> ()\n}}\n"
          "() -> (%2:{}, %3:{}) {{\ncf.YieldOp (%2, %3) -> ()\n}}\n}}\n"
          "cf.ReturnOp () -> ()\n}}\n",
          head, of(a), of(b), of(6), of(12), results, of(a), of(b), of(6), of(12));
      return verified(text);
    };
    constexpr std::string_view kResults =
        "%y:tensor<[$N], Float32, CPU>, %z:tensor<[2*$N], Float32, CPU>";
    CHECK(choice("", kResults, 4, 8) == Lines{});
    CHECK(choice("", kResults, 4, 9) ==
          Lines{"4:1 MIR0431 value 1 that 'cf.YieldOp' passes to the results of 'cf.IfOp' is "
                "tensor<[9], Float32, CPU>, expected tensor<[8], Float32, CPU>"});
    CHECK(choice(", symbols:{N:{max:6}}", kResults, 4, 8) == Lines{});
    CHECK(choice(", symbols:{N:{max:5}}", kResults, 4, 8) ==
          Lines{"7:1 MIR0431 'cf.YieldOp' passes extent 6 as '$N', whose declaration admits 0 to "
                "5"});
    CHECK(choice(", symbols:{N:{multiple:4}}", kResults, 4, 8).size() == 1);
    // A symbol of an input has one value in a run.
    const Lines of_input =
        choice("", "%y:tensor<[$S], Float32, CPU>, %z:tensor<[2*$S], Float32, CPU>", 4, 8);
    REQUIRE(of_input.size() == 4);
    CHECK(of_input[0] ==
          "4:1 MIR0431 value 0 that 'cf.YieldOp' passes to the results of 'cf.IfOp' is "
          "tensor<[4], Float32, CPU>, expected tensor<[$S], Float32, CPU>");
  }

  TEST_CASE("flow_c2: loops carry the same extents in all iterations") {
    CHECK(
        of_version_2({"cf.WhileOp (%0) -> (%y:tensor<[$N, 4], Float32, CPU>) {",
                      "(%a:tensor<[$N, 4], Float32, CPU>) -> (%a:tensor<[$N, 4], Float32, CPU>) {",
                      "cf.ConditionOp (%c:tensor<[1], Bool, CPU>[constant:[0]], %a) -> () }",
                      "(%b:tensor<[$N, 4], Float32, CPU>) -> (%0:tensor<[2, 4], Float32, CPU>) {",
                      "cf.YieldOp (%0) -> () } }"})
            .size() >= 2);
  }

  TEST_CASE("block_c5: branches to a block pass different extents for a symbol of its arguments") {
    const auto flow = [](std::string_view head, std::string_view argument) {
      return verified(fmt::format(
          "@main [mir_version:2{}] (%c:tensor<[1], Bool, CPU>, %x:tensor<[4], Float32, CPU>, "
          "%y:tensor<[6], Float32, CPU>, %s:tensor<[$S], Float32, CPU>) -> () {{\n"
          "cf.CondBranchOp (%c) -> () [^join(%x), ^join(%y)]\n"
          "^join(%z:tensor<[{}], Float32, CPU>):\n"
          "cf.ReturnOp () -> ()\n}}\n",
          head, argument));
    };
    CHECK(flow("", "$N") == Lines{});
    CHECK(flow("", "$S").size() == 2);
    CHECK(flow(", symbols:{N:{min:5, max:8}}", "$N") ==
          Lines{"2:1 MIR0422 'cf.CondBranchOp' passes extent 4 as '$N', whose declaration admits 5 "
                "to 8"});
  }
}

}  // namespace mir::test
