// Which ops become a fused op, and what stays around it.
#include <fmt/format.h>

#include "known_passes.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace fuse_test {

namespace {

void add_names(const Region& region, const std::string& indent, Lines& lines) {
  for (const Op* op : region.only_block().ops()) {
    if (op->has(Trait::kTerminator) || op->has(Trait::kSymbol)) continue;
    lines.push_back(indent + std::string(op->info().mnemonic));
    for (const Region* in = op->first_region(); in != nullptr; in = in->next()) {
      add_names(*in, indent + " ", lines);
    }
  }
}

/// A module of lines of the Linear `a`, `b` and `c`, the RMSNorm `n` and others; all values are
/// `$v`.
std::string module_of(const std::string& body, const std::string& outputs) {
  std::string text = "@main [mir_version:1] (%x:$v) -> (" + outputs +
                     ") {\ngraph.SubGraphOp @init <CPU> {\n() -> () {\n";
  for (const char* name : {"a", "b", "c"}) {
    text += fmt::format(
        "tensor.CPU.register () -> (%{0}:tensor<[8, 8], Float32, CPU>[@{0}.weight])[symbol:"
        "{0}.weight]\n",
        name);
  }
  text +=
      "tensor.CPU.register () -> (%n:tensor<[8], Float32, CPU>[@n.weight])[symbol:n.weight]\n} "
      "}\n" +
      body + "cf.ReturnOp (" + outputs + ") -> ()\n}\n";
  const auto replace_all = [&](std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + 1)) {
      text.replace(at, from.size(), to);
    }
  };
  replace_all("$linear", "in_channels:8, out_channels:8, bias:false");
  replace_all("$v", "tensor<[2, 8], Float32, CPU>");
  return text;
}

std::string linear(const std::string& name, const std::string& from, const std::string& to) {
  return fmt::format("linalg.CPU.LinearOp <name=\"{}\"> [$linear] ({}:$v) -> ({}:$v)\n", name, from,
                     to);
}
std::string op(const std::string& name, const std::string& from, const std::string& to) {
  return fmt::format("linalg.CPU.{} ({}) -> ({}:$v)\n", name, from, to);
}
std::string norm(const std::string& from, const std::string& to) {
  return fmt::format("linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-06] ({}:$v) -> ({}:$v)\n", from,
                     to);
}

void check_verifies(Reading& reading) {
  Diagnostics problems;
  CHECK(verify(reading.module(), problems));
  CHECK(test::lines_of(problems, reading.context) == Lines{});
}

/// After the passes, which must leave a module that verifies, have nothing more to do, and whose
/// groups can be taken apart.
Lines fused(const std::string& text, const std::string& passes) {
  Reading reading(text);
  Passes all;
  REQUIRE(all.run(reading.module(), passes) == Lines{});
  check_verifies(reading);
  const std::string once = print(reading.module());
  REQUIRE(all.run(reading.module(), passes) == Lines{});
  CHECK(print(reading.module()) == once);
  Lines lines;
  add_names(reading.module().body(), "", lines);
  REQUIRE(all.run(reading.module(), "unfuse") == Lines{});
  check_verifies(reading);
  CHECK(print(reading.module()).find("FusedOp") == std::string::npos);
  return lines;
}

}  // namespace

TEST_SUITE("fuse") {
  TEST_CASE("a stage takes its own groups, the pipeline all") {
    const std::string gated =
        module_of(norm("%x", "%h") + linear("a", "%h", "%g") + op("SiLUOp", "%g:$v", "%s") +
                      linear("b", "%h", "%u") + op("MulOp", "%s:$v, %u:$v", "%m") +
                      linear("c", "%m", "%d") + op("AddOp", "%d:$v, %x:$v", "%y"),
                  "%y:$v");
    CHECK(fused(gated, "fuse-gates") == Lines{"RMSNormOp", "FusedOp", " LinearOp", " SiLUOp",
                                              " LinearOp", " MulOp", "LinearOp", "AddOp"});
    CHECK(fused(gated, "fuse-epilogues") == Lines{"RMSNormOp", "FusedOp", " LinearOp", " SiLUOp",
                                                  "LinearOp", "MulOp", "FusedOp", " LinearOp",
                                                  " AddOp"});
    CHECK(fused(gated, "fuse-products") == Lines{"RMSNormOp", "FusedOp", " LinearOp", " LinearOp",
                                                 "SiLUOp", "MulOp", "LinearOp", "AddOp"});
    CHECK(fused(gated, "fuse-norms")[0] == "RMSNormOp");
    CHECK(fused(gated, "fusion-exact") == Lines{"FusedOp", " RMSNormOp", " LinearOp", " SiLUOp",
                                                " LinearOp", " MulOp", "FusedOp", " LinearOp",
                                                " AddOp"});
    CHECK(fused(gated, "fusion-all") == fused(gated, "fusion-exact"));
  }

  TEST_CASE("what others read is passed on, or keeps the ops apart") {
    // The products are passed, the norm stays, because the caller reads it.
    const std::string shared =
        module_of(norm("%x", "%h") + linear("a", "%h", "%p") + linear("b", "%h", "%q"),
                  "%p:$v, %q:$v, %h:$v");
    CHECK(fused(shared, "fusion-exact") == Lines{"RMSNormOp", "FusedOp", " LinearOp", " LinearOp"});
    const std::string read_twice =
        module_of(linear("a", "%x", "%p") + op("ReLUOp", "%p:$v", "%q"), "%p:$v, %q:$v");
    CHECK(fused(read_twice, "fusion-exact") == Lines{"LinearOp", "ReLUOp"});
  }

  TEST_CASE("chains of elementwise functions come after all other groups") {
    const std::string text =
        module_of(op("AbsOp", "%x:$v", "%p") + linear("a", "%p", "%q") +
                      op("AddOp", "%q:$v, %x:$v", "%r") + op("TanhOp", "%r:$v", "%s") +
                      op("MulOp", "%s:$v, %r:$v", "%t") + op("NegOp", "%t:$v", "%u"),
                  "%u:$v");
    CHECK(fused(text, "fuse-chains") ==
          Lines{"AbsOp", "LinearOp", "FusedOp", " AddOp", " TanhOp", " MulOp", " NegOp"});
    CHECK(fused(text, "fusion-exact") == Lines{"AbsOp", "FusedOp", " LinearOp", " AddOp", "FusedOp",
                                               " TanhOp", " MulOp", " NegOp"});
    // Constants and parameters are computed once, by no kernel of each run.
    const std::string fixed = module_of(
        op("SinOp", "%c:$v[constant:[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]]",
           "%p") +
            op("ExpOp", "%p:$v", "%q") + op("MulOp", "%x:$v, %q:$v", "%r") +
            op("NegOp", "%r:$v", "%s"),
        "%s:$v");
    CHECK(fused(fixed, "fusion-exact") == Lines{"SinOp", "ExpOp", "FusedOp", " MulOp", " NegOp"});
  }

  TEST_CASE("names and the version of the module") {
    Reading reading(module_of(linear("a", "%x", "%p") + op("ReLUOp", "%p:$v", "%q"), "%q:$v"));
    Passes all;
    REQUIRE(all.run(reading.module(), "fuse-epilogues") == Lines{});
    const std::string text = print(reading.module());
    CHECK(text.find("mir_version:2") != text.npos);
    CHECK(text.find("FusedOp () -> (%q:") != text.npos);
    CHECK(text.find("cf.ReturnOp (%q:") != text.npos);
    // Nothing to fuse changes nothing.
    Reading other(module_of(op("ReLUOp", "%x:$v", "%q"), "%q:$v"));
    REQUIRE(all.run(other.module(), "fusion-all") == Lines{});
    CHECK(print(other.module()).find("mir_version:1") != std::string::npos);
  }

  TEST_CASE("ops inside of a loop fuse there") {
    const std::string text = module_of(
        "cf.ForOp (%l:tensor<[1], Int32, CPU>[constant:[0]], %n:tensor<[1], Int32, CPU>[constant:"
        "[3]], %s:tensor<[1], Int32, CPU>[constant:[1]], %x:$v) -> (%y:$v) {\n"
        "(%i:tensor<[1], Int32, CPU>, %c:$v) -> (%e:$v) {\n" +
            linear("a", "%c", "%d") + op("AddOp", "%d:$v, %x:$v", "%e") +
            "cf.YieldOp (%e:$v) -> ()\n} }\n",
        "%y:$v");
    const std::string second =
        std::string(text).replace(text.find("mir_version:1"), 13, "mir_version:2");
    CHECK(fused(second, "fusion-exact") == Lines{"ForOp", " FusedOp", "  LinearOp", "  AddOp"});
  }
}

}  // namespace fuse_test
