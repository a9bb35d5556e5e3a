// What plans fuse into products, and results in the place of operands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "interp/summary.hpp"
#include "planned.hpp"

namespace mir::test::fusions {

namespace {

constexpr char kType[] = "tensor<[1, $S, 8], Float32, CPU>";

std::string typed(const std::string& values) {
  std::string text;
  for (std::size_t at = 0; at < values.size(); ++at) {
    text += values[at];
    const bool ends = at + 1 == values.size() || values[at + 1] == ',';
    if (ends) text += std::string(":") + kType;
  }
  return text;
}

/// "AbsOp %x %a": operands and the result, all of one type. Values are joined by commas.
struct OpLine {
  std::string op, operands, result;
};

/// A module with parameters for a norm and two linear layers, `down` with a bias.
std::string module_of(const std::vector<OpLine>& lines, const std::string& outputs,
                      const std::string& norm_type = "Float32") {
  std::string text = "@main [mir_version:1] (" + typed("%x") + ") -> (" + typed(outputs) + ") {\n" +
                     R"(  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%n:tensor<[8], )" +
                     norm_type + R"(, CPU>[@norm.weight])[symbol:norm.weight]
      tensor.CPU.register () -> (%u:tensor<[8, 8], Float32, CPU>[@up.weight])[symbol:up.weight]
      tensor.CPU.register () -> (%d:tensor<[8, 8], Float32, CPU>[@down.weight])[symbol:down.weight]
      tensor.CPU.register () -> (%b:tensor<[8], Float32, CPU>[@down.bias])[symbol:down.bias]
    }
  }
)";
  for (const auto& [op, operands, result] : lines) {
    text += "  linalg.CPU." + op + " (" + typed(operands) + ") -> (" + typed(result) + ")\n";
  }
  return text + "  cf.ReturnOp (" + typed(outputs) + ") -> ()\n}\n";
}

constexpr char kNorm[] = "RMSNormOp <name=\"norm\"> [epsilon:1e-06]";
constexpr char kUp[] = "LinearOp <name=\"up\"> [in_channels:8, out_channels:8, bias:false]";
constexpr char kDown[] = "LinearOp <name=\"down\"> [in_channels:8, out_channels:8, bias:true]";

/// The nodes of the module, joined by commas, whose bits must be those of its steps one by one.
std::string nodes_of(const std::string& text) {
  Runner fused(text, fast(Fusion::kExact)), off(text, fast(Fusion::kOff)), ref(text);
  const Tensor x = pattern({1, 9, 8});
  const auto got = fused.run({x}), want = off.run({x});
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(hash_bytes(got[i]) == hash_bytes(want[i]));
  check_close(got, ref.run({x}));
  // The passes find the same groups, and what they make means the same.
  const std::string passed = after_passes(text, "inline,fusion-exact");
  Runner stated(passed, fast(Fusion::kStated)), split(passed, fast(Fusion::kOff)), again(passed);
  CHECK(stated.plan().node_names() == fused.plan().node_names());
  CHECK(split.plan().node_names() == off.plan().node_names());
  const auto from_passes = stated.run({x}), meant = again.run({x}), expected = ref.run({x});
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(hash_bytes(from_passes[i]) == hash_bytes(want[i]));
    CHECK(hash_bytes(meant[i]) == hash_bytes(expected[i]));
  }
  return fmt::format("{}", fmt::join(fused.plan().node_names(), ", "));
}

/// How many values of 9 x 8 numbers the plan has room for.
std::uint64_t places_of(const std::string& text) {
  Runner runner(text, fast(Fusion::kExact));
  runner.run({pattern({1, 9, 8})});
  const ExecutionPlan& plan = runner.plan();
  CHECK(plan.lower_bound() <= plan.planned_bytes());
  return plan.planned_bytes() / (9 * 8 * sizeof(float));
}

}  // namespace

TEST_CASE("fusion: activations are part of the product before them, residuals after them too") {
  for (const auto& [op, name] :
       {std::pair("GELUOp", "gelu(Linear)"), std::pair("QuickGELUOp", "quick_gelu(Linear)"),
        std::pair("ReLUOp", "relu(Linear)"), std::pair("SiLUOp", "silu(Linear)"),
        std::pair("SigmoidOp", "sigmoid(Linear)")}) {
    CHECK(nodes_of(module_of({{kDown, "%x", "%a"}, {op, "%a", "%b"}}, "%b")) == name);
    CHECK(nodes_of(module_of({{kDown, "%x", "%a"}, {op, "%a", "%b"}, {"AddOp", "%x,%b", "%c"}},
                             "%c")) == std::string(name) + " + residual");
  }
  // What something else reads too stays a value.
  CHECK(nodes_of(module_of({{kDown, "%x", "%a"}, {"GELUOp", "%a", "%b"}}, "%a,%b")) ==
        "Linear, GELU");
}

TEST_CASE("fusion: a norm is part of the products that alone read it") {
  const OpLine norm = {kNorm, "%x", "%h"};
  CHECK(nodes_of(module_of({norm, {kUp, "%h", "%a"}}, "%a")) == "RMSNorm + Linear");
  CHECK(nodes_of(module_of({norm, {kUp, "%h", "%a"}, {kDown, "%h", "%b"}}, "%a,%b")) ==
        "RMSNorm + 2 x Linear");
  CHECK(nodes_of(module_of(
            {norm, {kDown, "%h", "%a"}, {"GELUOp", "%a", "%b"}, {"AddOp", "%b,%x", "%c"}}, "%c")) ==
        "RMSNorm + gelu(Linear) + residual");
  CHECK(nodes_of(module_of({norm,
                            {kDown, "%h", "%a"},
                            {"GELUOp", "%a", "%b"},
                            {kUp, "%h", "%c"},
                            {"MulOp", "%c,%b", "%d"}},
                           "%d")) == "RMSNorm + gelu(Linear) * Linear");
  // Others read it: the caller, and a sum.
  CHECK(nodes_of(module_of({norm, {kUp, "%h", "%a"}}, "%a,%h")) == "RMSNorm, Linear");
  CHECK(nodes_of(module_of({norm, {kUp, "%h", "%a"}, {"SubOp", "%x,%h", "%b"}}, "%a,%b")) ==
        "RMSNorm, Linear, Sub");
  // The kernel of such a norm is the reference's.
  CHECK(nodes_of(module_of({norm, {kUp, "%h", "%a"}}, "%a", "BFloat16")) ==
        "RMSNormOp (ref), Linear");
}

TEST_CASE("fusion: elementwise functions are one node where nothing else reads their results") {
  const OpLine first = {"AbsOp", "%x", "%a"}, tanh = {"TanhOp", "%a", "%b"};
  CHECK(nodes_of(module_of({first, tanh, {"MulOp", "%a,%b", "%c"}}, "%c")) == "Abs + Tanh + Mul");
  CHECK(nodes_of(module_of({first, {"MulOp", "%a,%a", "%b"}}, "%b")) == "Abs + Mul");
  CHECK(nodes_of(module_of({first, {"ClipOp [min_val:-0.25, max_val:0.3]", "%a", "%b"}}, "%b")) ==
        "Abs + Clip");
  CHECK(nodes_of(module_of({first, tanh, {"NegOp", "%b", "%c"}, {"SinOp", "%c", "%d"}}, "%d")) ==
        "Abs + Tanh + Neg + Sin");
  CHECK(nodes_of(module_of(
            {first, tanh, {"NegOp", "%b", "%c"}, {"SinOp", "%c", "%d"}, {"CosOp", "%d", "%e"}},
            "%e")) == "Abs + Tanh + Neg + 2 more");
  std::vector<OpLine> long_chain = {first};
  for (char name = 'a'; name < 'u'; ++name) {
    long_chain.push_back(
        {"SinOp", std::string{'%', name}, std::string{'%', static_cast<char>(name + 1)}});
  }
  CHECK(nodes_of(module_of(long_chain, "%u")) ==
        "Abs + Sin + Sin + 2 more, Sin + Sin + Sin + 13 more");
  // What something else reads too stays a value.
  CHECK(nodes_of(module_of({first, tanh, {"MulOp", "%a,%b", "%c"}}, "%c,%a")) == "Abs, Tanh + Mul");
  CHECK(nodes_of(module_of({first, {"SoftmaxOp [axis:-1]", "%a", "%b"}, {"MulOp", "%a,%b", "%c"}},
                           "%c")) == "Abs, Softmax, Mul");
  // Two chains read it.
  CHECK(nodes_of(module_of(
            {first, tanh, {"SoftmaxOp [axis:-1]", "%b", "%c"}, {"AddOp", "%a,%c", "%d"}}, "%d")) ==
        "Abs, Tanh, Softmax, Add");
  // Products take their activations and residuals first.
  CHECK(nodes_of(module_of({{kDown, "%x", "%a"},
                            {"GELUOp", "%a", "%b"},
                            {"AbsOp", "%b", "%c"},
                            {"NegOp", "%c", "%d"}},
                           "%d")) == "gelu(Linear), Abs + Neg");
}

TEST_CASE(
    "fusion: a rotation by tables is one node, in the order of memory that its readers have") {
  const std::string numbers = "0.5, -0.25, 0.75, 1, 0.125, -1, 0.375, -0.5";
  const std::string table = ":tensor<[1, 8], Float32, CPU>[constant:[" + numbers + "]]";
  const auto rotated = [&](const std::string& type, const std::string& half) {
    return "  linalg.CPU.SplitOp [dim:-1, split_size_or_sections:[4, 4]] (%x:" + type +
           ") -> (%x1:" + half + ", %x2:" + half + ")\n  linalg.CPU.NegOp (%x2) -> (%n:" + half +
           ")\n  linalg.CPU.ConcatOp [dim:-1] (%n, %x1) -> (%r:" + type +
           ")\n  linalg.CPU.MulOp (%x, %cos" + table + ") -> (%p:" + type +
           ")\n  linalg.CPU.MulOp (%r, %sin" + table + ") -> (%q:" + type +
           ")\n  linalg.CPU.AddOp (%p, %q) -> (%y:" + type + ")\n";
  };
  const auto module = [](const std::string& body, const std::string& result) {
    return "@main [mir_version:1] (%in:tensor<[1, $S, 8], Float32, CPU>) -> (" + result + ") {\n" +
           body + "  cf.ReturnOp (" + result + ") -> ()\n}\n";
  };
  const std::string type = kType, heads = "tensor<[1, $S, 1, 8], Float32, CPU>",
                    turned = "tensor<[1, 1, $S, 8], Float32, CPU>";
  const std::string abs = "  linalg.CPU.AbsOp (%in:" + type + ") -> (%x:" + type + ")\n";
  CHECK(nodes_of(module(abs + rotated(type, "tensor<[1, $S, 4], Float32, CPU>"), "%y:" + type)) ==
        "Abs, rotate_half");
  // The rows of x and of the result are those of a transposed value.
  const std::string around = "  linalg.CPU.ViewOp [to_shape:[1, -1, 1, 8]] (%in:" + type +
                             ") -> (%v:" + heads + ")\n  linalg.CPU.AbsOp (%v) -> (%w:" + heads +
                             ")\n  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%w) -> (%x:" + turned +
                             ")\n" + rotated(turned, "tensor<[1, 1, $S, 4], Float32, CPU>") +
                             "  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%y) -> (%z:" + heads +
                             ")\n";
  CHECK(nodes_of(module(around, "%z:" + heads)) == "Abs, rotate_half");
}

TEST_CASE("fusion: chains have the extents of their result, and no part that runs share") {
  const auto module = [](const std::string& lines) {
    return R"(@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[1, $S, 8], Float32, CPU>) {
)" + lines +
           "  cf.ReturnOp (%y) -> ()\n}\n";
  };
  CHECK(
      nodes_of(module(
          R"(  linalg.CPU.MeanOp [dim:-1, keep_dim:true] (%x) -> (%m:tensor<[1, $S, 1], Float32, CPU>)
  linalg.CPU.AddOp(%m, %e:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%s:tensor<[1, $S, 1], Float32, CPU>)
  linalg.CPU.RsqrtOp(%s) -> (%r:tensor<[1, $S, 1], Float32, CPU>)
  linalg.CPU.MulOp(%x, %r) -> (%z:tensor<[1, $S, 8], Float32, CPU>)
  linalg.CPU.MulOp(%z, %z) -> (%y:tensor<[1, $S, 8], Float32, CPU>)
)")) == "Mean, Add + Rsqrt, Mul + Mul");
  // The sine is computed when the plan is made.
  CHECK(
      nodes_of(module(
          R"(  linalg.CPU.SinOp(%c:tensor<[1, 1, 8], Float32, CPU>[constant:[1, 2, 3, 4, 5, 6, 7, 8]]) -> (%s:tensor<[1, 1, 8], Float32, CPU>)
  linalg.CPU.MulOp(%x, %s) -> (%z:tensor<[1, $S, 8], Float32, CPU>)
  linalg.CPU.AddOp(%z, %c) -> (%y:tensor<[1, $S, 8], Float32, CPU>)
)")) == "Mul + Add");
}

TEST_CASE("fusion: a declared op stays where something else computes it") {
  const std::string text = R"(@my [mir_version:2] () -> () {
  dialect.OpOp @TwiceOp [summary:"Twice the operand."] {
    (%x:tensor<[$N], T, D>) -> (%y:tensor<[$N], T, D>) {
      linalg.D.AddOp (%x, %x) -> (%y)
      cf.ReturnOp (%y) -> ()
    }
  }
}
@main [mir_version:2] (%x:tensor<[4], Float32, CPU>) -> (%y:tensor<[4], Float32, CPU>) {
  my.TwiceOp (%x) -> (%t:tensor<[4], Float32, CPU>)
  linalg.CPU.ReLUOp (%t) -> (%y:tensor<[4], Float32, CPU>)
  cf.ReturnOp (%y) -> ()
}
)";
  PassRegistry passes;
  register_standard_passes(passes);
  for (const bool keeps : {true, false}) {
    CAPTURE(keeps);
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics problems;
    const auto modules = read_modules(*context.sources().add("test.mir", text), context, problems);
    REQUIRE(modules.size() == 2);
    REQUIRE(verify(*modules[1], problems));
    REQUIRE(fuse(*modules[1], Fusion::kAll, passes, {.keeps_declared_ops = keeps}, problems));
    CHECK((print(*modules[1]).find("my.TwiceOp") != std::string::npos) == keeps);
  }
}

TEST_CASE("in place: a result takes the place of an operand that nothing reads any more") {
  const OpLine first = {"AbsOp", "%x", "%a"};
  CHECK(places_of(module_of(
            {first, {"SoftmaxOp [axis:-1]", "%a", "%b"}, {"SoftmaxOp [axis:-1]", "%b", "%c"}},
            "%c")) == 1);
  CHECK(places_of(module_of({first, {"AddOp", "%x,%a", "%b"}}, "%b")) == 1);
  CHECK(places_of(module_of({first, {kUp, "%x", "%b"}, {"AddOp", "%b,%a", "%c"}}, "%c")) == 1);
  // What is read later, handed out, or read twice stays where it is.
  const std::string later =
      module_of({first, {"SoftmaxOp [axis:-1]", "%a", "%b"}, {"SubOp", "%a,%b", "%c"}}, "%c");
  CHECK(places_of(later) == 2);
  CHECK(nodes_of(later) == "Abs, Softmax, Sub");
  const std::string kept = module_of({first, {"NegOp", "%a", "%b"}}, "%a,%b");
  CHECK(places_of(kept) == 2);
  CHECK(nodes_of(kept) == "Abs, Neg");
  const std::string twice = module_of({first, {kUp, "%a", "%b"}, {"AddOp", "%b,%a", "%c"}}, "%c");
  CHECK(places_of(twice) == 2);
  CHECK(nodes_of(twice) == "Abs, Linear + residual");
}

}  // namespace mir::test::fusions
