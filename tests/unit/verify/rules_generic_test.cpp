// The generic op: extents that its maps reach, and maps that do not fit.
#include "../dialects/infer.hpp"
#include "mir/verify.hpp"

using mir::testing::check_all;

namespace generic_rules {

/// "code message" of the first error of a module of version 2, or an empty text.
std::string first_error(const std::string& head, const std::string& op) {
  mir::IRContext context;
  mir::register_builtin_dialects(context);
  mir::Diagnostics diagnostics;
  const auto* file = context.sources().add("test", "@main [mir_version:2" + head + ") -> () {\n" +
                                                       op + "\n    cf.ReturnOp () -> ()\n}\n");
  for (mir::Module* module : read_modules(*file, context, diagnostics)) {
    verify(*module, diagnostics);
  }
  const auto found = diagnostics.sorted();
  if (found.empty() || !diagnostics.has_errors()) return "";
  return std::to_string(static_cast<int>(found.front().code)) + " " + found.front().message;
}

const std::string kNumber = "tensor<[], Float64, CPU>";
const std::string kCopy =
    " {\n(%a:" + kNumber + ") -> (%a:" + kNumber + ") {\ncf.YieldOp (%a) -> ()\n}\n}";

/// A copy of a Float32 of this shape by these attributes.
std::string copy(const std::string& attributes, const std::string& to) {
  return "linalg.CPU.GenericOp [" + attributes + "] (%x) -> (%y:tensor<" + to + ", Float32, CPU>)" +
         kCopy;
}
std::string error_of(const std::string& attributes, const std::string& from, const std::string& to,
                     const std::string& head = "") {
  return first_error(head + "] (%x:tensor<" + from + ", Float32, CPU>", copy(attributes, to));
}

}  // namespace generic_rules

using generic_rules::error_of;
using generic_rules::first_error;
using generic_rules::kCopy;
using generic_rules::kNumber;

TEST_CASE("results of a generic op have the extents that their maps reach") {
  const std::string sums = "sums:{k:add}";
  check_all({
      {"GenericOp",
       "loops:{i:2, j:4, k:3}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
       {"[2, 3]", "[3, 4]"},
       "[2, 4]"},
      {"GenericOp", "loops:{i:$M, k:3}, maps:[[$i, $k], [$i]], sums:{k:max}", {"[$M, 3]"}, "[$M]"},
      {"GenericOp", "loops:{t:$T, r:32}, maps:[[$t, $r], [32*$t+$r]]", {"[$T, 32]"}, "[32*$T]"},
      {"GenericOp", "loops:{i:5}, maps:[[4-$i], [$i]]", {"[5]"}, "[5]"},
      {"GenericOp", "loops:{i:$N}, sizes:{n:$N}, maps:[[$n-1-$i], [$i]]", {"[$N]"}, "[$N]"},
      {"GenericOp", "loops:{i:6}, maps:[[$i], [$i/2, $i%2]]", {"[6]"}, "[?, ?]"},
      {"GenericOp", "loops:{i:0}, maps:[[$i], [$i]]", {"[0]"}, "[0]"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [], []], sums:[{i:add}, {i:max}], "
       "dtypes:[Int64, Float16]",
       {"[2]"},
       "Int64 []; Float16 []",
       2},
      {"GenericOp", "loops:{i:2}, maps:[[$i]], dtypes:[Bool]", {}, "Bool [2]"},
      {"GenericOp", "loops:{i:4}, maps:[[$i], [$i+1]], start:[0]", {"[4]"}, "[5]"},
  });
}

TEST_CASE("what a generic op cannot be is refused with the least values") {
  check_all({
      // generic_c1
      {"GenericOp", "loops:{i:word}, maps:[[$i]]", {}, "504 'i' of 'loops' is word"},
      {"GenericOp",
       "loops:{i:2}, sizes:{i:3}, maps:[[$i], [$i]]",
       {"[2]"},
       "504 'sizes' binds '$i'"},
      {"GenericOp",
       "loops:{i:2}, indices:{r:1}, maps:[[$r], [$i]]",
       {"[2]"},
       "504 'r' of 'indices'"},
      {"GenericOp",
       "loops:{i:2}, indices:{r:1}, maps:[[$r], [$i], [$i]]",
       {"[2]", "[2]"},
       "502 'GenericOp' takes integers as operand 1"},
      // generic_c2
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$q]]",
       {"[2]"},
       "504 'maps' has '$q', expected a symbol that the op binds: $i"},
      {"GenericOp", "loops:{i:2}, maps:[[$i]]", {"[2]"}, "504 'maps' has 1 maps"},
      {"GenericOp", "loops:{i:2}, maps:[[$i, 0], [$i]]", {"[2]"}, "501 map 0 has 2 indices"},
      {"GenericOp",
       "loops:{i:2}, indices:{r:0}, maps:[[$i], [$r]]",
       {"Int32 [2]"},
       "504 map 1 of a result has '$r'"},
      {"GenericOp",
       "loops:{i:2}, indices:{r:0}, maps:[[$r], [$i]]",
       {"Int32 [2]"},
       "504 operand 0 decides '$r', and its map has '$r'"},
      // generic_c3
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]]", {"ComplexFP32 [2]"}, "502 'GenericOp' takes"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], dtypes:[GGUF_Q4_0]", {"[2]"}, "502 'dtypes'"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], dtypes:Int8", {"[2]"}, "504 'dtypes' is Int8"},
      {"GenericOp", "loops:{i:2}, maps:[[$i]]", {}, "506 'GenericOp' needs"},
      // generic_c4
      {"GenericOp",
       "loops:{i:3}, maps:[[$i], [$i]]",
       {"[2]"},
       "500 'GenericOp' takes an index below 2 in dimension 0 of operand 0, found $i; $i = 2 makes "
       "it 2"},
      {"GenericOp",
       "loops:{i:3}, maps:[[$i-1], [$i]]",
       {"[3]"},
       "500 'GenericOp' takes an index below 3 in dimension 0 of operand 0, found $i-1; $i = 0 "
       "makes it -1"},
      {"GenericOp",
       "loops:{i:65, r:32}, maps:[[32*$i+$r], [32*$i+$r]]",
       {"[2048]"},
       "500 'GenericOp' takes an index below 2048 in dimension 0 of operand 0, found 32*$i+$r; $i "
       "= "
       "64, $r = 0 makes it 2048"},
      // generic_c5
      {"GenericOp", "loops:{i:2}, maps:[[$i], []]", {"[2]"}, "504 the map of result 0 lacks '$i'"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], []], sums:{i:most}", {"[2]"}, "504 'i' of 'sums'"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], sums:{i:add}", {"[2]"}, "504 'sums' has 'i'"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], []], sums:add", {"[2]"}, "504 'sums' is add"},
      // generic_c6
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [2*$i]]",
       {"[2]"},
       "500 element [1] of result 0 has no iteration"},
      {"GenericOp",
       "loops:{i:3, j:2}, maps:[[$i], [$i+$j]]",
       {"[3]"},
       "500 element [1] of result 0 has two iterations: $i = 0, $j = 1, and $i = 1, $j = 0"},
      // generic_c9
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], bounds:\"$i <= 1\"",
       {"[2]"},
       "504 'bounds' has '$i <= 1', expected an index over loops below"},
      {"GenericOp",
       "loops:{i:2, j:2}, maps:[[$i], [$i, $j]], bounds:\"$i < $j\"",
       {"[2]"},
       "504 'bounds' has '$i < $j', expected an index over loops below"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], bounds:[\"$i < 2\", \"$i < 1\"]",
       {"[2]"},
       "504 'bounds' has '$i < 1', expected an index over loops below"},
      {"GenericOp",
       "loops:{i:2, r:4}, maps:[[4*$i+$r], [4*$i+$r]], bounds:\"4*$i+$r < 9\"",
       {"[7]"},
       "500 'GenericOp' takes an index below 7"},
      // generic_c10
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], parallel:i", {"[2]"}, "504 'parallel' is i"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], unroll:[j]", {"[2]"}, "504 'unroll' has j"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], unroll:[i, i]", {"[2]"}, "504 'unroll' has i"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], []], sums:{i:add}, parallel:[i]",
       {"[2]"},
       "504 'parallel' has 'i', which is a loop of a sum"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], []], sums:{i:max}, vector:[i]",
       {"[2]"},
       "504 'vector' has 'i', which is a loop of a sum"},
      // generic_c11
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], []], sums:{i:add}, accumulate:Float32",
       {"[2]"},
       "504 'accumulate' is Float32"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], []], sums:{i:add}, accumulate:{i:Float16}",
       {"[2]"},
       "504 'i' of 'accumulate' is Float16, expected Float32 or fma32"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], []], sums:{i:max}, accumulate:{i:Float32}",
       {"[2]"},
       "504 'i' of 'accumulate' is Float32, expected a loop whose sum is add"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], accumulate:{i:Float32}",
       {"[2]"},
       "504 'i' of 'accumulate' is Float32, expected a loop that the map"},
      // generic_c7
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], bounds:\"2*$i < 2\"",
       {"[2]"},
       "506 'bounds' may leave out the only iteration"},
      {"GenericOp", "loops:{i:2}, maps:[[$i], [$i]], where:\"$i < 1\"", {"[2]"}, "506 'where' may"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], where:\"$i\"",
       {"[2]"},
       "504 the relation '$i'"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], where:\"$i < $q\"",
       {"[2]"},
       "504 'where' has"},
      {"GenericOp",
       "loops:{i:2}, maps:[[$i], [$i]], start:[word]",
       {"[2]"},
       "504 'start' has word"},
  });
}

TEST_CASE("conditions leave out what would be outside") {
  check_all({
      {"GenericOp",
       "loops:{o:8, t:3}, maps:[[$o+$t-1], [$o]], sums:{t:add}, where:[\"$o+$t >= 1\", "
       "\"$o+$t <= 8\"]",
       {"[8]"},
       "[8]"},
      {"GenericOp",
       "loops:{o:8, t:3}, maps:[[$o+$t-1], [$o]], sums:{t:add}, where:\"$o+$t >= 1\"",
       {"[8]"},
       "500 'GenericOp' takes an index below 8 in dimension 0 of operand 0"},
  });
}

TEST_CASE("maps are proved for all values that symbols around the op can have") {
  const std::string symbols = ", symbols:{N:{min:1, max:9}}";
  CHECK(error_of("loops:{i:$N}, maps:[[$i], [$i]]", "[$N]", "[$N]", symbols) == "");
  CHECK(error_of("loops:{i:$N}, maps:[[$i+1], [$i]]", "[$N]", "[$N]", symbols) ==
        "500 'GenericOp' takes an index below $N in dimension 0 of operand 0, found $i+1; "
        "$N = 1, $i = 0 makes it 1");
  // A loop may have the name of a symbol around the op, which is another one.
  CHECK(error_of("loops:{N:$N}, maps:[[$N], [$N]]", "[$N]", "[$N]", symbols) == "");
  CHECK(error_of("loops:{N:4}, maps:[[$N], [$N]]", "[4]", "[4]") == "");
  // What no declaration bounds is left to the run.
  CHECK(error_of("loops:{i:$N}, maps:[[$i], [$i]]", "[$M]", "[$N]") ==
        "427 no input and no cache binds '$N'");
}

TEST_CASE("the region of a generic op computes numbers of numbers") {  // generic_c8
  const std::string head = "] (%x:tensor<[2], Float32, CPU>";
  const std::string op =
      "linalg.CPU.GenericOp [loops:{i:2}, maps:[[$i], [$i]]] (%x) -> "
      "(%y:tensor<[2], Float32, CPU>)";
  const std::string single = "tensor<[], Float32, CPU>", pair = "tensor<[2], Float64, CPU>";
  CHECK(first_error(head, op + kCopy) == "");
  CHECK(first_error(head, op + " {\n(%a:" + single + ") -> (%a:" + single +
                              ") {\ncf.YieldOp (%a) -> ()\n}\n}") ==
        "431 argument 0 of the region of 'linalg.GenericOp' is tensor<[], Float32, CPU>, "
        "expected one Float64");
  CHECK(first_error(head, op + " {\n() -> () {\ncf.YieldOp () -> ()\n}\n}")
            .starts_with("431 the region of 'linalg.GenericOp' takes 0 numbers"));
  CHECK(first_error(head, op + " {\n(%a:" + kNumber + ") -> () {\ncf.YieldOp () -> ()\n}\n}")
            .starts_with("431 the region of 'linalg.GenericOp' passes 0 numbers, expected 1"));
  CHECK(first_error(head, op + " {\n(%a:" + kNumber + ") -> (%b:" + kNumber +
                              ") {\nlinalg.CPU.SoftmaxOp [axis:0] (%a) -> (%b:" + kNumber +
                              ")\ncf.YieldOp (%b) -> ()\n}\n}") != "");
  CHECK(first_error(head, op + " {\n(%a:" + kNumber + ") -> (%b:" + pair +
                              ") {\nlinalg.CPU.AddOp(%a, %c:" + pair + "[constant:[1]]) -> (%b:" +
                              pair + ")\ncf.YieldOp (%b) -> ()\n}\n}") ==
        "431 'linalg.AddOp' computes tensor<[2], Float64, CPU> in the region of "
        "'linalg.GenericOp', expected one number");
  const std::string logical =
      "linalg.CPU.GenericOp [loops:{i:2}, maps:[[$i], []], sums:{i:and}] (%x) -> "
      "(%y:tensor<[], Float32, CPU>)";
  CHECK(first_error(head, logical + kCopy).starts_with("431 result 0 of 'linalg.GenericOp' is"));
}
