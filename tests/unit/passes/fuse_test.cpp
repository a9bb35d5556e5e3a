// Which ops become a fused op, and what stays around it.
#include <fmt/format.h>

#include <algorithm>

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

  TEST_CASE("a chain has at most sixteen steps, a group of products eight") {
    const auto sines = [](std::size_t count) {
      std::string body;
      for (std::size_t i = 0; i < count; ++i) {
        body +=
            op("SinOp", i == 0 ? "%x:$v" : fmt::format("%s{}:$v", i - 1), fmt::format("%s{}", i));
      }
      return module_of(body, fmt::format("%s{}:$v", count - 1));
    };
    const auto chain = [](std::size_t before, std::size_t inside) {
      Lines lines(before, "SinOp");
      if (inside > 0) lines.emplace_back("FusedOp");
      lines.insert(lines.end(), inside, " SinOp");
      return lines;
    };
    CHECK(fused(sines(1), "fuse-chains") == chain(1, 0));
    CHECK(fused(sines(2), "fuse-chains") == chain(0, 2));
    CHECK(fused(sines(16), "fuse-chains") == chain(0, 16));
    CHECK(fused(sines(17), "fuse-chains") == chain(1, 16));
    const auto products = [](std::size_t count) {
      std::string body, outputs;
      for (std::size_t i = 0; i < count; ++i) {
        body += linear("a", "%x", fmt::format("%y{}", i));
        outputs += fmt::format("{}%y{}:$v", i == 0 ? "" : ", ", i);
      }
      return fused(module_of(body, outputs), "fuse-products");
    };
    CHECK(products(1) == Lines{"LinearOp"});
    CHECK(products(2) == Lines{"FusedOp", " LinearOp", " LinearOp"});
    Lines eight(9, " LinearOp");
    eight.front() = "FusedOp";
    CHECK(products(8) == eight);
    const Lines two = products(2);
    Lines ten = eight;
    ten.insert(ten.end(), two.begin(), two.end());
    CHECK(products(10) == ten);
    eight.emplace_back("LinearOp");
    CHECK(products(9) == eight);
  }

  TEST_CASE("gates: either side, of one operand and with the same extents") {
    const auto gates = [](const std::string& up, const std::string& product) {
      return fused(
          module_of(linear("a", "%x", "%g") + op("SiLUOp", "%g:$v", "%s") + up + product, "%y:$v"),
          "fuse-gates");
    };
    const std::string up = linear("b", "%x", "%u");
    const Lines all = {"FusedOp", " LinearOp", " SiLUOp", " LinearOp", " MulOp"};
    CHECK(gates(up, op("MulOp", "%s:$v, %u:$v", "%y")) == all);
    CHECK(gates(up, op("MulOp", "%u:$v, %s:$v", "%y")) == all);
    CHECK(gates(up, op("AddOp", "%u:$v, %s:$v", "%y")) ==
          Lines{"LinearOp", "SiLUOp", "LinearOp", "AddOp"});
    CHECK(gates(op("AbsOp", "%x:$v", "%z") + linear("b", "%z", "%u"),
                op("MulOp", "%s:$v, %u:$v", "%y")) ==
          Lines{"LinearOp", "SiLUOp", "AbsOp", "LinearOp", "MulOp"});
    CHECK(gates(up + op("SiLUOp", "%u:$v", "%t"), op("MulOp", "%s:$v, %t:$v", "%y")) ==
          Lines{"LinearOp", "SiLUOp", "LinearOp", "SiLUOp", "MulOp"});
    CHECK(gates("", op("MulOp", "%s:$v, %s:$v", "%y")) == Lines{"LinearOp", "SiLUOp", "MulOp"});
  }

  TEST_CASE("epilogues: residuals on either side that have the extents of the sum") {
    const Lines both = {"FusedOp", " LinearOp", " AddOp"}, apart = {"LinearOp", "AddOp"};
    const auto sums = [](const std::string& body) {
      return fused(module_of(body, "%y:$v"), "fuse-epilogues");
    };
    CHECK(sums(linear("a", "%x", "%d") + op("AddOp", "%d:$v, %x:$v", "%y")) == both);
    CHECK(sums(linear("a", "%x", "%d") + op("AddOp", "%x:$v, %d:$v", "%y")) == both);
    CHECK(sums(linear("a", "%x", "%d") + op("SubOp", "%d:$v, %x:$v", "%y")) ==
          Lines{"LinearOp", "SubOp"});
    CHECK(sums(linear("a", "%x", "%d") + op("AddOp", "%d:$v, %d:$v", "%y")) == apart);
    CHECK(sums(linear("a", "%x", "%d") +
               op("AddOp", "%d:$v, %e:tensor<[1], Float32, CPU>[constant:[0.5]]", "%y")) == apart);
    const std::string row = "tensor<[8], Float32, CPU>";
    CHECK(sums("linalg.CPU.LinearOp <name=\"a\"> [$linear] (%r:" + row +
               "[constant:[1, 2, 3, 4, 5, 6, 7, 8]]) -> (%d:" + row + ")\n" +
               op("AddOp", "%x:$v, %d:" + row, "%y")) == apart);
    // Both sides are products: the left one has the sum.
    CHECK(sums(linear("a", "%x", "%d") + linear("b", "%x", "%e") +
               op("AddOp", "%d:$v, %e:$v", "%y")) ==
          Lines{"LinearOp", "FusedOp", " LinearOp", " AddOp"});
  }

  TEST_CASE("norms: those that only the products of a group read") {
    const std::string both = linear("a", "%h", "%p") + linear("b", "%h", "%q");
    const auto norms = [](const std::string& body, const std::string& outputs) {
      return fused(module_of(norm("%x", "%h") + body, outputs), "fuse-products,fuse-norms");
    };
    CHECK(norms(linear("a", "%h", "%p"), "%p:$v") == Lines{"FusedOp", " RMSNormOp", " LinearOp"});
    CHECK(norms(both, "%p:$v, %q:$v") == Lines{"FusedOp", " RMSNormOp", " LinearOp", " LinearOp"});
    CHECK(norms(both + op("AbsOp", "%h:$v", "%r"), "%p:$v, %q:$v, %r:$v") ==
          Lines{"RMSNormOp", "FusedOp", " LinearOp", " LinearOp", "AbsOp"});
    CHECK(norms(op("AbsOp", "%h:$v", "%p"), "%p:$v") == Lines{"RMSNormOp", "AbsOp"});
    CHECK(norms(linear("a", "%x", "%r") + linear("b", "%x", "%s") + both,
                "%p:$v, %q:$v, %r:$v, %s:$v") == Lines{"FusedOp", " LinearOp", " LinearOp",
                                                       "FusedOp", " RMSNormOp", " LinearOp",
                                                       " LinearOp"});
  }

  TEST_CASE("rotations: every property of their operations counts") {
    using Edits = std::vector<std::pair<std::string, std::string>>;
    struct Case {
      Edits edits;
      std::size_t inside;
      Edits types = {};
    };
    const std::string module =
        "@main [mir_version:1] (%x:$x, %cos:$cos, %sin:$sin) -> (%y:$x) {\n"
        "linalg.CPU.SliceOp [indices:[{}, {}, {\"end\":4}]] (%x) -> (%a:$h)\n"
        "linalg.CPU.SliceOp [indices:[{}, {}, {\"start\":4}]] (%x) -> (%b:$h)\n"
        "linalg.CPU.NegOp (%b) -> (%n:$h)\n"
        "linalg.CPU.ConcatOp [dim:-1] (%n, %a) -> (%r:$x)\n"
        "linalg.CPU.MulOp (%x, %cos) -> (%p:$x)\n"
        "linalg.CPU.MulOp (%r, %sin) -> (%q:$x)\n"
        "linalg.CPU.AddOp (%p, %q) -> (%y:$x)\n"
        "cf.ReturnOp (%y) -> ()\n}\n";
    const std::string slices =
        "linalg.CPU.SliceOp [indices:[{}, {}, {\"end\":4}]] (%x) -> (%a:$h)\n"
        "linalg.CPU.SliceOp [indices:[{}, {}, {\"start\":4}]] (%x) -> (%b:$h)\n";
    const std::string split =
        "linalg.CPU.SplitOp [dim:-1, split_size_or_sections:[4, 4]] (%x) -> (%a:$h, %b:$h)\n";
    const Case cases[] = {
        {{}, 7},
        {{{slices, split}}, 6},
        {{{"{\"end\":4}", "{\"start\":0, \"end\":-4, \"step\":1}"}}, 7},
        {{{"{\"start\":4}", "{\"start\":-4, \"end\":8}"}}, 7},
        // Products and the sum take their operands on either side.
        {{{"(%x, %cos)", "(%cos, %x)"}, {"(%r, %sin)", "(%sin, %r)"}}, 7},
        {{{"AddOp (%p, %q)", "AddOp (%q, %p)"}}, 7},
        {{{"AddOp (%p, %q)", "SubOp (%p, %q)"}}, 0},
        {{{"NegOp", "AbsOp"}}, 0},
        {{{"MulOp (%x, %cos)", "DivOp (%x, %cos)"}}, 0},
        {{{"MulOp (%r, %sin)", "DivOp (%r, %sin)"}}, 0},
        // [x1, -x2], and halves that are exchanged.
        {{{"(%n, %a)", "(%a, %n)"}}, 0},
        {{{"{\"end\":4}", "{\"start\":4}"},
          {"{\"start\":4}]] (%x) -> (%b", "{\"end\":4}]] (%x) -> (%b"}},
         0},
        {{{slices, split}, {"(%a:$h, %b:$h)", "(%b:$h, %a:$h)"}}, 0},
        {{{"{\"end\":4}", "{\"end\":8, \"step\":2}"}}, 0},
        {{{"{\"start\":4}", "{\"start\":1, \"step\":2}"}}, 0},
        {{{"{\"end\":4}", "{\"start\":1, \"end\":5}"}}, 0},
        // Parts that are no halves.
        {{{slices,
           "linalg.CPU.SplitOp [dim:-1, split_size_or_sections:[3, 5]] (%x) -> (%a:tensor<[2, 3, "
           "3], Float32, CPU>, %b:tensor<[2, 3, 5], Float32, CPU>)\n"},
          {"(%n:$h)", "(%n:tensor<[2, 3, 5], Float32, CPU>)"}},
         0},
        // The halves of another value, or the product of another one.
        {{{"(%x) -> (%b", "(%cos) -> (%b"}}, 0, {{"$cos", "$x"}}},
        {{{"(%x, %cos)", "(%sin, %cos)"}}, 0, {{"$cos", "$x"}, {"$sin", "$x"}}},
        {{{"{}, {}, {\"end\":4}", "{}, {\"end\":4}, {}"},
          {"{}, {}, {\"start\":4}", "{}, {\"start\":4}, {}"},
          {"dim:-1", "dim:1"}},
         0,
         {{"$h", "tensor<[2, 4, 8], Float32, CPU>"},
          {"$x", "tensor<[2, 8, 8], Float32, CPU>"},
          {"$cos", "tensor<[8], Float32, CPU>"},
          {"$sin", "tensor<[8], Float32, CPU>"}}},
        // Tables repeat over x where their extents are 1, but are as wide as x.
        {{}, 7, {{"$cos", "tensor<[8], Float32, CPU>"}}},
        {{}, 7, {{"$cos", "tensor<[1, 3, 8], Float32, CPU>"}}},
        {{}, 7, {{"$sin", "tensor<[2, 1, 8], Float32, CPU>"}}},
        {{}, 0, {{"$cos", "tensor<[1], Float32, CPU>"}}},
        {{}, 0, {{"$sin", "tensor<[3, 1], Float32, CPU>"}}},
        {{{"(%p:$x)", "(%p:$cos)"}, {"-> (%y:$x) {", "-> (%y:$cos) {"}, {"(%y:$x)", "(%y:$cos)"}},
         0,
         {{"$cos", "tensor<[2, 2, 3, 8], Float32, CPU>"}}},
        // Something else reads a value between.
        {{{"-> (%y:$x) {", "-> (%y:$x, %a:$h) {"}, {"(%y) -> ()", "(%y, %a) -> ()"}}, 0},
        {{{"-> (%y:$x) {", "-> (%y:$x, %r:$x) {"}, {"(%y) -> ()", "(%y, %r) -> ()"}}, 0},
        {{{"-> (%y:$x) {", "-> (%y:$x, %p:$x) {"}, {"(%y) -> ()", "(%y, %p) -> ()"}}, 0},
        {{},
         0,
         {{"$x", "tensor<[2, 3, 8], Float16, CPU>"},
          {"$h", "tensor<[2, 3, 4], Float16, CPU>"},
          {"$cos", "tensor<[3, 8], Float16, CPU>"},
          {"$sin", "tensor<[3, 8], Float16, CPU>"}}},
        {{},
         7,
         {{"$x", "tensor<[2, $S, 8], Float32, CPU>"},
          {"$h", "tensor<[2, $S, 4], Float32, CPU>"},
          {"$cos", "tensor<[$S, 8], Float32, CPU>"},
          {"$sin", "tensor<[$S, 8], Float32, CPU>"}}},
    };
    const Edits usual = {{"$x", "tensor<[2, 3, 8], Float32, CPU>"},
                         {"$h", "tensor<[2, 3, 4], Float32, CPU>"},
                         {"$cos", "tensor<[3, 8], Float32, CPU>"},
                         {"$sin", "tensor<[3, 8], Float32, CPU>"}};
    for (const Case& each : cases) {
      std::string text = module;
      for (const auto& [from, to] : each.edits) {
        const auto at = text.find(from);
        REQUIRE(at != text.npos);
        text.replace(at, from.size(), to);
      }
      for (const Edits& types : {each.types, usual}) {
        for (const auto& [from, to] : types) {
          for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
          }
        }
      }
      CAPTURE(text);
      const Lines lines = fused(text, "fuse-rotate-half");
      const auto inside = std::ranges::count_if(
          lines, [](const std::string& line) { return line.starts_with(' '); });
      CHECK(static_cast<std::size_t>(inside) == each.inside);
    }
  }

  TEST_CASE("attention: every property of its operations counts") {
    struct Case {
      std::vector<std::pair<std::string, std::string>> edits;
      std::size_t inside;
    };
    const std::string module =
        "@main [mir_version:1] (%q:$q, %k:$k, %v:$v, %m:$m) -> (%o:$o) {\n"
        "linalg.CPU.MatMulOp [transpose_b:true] (%q, %k) -> (%s:$s)\n"
        "linalg.CPU.DivOp (%s, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%d:$s)\n"
        "linalg.CPU.AddOp (%d, %m) -> (%t:$s)\n"
        "linalg.CPU.SoftmaxOp [axis:-1] (%t) -> (%p:$s)\n"
        "linalg.CPU.MatMulOp [transpose_b:false] (%p, %v) -> (%o:$o)\n"
        "cf.ReturnOp (%o) -> ()\n}\n";
    const std::vector<std::pair<std::string, std::string>> square = {
        {"$q", "[2, 4, 3, 3]"}, {"$k", "[2, 2, 3, 3]"}, {"$v", "[2, 2, 3, 3]"},
        {"$s", "[2, 4, 3, 3]"}, {"$m", "[3]"},          {"$o", "[2, 4, 3, 3]"}};
    const auto with = [](std::vector<std::pair<std::string, std::string>> edits,
                         const std::vector<std::pair<std::string, std::string>>& more) {
      edits.insert(edits.end(), more.begin(), more.end());
      return edits;
    };
    const Case cases[] = {
        {{}, 5},
        {{{"axis:-1", "axis:3"}}, 5},
        {{{"axis:-1", "axis:2"}}, 0},
        {{{"axis:-1", "axis:0"}}, 0},
        {{{"DivOp", "MulOp"}}, 5},
        {{{"DivOp", "SubOp"}}, 0},
        {{{"tensor<[1], Float32, CPU>[constant:[1.5]]",
           "tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]]"}},
         0},
        {{{"DivOp (%s, %c:tensor<[1], Float32, CPU>[constant:[1.5]])",
           "MulOp (%c:tensor<[1], Float32, CPU>[constant:[1.5]], %s)"}},
         5},
        {{{"DivOp (%s, %c:tensor<[1], Float32, CPU>[constant:[1.5]])",
           "DivOp (%c:tensor<[1], Float32, CPU>[constant:[1.5]], %s)"}},
         0},
        {{{"linalg.CPU.DivOp (%s, %c:tensor<[1], Float32, CPU>[constant:[1.5]]) -> (%d:$s)\n", ""},
          {"(%d, %m)", "(%s, %m)"}},
         4},
        {{{"linalg.CPU.AddOp (%d, %m) -> (%t:$s)\n", ""}, {"(%t)", "(%d)"}}, 4},
        {{{"AddOp (%d, %m)", "CausalMaskOp (%d)"}}, 5},
        {{{"AddOp (%d, %m)", "CausalMaskOp [sliding_window:true, window_size:2] (%d)"}}, 5},
        {{{"AddOp (%d, %m)", "SubOp (%d, %m)"}}, 0},
        {{{"AddOp (%d, %m)", "AddOp (%m, %d)"}}, 5},
        {{{"AddOp (%d, %m)", "AddOp (%m, %d)"}, {"$m", "[2, 4, 3, 5]"}}, 5},
        // A mask repeats over scores where its extents are 1, but has one entry for each key.
        {{{"$m", "[5]"}}, 5},
        {{{"$m", "[3, 5]"}}, 5},
        {{{"$m", "[1, 5]"}}, 5},
        {{{"$m", "[4, 1, 5]"}}, 5},
        {{{"$m", "[1, 1, 1, 5]"}}, 5},
        {{{"$m", "[2, 4, 3, 5]"}}, 5},
        {{{"$m", "[]"}}, 0},
        {{{"$m", "[1]"}}, 0},
        {{{"$m", "[3, 1]"}}, 0},
        {{{"$m", "[2, 4, 3, 1]"}}, 0},
        // A Bool mask and one number replace scores.
        {{{"%m:$m", "%m:tensor<[2, 1, 3, 5], Bool, CPU>"},
          {"AddOp (%d, %m)", "WhereOp (%m, %d, %n:tensor<[1], Float32, CPU>[constant:[-inf]])"}},
         5},
        {{{"%m:$m", "%m:tensor<[1, 5], Bool, CPU>"},
          {"AddOp (%d, %m)", "WhereOp (%m, %d, %n:tensor<[1], Float32, CPU>[constant:[-1e9]])"}},
         5},
        {{{"%m:$m", "%m:tensor<[3, 1], Bool, CPU>"},
          {"AddOp (%d, %m)", "WhereOp (%m, %d, %n:tensor<[1], Float32, CPU>[constant:[-inf]])"}},
         0},
        {{{"%m:$m", "%m:tensor<[5], Bool, CPU>, %n:tensor<[1], Float32, CPU>"},
          {"AddOp (%d, %m)", "WhereOp (%m, %d, %n)"}},
         0},
        {{{"%m:$m", "%m:tensor<[5], Bool, CPU>"},
          {"AddOp (%d, %m)",
           "WhereOp (%m, %d, %n:tensor<[5], Float32, CPU>[constant:[1, 2, 3, 4, 5]])"}},
         0},
        // Only query heads may be more than key heads.
        {{{"$q", "[2, 2, 3, 2]"}, {"$s", "[2, 2, 3, 5]"}, {"$o", "[2, 2, 3, 6]"}}, 5},
        {{{"$k", "[1, 2, 5, 2]"}}, 0},
        {{{"$v", "[1, 2, 5, 6]"}}, 0},
        {{{"$v", "[2, 1, 5, 6]"}}, 0},
        {{{"$v", "[2, 4, 5, 6]"}}, 0},
        {{{"$k", "[2, 1, 5, 2]"}, {"$v", "[2, 1, 5, 6]"}}, 5},
        // Keys and values with columns as rows are transposed first. Queries and weights are not.
        {square, 5},
        {with({{"transpose_b:true", "transpose_b:false"}}, square), 5},
        {with({{"transpose_b:true", "transpose_a:true, transpose_b:true"}}, square), 0},
        {with({{"transpose_b:false", "transpose_b:true"}}, square), 5},
        {{{"transpose_b:true", "transpose_b:false"}, {"$k", "[2, 2, 2, 5]"}}, 5},
        {{{"transpose_b:false", "transpose_b:true"}, {"$v", "[2, 2, 6, 5]"}}, 5},
        {{{"transpose_b:true", "transpose_b:false"},
          {"%k:$k", "%k:tensor<[2, 2, 2, 5], Float32, CPU, \"packed\">"}},
         5},
        {{{"transpose_b:true", "transpose_b:false"}, {"$k", "[1, 2, 2, 5]"}}, 0},
        {{{"transpose_b:false", "transpose_b:true"}, {"$v", "[2, 1, 6, 5]"}}, 0},
        {with({{"transpose_b:false", "transpose_a:true, transpose_b:false"}}, square), 0},
        // The weights leave the module.
        {{{"-> (%o:$o) {", "-> (%o:$o, %p:$s) {"}, {"(%o) -> ()", "(%o, %p) -> ()"}}, 0},
        {{{"-> (%o:$o) {", "-> (%o:$o, %s:$s) {"}, {"(%o) -> ()", "(%o, %s) -> ()"}}, 0},
        // Other ranks.
        {{{"$q", "[2, 2, 4, 3, 3]"},
          {"$k", "[2, 2, 4, 3, 3]"},
          {"$v", "[2, 2, 4, 3, 3]"},
          {"$s", "[2, 2, 4, 3, 3]"},
          {"$m", "[3]"},
          {"$o", "[2, 2, 4, 3, 3]"}},
         0},
        {{{"$q", "[4, 3, 2]"},
          {"$k", "[2, 5, 2]"},
          {"$v", "[2, 5, 6]"},
          {"$s", "[4, 3, 5]"},
          {"$m", "[5]"},
          {"$o", "[4, 3, 6]"}},
         5},
        {{{"axis:-1", "axis:2"},
          {"$q", "[4, 3, 2]"},
          {"$k", "[4, 5, 2]"},
          {"$v", "[4, 5, 6]"},
          {"$s", "[4, 3, 5]"},
          {"$m", "[4, 1, 5]"},
          {"$o", "[4, 3, 6]"}},
         5},
        {{{"axis:-1", "axis:1"},
          {"$q", "[4, 3, 3]"},
          {"$k", "[4, 3, 3]"},
          {"$v", "[4, 3, 3]"},
          {"$s", "[4, 3, 3]"},
          {"$m", "[3]"},
          {"$o", "[4, 3, 3]"}},
         0},
        {{{"$q", "[4, 3, 2]"},
          {"$k", "[4, 5, 2]"},
          {"$v", "[2, 5, 6]"},
          {"$s", "[4, 3, 5]"},
          {"$m", "[5]"},
          {"$o", "[4, 3, 6]"}},
         0},
        {{{"$q", "[3, 2]"},
          {"$k", "[5, 2]"},
          {"$v", "[5, 6]"},
          {"$s", "[3, 5]"},
          {"$m", "[5]"},
          {"$o", "[3, 6]"}},
         0},
    };
    const std::vector<std::pair<std::string, std::string>> extents = {
        {"$q", "[2, 4, 3, 2]"}, {"$k", "[2, 2, 5, 2]"}, {"$v", "[2, 2, 5, 6]"},
        {"$m", "[2, 1, 3, 5]"}, {"$s", "[2, 4, 3, 5]"}, {"$o", "[2, 4, 3, 6]"}};
    for (const Case& each : cases) {
      std::string text = module;
      for (const auto& [from, to] : with(each.edits, extents)) {
        const std::string made = from[0] == '$' ? "tensor<" + to + ", Float32, CPU>" : to;
        for (auto at = text.find(from); at != text.npos; at = text.find(from, at + made.size())) {
          text.replace(at, from.size(), made);
        }
      }
      CAPTURE(text);
      const Lines lines = fused(text, "fuse-attention");
      const bool is_exchanged =
          text.find("_b:true] (%q") == text.npos || text.find("_b:false] (%p") == text.npos;
      CHECK(std::ranges::count(lines, "TransposeOp") == (is_exchanged && each.inside != 0 ? 1 : 0));
      CHECK(std::ranges::count(lines, "FusedOp") == (each.inside == 0 ? 0 : 1));
      CHECK(std::ranges::count_if(lines, [](const std::string& line) {
              return line.starts_with(' ');
            }) == static_cast<std::ptrdiff_t>(each.inside));
    }
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
