// Bodies with state, weights of their own, conditions and repeated ops.
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;
using mir::test::dialect_of_op;
using mir::test::module_of_line;

namespace layers_test {

constexpr std::string_view kSignature =
    "(%x:tensor<[$n, $k], T, D>) -> (%y:tensor<[$n, $k], T, D>)";

/// A signature with a body of these lines, which define %y.
std::string body(std::string_view lines) {
  return std::string(kSignature) + " { " + std::string(lines) + " cf.ReturnOp (%y) -> () }\n";
}

/// A decoder of a cache, which continues the name of its op.
constexpr std::string_view kCached = R"(@my [mir_version:2] () -> () {
    dialect.OpOp @KeepOp [attributes:{w:int}, lengths:[past]] {
        (%k:tensor<[$B, $h, $S, $d], T, D>) -> (%y:tensor<[$B, $h, $past+$S, $d], T, D>) {
            linalg.D.KVCacheOp <name="$name.kv"> [q_head:$h, kv_head:$h, head_dim:$d, past:$past] (%k, %k) -> (%keys, %values)
            linalg.D.AddOp (%keys, %values) -> (%y)
            cf.ReturnOp (%y) -> ()
        }
    }
    dialect.OpOp @LayersOp [attributes:{count:{type:int, default:2}}] {
        (%k:tensor<[$B, $h, $S, $d], T, D>) -> (%k:tensor<[$B, $h, $S, $d], T, D>) {
            my.KeepOp <name="$name.last"> (%k) -> (%kept)
            cf.ReturnOp (%k) -> ()
        }
    }
}
)";

}  // namespace layers_test

using namespace layers_test;

TEST_SUITE("layers of dialects") {
  TEST_CASE("MIR0320 conditions, repeated ops, names and expressions") {
    struct Mistake {
      std::string attributes, lines, message;
    };
    const Mistake mistakes[] = {
        {"",
         "linalg.D.SplitOp [only_if:true, dim:0, split_size_or_sections:[1, 1]] (%x) -> (%y, %z)",
         "an op with 'only_if' passes its operands on as its results, and 'linalg.SplitOp' has 1 "
         "operand and 2 results"},
        {"", "linalg.D.NegOp [only_if:\"$a == 1\"] (%x) -> (%y)",
         "cannot read '$a == 1': nothing binds '$a'"},
        {"", "linalg.D.NegOp [repeat:3] (%x) -> (%y)",
         "'repeat' is 3, expected a variable with its count, as {i:$layers}"},
        {"attributes:{i:int}", "linalg.D.NegOp [repeat:{i:3}] (%x) -> (%y)",
         "'repeat' binds '$i', which is bound already"},
        {"", "linalg.D.NegOp [repeat:{i:2}] (%x) -> (%z) linalg.D.SoftmaxOp [axis:$i] (%z) -> (%y)",
         "nothing binds '$i'"},
        {"", "linalg.D.SoftmaxOp [axis:\"$n +\"] (%x) -> (%y)",
         "\"$n +\" is not an expression: cannot read '$n +': expected a value"},
        {"",
         "linalg.D.LinearOp <name=\"$name.$i\"> [in_channels:4, out_channels:4, bias:false] (%x) "
         "-> (%y)",
         "nothing binds '$i'"},
        {"attributes:{k:{type:int, config:3}}", "linalg.D.NegOp (%x) -> (%y)",
         "'config' of 'k' is 3, expected the key of a configuration"},
        {"effects:[reads_state]", "linalg.D.NegOp (%x) -> (%y)",
         "an op with a body has no effects of its own"},
        {"weights:{\"a.weight\":\"[$k, $k]\"}",
         "linalg.D.LinearOp <name=\"$name.b\"> [in_channels:4, out_channels:4, bias:false] (%x) -> "
         "(%y)",
         "'linalg.LinearOp' has the weight '$name.b.weight', which 'weights' of the declaration "
         "lacks"},
        {"",
         "linalg.D.LinearOp <name=\"b\"> [in_channels:4, out_channels:4, bias:false] (%x) -> (%y)",
         "'linalg.LinearOp' would find its weights by the name 'b'"},
    };
    for (const Mistake& each : mistakes) {
      CAPTURE(each.lines);
      const Declared read(dialect_of_op(each.attributes, body(each.lines)));
      CHECK_MESSAGE(read.problems.starts_with("MIR0320"), read.problems);
      CHECK_MESSAGE(read.problems.find(each.message) != std::string::npos, read.problems);
    }
  }

  TEST_CASE("MIR0320 state needs a name of the op, and has no place in a region") {
    const auto problems_of = [](std::string_view line) {
      return Declared(
                 "@my [mir_version:2] () -> () { dialect.OpOp @AnOp [lengths:[past]] { "
                 "(%x:tensor<[$b, $h, $s, $d], T, D>, %c:tensor<[1], Bool, D>) -> "
                 "(%x:tensor<[$b, $h, $s, $d], T, D>) { " +
                 std::string(line) + " cf.ReturnOp (%x) -> () } } }")
          .problems;
    };
    const std::string attributes = "[q_head:$h, kv_head:$h, head_dim:$d, past:$past";
    CHECK(problems_of("linalg.D.KVCacheOp <name=\"kv\"> " + attributes + "] (%x, %x) -> (%k, %v)")
              .find("keeps state by its name; begin the name with '$name'") != std::string::npos);
    CHECK(problems_of("linalg.D.KVCacheOp <name=\"$name.kv\"> " + attributes +
                      ", cache:@c] (%x, %x) -> (%k, %v)")
              .find("'cache' of 'linalg.KVCacheOp' would name one state for all ops") !=
          std::string::npos);
    CHECK(
        problems_of("cf.IfOp (%c) -> (%z) { () -> (%k) { linalg.D.KVCacheOp <name=\"$name.kv\"> " +
                    attributes +
                    "] (%x, %x) -> (%k, %v) cf.YieldOp (%k) -> () } () -> (%x) { cf.YieldOp "
                    "(%x) -> () } }")
            .find("keeps state, so it cannot be in a region of a body") != std::string::npos);
    CHECK(problems_of("linalg.D.KVCacheOp <name=\"$name.kv\"> " + attributes +
                      "] (%x, %x) -> (%k, %v)") == "");
  }

  TEST_CASE("effects and the state follow from the body") {
    Declared read{std::string(kCached) + module_of_line("%k:tensor<[1, 2, $S, 4], Float32, CPU>",
                                                        "my.LayersOp <name=\"a.b\"> (%k) -> (%y)")};
    CHECK(read.problems == "");
    const Op* layers = nullptr;
    for_each_op(*read.modules.back(), [&](const Op& op) {
      if (op.name() == "my.LayersOp") layers = &op;
    });
    REQUIRE(layers != nullptr);
    CHECK(effects_of(*layers) == (Effect::kReadsState | Effect::kWritesState));
    CHECK_FALSE(is_pure(*layers));
    CHECK(read.context.text(resource_of(*layers)) == "a.b.last.kv");
    CHECK(layers->row()->is_layer);
  }

  TEST_CASE("the length of a cache is a symbol in types of results") {
    Declared read{std::string(kCached) + module_of_line("%k:tensor<[1, 2, $S, 4], Float32, CPU>",
                                                        "my.KeepOp <name=\"a\"> (%k) -> (%y)")};
    CHECK(read.problems == "");
    std::string type;
    for_each_op(*read.modules.back(), [&](const Op& op) {
      if (op.name() == "my.KeepOp") type = op.result()->type()->spelling();
    });
    CHECK(type == "tensor<[1, 2, $S+$past, 4], Float32, CPU>");
  }

  TEST_CASE("MIR0508 a use that its body refuses names the place in the body") {
    const std::string dialect =
        dialect_of_op("attributes:{count:{type:int, default:1}}",
                      body("linalg.D.NegOp [repeat:{i:$count}, only_if:\"select($count == 5, 3, "
                           "true)\"] (%x) -> (%y)"));
    const auto problems_of = [&](std::string_view line) {
      return Declared(dialect + module_of_line("%x:tensor<[2, 4], Float32, CPU>", line)).problems;
    };
    CHECK(problems_of("my.AnOp [count:0] (%x) -> (%y)") == "");
    CHECK(problems_of("my.AnOp [count:-1] (%x) -> (%y)") ==
          "MIR0508 the body of 'my.AnOp': 'linalg.NegOp' would be repeated -1 times, expected 0 to "
          "131072\n");
    CHECK(problems_of("my.AnOp [count:1000000] (%x) -> (%y)").find("repeated 1000000 times") !=
          std::string::npos);
    CHECK(problems_of("my.AnOp [count:5] (%x) -> (%y)") ==
          "MIR0508 the body of 'my.AnOp': the condition of 'linalg.NegOp' is 3, expected true or "
          "false\n");
  }

  TEST_CASE("a body of a layer is tried with the values that its attributes have by default") {
    const std::string layer = dialect_of_op(
        "attributes:{wide:{type:int, default:8}}, let:{half:\"$wide / 2\"}, where:\"$half > 1\"",
        body("linalg.D.LinearOp <name=\"$name.up\"> [in_channels:$wide, out_channels:$half, "
             "bias:false] (%x) -> (%y)"));
    CHECK(Declared(layer).problems.find("MIR0320 the body of 'my.AnOp': ") != std::string::npos);
  }
}
