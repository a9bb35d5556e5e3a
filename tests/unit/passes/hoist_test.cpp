// What leaves loops, and what stays.
#include <algorithm>

#include "known_passes.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace hoist_test {

namespace {

/// Names of the ops of a region and of those inside, with a blank for each level.
void add_names(const Region& region, const std::string& indent, Lines& lines) {
  for (const Op* op : region.only_block().ops()) {
    lines.push_back(indent + std::string(op->info().mnemonic));
    for (const Region* in = op->first_region(); in != nullptr; in = in->next()) {
      add_names(*in, indent + " ", lines);
    }
  }
}

/// After the pass, which must leave a module that verifies and has nothing more to do.
Lines hoisted(std::string text) {
  for (auto at = text.find("$v"); at != text.npos; at = text.find("$v", at)) {
    text.replace(at, 2, "tensor<[4], Float32, CPU>");
  }
  for (auto at = text.find("$i"); at != text.npos; at = text.find("$i", at)) {
    text.replace(at, 2, "tensor<[1], Int32, CPU>");
  }
  Reading reading(text);
  Passes all;
  REQUIRE(all.run(reading.module(), "hoist-invariants") == Lines{});
  Diagnostics problems;
  CHECK(verify(reading.module(), problems));
  CHECK(test::lines_of(problems, reading.context) == Lines{});
  const std::string once = print(reading.module());
  REQUIRE(all.run(reading.module(), "hoist-invariants") == Lines{});
  CHECK(print(reading.module()) == once);
  Lines lines;
  add_names(reading.module().body(), "", lines);
  return lines;
}

const std::string kOpen =
    "cf.ForOp (%l:$i[constant:[0]], %n, %s:$i[constant:[1]], %x) -> (%y:$v) {\n"
    "(%i:$i, %a:$v) -> (%b:$v) {\n";
const std::string kHead = "@main [mir_version:2] (%x:$v, %n:$i) -> (%y:$v) {\n";

}  // namespace

TEST_SUITE("hoist-invariants") {
  TEST_CASE("chains of invariant ops leave a loop, with constants and weights") {
    CHECK(hoisted(kHead +
                  "graph.SubGraphOp @init <notype> { () -> () {\n"
                  "tensor.CPU.register () -> (%w:tensor<[4, 4], Float32, CPU>[@m.weight])[symbol:"
                  "m.weight] } }\n" +
                  kOpen +
                  "linalg.CPU.LinearOp <name=\"m\"> [in_channels:4, out_channels:4, bias:false] "
                  "(%x) -> (%p:$v)\n"
                  "linalg.CPU.AddOp (%p, %c:$v[constant:[1.0, 2.0, 3.0, 4.0]]) -> (%q:$v)\n"
                  "linalg.CPU.MulOp (%a, %q) -> (%b:$v)\ncf.YieldOp (%b) -> ()\n} }\n"
                  "cf.ReturnOp (%y) -> ()\n}") == Lines{"SubGraphOp", " register", "LinearOp",
                                                        "AddOp", "ForOp", " MulOp", " YieldOp",
                                                        "ReturnOp"});
  }

  TEST_CASE("an op leaves all loops that do not change its operands") {
    CHECK(hoisted(kHead + kOpen +
                  "cf.ForOp (%l:$i[constant:[0]], %i, %s:$i[constant:[1]], %a) -> (%b:$v) {\n"
                  "(%j:$i, %d:$v) -> (%e:$v) {\n"
                  "linalg.CPU.ExpOp (%x) -> (%f:$v)\nlinalg.CPU.ExpOp (%a) -> (%g:$v)\n"
                  "linalg.CPU.AddOp (%f, %g) -> (%h:$v)\nlinalg.CPU.AddOp (%d, %h) -> (%e:$v)\n"
                  "cf.YieldOp (%e) -> ()\n} }\ncf.YieldOp (%b) -> ()\n} }\n"
                  "cf.ReturnOp (%y) -> ()\n}") == Lines{"ExpOp", "ForOp", " ExpOp", " AddOp",
                                                        " ForOp", "  AddOp", "  YieldOp",
                                                        " YieldOp", "ReturnOp"});
  }

  TEST_CASE("ops that depend on the iteration, may refuse or stand under a condition stay") {
    CHECK(hoisted(
              "@main [mir_version:2] (%x:$v, %n:$i, %t:tensor<[9, 4], Float32, CPU>, "
              "%k:tensor<[1], Int64, CPU>) -> (%y:$v) {\n" +
              kOpen +
              "linalg.CPU.IndexOp [indices:[1, {}]] (%t, %k) -> (%r:tensor<[1, 4], Float32, CPU>)\n"
              "cf.IfOp (%c:tensor<[1], Bool, CPU>[constant:[1]]) -> (%b:$v) {\n"
              "() -> (%p:$v) { linalg.CPU.ExpOp (%x) -> (%p:$v)\ncf.YieldOp (%p) -> () }\n"
              "() -> (%a:$v) { cf.YieldOp (%a) -> () } }\n"
              "cf.YieldOp (%b) -> ()\n} }\ncf.ReturnOp (%y) -> ()\n}") ==
          Lines{"ForOp", " IndexOp", " IfOp", "  ExpOp", "  YieldOp", "  YieldOp", " YieldOp",
                "ReturnOp"});
  }

  TEST_CASE("what a rule leaves open stays, what it proves leaves") {
    const auto leaves = [](const std::string& op, const std::string& inputs,
                           const std::string& head = "") {
      const Lines lines =
          hoisted("@main [mir_version:2" + head + "] (%x:$v, %n:$i" + inputs + ") -> (%y:$v) {\n" +
                  kOpen + op + "\nlinalg.CPU.ExpOp (%a) -> (%b:$v)\ncf.YieldOp (%b) -> ()\n} }\n" +
                  "cf.ReturnOp (%y) -> ()\n}");
      return lines.front() != "ForOp";
    };
    const std::string s = ", %s1:tensor<[$S], Float32, CPU>", two = "tensor<[2], Float32, CPU>";
    // Bounds within an extent.
    const auto slice = [](const std::string& bounds, const std::string& extent) {
      return "linalg.CPU.SliceOp [indices:[{" + bounds + "}]] (%s1) -> (%r:tensor<[" + extent +
             "], Float32, CPU>)";
    };
    CHECK_FALSE(leaves(slice("\"start\":0, \"end\":2", "2"), s));
    CHECK(leaves(slice("\"start\":0, \"end\":2", "2"), s, ", symbols:{S:{min:2, max:9}}"));
    CHECK(leaves(slice("\"start\":0", "$S"), s));
    CHECK(leaves(slice("", "$S"), s));
    // Elements to choose from.
    const auto reduce = [](const std::string& name) {
      return "linalg.CPU." + name + "Op [dim:0] (%s1) -> (%r:tensor<[], Float32, CPU>)";
    };
    CHECK_FALSE(leaves(reduce("ReduceMax"), s));
    CHECK_FALSE(leaves(reduce("ReduceMin"), s));
    CHECK(leaves(reduce("ReduceSum"), s));
    CHECK(leaves(reduce("ReduceMax"), s, ", symbols:{S:{min:1}}"));
    CHECK_FALSE(leaves(reduce("ReduceMax"), ", %s1:tensor<[0], Float32, CPU>"));
    CHECK(leaves(reduce("ReduceMax"), ", %s1:tensor<[3], Float32, CPU>"));
    // Extents that are not known to be equal.
    const std::string open = ", %s1:tensor<[?], Float32, CPU>, %s2:tensor<[$S], Float32, CPU>";
    CHECK_FALSE(leaves("linalg.CPU.AddOp (%s1, %s2) -> (%r:tensor<[?], Float32, CPU>)", open));
    CHECK(leaves("linalg.CPU.AddOp (%s2, %s2) -> (%r:tensor<[$S], Float32, CPU>)", open));
    CHECK(leaves("linalg.CPU.ExpOp (%s1) -> (%r:tensor<[?], Float32, CPU>)", open));
    // Indices.
    const auto gather = [&](const std::string& indices, const std::string& extent) {
      return leaves("linalg.CPU.GatherOp [dim:0] (%s1, %k:tensor<[2], Int32, CPU>[constant:[" +
                        indices + "]]) -> (%r:" + two + ")",
                    ", %s1:tensor<[" + extent + "], Float32, CPU>");
    };
    CHECK(gather("0, 8", "9"));
    CHECK(gather("-9, 8", "9"));
    CHECK_FALSE(gather("0, 9", "9"));
    CHECK_FALSE(gather("-10, 0", "9"));
    CHECK_FALSE(gather("0, 0", "$S"));
    CHECK_FALSE(leaves("linalg.CPU.GatherOp [dim:0] (%s1, %k) -> (%r:" + two + ")",
                       ", %s1:tensor<[9], Float32, CPU>, %k:tensor<[2], Int32, CPU>"));
  }

  TEST_CASE("calls of pure graphs leave unless a run may stop there") {
    const auto leaves = [](const std::string& ops) {
      const Lines lines =
          hoisted(kHead + "graph.SubGraphOp @f <CPU> { (%u:$v) -> (%w:$v) {\n" + ops +
                  "cf.ReturnOp (%w) -> ()\n} }\n" + kOpen +
                  "graph.CallGraphOp @f (%x) -> (%e:$v)\nlinalg.CPU.MulOp (%a, %e) -> (%b:$v)\n"
                  "cf.YieldOp (%b) -> ()\n} }\ncf.ReturnOp (%y) -> ()\n}");
      return std::ranges::find(lines, "CallGraphOp") != lines.end();
    };
    CHECK(leaves("linalg.CPU.ExpOp (%u) -> (%w:$v)\n"));
    const std::string indices =
        "linalg.CPU.CastTypeOp [dtype:Int32] (%u) -> (%i:tensor<[4], Int32, CPU>)\n";
    const auto fused = [](const std::string& op) {
      return "graph.FusedOp () -> (%w:$v) {\n() -> (%g:$v) {\n" + op +
             " -> (%g:$v)\ncf.YieldOp (%g) -> ()\n} }\n";
    };
    CHECK_FALSE(leaves(indices + "linalg.CPU.GatherOp [dim:0] (%u, %i) -> (%w:$v)\n"));
    CHECK(leaves(fused("linalg.CPU.ExpOp (%u)")));
    CHECK_FALSE(leaves(indices + fused("linalg.CPU.GatherOp [dim:0] (%u, %i)")));
    CHECK_FALSE(
        leaves("cf.WhileOp (%u) -> (%w:$v) {\n(%p:$v) -> (%p) {\n"
               "cf.ConditionOp (%t:tensor<[1], Bool, CPU>[constant:[true]], %p) -> ()\n}\n"
               "(%q:$v) -> (%q) {\ncf.YieldOp (%q) -> ()\n} }\n"));
  }

  TEST_CASE("a call stays in a loop that finds out symbols, which its graph may take") {
    const Lines lines = hoisted(
        "@main [mir_version:2] (%x:$v, %n:$i, %t:tensor<[9, 4], Float32, CPU>, "
        "%m:tensor<[9], Bool, CPU>) -> (%y:$v) {\n"
        "graph.SubGraphOp @f <CPU> { (%u:$v) -> (%w:$v) {\n"
        "linalg.CPU.IotaOp [shape:[$T], dtype:Int32, dim:0] () -> "
        "(%p:tensor<[$T], Int32, CPU>)\n"
        "linalg.CPU.ExpOp (%u) -> (%w:$v)\ncf.ReturnOp (%w) -> ()\n} }\n" +
        kOpen +
        "linalg.CPU.CompressOp (%t, %m) -> (%k:tensor<[$T, 4], Float32, CPU>)\n"
        "graph.CallGraphOp @f (%x) -> (%e:$v)\nlinalg.CPU.MulOp (%a, %e) -> (%b:$v)\n"
        "cf.YieldOp (%b) -> ()\n} }\ncf.ReturnOp (%y) -> ()\n}");
    CHECK(std::ranges::find(lines, " CallGraphOp") != lines.end());
  }

  TEST_CASE("ops with extents that the loop finds out stay, others without operands leave") {
    CHECK(hoisted("@main [mir_version:2] (%x:$v, %n:$i, %t:tensor<[9, 4], Float32, CPU>, "
                  "%m:tensor<[9], Bool, CPU>, %u:tensor<[$S], Float32, CPU>) -> (%y:$v) {\n" +
                  kOpen +
                  "linalg.CPU.CompressOp (%t, %m) -> (%k:tensor<[$T, 4], Float32, CPU>)\n"
                  "linalg.CPU.IotaOp [shape:[$T], dtype:Int32, dim:0] () -> "
                  "(%p:tensor<[$T], Int32, CPU>)\n"
                  "linalg.CPU.IotaOp [shape:[$S, $T], dtype:Int32, dim:0] () -> "
                  "(%q:tensor<[$S, $T], Int32, CPU>)\n"
                  "linalg.CPU.IotaOp [shape:[$S], dtype:Int32, dim:0] () -> "
                  "(%r:tensor<[$S], Int32, CPU>)\n"
                  "linalg.CPU.ExpOp (%a) -> (%b:$v)\n"
                  "cf.YieldOp (%b) -> ()\n} }\ncf.ReturnOp (%y) -> ()\n}") ==
          Lines{"IotaOp", "ForOp", " CompressOp", " IotaOp", " IotaOp", " ExpOp", " YieldOp",
                "ReturnOp"});
  }
}

}  // namespace hoist_test
