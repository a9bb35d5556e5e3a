// Which ops a pattern matches, and why it does not match others.
#include "patterns/match.hpp"

#include <fmt/format.h>

#include "../ir/read.hpp"
#include "mir/verify.hpp"
#include "read_rule.hpp"

using namespace mir;
using mir::test::Reading;

namespace match_test {

namespace {

constexpr std::string_view kType = "tensor<[2, 3, 5], Float32, CPU>";

/// "matches", or why the pattern does not match the op before the return of the module.
std::string answer(std::string_view attributes, std::string_view input, std::string_view pattern,
                   std::string_view ops) {
  const std::string text = fmt::format(
      "@main [mir_version:1] (%x:{3}, %u:{3}) -> (%r) {{\n{2}\ncf.ReturnOp (%r) -> ()\n}}\n"
      "@rules [mir_version:1] () -> () {{\npattern.RewriteOp @p [{0}] {{\n"
      "({4}) -> (%z) {{ {1} cf.ReturnOp (%z) -> () }}\n"
      "(%x) -> (%x) {{ cf.ReturnOp (%x) -> () }}\n}}\n}}\n",
      attributes, pattern, ops, kType, input);
  Reading reading(text);
  const auto read = test::read_rule(reading, 1);
  Op* root = reading.modules[0]->body().only_block().back()->previous();
  patterns::Mismatch mismatch;
  const auto plan = patterns::match(*read, *root, true, mismatch);
  patterns::Mismatch silent;
  CHECK(patterns::match(*read, *root, false, silent).has_value() == plan.has_value());
  return plan ? "matches" : mismatch.reason;
}

}  // namespace

TEST_CASE("a pattern matches what its templates stand for, or says what differs") {
  struct Match {
    std::string_view attributes, pattern, ops, answer;
  };
  const Match cases[] = {
      {"", "linalg.D.NegOp(%x) -> (%z)", "linalg.CPU.NegOp(%x) -> (%r)", "matches"},
      {"", "linalg.D.NegOp(%x) -> (%z)", "linalg.CPU.AbsOp(%x) -> (%r)", "it is no 'linalg.NegOp'"},
      {"", "linalg.CPU.NegOp(%x) -> (%z)", "linalg.QNN.NegOp(%x) -> (%r)",
       "it runs on another device"},
      // lists
      {"", "linalg.D.PermuteOp [axis:[0, 2, 1]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[0, 2, 1]] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[2, 5, 3], "
       "Float32, CPU>"},
      {"", "linalg.D.PermuteOp [axis:[0, 2, 1]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)", "attribute 'axis' differs"},
      {"", "linalg.D.PermuteOp [axis:[$a, $b]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)", "attribute 'axis' differs"},
      {"", "linalg.D.PermuteOp [axis:[$a, $b, $a]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)", "attribute 'axis' differs"},
      {"", "linalg.D.PermuteOp [axis:[$a.., 1]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[5, 2, 3], "
       "Float32, CPU>"},
      {"", "linalg.D.PermuteOp [axis:[$a.., 2]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)", "attribute 'axis' differs"},
      {"", "linalg.D.PermuteOp [axis:[2, $a.., 0, 1]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[5, 2, 3], "
       "Float32, CPU>"},
      {"", "linalg.D.PermuteOp [axis:[2, $a.., 2, 0, 1]] (%x) -> (%z)",
       "linalg.CPU.PermuteOp [axis:[2, 0, 1]] (%x) -> (%r)", "attribute 'axis' differs"},
      // dictionaries
      {"", "linalg.D.SliceOp [indices:[{start:$s, end:$e}, {}, {}]] (%x) -> (%z)",
       "linalg.CPU.SliceOp [indices:[{start:0, end:1}, {}, {}]] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[1, 3, 5], "
       "Float32, CPU>"},
      {"", "linalg.D.SliceOp [indices:[{start:$s, end:$e}, {}, {}]] (%x) -> (%z)",
       "linalg.CPU.SliceOp [indices:[{end:1}, {}, {}]] (%x) -> (%r)",
       "attribute 'indices' differs"},
      {"", "linalg.D.SliceOp [indices:[{end:$e}, {}, {}]] (%x) -> (%z)",
       "linalg.CPU.SliceOp [indices:[{start:0, end:1}, {}, {}]] (%x) -> (%r)",
       "attribute 'indices' differs"},
      {"", "linalg.D.SliceOp [indices:[{end:2}, {}, {}]] (%x) -> (%z)",
       "linalg.CPU.SliceOp [indices:[{end:1}, {}, {}]] (%x) -> (%r)",
       "attribute 'indices' differs"},
      {"", "linalg.D.SliceOp [indices:[{start:1}, {}, {}]] (%x) -> (%z)",
       "linalg.CPU.SliceOp [indices:[{end:1}, {}, {}]] (%x) -> (%r)",
       "attribute 'indices' differs"},
      // attributes that the pattern does not mention, and conditions
      {"", "linalg.D.SoftmaxOp [axis:-1] (%x) -> (%z)",
       "linalg.CPU.SoftmaxOp [axis:-1] (%x) -> (%r)", "matches"},
      {"", "linalg.D.SoftmaxOp [axis:-1] (%x) -> (%z)",
       "linalg.CPU.SoftmaxOp [axis:2] (%x) -> (%r)", "attribute 'axis' differs"},
      {"", "linalg.D.SoftmaxOp [axis:-1] (%x) -> (%z)",
       "linalg.CPU.SoftmaxOp [axis:-1, my.mark:1] (%x) -> (%r)",
       "it has marks that a pass attached"},
      // attributes that the op does not state have their defaults
      {"where:\"$k == true\"", "linalg.D.ReduceSumOp [dim:0, keep_dim:$k] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0] (%x) -> (%r)", "condition '$k == true' does not hold"},
      {"where:\"$k == false\"", "linalg.D.ReduceSumOp [dim:0, keep_dim:$k] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[3, 5], "
       "Float32, CPU>"},
      {"", "linalg.D.ReduceSumOp [dim:0, keep_dim:false] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[3, 5], "
       "Float32, CPU>"},
      {"", "linalg.D.ReduceSumOp [dim:0, keep_dim:true] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0] (%x) -> (%r)", "attribute 'keep_dim' differs"},
      {"", "linalg.D.ReduceSumOp [dim:0] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0, keep_dim:false] (%x) -> (%r)",
       "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a tensor<[3, 5], "
       "Float32, CPU>"},
      {"", "linalg.D.ReduceSumOp [dim:0] (%x) -> (%z)",
       "linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%x) -> (%r)",
       "it states attribute 'keep_dim', which the pattern does not mention"},
      {"where:\"rank(%x) == 3\"", "linalg.D.NegOp(%x) -> (%z)", "linalg.CPU.NegOp(%x) -> (%r)",
       "matches"},
      {"where:\"rank(%x) == 4\"", "linalg.D.NegOp(%x) -> (%z)", "linalg.CPU.NegOp(%x) -> (%r)",
       "condition 'rank(%x) == 4' does not hold"},
      // operands
      {"", "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)",
       "linalg.CPU.NegOp(%x) -> (%1) linalg.CPU.NegOp(%1) -> (%r)", "matches"},
      {"", "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)",
       "linalg.CPU.AbsOp(%x) -> (%1) linalg.CPU.NegOp(%1) -> (%r)",
       "no 'linalg.NegOp' defines '%y'"},
      {"", "linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)", "linalg.CPU.NegOp(%x) -> (%r)",
       "no 'linalg.NegOp' defines '%y'"},
      {"", "linalg.D.MulOp(%x, %x) -> (%z)", "linalg.CPU.MulOp(%x, %x) -> (%r)", "matches"},
      {"", "linalg.D.MulOp(%x, %x) -> (%z)", "linalg.CPU.MulOp(%x, %u) -> (%r)",
       "'%x' is another value"},
      {"", "linalg.D.MulOp(%x, %c[constant:[2]]) -> (%z)",
       "linalg.CPU.MulOp(%x, %c:tensor<[1], Float32, CPU>[constant:[2]]) -> (%r)", "matches"},
      {"", "linalg.D.MulOp(%x, %c[constant:[2]]) -> (%z)",
       "linalg.CPU.MulOp(%c:tensor<[1], Float32, CPU>[constant:[2]], %x) -> (%r)", "matches"},
      {"", "linalg.D.SubOp(%x, %c[constant:[2]]) -> (%z)",
       "linalg.CPU.SubOp(%x, %c:tensor<[1], Float32, CPU>[constant:[3]]) -> (%r)",
       "'%c' is no such constant"},
      {"", "linalg.D.SubOp(%x, %c[constant:[2]]) -> (%z)", "linalg.CPU.SubOp(%x, %u) -> (%r)",
       "'%c' is no such constant"},
      {"", "linalg.D.SubOp(%x, %c[constant:[2]]) -> (%z)",
       "linalg.CPU.SubOp(%x, %c:tensor<[5], Float32, CPU>[constant:[2, 2, 2, 2, 2]]) -> (%r)",
       "matches"},
      {"", "linalg.D.SubOp(%x, %c[constant:[2]]) -> (%z)",
       "linalg.CPU.SubOp(%x, %c:tensor<[5], Float32, CPU>[constant:[2, 2, 2, 2, 3]]) -> (%r)",
       "'%c' is no such constant"},
      {"", "linalg.D.SubOp(%x, %c[constant:[1, 2, 3, 4, 5]]) -> (%z)",
       "linalg.CPU.SubOp(%x, %c:tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]) -> (%r)",
       "matches"},
      {"", "linalg.D.SubOp(%x, %c[constant:[1, 2]]) -> (%z)",
       "linalg.CPU.SubOp(%x, %c:tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]) -> (%r)",
       "'%c' is no such constant"},
      // several attributes
      {"", "linalg.D.TransposeOp [dim0:1, dim1:2] (%x) -> (%z)",
       "linalg.CPU.TransposeOp [dim0:1, dim1:0] (%x) -> (%r)", "attribute 'dim1' differs"},
  };
  for (const Match& each : cases) {
    CAPTURE(each.pattern);
    CAPTURE(each.ops);
    CHECK(answer(each.attributes, "%x", each.pattern, each.ops) == each.answer);
  }
}

TEST_CASE("types of inputs bind extents, which must be equal where they come again") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {":tensor<[$a, $b, $c], T, D>", "matches"},
      {":tensor<[$a, $b], T, D>", "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>"},
      {":tensor<[$a, $a, $c], T, D>", "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>"},
      {":tensor<[$a, $b, $a + $b], T, D>", "matches"},
      {":tensor<[$a, $b, $a * $b], T, D>",
       "an expression of the pattern is 6, the operation has 5"},
      {":tensor<[2, 3, 5], Float16, D>", "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>"},
      {":tensor<[2, 3, 5], T, QNN>", "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>"},
      {":tensor<[2, 3, 5], Float32, CPU>", "matches"},
      {":tensor<[2, 3, 4], Float32, CPU>",
       "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.first);
    CHECK(answer("", fmt::format("%x{}", each.first), "linalg.D.NegOp(%x) -> (%z)",
                 "linalg.CPU.NegOp(%x) -> (%r)") == each.second);
  }
}

}  // namespace match_test
