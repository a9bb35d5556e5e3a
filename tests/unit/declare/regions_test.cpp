// Regions that bodies run: what passes know of their ops, and which regions decompose copies.
#include <fmt/format.h>

#include "ir/erasable.hpp"
#include "ir/rewrite/bodies.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;

namespace {

/// A dialect with an op that runs its region twice, and a module with one use of it on %x. The
/// region ends with what `ops` make of %a as %b.
std::string twice(std::string_view ops) {
  return fmt::format(
      "@my [mir_version:2] () -> () {{\n    dialect.OpOp @TwiceOp [regions:[1, 1]] {{\n"
      "(%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {{\n"
      "dialect.RunOp (%x) -> (%m:tensor<[$n..], T, D>)\n"
      "dialect.RunOp (%m) -> (%y:tensor<[$n..], T, D>)\n"
      "cf.ReturnOp (%y) -> ()\n}}\n    }}\n}}\n"
      "@main [mir_version:2] (%x:tensor<[4], Float32, CPU>) -> () {{\n"
      "    my.TwiceOp (%x) -> (%y) {{\n        (%a:tensor<[4], Float32, CPU>) -> "
      "(%b:tensor<[4], Float32, CPU>) {{\n            {}\n            cf.YieldOp (%b) -> ()\n"
      "        }}\n    }}\n    cf.ReturnOp () -> ()\n}}\n",
      ops);
}

Op& first_op(const Declared& read) {
  return *read.modules.back()->body().entry()->front();
}

}  // namespace

TEST_CASE("an op with a body is as pure as its regions") {
  const Declared pure(twice("linalg.CPU.NegOp (%a) -> (%b)"));
  REQUIRE(pure.problems == "");
  CHECK(is_pure(first_op(pure)));
  CHECK(is_dead(first_op(pure)));
  CHECK(is_speculatable(first_op(pure)));
  const Declared writes(
      twice("linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:2, past:0] "
            "(%k:tensor<[1, 1, 1, 2], Float32, CPU>[constant:[1]], %k) -> (%o, %p)\n"
            "            linalg.CPU.NegOp (%a) -> (%b)"));
  CAPTURE(writes.problems);
  CHECK_FALSE(is_pure(first_op(writes)));
  CHECK_FALSE(is_dead(first_op(writes)));
}

TEST_CASE("a body in the place of its op has a copy of the region for each run") {
  const Declared read(twice("linalg.CPU.NegOp (%a) -> (%b)"));
  REQUIRE(read.problems == "");
  Module& module = *read.modules.back();
  Rewriter rewriter(module);
  Diagnostics found;
  REQUIRE(replace_by_body(rewriter, first_op(read), found));
  CHECK(verify(module, found));
  const std::string text = print(module);
  CHECK(text.find("NegOp") != text.rfind("NegOp"));
  CHECK(text.find("my.") == std::string::npos);
  CHECK(text.find("dialect.") == std::string::npos);
}

TEST_CASE("a copy of an isolated region takes its constants along") {
  std::string text =
      twice("linalg.CPU.AddOp (%a, %c:tensor<[1], Float32, CPU>[constant:[2]]) -> (%b)");
  text.replace(text.find("[regions"), 1, "[traits:[isolated], ");
  std::string passes = text;
  passes.replace(passes.find("cf.YieldOp (%b"), 14,
                 "cf.YieldOp (%d:tensor<[4], Float32, CPU>[constant:[3]]");
  passes.replace(passes.find("-> (%b:tensor"), 6, "-> (%d");
  for (const std::string& each : {text, passes}) {
    CAPTURE(each);
    const Declared read(each);
    REQUIRE(read.problems == "");
    Module& module = *read.modules.back();
    Rewriter rewriter(module);
    Diagnostics found;
    REQUIRE(replace_by_body(rewriter, first_op(read), found));
    CHECK(verify(module, found));
    CHECK(found.error_count() == 0);
    CHECK(print(module).find("constant:[2]") != std::string::npos);
  }
}

TEST_CASE("an op whose region finds out a symbol stays") {
  const Declared read(twice(
      "linalg.CPU.GreaterOp (%a, %zero:tensor<[1], Float32, CPU>[constant:[0]]) -> (%m)\n"
      "            linalg.CPU.CompressOp [dim:0] (%a, %m) -> (%k:tensor<[$M], Float32, CPU>)\n"
      "            linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%s)\n"
      "            linalg.CPU.AddOp (%a, %s) -> (%b)"));
  REQUIRE(read.problems == "");
  Module& module = *read.modules.back();
  const std::string before = print(module);
  Rewriter rewriter(module);
  Diagnostics found;
  CHECK_FALSE(replace_by_body(rewriter, first_op(read), found));
  CHECK(found.error_count() == 1);
  CHECK(print(module) == before);
}

TEST_CASE("a body may run a region several times, so its cache may hold more than before the op") {
  std::string text = twice(
      "linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:2, past:3] "
      "(%k:tensor<[1, 1, 1, 2], Float32, CPU>[constant:[1]], %k) -> (%o, %p)\n"
      "            linalg.CPU.NegOp (%a) -> (%b)");
  text.insert(text.find("    my.TwiceOp"),
              "    linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:2, past:0] "
              "(%q:tensor<[1, 1, 1, 2], Float32, CPU>[constant:[1]], %q) -> (%r, %s)\n");
  CHECK(Declared(text).problems == "");
}

TEST_CASE("a body with a loop may stop a run, so its op stays where it is") {
  constexpr std::string_view kText =
      "@my [mir_version:2] () -> () {{\n    dialect.OpOp @LoopOp [attributes:{{t:{{type:int, "
      "default:2}}}}] {{\n(%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {{\n{}\n"
      "cf.ReturnOp (%y) -> ()\n}}\n    }}\n}}\n"
      "@main [mir_version:2] (%x:tensor<[4], Float32, CPU>) -> () {{\n"
      "    my.LoopOp (%x) -> (%y)\n    cf.ReturnOp () -> ()\n}}\n";
  const Declared loop(fmt::format(
      fmt::runtime(kText),
      "cf.ForOp (%a:tensor<[1], Int32, D>[constant:[0]], %b:tensor<[1], Int32, D>[constant:[$t]], "
      "%c:tensor<[1], Int32, D>[constant:[1]], %x) -> (%y) { (%i, %v) -> (%w) { "
      "linalg.D.NegOp (%v) -> (%w) cf.YieldOp (%w) -> () } }"));
  REQUIRE(loop.problems == "");
  CHECK(is_pure(first_op(loop)));
  CHECK_FALSE(is_speculatable(first_op(loop)));
  const Declared branch(fmt::format(
      fmt::runtime(kText),
      "cf.IfOp (%a:tensor<[1], Bool, D>[constant:[1]]) -> (%y) { () -> (%x) { cf.YieldOp (%x) -> "
      "() } () -> (%w) { linalg.D.NegOp (%x) -> (%w) cf.YieldOp (%w) -> () } }"));
  REQUIRE(branch.problems == "");
  CHECK(is_speculatable(first_op(branch)));
}
