// Declarations and uses that are wrong, and what is said of them.
#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::dialect_of_op;
using mir::test::module_of_line;

namespace {

constexpr std::string_view kSame = "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n";

struct Mistake {
  std::string attributes, regions, message;
  std::string shape = "[2]";  ///< of the operand of a use
};

}  // namespace

TEST_SUITE("mistakes in dialects") {
  TEST_CASE("MIR0320 declarations") {
    const Mistake mistakes[] = {
        {"attributes:{k:integer}", std::string(kSame),
         "'my.AnOp': 'integer' of 'k' is no type of attributes"},
        {"attributes:{k:{type:int, max:3}}", std::string(kSame),
         "'my.AnOp': 'max' of 'k' means nothing"},
        {"attributes:{k:{type:int, range:[1, 8], default:9}}", std::string(kSame),
         "'my.AnOp': the default of 'k' is 9, expected an integer from 1 to 8"},
        {"attributes:{k:{type:slices, default:[1]}}", std::string(kSame),
         "'my.AnOp': 'k' cannot have a default"},
        {"traits:[pur]", std::string(kSame),
         "'my.AnOp': 'traits' has no 'pur' (did you mean 'pure'?)"},
        {"weights:{weight:wide}", std::string(kSame), "'my.AnOp': weight 'weight' needs a shape"},
        {"where:\"$m == 1\"", std::string(kSame),
         "'my.AnOp': cannot read '$m == 1': nothing binds '$m'"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$m], T, D>) { }\n",
         "'my.AnOp': nothing binds '$m'"},
        {"", "(%x:tensor<[$a.., $b..], T, D>) -> () { }\n",
         "'my.AnOp': a list that is matched has at most one pack"},
        {"", "(%x:tensor<[$n], T, D>[many:true], %y:tensor<[$n], T, D>[many:true]) -> () { }\n",
         "'my.AnOp': a signature has at most one operand with 'many'"},
        {"", "(%x:tensor<[$n], T, D>[optional:true], %y:tensor<[$n], T, D>) -> () { }\n",
         "'my.AnOp': '%y' is required and follows an optional operand"},
        {"", "(%x:tensor<[$n], T, D>[first:true]) -> () { }\n",
         "'my.AnOp': '%x' has an attribute 'first', which a body cannot ask for"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegateOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': operation 'linalg.NegateOp' is not known"},
        {"", "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.ReturnOp () -> () }\n",
         "'my.AnOp': 0 values are returned, the signature has 1"},
        {"",
         "(%x:tensor<[$n, $m], T, D>) -> (%y:tensor<[$n, $m], T, D>) { "
         "linalg.D.TransposeOp [dim0:0, dim1:1] (%x) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp': the new '%y' would be tensor<[$m, $n], Float32, CPU>, not "
         "tensor<[$n, $m], Float32, CPU> as stated",
         "[2, 3]"},
        {"",
         "(%xs:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$n], T, D>) { "
         "linalg.D.NegOp(%xs) -> (%y) cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': '%xs' is any number of operands, and 'linalg.NegOp' takes at most 1"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { my.AnOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp' contains the op itself"},
        {"attributes:{k:{type:int, default:5}}",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.SoftmaxOp [axis:$k] (%x) "
         "-> (%y) cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp': the new 'linalg.SoftmaxOp' would not verify: 'axis' of "
         "'SoftmaxOp' is 5, "
         "expected an axis of rank 1"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { dialect.RunOp (%x) -> "
         "(%y:tensor<[$n], T, D>) cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': 'dialect.RunOp' runs region 0, and 'regions' of the declaration admits 0"},
        {"regions:[1, 1]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { dialect.RunOp (%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': result '%y' of a region needs a type"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%x) -> (%y) { () -> (%x) { "
         "cf.YieldOp (%x) -> () } () -> () { cf.YieldOp () -> () } } cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': 'cf.YieldOp' passes 0 values to the results of 'cf.IfOp', expected 1"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%x) -> (%y) { () -> (%x) { "
         "cf.YieldOp (%x) -> () } () -> (%x) { cf.ConditionOp (%x) -> () } } "
         "cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': region 1 of 'cf.IfOp' must end with 'cf.YieldOp'"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%x) -> (%y) { () -> (%x) { "
         "cf.YieldOp (%x) -> () } () -> (%x) { cf.YieldOp (%x) -> () } } "
         "cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp': the condition of the new 'cf.IfOp' would be tensor<[$n], Float32, "
         "CPU>, expected one Bool"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.ForOp (%x, %x, %x, %x) -> (%y) { "
         "(%i, %a) -> (%a) { cf.YieldOp (%a) -> () } } cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp': the bounds and the step of the new 'cf.ForOp' would not be of one "
         "type with one Int32 or Int64: tensor<[$n], Float32, CPU>"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%c:tensor<[1], Bool, "
         "D>[constant:[1]]) -> (%y) { () -> (%x) { cf.YieldOp (%x) -> () } () -> (%z) { "
         "cf.YieldOp (%z:tensor<[3], T, D>[constant:[0]]) -> () } } cf.ReturnOp (%y) -> () }\n",
         "the body of 'my.AnOp': the new 'cf.YieldOp' would pass tensor<[3], Float32, CPU> to "
         "'%y', "
         "which is tensor<[$n], Float32, CPU>"},
        {"",
         "(%xs:tensor<[$n], T, D>[many:true]) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%c:tensor<[1], "
         "Bool, D>[constant:[1]]) -> (%y) { () -> (%xs) { cf.YieldOp (%xs) -> () } () -> (%xs) { "
         "cf.YieldOp (%xs) -> () } } cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': '%xs' is any number of operands, and 'cf.YieldOp' passes a fixed number of "
         "values"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { graph.FusedOp (%x) -> (%y) { () -> "
         "(%x) { cf.YieldOp (%x) -> () } } cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': an op of a body has no regions, successors or symbol"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.ForOp (%x, %x, %x) -> () { () -> "
         "() { "
         "cf.YieldOp () -> () } } cf.ReturnOp (%x) -> () }\n",
         "'my.AnOp': the region of 'cf.ForOp' takes an index"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.WhileOp (%x) -> () { (%a) -> () "
         "{ cf.ConditionOp (%a) "
         "-> () } () -> () { cf.YieldOp () -> () } } cf.ReturnOp (%x) -> () }\n",
         "'my.AnOp': 'cf.YieldOp' passes 0 values to region 0 of 'cf.WhileOp', expected 1"},
        {"",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { cf.IfOp (%x) -> () { () -> () { } "
         "() -> () { } } "
         "cf.ReturnOp (%x) -> () }\n",
         "'my.AnOp': region 0 of 'cf.IfOp' must end with 'cf.YieldOp'"},
        {"effects:[writes_state]",
         "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { linalg.D.NegOp(%x) -> (%y) "
         "cf.ReturnOp (%y) -> () }\n",
         "'my.AnOp': an op with a body has no effects"},
    };
    for (const Mistake& each : mistakes) {
      CAPTURE(each.attributes);
      CAPTURE(each.regions);
      const Declared read(dialect_of_op(each.attributes, each.regions));
      CAPTURE(read.problems);
      CHECK(read.problems.starts_with("MIR0320 " + each.message));
      // Uses of the op are not reported beside its declaration.
      const Declared used(
          dialect_of_op(each.attributes, each.regions) +
          module_of_line("%x:tensor<" + each.shape + ", Float32, CPU>", "my.AnOp(%x) -> (%y)"));
      CHECK(used.problems == read.problems);
      const Declared used_otherwise(dialect_of_op(each.attributes, each.regions) +
                                    module_of_line("", "my.AnOp() -> ()"));
      CHECK(used_otherwise.problems == read.problems);
    }
  }

  TEST_CASE("conditions hold for all declared values of a symbol, or not for all") {
    struct Use {
      std::string condition, declared;
      bool holds;
    };
    const Use uses[] = {
        {"$n % 4 == 0", "S:{multiple:8}", true},
        {"$n % 4 == 0", "S:{multiple:6}", false},
        {"$n % 4 != 0", "S:{min:5,max:7}", true},
        {"$n % 4 != 0", "S:{min:5,max:8}", false},
        {"$n > 3", "S:{min:4}", true},
        {"$n > 3", "S:{min:3}", false},
        {"$n >= 4", "S:{min:4}", true},
        {"$n >= 4", "S:{min:3}", false},
        {"$n < 9", "S:{max:8}", true},
        {"$n < 9", "S:{max:9}", false},
        {"$n <= 8", "S:{max:8}", true},
        {"$n <= 8", "S:{max:9}", false},
        {"$n <= 8 || $n > 8", "S:{}", false},
        {"!($n > 8)", "S:{max:8}", true},
    };
    for (const Use& each : uses) {
      CAPTURE(each.condition);
      CAPTURE(each.declared);
      std::string module = module_of_line("%x:tensor<[$S], Float32, CPU>", "my.AnOp(%x) -> (%y)");
      const std::string head = "mir_version:2";
      module.replace(module.find(head), head.size(), head + ", symbols:{" + each.declared + "}");
      const Declared read(dialect_of_op("where:\"" + each.condition + "\"", std::string(kSame)) +
                          module);
      CAPTURE(read.problems);
      CHECK(read.problems.empty() == each.holds);
      if (!each.holds) CHECK(read.problems.starts_with("MIR0508 "));
    }
  }

  TEST_CASE("uses that do not fit their signature") {
    struct Use {
      std::string attributes, regions, inputs, line, message;
    };
    const std::string dense =
        "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, D>) "
        "{ }\n";
    const Use uses[] = {
        {"", dense, "%x:tensor<[2, 64], Float32, CPU>, %w:tensor<[8, 96], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[8, 96], Float32, CPU>, expected "
         "tensor<[$N, $K], T, D>: extent 1 is 96, and $K is 64 (%x)\n"},
        {"", dense, "%x:tensor<[2, 64], Float32, CPU>, %w:tensor<[8, 64], Float16, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0502 operand '%w' of 'my.AnOp' is tensor<[8, 64], Float16, CPU>, expected "
         "tensor<[$N, $K], T, D>: element type is Float16, and T is Float32 (%x)\n"},
        {"", dense, "%x:tensor<[2, 64], Float32, CPU>, %w:tensor<[64], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[64], Float32, CPU>, expected "
         "tensor<[$N, $K], T, D>: rank 1, expected 2\n"},
        {"", dense, "%x:tensor<[], Float32, CPU>, %w:tensor<[8, 64], Float32, CPU>",
         "my.AnOp(%x, %w) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[], Float32, CPU>, expected "
         "tensor<[$B.., $K], T, D>: rank 0, expected at least 1 ($B.. and 1 more)\n"},
        // An operand may differ from itself.
        {"", "(%x:tensor<[$n, $n, 4], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[2, 3, 4], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[2, 3, 4], Float32, CPU>, expected "
         "tensor<[$n, $n, 4], T, D>: extent 1 is 3, and $n is 2\n"},
        {"", "(%x:tensor<[$m, 4], T, D>) -> (%y:tensor<[$m], T, D>) { }\n",
         "%x:tensor<[2, 3], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[2, 3], Float32, CPU>, expected "
         "tensor<[$m, 4], T, D>: extent 1 is 3, not 4\n"},
        {"", "(%x:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[5], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[5], Float32, CPU>, expected "
         "tensor<[2*$h], T, D>: an extent is 5, and no whole $h was found that gives it\n"},
        {"", "(%x:tensor<[$h], T, D>, %z:tensor<[2*$h], T, D>) -> (%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[5], Float32, CPU>, %z:tensor<[9], Float32, CPU>", "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[9], Float32, CPU>, expected "
         "tensor<[2*$h], T, D>: an extent is 9, and $h is 5 (%x)\n"},
        {"attributes:{k:{type:int, default:3}}, where:{\"$n % $k == 0\":\"cannot cut $n into $k\"}",
         std::string(kSame), "%x:tensor<[8], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0508 'my.AnOp' cannot cut 8 into 3: $n is 8 (%x), $k is 3\n"},
        {"",
         "(%x:tensor<[$n], T, D>, %y:tensor<[$n], T, D>[optional:true]) -> "
         "(%z:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>, %y:tensor<[9], Float32, CPU>", "my.AnOp(%x, %y) -> (%z)",
         "MIR0500 operand '%y' of 'my.AnOp' is tensor<[9], Float32, CPU>, expected "
         "tensor<[$n], T, D>: extent 0 is 9, and $n is 8 (%x)\n"},
        {"where:{\"$az_AZ_09 == 1\":\"$az_AZ_09, $az_AZ_09.x, $az, $ and 9\"}",
         "(%x:tensor<[$az_AZ_09], T, D>) -> (%y:tensor<[$az_AZ_09], T, D>) { }\n",
         "%x:tensor<[8], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0508 'my.AnOp' 8, 8.x, $az, $ and 9: $az_AZ_09 is 8 (%x)\n"},
        {"where:\"$n % 4 == 0\"", std::string(kSame), "%x:tensor<[$S], Float32, CPU>",
         "my.AnOp(%x) -> (%y)",
         "MIR0508 'my.AnOp': whether it holds cannot be decided: condition '$S % 4 == 0' does not "
         "hold: $n is $S (%x)\n"},
        {"", std::string(kSame), "%x:tensor<[8], Float32, CPU>",
         "my.AnOp(%x, %x) -> (%y:tensor<[8], Float32, CPU>)",
         "MIR0401 'my.AnOp' has 2 operands, expected 1\n"},
        {"",
         "(%x:tensor<[$B.., $K], T, D>, %w:tensor<[$N, $K], T, D>) -> (%y:tensor<[$B.., $N], T, "
         "D>) "
         "{\nlinalg.D.MatMulOp [transpose_b:true] (%x, %w) -> (%y)\ncf.ReturnOp (%y) -> ()\n}\n",
         "%x:tensor<[8], Float32, CPU>, %w:tensor<[5, 8], Float32, CPU>", "my.AnOp(%x, %w) -> (%y)",
         "MIR0508 the body of 'my.AnOp': the new 'linalg.MatMulOp' would not verify: 'MatMulOp' "
         "takes operand 0 "
         "of "
         "rank 2 or more, found [8]\n"},
        {"",
         "(%x:tensor<[$n..], T, D>, %z:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) { }\n",
         "%x:tensor<[8, 2], Float32, CPU>, %z:tensor<[2], Float32, CPU>", "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[2], Float32, CPU>, expected "
         "tensor<[$n..], T, D>: $n.. would be [2], and $n.. is [8, 2] (%x)\n"},
        {"",
         "(%x:tensor<[$K], T, D>, %w:tensor<[$N], T, D>, %b:tensor<[$N], T, D>) -> "
         "(%y:tensor<[$K], T, D>) { }\n",
         "%x:tensor<[64], Float32, CPU>, %w:tensor<[8], Float32, CPU>, %b:tensor<[9], Float32, "
         "CPU>",
         "my.AnOp(%x, %w, %b) -> (%y)",
         "MIR0500 operand '%b' of 'my.AnOp' is tensor<[9], Float32, CPU>, expected tensor<[$N], T, "
         "D>: extent 0 is 9, and $N is 8 (%w)\n"},
        {"", "(%x:tensor<[4, 8], T, D>) -> (%y:tensor<[4, 8], T, D>) { }\n",
         "%x:tensor<[4, 9], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[4, 9], Float32, CPU>, expected tensor<[4, "
         "8], T, D>: extent 1 is 9, not 8\n"},
        {"", "(%x:tensor<[4, 8], T, D>) -> (%y:tensor<[4, 8], T, D>) { }\n",
         "%x:tensor<[4, 8, 1], Float32, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0500 operand '%x' of 'my.AnOp' is tensor<[4, 8, 1], Float32, CPU>, expected "
         "tensor<[4, 8], T, D>: rank 3, expected 2\n"},
        {"",
         "(%x:tensor<[$a, $b.., $c], T, D>, %z:tensor<[$a, $b.., $c], T, D>) -> (%y:tensor<[$a], "
         "T, D>) { }\n",
         "%x:tensor<[2, 3, 4, 5], Float32, CPU>, %z:tensor<[2, 3, 4, 6], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[2, 3, 4, 6], Float32, CPU>, expected "
         "tensor<[$a, $b.., $c], T, D>: extent 3 is 6, and $c is 5 (%x)\n"},
        {"",
         "(%x:tensor<[$a, $b.., $c], T, D>, %z:tensor<[$a, $b.., $c], T, D>) -> (%y:tensor<[$a], "
         "T, D>) { }\n",
         "%x:tensor<[2, 3, 4, 5], Float32, CPU>, %z:tensor<[3, 3, 4, 5], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[3, 3, 4, 5], Float32, CPU>, expected "
         "tensor<[$a, $b.., $c], T, D>: extent 0 is 3, and $a is 2 (%x)\n"},
        {"",
         "(%x:tensor<[$a, $b.., $c], T, D>, %z:tensor<[$a, $b.., $c], T, D>) -> (%y:tensor<[$a], "
         "T, D>) { }\n",
         "%x:tensor<[2, 3, 4, 5], Float32, CPU>, %z:tensor<[2, 3, 5], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[2, 3, 5], Float32, CPU>, expected "
         "tensor<[$a, $b.., $c], T, D>: $b.. would be [3], and $b.. is [3, 4] (%x)\n"},
        {"",
         "(%x:tensor<[$a, $b.., $c], T, D>, %z:tensor<[$a, $b.., $c], T, D>) -> (%y:tensor<[$a], "
         "T, D>) { }\n",
         "%x:tensor<[2, 3, 4, 5], Float32, CPU>, %z:tensor<[2], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[2], Float32, CPU>, expected tensor<[$a, "
         "$b.., $c], T, D>: rank 1, expected at least 2 ($b.. and 2 more)\n"},
        {"",
         "(%x:tensor<[$a, $b.., $c], T, D>, %z:tensor<[$a, $b.., $c], T, D>) -> (%y:tensor<[$a], "
         "T, D>) { }\n",
         "%x:tensor<[2, 3, 4, 5], Float32, CPU>, %z:tensor<[2, 5], Float32, CPU>",
         "my.AnOp(%x, %z) -> (%y)",
         "MIR0500 operand '%z' of 'my.AnOp' is tensor<[2, 5], Float32, CPU>, expected tensor<[$a, "
         "$b.., $c], T, D>: $b.. would be [], and $b.. is [3, 4] (%x)\n"},
        {"",
         "(%x:tensor<[$h], T, D>, %z:tensor<[$k], T, D>, %w:tensor<[$h+$k], T, D>) -> "
         "(%y:tensor<[$h], T, D>) { }\n",
         "%x:tensor<[5], Float32, CPU>, %z:tensor<[3], Float32, CPU>, %w:tensor<[9], Float32, CPU>",
         "my.AnOp(%x, %z, %w) -> (%y)",
         "MIR0500 operand '%w' of 'my.AnOp' is tensor<[9], Float32, CPU>, expected tensor<[$h+$k], "
         "T, D>: an extent is 9, and $h is 5 (%x), $k is 3 (%z)\n"},
        {"", "(%x:tensor<[$n], Float32, D>) -> (%y:tensor<[$n], Float32, D>) { }\n",
         "%x:tensor<[9], Float16, CPU>", "my.AnOp(%x) -> (%y)",
         "MIR0502 operand '%x' of 'my.AnOp' is tensor<[9], Float16, CPU>, expected tensor<[$n], "
         "Float32, D>: element type Float16 is not Float32\n"},
        {"", "(%x:tensor<[$n], T, CPU>) -> (%y:tensor<[$n], T, CPU>) { }\n",
         "%x:tensor<[9], Float32, QNN>", "my.AnOp(%x) -> (%y)",
         "MIR0502 operand '%x' of 'my.AnOp' is tensor<[9], Float32, QNN>, expected tensor<[$n], T, "
         "CPU>: device QNN is not CPU\n"},
        {"", "(%x:tensor<[$n], T, D>, %z:tensor<[$n], T, D>) -> (%y:tensor<[$n], T, D>) { }\n",
         "%x:tensor<[9], Float32, CPU>, %z:tensor<[9], Float32, QNN>", "my.AnOp(%x, %z) -> (%y)",
         "MIR0502 operand '%z' of 'my.AnOp' is tensor<[9], Float32, QNN>, expected tensor<[$n], T, "
         "D>: device is QNN, and D is CPU (%x)\n"},
    };
    for (const Use& each : uses) {
      CAPTURE(each.line);
      CAPTURE(each.inputs);
      const Declared read(dialect_of_op(each.attributes, each.regions) +
                          module_of_line(each.inputs, each.line));
      CHECK(read.problems == each.message);
    }
  }

  TEST_CASE("conditions on an attribute that its row does not admit are not reported too") {
    const std::string dialect = dialect_of_op(
        "attributes:{k:{type:int, required:true, range:[1, 8]}, l:{type:int, required:true}}, "
        "where:[\"$k < 5\", \"$l < 5\"]",
        std::string(kSame));
    const auto problems = [&](const std::string& attributes) {
      return Declared(dialect + module_of_line("%x:tensor<[2], Float32, CPU>",
                                               "my.AnOp [" + attributes + "] (%x) -> (%y)"))
          .problems;
    };
    CHECK(problems("k:4, l:4") == "");
    CHECK(problems("k:9, l:4") ==
          "MIR0504 attribute 'k' of 'my.AnOp' is 9, expected an integer from 1 to 8\n");
    CHECK(problems("k:7, l:4") == "MIR0508 'my.AnOp' condition '7 < 5' does not hold: $k is 7\n");
    CHECK(problems("k:9, l:7") == "MIR0508 'my.AnOp' condition '7 < 5' does not hold: $l is 7\n");
  }

  TEST_CASE("a fresh extent is one of a result") {
    CHECK(Declared(dialect_of_op("fresh:[$c, $d, $e]",
                                 "(%x:tensor<[$n], T, D>) -> (%y:tensor<[$d], T, D>) { }\n"))
              .problems ==
          "MIR0320 'my.AnOp': 'fresh' has '$c', and no result does\n"
          "MIR0320 'my.AnOp': 'fresh' has '$e', and no result does\n");
  }

  TEST_CASE("MIR0319 a dialect of the toolkit is not declared again") {
    const Declared read("@linalg [mir_version:2] () -> () {\n    dialect.OpOp @AnOp {\n" +
                        std::string(kSame) + "    }\n}\n");
    CHECK(read.problems ==
          "MIR0319 dialect 'linalg' is a dialect of the toolkit, or of a program\n");
  }

  TEST_CASE("MIR0320 a module that declares a dialect declares nothing else") {
    const Declared read(
        "@my [mir_version:2] () -> () {\n    dialect.TypeOp @tile\n"
        "    dbg.CommentOp [text:\"x\"] () -> ()\n}\n");
    CHECK(read.problems.find("dialect 'my' is declared by ops of 'dialect', not by") !=
          std::string::npos);
  }
}
