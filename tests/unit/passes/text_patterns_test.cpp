// Patterns that are written as text: what they match, and what they make.
#include <fmt/format.h>

#include "ir/rewrite/settle_ports.hpp"
#include "known_passes.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace text_patterns_test {

namespace {

/// A module with these ops between `%x`, `%u` and what is returned.
std::string module_of(std::string_view ops, std::string_view returned = "%r",
                      std::string_view type = "tensor<[2, 3, 5], Float32, CPU>") {
  return fmt::format(
      "@main [mir_version:1] (%x:{0}, %u:{0}) -> ({1}) {{\n    {2}\n    cf.ReturnOp ({1}) -> "
      "()\n}}\n",
      type, returned, ops);
}

std::string pattern_of(std::string_view attributes, std::string_view first,
                       std::string_view second) {
  return fmt::format("pattern.RewriteOp @p [{}] {{ {} {} }}\n", attributes, first, second);
}

/// A pattern of two terms.
std::string terms(std::string_view match, std::string_view rewrite,
                  std::string_view attributes = "") {
  return fmt::format("pattern.RewriteOp @p [match:\"{}\", rewrite:\"{}\"{}{}]\n", match, rewrite,
                     attributes.empty() ? "" : ", ", attributes);
}

constexpr std::string_view kInput = "(%x) -> (%x) { cf.ReturnOp (%x) -> () }";

/// `first` matches ops from `%x` to `%z`; they become `%x`.
std::string removing(std::string_view first, std::string_view attributes = "") {
  return pattern_of(attributes, fmt::format("(%x) -> (%z) {{ {} cf.ReturnOp (%z) -> () }}", first),
                    kInput);
}

/// A context with patterns and a module.
class Patterns {
 public:
  Patterns(std::string_view patterns, std::string_view module)
      : reading(fmt::format("{}@rules [mir_version:1] () -> () {{\n{}\n}}\n", module, patterns)) {
    for (const std::string& each : reading.errors()) MESSAGE(each);
    REQUIRE(reading.errors().empty());
    Diagnostics diagnostics;
    const bool is_good = add_patterns(set, *reading.modules[1], diagnostics);
    for (const std::string& each : test::lines_of(diagnostics, reading.context)) MESSAGE(each);
    REQUIRE(is_good);
    Diagnostics found;
    verify(*reading.modules[0], found);
    for (const std::string& each : test::lines_of(found, reading.context)) MESSAGE(each);
    REQUIRE_FALSE(found.has_errors());
  }

  /// The ops of the module after the rewrite, with blanks between, as `Name` or `Name[attributes]`.
  std::string rewritten() {
    Module& module = *reading.modules[0];
    const FrozenPatterns patterns(set);
    Diagnostics diagnostics;
    const GreedyReport report = rewrite_greedily(module, module.body(), patterns, {}, diagnostics);
    settle_ports(module);
    verify(module, diagnostics);
    CHECK(test::lines_of(diagnostics, reading.context) == Lines{});
    CHECK_FALSE(report.has_failed);
    std::string text;
    for (const Op* op : module.body().only_block().ops()) {
      if (op->has(Trait::kTerminator)) continue;
      text += (text.empty() ? "" : " ") + std::string(op->info().mnemonic);
      for (const NamedAttr& each : op->attributes()) {
        text += fmt::format("[{}]", each.value->spelling());
      }
    }
    return text;
  }

  /// Why the pattern does not match the op that defines the returned value.
  std::string reason() {
    Module& module = *reading.modules[0];
    const FrozenPatterns patterns(set);
    Op* root = module.body().only_block().back()->operand(0)->defining_op();
    const auto found = mismatches(patterns, *root);
    return found.empty() ? "" : found.front().condition;
  }

  Reading reading;
  PatternSet set;
};

std::string rewritten(std::string_view patterns, std::string_view module) {
  return Patterns(patterns, module).rewritten();
}

std::string reason(std::string_view patterns, std::string_view module) {
  return Patterns(patterns, module).reason();
}

}  // namespace

TEST_SUITE("patterns as text") {
  TEST_CASE("a chain is removed, also in several steps and around other users") {
    const std::string rule = removing("linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)");
    const std::string four =
        "linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%b) linalg.CPU.NegOp(%b) -> (%c) "
        "linalg.CPU.NegOp(%c) -> (%r)";
    CHECK(rewritten(rule, module_of(four)) == "");
    CHECK(rewritten(rule, module_of(four, "%r, %c")) == "NegOp");
    CHECK(rewritten(removing("linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)",
                             "where:\"users(%y) == 1\""),
                    module_of(four, "%r, %b, %c, %a")) == "NegOp NegOp NegOp NegOp");
  }

  TEST_CASE("devices and names are variables or themselves") {
    const std::string two = "linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)";
    CHECK(rewritten(removing("linalg.CPU.NegOp(%x) -> (%y) linalg.CPU.NegOp(%y) -> (%z)"),
                    module_of(two)) == "");
    const std::string cuda = removing("linalg.CUDA.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)");
    CHECK(rewritten(cuda, module_of(two)) == "NegOp NegOp");
    CHECK(reason(cuda, module_of(two)) == "it runs on another device");
    const std::string named = removing("linalg.D.NegOp <name=\"a.b\"> (%x) -> (%z)");
    CHECK(rewritten(named, module_of("linalg.CPU.NegOp <name=\"a.b\"> (%x) -> (%r)")) == "");
    CHECK(reason(named, module_of("linalg.CPU.NegOp(%x) -> (%r)")) == "its name differs");
  }

  TEST_CASE("attributes are bound, compared and have defaults") {
    const std::string two = removing(
        "linalg.D.TransposeOp [dim0:$a, dim1:$b] (%x) -> (%y) "
        "linalg.D.TransposeOp [dim0:$a, dim1:$b] (%y) -> (%z)");
    const auto transposes = [](std::string_view first, std::string_view second) {
      return module_of(
          fmt::format("linalg.CPU.TransposeOp [{}] (%x) -> (%a) "
                      "linalg.CPU.TransposeOp [{}] (%a) -> (%r)",
                      first, second));
    };
    CHECK(rewritten(two, transposes("dim0:1, dim1:2", "dim1:2, dim0:1")) == "");
    CHECK(reason(two, transposes("dim0:1, dim1:2", "dim0:2, dim1:1")) ==
          "attribute 'dim0' differs");
    // The attribute that the pattern does not mention has its default, stated or not.
    const std::string mean = pattern_of("",
                                        "(%x) -> (%z) { linalg.D.MeanOp [dim:$d, keep_dim:true] "
                                        "(%x) -> (%z) cf.ReturnOp (%z) -> () }",
                                        "(%x) -> (%z) { linalg.D.ReduceMaxOp [dim:$d, "
                                        "keep_dim:true] (%x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(rewritten(mean, module_of("linalg.CPU.MeanOp [dim:1, keep_dim:true] (%x) -> (%r)")) ==
          "ReduceMaxOp[1][true]");
    const std::string matmul = pattern_of("",
                                          "(%x, %u) -> (%z) { linalg.D.MatMulOp [transpose_b:true] "
                                          "(%x, %u) -> (%z) cf.ReturnOp (%z) -> () }",
                                          "(%x, %u) -> (%z) { linalg.D.MatMulOp [transpose_b:true] "
                                          "(%u, %x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(reason(
              matmul,
              module_of("linalg.CPU.MatMulOp [transpose_a:true, transpose_b:true] (%x, %u) -> (%r)",
                        "%r", "tensor<[5, 5], Float32, CPU>")) ==
          "it states attribute 'transpose_a', which the pattern does not mention");
    CHECK(reason(matmul,
                 module_of(
                     "linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%x, %u) -> (%r)",
                     "%r", "tensor<[5, 5], Float32, CPU>")) == "attribute 'transpose_b' differs");
  }

  TEST_CASE("lists, packs and computed attributes") {
    const std::string first =
        "(%x) -> (%z) { linalg.D.PermuteOp [axis:$p] (%x) -> (%y) "
        "linalg.D.PermuteOp [axis:$q] (%y) -> (%z) cf.ReturnOp (%z) -> () }";
    const std::string rule = pattern_of(
        "let:{r:\"compose($p, $q)\"}", first,
        "(%x) -> (%z) { linalg.D.PermuteOp [axis:$r] (%x) -> (%z) cf.ReturnOp (%z) -> () }");
    const auto permutes = [](std::string_view p, std::string_view q) {
      return module_of(
          fmt::format("linalg.CPU.PermuteOp [axis:{}] (%x) -> (%a) "
                      "linalg.CPU.PermuteOp [axis:{}] (%a) -> (%r)",
                      p, q));
    };
    CHECK(rewritten(rule, permutes("[1, 2, 0]", "[0, 2, 1]")) == "PermuteOp[[1, 0, 2]]");
    CHECK(rewritten(rule, permutes("[1, 2, 0]", "[1, 2, 0]")) == "PermuteOp[[2, 0, 1]]");
    // The wrong way round gives another type, and is refused.
    const std::string wrong = pattern_of(
        "let:{r:\"compose($q, $p)\"}", first,
        "(%x) -> (%z) { linalg.D.PermuteOp [axis:$r] (%x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(reason(wrong, permutes("[1, 2, 0]", "[0, 2, 1]")) ==
          "the rewrite would give a tensor<[5, 3, 2], Float32, CPU>, the value is a "
          "tensor<[3, 2, 5], Float32, CPU>");
    const std::string last = pattern_of(
        "",
        "(%x) -> (%z) { linalg.D.PermuteOp [axis:[0, $b..]] (%x) -> (%z) cf.ReturnOp (%z) -> () }",
        "(%x) -> (%z) { linalg.D.PermuteOp [axis:[$b.., 0]] (%x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(rewritten(last, module_of("linalg.CPU.PermuteOp [axis:[0, 2, 1]] (%x) -> (%r)", "%r",
                                    "tensor<[4, 4, 4], Float32, CPU>")) == "PermuteOp[[2, 1, 0]]");
  }

  TEST_CASE("types are bound and compared") {
    const auto rule = [](std::string_view type) {
      return pattern_of(
          "",
          fmt::format("(%x:{}) -> (%z) {{ linalg.D.NegOp(%x) -> (%z) cf.ReturnOp (%z) -> () }}",
                      type),
          "(%x) -> (%z) { linalg.D.AbsOp(%x) -> (%z) cf.ReturnOp (%z) -> () }");
    };
    const std::string neg = "linalg.CPU.NegOp(%x) -> (%r)";
    for (const std::string_view fits :
         {"tensor<[$a, $b, $c], T, D>", "tensor<[2, $b, 5], Float32, CPU>", "tensor<[$p..], T, D>",
          "tensor<[2, $p.., 5], T, D>", "tensor<[2, 3, $p.., 5], T, D>",
          "tensor<[$a, $a+1, 2*$a+1], T, D>"}) {
      CAPTURE(fits);
      CHECK(rewritten(rule(fits), module_of(neg)) == "AbsOp");
    }
    for (const std::string_view differs :
         {"tensor<[$a, $b], T, D>", "tensor<[$a, $b, $a], T, D>", "tensor<[2, 3, 5], Float16, D>",
          "tensor<[2, 3, 5], T, CUDA>", "tensor<[2, 3, $p.., 3, 5], T, D>", "tensor<[], T, D>"}) {
      CAPTURE(differs);
      CHECK(reason(rule(differs), module_of(neg)) ==
            "'%x' has another type: tensor<[2, 3, 5], Float32, CPU>");
    }
    CHECK(reason(rule("tensor<[$a, $a+2, $c], T, D>"), module_of(neg)) ==
          "an expression of the pattern is 4, the operation has 3");
    // Symbols of the module are extents like others; an unknown extent is equal to nothing.
    const std::string symbolic = "tensor<[$S, 2*$S, 5], Float32, CPU>";
    CHECK(rewritten(rule("tensor<[$a, 2*$a, $c], T, D>"), module_of(neg, "%r", symbolic)) ==
          "AbsOp");
    CHECK(reason(rule("tensor<[$a, $a, $c], T, D>"), module_of(neg, "%r", symbolic)) != "");
    CHECK(reason(rule("tensor<[$a, $b, $c], T, D>"),
                 module_of(neg, "%r", "tensor<[?, 2, 5], Float32, CPU>")) != "");
  }

  TEST_CASE("constants: a number everywhere, a list, a variable") {
    const auto rule = [](std::string_view constant, std::string_view attributes = "") {
      return removing(fmt::format("linalg.D.AddOp(%x, %c{}) -> (%z)", constant), attributes);
    };
    const auto add = [](std::string_view constant, bool first = false) {
      return module_of(first ? fmt::format("linalg.CPU.AddOp(%c:{}, %x) -> (%r)", constant)
                             : fmt::format("linalg.CPU.AddOp(%x, %c:{}) -> (%r)", constant));
    };
    const std::string zero = "tensor<[1], Float32, CPU>[constant:[-0.0]]";
    CHECK(rewritten(rule("[constant:[-0.0]]"), add(zero)) == "");
    CHECK(rewritten(rule("[constant:[-0.0]]"),
                    add("tensor<[5], Float32, CPU>[constant:[-0.0, -0.0, -0.0, -0.0, -0.0]]")) ==
          "");
    CHECK(rewritten(rule("[constant:[-0.0]]"),
                    add("tensor<[2, 3, 5], Float32, CPU>[constant:[-0.0]]", true)) == "");
    for (const std::string_view other : {"[constant:[0.0]]", "[constant:[0]]", "[constant:[1]]"}) {
      CHECK(reason(rule(other), add(zero)) == "'%c' is no such constant");
    }
    CHECK(reason(rule("[constant:[-0.0]]"),
                 add("tensor<[5], Float32, CPU>[constant:[-0.0, -0.0, 1, -0.0, -0.0]]")) ==
          "'%c' is no such constant");
    // Numbers are compared with the precision of the constant's type.
    CHECK(rewritten(rule("[constant:[0.1]]"),
                    add("tensor<[1], Float32, CPU>[constant:[0.10000000149011612]]")) == "");
    CHECK(rewritten(rule("[constant:[1, 2, 3, 4, 5]]"),
                    add("tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]")) == "");
    CHECK(reason(rule("[constant:[1, 2, 3, 4, 6]]"),
                 add("tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]")) ==
          "'%c' is no such constant");
    CHECK(rewritten(rule("[constant:[$c]]", "where:\"$c < 0\""),
                    add("tensor<[1], Float32, CPU>[constant:[-3]]")) == "");
    CHECK(reason(rule("[constant:[$c]]", "where:\"$c < 0\""),
                 add("tensor<[1], Float32, CPU>[constant:[3]]")) ==
          "condition '$c < 0' does not hold");
    CHECK(rewritten(rule("[constant:$c]", "where:\"length($c) == 5\""),
                    add("tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]")) == "");
    // A value that an op or an input gives is no constant.
    CHECK(reason(rule("[constant:[1]]"), module_of("linalg.CPU.AddOp(%x, %u) -> (%r)")) ==
          "'%c' is no such constant");
  }

  TEST_CASE("constants of a rewrite, and commutative operands in both orders") {
    const std::string rule = pattern_of(
        "let:{c:\"$a * $b\"}",
        "(%x:tensor<[$n..], T, D>) -> (%z) { linalg.D.MulOp(%x, %a[constant:[$a]]) -> (%y) "
        "linalg.D.MulOp(%y, %b[constant:[$b]]) -> (%z) cf.ReturnOp (%z) -> () }",
        "(%x:tensor<[$n..], T, D>) -> (%z) { linalg.D.MulOp(%x, %c:tensor<[1], T, "
        "D>[constant:[$c]]) "
        "-> (%z) cf.ReturnOp (%z) -> () }");
    for (const std::string_view ops :
         {"linalg.CPU.MulOp(%x, %c:tensor<[1], Float32, CPU>[constant:[3]]) -> (%a) "
          "linalg.CPU.MulOp(%a, %d:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%r)",
          "linalg.CPU.MulOp(%c:tensor<[1], Float32, CPU>[constant:[3]], %x) -> (%a) "
          "linalg.CPU.MulOp(%d:tensor<[1], Float32, CPU>[constant:[0.5]], %a) -> (%r)"}) {
      Patterns all(rule, module_of(ops));
      CHECK(all.rewritten() == "MulOp");
      const Op& op = *all.reading.modules[0]->body().only_block().front();
      CHECK(op.operand(0)->is_argument());
      CHECK(op.operand(1)->attributes()[0].value->spelling() == "[1.5]");
    }
  }

  TEST_CASE("a rewrite whose constant its type cannot hold is refused (type_c5)") {
    const auto rule = [](std::string_view let, std::string_view constant) {
      return pattern_of(
          fmt::format("let:{{d:\"{}\"}}", let),
          "(%x:tensor<[$n..], T, D>) -> (%z) { linalg.D.MulOp(%x, %c[constant:[$c]]) -> (%z) "
          "cf.ReturnOp (%z) -> () }",
          fmt::format("(%x:tensor<[$n..], T, D>) -> (%z) {{ linalg.D.DivOp(%x, %d:{}) -> (%z) "
                      "cf.ReturnOp (%z) -> () }}",
                      constant));
    };
    const auto module = [](std::string_view type, std::string_view number) {
      return module_of(fmt::format("linalg.CPU.MulOp(%x, %c:tensor<[1], {}, CPU>[constant:[{}]]) "
                                   "-> (%r)",
                                   type, number),
                       "%r", fmt::format("tensor<[3], {}, CPU>", type));
    };
    const std::string inverse = rule("1.0 / $c", "tensor<[1], T, D>[constant:[$d]]");
    CHECK(rewritten(inverse, module("Float8E4M3", "0.5")) == "DivOp");
    CHECK(reason(inverse, module("Float8E4M3", "0.001953125")) ==
          "constant '%d' would be no tensor<[1], Float8E4M3, CPU>: '512.0' is beyond the largest "
          "number; infinity is written inf");
    CHECK(reason(inverse, module("Int8", "2")) ==
          "constant '%d' would be no tensor<[1], Int8, CPU>: '0.5' is not a value of type Int8");
    CHECK(reason(rule("$c + 128", "tensor<[1], T, D>[constant:[$d]]"), module("Int8", "1")) ==
          "constant '%d' would be no tensor<[1], Int8, CPU>: '129' is not a value of type Int8");
    CHECK(reason(rule("[$c, $c]", "tensor<[$n..], T, D>[constant:$d]"), module("Int8", "1")) ==
          "constant '%d' would be no tensor<[3], Int8, CPU>: 2 values are stated, expected 1 or 3");
    CHECK(rewritten(rule("[$c, $c, $c]", "tensor<[$n..], T, D>[constant:$d]"),
                    module("Int8", "1")) == "DivOp");
  }

  TEST_CASE("one value of a pattern is one value of the module, two ops are two") {
    const std::string square =
        pattern_of("", "(%x) -> (%z) { linalg.D.MulOp(%x, %x) -> (%z) cf.ReturnOp (%z) -> () }",
                   "(%x) -> (%z) { linalg.D.AbsOp(%x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(rewritten(square, module_of("linalg.CPU.MulOp(%x, %x) -> (%r)")) == "AbsOp");
    CHECK(reason(square, module_of("linalg.CPU.MulOp(%x, %u) -> (%r)")) == "'%x' is another value");
    const std::string twice =
        pattern_of("",
                   "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%a) linalg.D.NegOp(%x) -> (%b) "
                   "linalg.D.AddOp(%a, %b) -> (%z) cf.ReturnOp (%z) -> () }",
                   "(%x) -> (%z) { linalg.D.AbsOp(%x) -> (%z) cf.ReturnOp (%z) -> () }");
    CHECK(rewritten(twice, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%x) -> (%b) "
                                     "linalg.CPU.AddOp(%b, %a) -> (%r)")) == "AbsOp");
    CHECK(
        reason(twice, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.AddOp(%a, %a) -> (%r)")) ==
        "it is matched already");
  }

  TEST_CASE("several roots and results, and where new ops go") {
    const std::string rule = pattern_of(
        "",
        "(%x, %u) -> (%y, %z) { linalg.D.AddOp(%x, %u) -> (%y) linalg.D.SubOp(%x, %u) -> (%z) "
        "cf.ReturnOp (%y, %z) -> () }",
        "(%x, %u) -> (%y, %z) { linalg.D.NegOp(%u) -> (%v) linalg.D.SubOp(%x, %v) -> (%y) "
        "linalg.D.AddOp(%x, %v) -> (%z) cf.ReturnOp (%y, %z) -> () }");
    const auto once = [&](std::string_view ops) {
      Patterns all(rule, module_of(ops));
      const FrozenPatterns patterns(all.set);
      RewriteWatch watch{.limit = 1};
      Diagnostics diagnostics;
      Module& module = *all.reading.modules[0];
      rewrite_greedily(module, module.body(), patterns, {.watch = &watch}, diagnostics);
      verify(module, diagnostics);
      CHECK(test::lines_of(diagnostics, all.reading.context) == Lines{});
      std::string text;
      for (const Op* op : module.body().only_block().ops())
        text += std::string(op->info().mnemonic) + " ";
      return text;
    };
    CHECK(once("linalg.CPU.AddOp(%x, %u) -> (%a) linalg.CPU.ExpOp(%a) -> (%e) linalg.CPU.SubOp(%x, "
               "%u) -> (%b) "
               "linalg.CPU.AddOp(%e, %b) -> (%r)") == "NegOp SubOp AddOp ExpOp AddOp ReturnOp ");
    // What both use is defined after the first of them in no valid module; a value between is fine.
    CHECK(once("linalg.CPU.SubOp(%x, %u) -> (%b) linalg.CPU.ExpOp(%b) -> (%e) linalg.CPU.AddOp(%x, "
               "%u) -> (%a) "
               "linalg.CPU.AddOp(%e, %a) -> (%r)") == "NegOp SubOp AddOp ExpOp AddOp ReturnOp ");
  }

  TEST_CASE("an input that is defined between the roots") {
    const std::string rule = pattern_of(
        "",
        "(%x, %u, %v) -> (%y, %z) { linalg.D.AddOp(%x, %u) -> (%y) linalg.D.SubOp(%x, %v) -> (%z) "
        "cf.ReturnOp (%y, %z) -> () }",
        "(%x, %u, %v) -> (%y, %z) { linalg.D.MulOp(%x, %u) -> (%y) linalg.D.MulOp(%x, %v) -> (%z) "
        "cf.ReturnOp (%y, %z) -> () }");
    CHECK(rewritten(rule, module_of("linalg.CPU.AddOp(%x, %u) -> (%a) linalg.CPU.ExpOp(%u) -> (%v) "
                                    "linalg.CPU.SubOp(%x, %v) -> (%r)",
                                    "%r, %a")) == "ExpOp MulOp MulOp");
    const std::string uses_first = module_of(
        "linalg.CPU.AddOp(%x, %u) -> (%a) linalg.CPU.ExpOp(%u) -> (%v) "
        "linalg.CPU.LogOp(%a) -> (%l) linalg.CPU.SubOp(%x, %v) -> (%r)",
        "%r, %l");
    CHECK(reason(rule, uses_first) ==
          "an operation between the matched ones uses a replaced value");
    CHECK(
        reason(rule, module_of("linalg.CPU.AddOp(%x, %u) -> (%a) linalg.CPU.SubOp(%x, %a) -> (%r)",
                               "%r, %a")) == "a matched operation defines the input '%v'");
  }

  TEST_CASE("what is refused whatever the pattern says") {
    const std::string rule = removing("linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)");
    CHECK(reason(rule, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.ExpOp(%a) -> (%b) "
                                 "linalg.CPU.NegOp(%b) -> (%r)")) ==
          "no 'linalg.NegOp' defines '%y'");
    CHECK(reason(
              rule,
              module_of(
                  "linalg.CPU.NegOp [using_qnn:true] (%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)")) ==
          "it has marks that a pass attached");
    CHECK(
        reason(rule,
               module_of(
                   "linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r[using_qnn:true])")) ==
        "'%z' has a symbol or attributes");
    CHECK(reason(rule, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)", "%r",
                                 "tensor<[4], Int8PerTensor, CPU>")) == "'%y' holds codes");
    // Without known extents, two types of one spelling can be different types.
    CHECK(reason(rule, module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)", "%r",
                                 "tensor<[?, 4], Float32, CPU>")) ==
          "an extent is not known, so the types may differ");
    CHECK(reason(removing("linalg.D.ReduceMaxOp [dim:_, keep_dim:_] (%x) -> (%z)"),
                 module_of("linalg.CPU.ReduceMaxOp [dim:0, keep_dim:true] (%x) -> (%r)")) ==
          "the rewrite would give a tensor<[2, 3, 5], Float32, CPU>, the value is a "
          "tensor<[1, 3, 5], Float32, CPU>");
    CHECK(
        reason(
            pattern_of(
                "", "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%z) cf.ReturnOp (%z) -> () }",
                "(%x) -> (%z) { linalg.D.SoftmaxOp [axis:7] (%x) -> (%z) cf.ReturnOp (%z) -> () }"),
            module_of("linalg.CPU.NegOp(%x) -> (%r)"))
            .starts_with("the new 'linalg.SoftmaxOp' would not verify: "));
  }

  TEST_CASE("conditions with reasons, and values that let cannot give") {
    CHECK(reason(
              removing("linalg.D.NegOp(%x) -> (%z)", "where:{\"rank(%x) == 2\":\"only matrices\"}"),
              module_of("linalg.CPU.NegOp(%x) -> (%r)")) == "only matrices");
    CHECK(reason(removing("linalg.D.NegOp(%x) -> (%z)", "let:{a:\"shape(%x)[5]\"}"),
                 module_of("linalg.CPU.NegOp(%x) -> (%r)")) == "'$a' has no value");
    CHECK(rewritten(removing("linalg.D.NegOp(%x) -> (%z)",
                             "let:{a:\"shape(%x)[-1]\"}, where:\"$a == 5\""),
                    module_of("linalg.CPU.NegOp(%x) -> (%r)")) == "");
  }

  TEST_CASE("weights follow the name") {
    const std::string rule =
        pattern_of("",
                   "(%x) -> (%z) { linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, "
                   "out_channels:$o, bias:false] (%x) -> (%y) "
                   "linalg.D.NegOp(%y) -> (%z) cf.ReturnOp (%z) -> () }",
                   "(%x) -> (%z) { linalg.D.NegOp(%x) -> (%y) "
                   "linalg.D.LinearOp <name=\"$n\"> [in_channels:$i, out_channels:$o, bias:false] "
                   "(%y) -> (%z) cf.ReturnOp (%z) -> () }");
    Patterns all(
        rule, module_of("graph.SubGraphOp @init { () -> () { tensor.CPU.register () -> "
                        "(%w:tensor<[7, 5], Float32, CPU>[@m.q.weight]) cf.ReturnOp () -> () } } "
                        "linalg.CPU.LinearOp <name=\"m.q\"> [in_channels:5, out_channels:7, "
                        "bias:false] (%x) -> (%a) "
                        "linalg.CPU.NegOp(%a) -> (%r)"));
    CHECK(all.rewritten() == "SubGraphOp NegOp LinearOp[5][7][false]");
    const Op& linear = *all.reading.modules[0]->body().only_block().back()->previous();
    CHECK(all.reading.context.text(linear.path()) == "m.q");
  }

  TEST_CASE("results keep their names") {
    Patterns all(
        removing("linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)") +
            pattern_of("", "(%x) -> (%z) { linalg.D.ExpOp(%x) -> (%z) cf.ReturnOp (%z) -> () }",
                       "(%x) -> (%z) { linalg.D.LogOp(%x) -> (%z) cf.ReturnOp (%z) -> () }"),
        module_of("linalg.CPU.ExpOp(%x) -> (%r)"));
    CHECK(all.rewritten() == "LogOp");
    CHECK(
        print(*all.reading.modules[0]).find("LogOp(%x:tensor<[2, 3, 5], Float32, CPU>) -> (%r:") !=
        std::string::npos);
  }

  TEST_CASE("a term in place of a region is a tree of ops") {
    const std::string two = "linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)";
    CHECK(rewritten(terms("Neg(Neg(%x))", "%x"), module_of(two)) == "");
    CHECK(rewritten(terms("linalg.CPU.NegOp( linalg.D.NegOp (%x) )", "Abs(%x)"), module_of(two)) ==
          "AbsOp");
    CHECK(rewritten(terms("linalg.CUDA.NegOp(Neg(%x))", "%x"), module_of(two)) == "NegOp NegOp");
    // Names of values, for conditions.
    CHECK(rewritten(terms("%z = Neg(%y = Neg(%x))", "%x", "where:\"users(%y) == 1\""),
                    module_of(two, "%r, %a")) == "NegOp NegOp");
    CHECK(rewritten(terms("%z = Neg(%y = Neg(%x))", "%x", "where:\"rank(%z) == 3\""),
                    module_of(two, "%r, %a")) == "NegOp");
    // One value at two places, of an input and of an op.
    const std::string square = "linalg.CPU.ExpOp(%x) -> (%a) linalg.CPU.MulOp(%a, %a) -> (%r)";
    CHECK(rewritten(terms("Mul(%e = Exp(%x), %e)", "Exp(Add(%x, %x))"), module_of(square)) ==
          "AddOp ExpOp");
    CHECK(rewritten(terms("Mul(Exp(%x), Exp(%x))", "%x"), module_of(square)) == "ExpOp MulOp");
    // Attributes, variables, constants and types.
    const std::string scaled =
        "linalg.CPU.MulOp(%x, %c:tensor<[1], Float32, CPU>[constant:[4.0]]) -> (%r)";
    CHECK(rewritten(terms("Mul(%x, 4)", "Neg(%x)"), module_of(scaled)) == "NegOp");
    CHECK(rewritten(terms("Mul(%x, -4.0)", "Neg(%x)"), module_of(scaled)) == "MulOp");
    CHECK(rewritten(terms("Mul(%x:tensor<[$n..], T, D>, $c)",
                          "Clip[min_val:$c, max_val:$d](Add(%x, $d:tensor<[1], T, D>))",
                          "let:{d:\"$c + 1\"}, where:\"T == Float32\""),
                    module_of(scaled)) == "AddOp ClipOp[4.0][5.0]");
    CHECK(rewritten(terms("Transpose[dim0:$a, dim1:_](%x)", "Permute[axis:[$a, 1, 2]](%x)"),
                    module_of("linalg.CPU.TransposeOp [dim0:0, dim1:0] (%x) -> (%r)")) ==
          "PermuteOp[[0, 1, 2]]");
    CHECK(rewritten(terms("Neg<name=\\\"a.b\\\">(%x)", "%x"),
                    module_of("linalg.CPU.NegOp <name=\"a.b\"> (%x) -> (%r)")) == "");
    CHECK(rewritten(terms("Concat[dim:$d](%x, %u)", "Concat[dim:$d](%u, %x)", "where:\"$d == 0\""),
                    module_of("linalg.CPU.ConcatOp [dim:1] (%x, %u) -> (%r:tensor<[2, 6, 5], "
                              "Float32, CPU>)")) == "ConcatOp[1]");
    CHECK(reason(terms("Exp(Neg(%x))", "%x"), module_of("linalg.CPU.ExpOp(%x) -> (%r)"))
              .starts_with("no 'linalg.NegOp' defines"));
  }

  TEST_CASE("a term that cannot be read is refused with the reason") {
    const auto refusal = [](std::string_view match, std::string_view rewrite,
                            std::string_view attributes = "") {
      Reading reading("@p [mir_version:1] () -> () {\n" + terms(match, rewrite, attributes) +
                      "}\n");
      REQUIRE(reading.errors() == Lines{});
      Diagnostics found;
      CHECK_FALSE(verify(reading.module(), found));
      const Lines lines = test::lines_of(found, reading.context);
      return lines.size() == 1 ? lines.front().substr(lines.front().find("MIR")) : "";
    };
    const auto of_match = [&](std::string_view match) { return refusal(match, "%x"); };
    const std::string match = "MIR0924 pattern 'p': match: ";
    CHECK(of_match("Neg(%x") == match + "operands are separated by commas");
    CHECK(of_match("Neg(%x))") == match + "unexpected ')' after the term");
    CHECK(of_match("Neg(%x) Neg(%x)") == match + "unexpected 'Neg(%x)' after the term");
    CHECK(of_match("Neg %x") == match + "expected the operands of 'Neg' in parentheses");
    CHECK(refusal("Add(Neg(), %x)", "%x") ==
          "MIR0924 pattern 'p': 'linalg.NegOp' cannot have 0 operands and 1 result");
    CHECK(of_match("Neg(%)") == match + "'%' without a name");
    CHECK(of_match("Neg(%x:tensor)") == match + "'tensor' is not a type");
    CHECK(of_match("Neg[axis](%x)").starts_with(match));
    CHECK(of_match("Neg(%x, ") ==
          match + "the term ends where a value, a number or an operation follows");
    CHECK(of_match("Negg(%x)")
              .starts_with("MIR0924 pattern 'p': operation 'linalg.NeggOp' is not known"));
    CHECK(of_match("%y = Neg(%y = Neg(%x))") == match + "'%y' is defined twice");
    CHECK(of_match("Add(%x, %x:tensor<[2], Float32, CPU>)") == match + "'%x' has two types");
    CHECK(of_match("%x").starts_with("MIR0924 pattern 'p': the first region has no operation"));
    CHECK(refusal("Neg(%x)", "%y") ==
          "MIR0924 pattern 'p': rewrite: '%y' is not a value of the match");
    CHECK(refusal("Neg(%x)", "Add(%x, 1)") ==
          "MIR0924 pattern 'p': constant '%1' of the second region needs a type");
    std::string nested;
    for (int i = 0; i < 60; ++i) nested += "Neg(";
    CHECK(of_match(nested + "%x") == match + "the term is nested too deeply");
    const std::string both =
        "MIR0924 a pattern has two regions, or two terms: 'match' and 'rewrite'";
    CHECK(refusal("", "%x") == both);
    Reading half("@p [mir_version:1] () -> () {\npattern.RewriteOp @p [match:\"Neg(%x)\"]\n}\n");
    Diagnostics found;
    CHECK_FALSE(verify(half.module(), found));
    CHECK(test::lines_of(found, half.context) == Lines{"2:1 " + both});
  }

  TEST_CASE("files of patterns become passes") {
    const auto registered = [](std::string text, PassRegistry& registry) {
      IRContext context;
      register_builtin_dialects(context);
      const SourceFile* file = context.sources().add("rules.mir", std::move(text));
      Diagnostics diagnostics;
      const auto names = register_patterns(registry, context, *file, diagnostics);
      CHECK(names.has_value() != diagnostics.has_errors());
      return names ? fmt::format("{}", fmt::join(*names, " "))
                   : test::lines_of(diagnostics, context).front();
    };
    const std::string rule = removing("linalg.D.NegOp(%x) -> (%y) linalg.D.NegOp(%y) -> (%z)");
    const auto file = [&](std::string_view name) {
      return fmt::format("@{} [mir_version:1] () -> () {{\n{}}}\n", name, rule);
    };
    Passes all;
    CHECK(registered(file("one") + file("two"), all.registry) == "one two");
    Reading reading(module_of("linalg.CPU.NegOp(%x) -> (%a) linalg.CPU.NegOp(%a) -> (%r)"));
    CHECK(all.run(reading.module(), "two") == Lines{});
    CHECK(reading.module().body().only_block().front()->has(Trait::kTerminator));
    CHECK(reading.context.modules().size() == 1);
    CHECK(registered(file("one"), all.registry) == "1:1 MIR0924 pass 'one' is already registered");
    CHECK(registered(file("a.b"), all.registry) ==
          "1:1 MIR0924 pass 'a.b' needs a name of letters, digits and single '-'");
    CHECK(registered("@none [mir_version:1] () -> () {\n}\n", all.registry) ==
          "1:1 MIR0924 module '@none' has no pattern.RewriteOp");
    CHECK(registered("@none [mir_version:1] () -> () {\n    pattern.RewriteOp @p { }\n}\n",
                     all.registry)
              .find("MIR0924") != std::string::npos);
    CHECK(registered("nothing", all.registry).find("MIR0") != std::string::npos);
  }
}

}  // namespace text_patterns_test
