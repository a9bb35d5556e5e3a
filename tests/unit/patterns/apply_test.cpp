// Where a pattern that matches puts its new ops, and what it leaves.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "../ir/read.hpp"
#include "mir/verify.hpp"
#include "patterns/match.hpp"
#include "read_rule.hpp"

using namespace mir;
using mir::test::Reading;

namespace apply_test {

namespace {

std::string module_of(std::string_view ops) {
  return fmt::format(
      "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>, %u:tensor<[2], Float32, CPU>) -> (%r) "
      "{{\n{}cf.ReturnOp (%r) -> ()\n}}\n",
      ops);
}

/// The module after the first match of a pattern with these regions, or why no op matches.
std::string rewritten(std::string_view first, std::string_view second, std::string_view ops) {
  Reading reading(module_of(ops) +
                  fmt::format("@rules [mir_version:1] () -> () {{\npattern.RewriteOp @p [] {{\n"
                              "{}\n{}\n}}\n}}\n",
                              first, second));
  const auto read = test::read_rule(reading, 1);
  Module& module = *reading.modules[0];
  std::string reason = "no op is a root";
  for (Op* op : module.body().only_block().ops()) {
    if (op->kind() != read->root().kind) continue;
    patterns::Mismatch mismatch;
    if (const auto plan = patterns::match(*read, *op, true, mismatch)) {
      Rewriter rewriter(module);
      patterns::apply(rewriter, *plan);
      return print(module);
    }
    reason = mismatch.reason;
  }
  return reason;
}

std::string printed(std::string_view ops) {
  Reading reading(module_of(ops));
  return print(reading.module());
}

}  // namespace

TEST_CASE("results keep their names, and ops that are still used stay") {
  const std::string_view twice =
      "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%y) linalg.D.ExpOp(%y) -> (%z) "
      "cf.ReturnOp (%z) -> () }";
  const std::string_view once =
      "(%x) -> (%z) { linalg.D.AbsOp(%x) -> (%z) cf.ReturnOp (%z) -> () }";
  CHECK(rewritten(twice, once, "linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%n) -> (%r)\n") ==
        printed("linalg.CPU.AbsOp(%x) -> (%r)\n"));
  CHECK(rewritten(twice, once,
                  "linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%n) -> (%e)\n"
                  "linalg.CPU.AddOp(%n, %e) -> (%r)\n") ==
        printed("linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.AbsOp(%x) -> (%e)\n"
                "linalg.CPU.AddOp(%n, %e) -> (%r)\n"));
  CHECK(rewritten("(%x) -> (%z) { linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z) "
                  "cf.ReturnOp (%z) -> () }",
                  "(%x) -> (%x) { cf.ReturnOp (%x) -> () }",
                  "linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.NegOp(%n) -> (%m)\n"
                  "linalg.CPU.AbsOp(%m) -> (%r)\n") == printed("linalg.CPU.AbsOp(%x) -> (%r)\n"));
}

TEST_CASE("new ops run on the device of the pattern or of the matched op") {
  const auto on = [](std::string_view device) {
    return rewritten(
        "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%z) cf.ReturnOp (%z) -> () }",
        fmt::format("(%x) -> (%z) {{ linalg.{}.AbsOp(%x) -> (%z) cf.ReturnOp (%z) -> () }}",
                    device),
        "linalg.CPU.NegOp(%x) -> (%r)\n");
  };
  CHECK(on("D") == printed("linalg.CPU.AbsOp(%x) -> (%r)\n"));
  CHECK(on("CPU") == printed("linalg.CPU.AbsOp(%x) -> (%r)\n"));
}

TEST_CASE("ops that share an operand are replaced where no other op is in the way") {
  const std::string_view both =
      "(%x, %u) -> (%y, %z) { linalg.D.NegOp(%x) -> (%y) linalg.D.SubOp(%x, %u) -> (%z) "
      "cf.ReturnOp (%y, %z) -> () }";
  const std::string_view other =
      "(%x, %u) -> (%y, %z) { linalg.D.AbsOp(%x) -> (%y) linalg.D.AddOp(%u, %x) -> (%z) "
      "cf.ReturnOp (%y, %z) -> () }";
  const auto after = [&](std::string_view ops) { return rewritten(both, other, ops); };
  // The inputs are defined before the first one.
  CHECK(after("linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%n) -> (%e)\n"
              "linalg.CPU.SubOp(%x, %u) -> (%s)\nlinalg.CPU.AddOp(%e, %s) -> (%r)\n") ==
        printed("linalg.CPU.AbsOp(%x) -> (%n)\nlinalg.CPU.AddOp(%u, %x) -> (%s)\n"
                "linalg.CPU.ExpOp(%n) -> (%e)\nlinalg.CPU.AddOp(%e, %s) -> (%r)\n"));
  // An input is defined between them.
  CHECK(after("linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%u) -> (%e)\n"
              "linalg.CPU.SubOp(%x, %e) -> (%s)\nlinalg.CPU.AddOp(%n, %s) -> (%r)\n") ==
        printed("linalg.CPU.ExpOp(%u) -> (%e)\nlinalg.CPU.AbsOp(%x) -> (%n)\n"
                "linalg.CPU.AddOp(%e, %x) -> (%s)\nlinalg.CPU.AddOp(%n, %s) -> (%r)\n"));
  CHECK(after("linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%u) -> (%e)\n"
              "linalg.CPU.AbsOp(%n) -> (%a)\n"
              "linalg.CPU.SubOp(%x, %e) -> (%s)\nlinalg.CPU.AddOp(%a, %s) -> (%r)\n") ==
        "an operation between the matched ones uses a replaced value");
  CHECK(after("linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.ExpOp(%n) -> (%e)\n"
              "linalg.CPU.SubOp(%x, %e) -> (%r)\n") ==
        "an operation between the matched ones uses a replaced value");
  // The operands decide, not the order of the users.
  CHECK(after("linalg.CPU.SubOp(%u, %x) -> (%o)\nlinalg.CPU.SubOp(%x, %u) -> (%s)\n"
              "linalg.CPU.NegOp(%x) -> (%n)\nlinalg.CPU.AddOp(%n, %s) -> (%t)\n"
              "linalg.CPU.AddOp(%o, %t) -> (%r)\n") ==
        printed("linalg.CPU.SubOp(%u, %x) -> (%o)\nlinalg.CPU.AbsOp(%x) -> (%n)\n"
                "linalg.CPU.AddOp(%u, %x) -> (%s)\nlinalg.CPU.AddOp(%n, %s) -> (%t)\n"
                "linalg.CPU.AddOp(%o, %t) -> (%r)\n"));
}

}  // namespace apply_test
