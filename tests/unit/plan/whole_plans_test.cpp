// The nodes, the memory and the folded parts of plans, for each level of fusion, and that all of
// them compute what the reference computes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planned.hpp"

namespace mir::test {

namespace {

struct Planned {
  std::string name, inputs, parameters, body, outputs, expected;
};

/// A module whose parameters are registered first, with the types of its outputs written.
std::string module_of(const Planned& planned) {
  const auto text = [&](const std::string& outputs) {
    const std::string graph =
        "graph.SubGraphOp @init <CPU> {\n() -> () {\n" + planned.parameters + "}\n}\n";
    return "@main [mir_version:1] (" + planned.inputs + ") -> (" + outputs + ") {\n" +
           (planned.parameters.empty() ? "" : graph) + planned.body + "cf.ReturnOp (" +
           planned.outputs + ") -> ()\n}\n";
  };
  return text(planned.outputs);
}

/// A line for each level of fusion.
std::string plans_of(const std::string& text) {
  Runner reference(text);
  std::vector<Tensor> inputs;
  const Text read(text);
  for (const Value& input : read.module->body().entry_arguments()) {
    Shape shape;
    for (const Dim dim : input.tensor_type()->dims()) shape.push_back(dim.constant());
    inputs.push_back(pattern(shape));
  }
  const std::vector<Tensor> expected = reference.run(inputs);
  std::string all = "\n";
  for (const Fusion fusion : {Fusion::kOff, Fusion::kExact, Fusion::kAll}) {
    Runner runner(text, fast(fusion));
    check_close(runner.run(inputs), expected);
    const ExecutionPlan& plan = runner.plan();
    all += fmt::format("{}: {} of {} bytes, folded {} in {} bytes\n",
                       fmt::join(plan.node_names(), "; "), plan.lower_bound(), plan.planned_bytes(),
                       plan.folded().nodes, plan.folded().bytes);
  }
  return all;
}

}  // namespace

TEST_CASE("whole plans: nodes, memory and folded parts, for each level of fusion") {
  const Planned cases[] = {
      {"a Linear", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:false] (%x) -> (%y)
)",
       "%y", R"(
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a bias", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
tensor.CPU.register () -> (%p_a_bias:tensor<[5], Float32, CPU>[@a.bias])[symbol:a.bias]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:true] (%x) -> (%y)
)",
       "%y", R"(
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with an activation", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
tensor.CPU.register () -> (%p_a_bias:tensor<[5], Float32, CPU>[@a.bias])[symbol:a.bias]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:true] (%x) -> (%y)
linalg.CPU.SiLUOp (%y) -> (%z)
)",
       "%z", R"(
Linear; SiLU: 128 of 128 bytes, folded 0 in 0 bytes
silu(Linear): 64 of 64 bytes, folded 0 in 0 bytes
silu(Linear): 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a residual", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[8, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
tensor.CPU.register () -> (%p_a_bias:tensor<[8], Float32, CPU>[@a.bias])[symbol:a.bias]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:true] (%x) -> (%y)
linalg.CPU.AddOp (%y, %x) -> (%z)
)",
       "%z", R"(
Linear; Add: 256 of 256 bytes, folded 0 in 0 bytes
Linear + residual: 128 of 128 bytes, folded 0 in 0 bytes
Linear + residual: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a residual before it", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[8, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%x) -> (%y)
linalg.CPU.AddOp (%x, %y) -> (%z)
)",
       "%z", R"(
Linear; Add: 256 of 256 bytes, folded 0 in 0 bytes
Linear + residual: 128 of 128 bytes, folded 0 in 0 bytes
Linear + residual: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a Linear read twice", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[8, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%x) -> (%y)
linalg.CPU.SiLUOp (%y) -> (%z)
linalg.CPU.AddOp (%y, %z) -> (%w)
)",
       "%w", R"(
Linear; SiLU; Add: 384 of 384 bytes, folded 0 in 0 bytes
Linear; SiLU + Add: 128 of 128 bytes, folded 0 in 0 bytes
Linear; SiLU + Add: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a Linear that is an output, too", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[8, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%x) -> (%y)
linalg.CPU.SiLUOp (%y) -> (%z)
)",
       "%y, %z", R"(
Linear; SiLU: 256 of 256 bytes, folded 0 in 0 bytes
Linear; SiLU: 256 of 256 bytes, folded 0 in 0 bytes
Linear; SiLU: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"two Linear of one weight", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[8, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%x) -> (%y)
linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:8, bias:false] (%y) -> (%z)
)",
       "%z", R"(
Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a gate", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_g_weight:tensor<[6, 8], Float32, CPU>[@g.weight])[symbol:g.weight]
tensor.CPU.register () -> (%p_u_weight:tensor<[6, 8], Float32, CPU>[@u.weight])[symbol:u.weight]
tensor.CPU.register () -> (%p_d_weight:tensor<[8, 6], Float32, CPU>[@d.weight])[symbol:d.weight]
)",
       R"(linalg.CPU.LinearOp <name="g"> [in_channels:8, out_channels:6, bias:false] (%x) -> (%g)
linalg.CPU.SiLUOp (%g) -> (%s)
linalg.CPU.LinearOp <name="u"> [in_channels:8, out_channels:6, bias:false] (%x) -> (%u)
linalg.CPU.MulOp (%s, %u) -> (%m)
linalg.CPU.LinearOp <name="d"> [in_channels:6, out_channels:8, bias:false] (%m) -> (%y)
)",
       "%y", R"(
Linear; SiLU; Linear; Mul; Linear: 384 of 384 bytes, folded 0 in 0 bytes
silu(Linear) * Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
silu(Linear) * Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a gate with the factors changed", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_g_weight:tensor<[6, 8], Float32, CPU>[@g.weight])[symbol:g.weight]
tensor.CPU.register () -> (%p_u_weight:tensor<[6, 8], Float32, CPU>[@u.weight])[symbol:u.weight]
)",
       R"(linalg.CPU.LinearOp <name="g"> [in_channels:8, out_channels:6, bias:false] (%x) -> (%g)
linalg.CPU.SiLUOp (%g) -> (%s)
linalg.CPU.LinearOp <name="u"> [in_channels:8, out_channels:6, bias:false] (%x) -> (%u)
linalg.CPU.MulOp (%u, %s) -> (%m)
)",
       "%m", R"(
Linear; SiLU; Linear; Mul: 384 of 384 bytes, folded 0 in 0 bytes
silu(Linear) * Linear: 128 of 128 bytes, folded 0 in 0 bytes
silu(Linear) * Linear: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"three Linear of one operand", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_q_weight:tensor<[4, 8], Float32, CPU>[@q.weight])[symbol:q.weight]
tensor.CPU.register () -> (%p_q_bias:tensor<[4], Float32, CPU>[@q.bias])[symbol:q.bias]
tensor.CPU.register () -> (%p_k_weight:tensor<[6, 8], Float32, CPU>[@k.weight])[symbol:k.weight]
tensor.CPU.register () -> (%p_k_bias:tensor<[6], Float32, CPU>[@k.bias])[symbol:k.bias]
tensor.CPU.register () -> (%p_v_weight:tensor<[2, 8], Float32, CPU>[@v.weight])[symbol:v.weight]
)",
       R"(linalg.CPU.LinearOp <name="q"> [in_channels:8, out_channels:4, bias:true] (%x) -> (%q)
linalg.CPU.LinearOp <name="k"> [in_channels:8, out_channels:6, bias:true] (%x) -> (%k)
linalg.CPU.LinearOp <name="v"> [in_channels:8, out_channels:2, bias:false] (%x) -> (%v)
)",
       "%q, %k, %v", R"(
Linear; Linear; Linear: 256 of 256 bytes, folded 0 in 0 bytes
3 x Linear: 256 of 256 bytes, folded 0 in 0 bytes
3 x Linear: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a weight of Float16", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float16, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:false] (%x) -> (%y)
)",
       "%y", R"(
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a weight of BFloat16", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], BFloat16, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:false] (%x) -> (%y)
)",
       "%y", R"(
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
Linear: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a weight of Int8", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Int8, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:false] (%x) -> (%y)
)",
       "%y", R"(
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a Linear with a bias of Float16", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
tensor.CPU.register () -> (%p_a_bias:tensor<[5], Float16, CPU>[@a.bias])[symbol:a.bias]
)",
       R"(linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:true] (%x) -> (%y)
)",
       "%y", R"(
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
LinearOp (ref): 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a norm and a Linear", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_n_weight:tensor<[8], Float32, CPU>[@n.weight])[symbol:n.weight]
tensor.CPU.register () -> (%p_a_weight:tensor<[5, 8], Float32, CPU>[@a.weight])[symbol:a.weight]
)",
       R"(linalg.CPU.RMSNormOp <name="n"> [epsilon:1e-6] (%x) -> (%n)
linalg.CPU.LinearOp <name="a"> [in_channels:8, out_channels:5, bias:false] (%n) -> (%y)
)",
       "%y", R"(
RMSNorm; Linear: 192 of 192 bytes, folded 0 in 0 bytes
RMSNorm + Linear: 64 of 64 bytes, folded 0 in 0 bytes
RMSNorm + Linear: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a norm and three Linear", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_n_weight:tensor<[8], Float32, CPU>[@n.weight])[symbol:n.weight]
tensor.CPU.register () -> (%p_q_weight:tensor<[4, 8], Float32, CPU>[@q.weight])[symbol:q.weight]
tensor.CPU.register () -> (%p_q_bias:tensor<[4], Float32, CPU>[@q.bias])[symbol:q.bias]
tensor.CPU.register () -> (%p_k_weight:tensor<[6, 8], Float32, CPU>[@k.weight])[symbol:k.weight]
tensor.CPU.register () -> (%p_k_bias:tensor<[6], Float32, CPU>[@k.bias])[symbol:k.bias]
)",
       R"(linalg.CPU.RMSNormOp <name="n"> [epsilon:1e-6] (%x) -> (%n)
linalg.CPU.LinearOp <name="q"> [in_channels:8, out_channels:4, bias:true] (%n) -> (%q)
linalg.CPU.LinearOp <name="k"> [in_channels:8, out_channels:6, bias:true] (%n) -> (%k)
)",
       "%q, %k", R"(
RMSNorm; Linear; Linear: 320 of 320 bytes, folded 0 in 0 bytes
RMSNorm + 2 x Linear: 192 of 192 bytes, folded 0 in 0 bytes
RMSNorm + 2 x Linear: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"a norm of a sum", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_n_weight:tensor<[8], Float32, CPU>[@n.weight])[symbol:n.weight]
)",
       R"(linalg.CPU.AddOp (%x, %x) -> (%s)
linalg.CPU.RMSNormOp <name="n"> [epsilon:1e-6] (%s) -> (%n)
)",
       "%n, %s", R"(
Add; RMSNorm: 256 of 256 bytes, folded 0 in 0 bytes
Add; RMSNorm: 256 of 256 bytes, folded 0 in 0 bytes
Add; RMSNorm: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a norm without a weight of its own", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.LayerNormOp <name="n"> [normalized_shape:[8], elementwise_affine:false, bias:false, eps:1e-5] (%x) -> (%n)
)",
       "%n", R"(
LayerNorm: 128 of 128 bytes, folded 0 in 0 bytes
LayerNorm: 128 of 128 bytes, folded 0 in 0 bytes
LayerNorm: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a chain", "%x:tensor<[3, 8], Float32, CPU>", "", R"(linalg.CPU.NegOp (%x) -> (%a)
linalg.CPU.AbsOp (%a) -> (%b)
linalg.CPU.SqrtOp (%b) -> (%c)
linalg.CPU.ExpOp (%c) -> (%d)
)",
       "%d", R"(
Neg; Abs; Sqrt; Exp: 256 of 256 bytes, folded 0 in 0 bytes
Neg + Abs + Sqrt + Exp: 128 of 128 bytes, folded 0 in 0 bytes
Neg + Abs + Sqrt + Exp: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a chain that broadcasts",
       "%x:tensor<[3, 8], Float32, CPU>, %w:tensor<[8], Float32, CPU>, %v:tensor<[3, 1], Float32, "
       "CPU>",
       "", R"(linalg.CPU.AddOp (%x, %w) -> (%a)
linalg.CPU.MulOp (%a, %v) -> (%b)
linalg.CPU.SubOp (%w, %b) -> (%c)
linalg.CPU.DivOp (%c, %x) -> (%d)
)",
       "%d", R"(
Add; Mul; Sub; Div: 256 of 256 bytes, folded 0 in 0 bytes
Add + Mul + Sub + Div: 128 of 128 bytes, folded 0 in 0 bytes
Add + Mul + Sub + Div: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a chain whose middle is an output", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.NegOp (%x) -> (%a)
linalg.CPU.AbsOp (%a) -> (%b)
linalg.CPU.SqrtOp (%b) -> (%c)
)",
       "%b, %c", R"(
Neg; Abs; Sqrt: 256 of 256 bytes, folded 0 in 0 bytes
Neg + Abs; Sqrt: 256 of 256 bytes, folded 0 in 0 bytes
Neg + Abs; Sqrt: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a sum of one value", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.AddOp (%x, %x) -> (%a)
linalg.CPU.MulOp (%a, %a) -> (%b)
)",
       "%b", R"(
Add; Mul: 256 of 256 bytes, folded 0 in 0 bytes
Add + Mul: 128 of 128 bytes, folded 0 in 0 bytes
Add + Mul: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"constants", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.AddOp (%k:tensor<[8], Float32, CPU>[constant:[1, 2, 3, 4, 5, 6, 7, 8]], %l:tensor<[1], Float32, CPU>[constant:[2]]) -> (%c)
linalg.CPU.MulOp (%x, %c) -> (%y)
)",
       "%y", R"(
Add; Mul: 192 of 192 bytes, folded 0 in 0 bytes
Mul: 128 of 128 bytes, folded 1 in 32 bytes
Mul: 128 of 128 bytes, folded 1 in 32 bytes
)"},
      {"a product of two values",
       "%a:tensor<[2, 3, 8], Float32, CPU>, %b:tensor<[2, 8, 5], Float32, CPU>", "",
       R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%a, %b) -> (%y)
)",
       "%y", R"(
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a product with a transposed factor",
       "%a:tensor<[2, 3, 8], Float32, CPU>, %b:tensor<[2, 5, 8], Float32, CPU>", "",
       R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%a, %b) -> (%y)
)",
       "%y", R"(
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a product with both factors transposed",
       "%a:tensor<[8, 3], Float32, CPU>, %b:tensor<[5, 8], Float32, CPU>", "",
       R"(linalg.CPU.MatMulOp [transpose_a:true, transpose_b:true] (%a, %b) -> (%y)
)",
       "%y", R"(
MatMul: 64 of 64 bytes, folded 0 in 0 bytes
MatMul: 64 of 64 bytes, folded 0 in 0 bytes
MatMul: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a product with a factor of another rank",
       "%a:tensor<[2, 3, 8], Float32, CPU>, %b:tensor<[8, 5], Float32, CPU>", "",
       R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%a, %b) -> (%y)
)",
       "%y", R"(
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a product of a permuted factor",
       "%a:tensor<[3, 2, 8], Float32, CPU>, %b:tensor<[2, 8, 5], Float32, CPU>", "",
       R"(linalg.CPU.TransposeOp [dim0:0, dim1:1] (%a) -> (%t)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%t, %b) -> (%y)
)",
       "%y", R"(
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
MatMul: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"a product with a parameter", "%x:tensor<[3, 8], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_w:tensor<[8, 5], Float32, CPU>[@w])[symbol:w]
)",
       R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%x, %w:tensor<[8, 5], Float32, CPU>[@w]) -> (%y)
)",
       "%y", R"(
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"a product with a constant", "%a:tensor<[3, 2], Float32, CPU>", "",
       R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%a, %k:tensor<[2, 2], Float32, CPU>[constant:[1, 2, 3, 4]]) -> (%y)
)",
       "%y", R"(
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
packed MatMul: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"attention",
       "%q:tensor<[1, 2, 3, 4], Float32, CPU>, %k:tensor<[1, 2, 5, 4], Float32, CPU>, "
       "%v:tensor<[1, 2, 5, 4], Float32, CPU>",
       "", R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%q, %k) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.SoftmaxOp [axis:-1] (%m) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %v) -> (%y)
)",
       "%y", R"(
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
attention: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"attention with a mask",
       "%q:tensor<[1, 2, 3, 4], Float32, CPU>, %k:tensor<[1, 2, 5, 4], Float32, CPU>, "
       "%v:tensor<[1, 2, 5, 4], Float32, CPU>, %b:tensor<[1, 1, 3, 5], Float32, CPU>",
       "", R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%q, %k) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.AddOp (%m, %b) -> (%n)
linalg.CPU.SoftmaxOp [axis:-1] (%n) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %v) -> (%y)
)",
       "%y", R"(
MatMul; Mul; Add; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul + Add; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
attention: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"attention with a causal mask",
       "%q:tensor<[1, 2, 5, 4], Float32, CPU>, %k:tensor<[1, 2, 5, 4], Float32, CPU>, "
       "%v:tensor<[1, 2, 5, 4], Float32, CPU>",
       "", R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%q, %k) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.CausalMaskOp [sliding_window:false, window_size:0] (%m) -> (%n)
linalg.CPU.SoftmaxOp [axis:-1] (%n) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %v) -> (%y)
)",
       "%y", R"(
MatMul; Mul; CausalMask; Softmax; MatMul: 512 of 512 bytes, folded 0 in 0 bytes
MatMul; Mul; CausalMask; Softmax; MatMul: 448 of 448 bytes, folded 0 in 0 bytes
attention: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"attention whose weights are an output",
       "%q:tensor<[1, 2, 3, 4], Float32, CPU>, %k:tensor<[1, 2, 5, 4], Float32, CPU>, "
       "%v:tensor<[1, 2, 5, 4], Float32, CPU>",
       "", R"(linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%q, %k) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.SoftmaxOp [axis:-1] (%m) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %v) -> (%y)
)",
       "%y, %p", R"(
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"views and permutations", "%x:tensor<[2, 3, 8], Float32, CPU>", "",
       R"(linalg.CPU.ViewOp (%x) -> (%a:tensor<[2, 3, 2, 4], Float32, CPU>)
linalg.CPU.PermuteOp [axis:[0, 2, 1, 3]] (%a) -> (%b)
linalg.CPU.NegOp (%b) -> (%c)
linalg.CPU.ContiguousOp (%c) -> (%d)
linalg.CPU.ReshapeOp (%d) -> (%e:tensor<[6, 8], Float32, CPU>)
)",
       "%e", R"(
copy; Neg: 384 of 384 bytes, folded 0 in 0 bytes
copy; Neg: 192 of 192 bytes, folded 0 in 0 bytes
copy; Neg: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"parts of a value", "%x:tensor<[4, 6], Float32, CPU>", "",
       R"(linalg.CPU.SliceOp [indices:[{"start":1,"end":3,"step":1}, {}]] (%x) -> (%a)
linalg.CPU.SplitOp [dim:1, split_size_or_sections:[2, 2, 2]] (%x) -> (%b, %c, %d)
linalg.CPU.ConcatOp [dim:0] (%b, %d) -> (%e)
linalg.CPU.AddOp (%a, %a) -> (%g)
)",
       "%g, %e", R"(
Slice; Split; Concat; Add: 256 of 256 bytes, folded 0 in 0 bytes
Slice; Split; Concat; Add: 256 of 256 bytes, folded 0 in 0 bytes
Slice; Split; Concat; Add: 256 of 256 bytes, folded 0 in 0 bytes
)"},
      {"a joined value of computed parts", "%x:tensor<[2, 4], Float32, CPU>", "",
       R"(linalg.CPU.NegOp (%x) -> (%a)
linalg.CPU.AbsOp (%x) -> (%b)
linalg.CPU.ConcatOp [dim:1] (%a, %b) -> (%e)
)",
       "%e", R"(
Neg; Abs; Concat: 192 of 192 bytes, folded 0 in 0 bytes
Neg; Abs; Concat: 192 of 192 bytes, folded 0 in 0 bytes
Neg; Abs; Concat: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"reductions", "%x:tensor<[3, 4, 5], Float32, CPU>", "",
       R"(linalg.CPU.MeanOp [dim:-1, keep_dim:true] (%x) -> (%a)
linalg.CPU.SubOp (%x, %a) -> (%b)
linalg.CPU.ReduceMaxOp [dim:1] (%b) -> (%c)
linalg.CPU.CumSumOp [dim:1] (%b) -> (%d)
linalg.CPU.SoftmaxOp [axis:1] (%d) -> (%e)
)",
       "%c, %e", R"(
Mean; Sub; ReduceMax; CumSum; Softmax: 576 of 576 bytes, folded 0 in 0 bytes
Mean; Sub; ReduceMax; CumSum; Softmax: 576 of 576 bytes, folded 0 in 0 bytes
Mean; Sub; ReduceMax; CumSum; Softmax: 576 of 576 bytes, folded 0 in 0 bytes
)"},
      {"a convolution of two dimensions", "%x:tensor<[1, 2, 5, 5], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_c_weight:tensor<[3, 2, 3, 3], Float32, CPU>[@c.weight])[symbol:c.weight]
tensor.CPU.register () -> (%p_c_bias:tensor<[3], Float32, CPU>[@c.bias])[symbol:c.bias]
)",
       R"(linalg.CPU.Conv2DOp <name="c"> [in_channels:2, out_channels:3, kernel_size:[3, 3], stride:[1, 1], padding:[1, 1], dilation:[1, 1], bias:true] (%x) -> (%y)
)",
       "%y", R"(
Conv: 320 of 320 bytes, folded 0 in 0 bytes
Conv: 320 of 320 bytes, folded 0 in 0 bytes
Conv: 320 of 320 bytes, folded 0 in 0 bytes
)"},
      {"a convolution of groups", "%x:tensor<[1, 4, 6], Float32, CPU>",
       R"(tensor.CPU.register () -> (%p_c_weight:tensor<[4, 2, 3], Float32, CPU>[@c.weight])[symbol:c.weight]
)",
       R"(linalg.CPU.Conv1DOp <name="c"> [in_channels:4, out_channels:4, kernel_size:3, stride:2, padding:1, dilation:1, groups:2, bias:false] (%x) -> (%y)
)",
       "%y", R"(
Conv: 64 of 64 bytes, folded 0 in 0 bytes
Conv: 64 of 64 bytes, folded 0 in 0 bytes
Conv: 64 of 64 bytes, folded 0 in 0 bytes
)"},
      {"elements of other types", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.CastTypeOp [dtype:Float16] (%x) -> (%a)
linalg.CPU.NegOp (%a) -> (%b)
linalg.CPU.CastTypeOp [dtype:Float32] (%b) -> (%c)
)",
       "%c", R"(
CastType; NegOp (ref); CastType: 192 of 192 bytes, folded 0 in 0 bytes
CastType; NegOp (ref); CastType: 192 of 192 bytes, folded 0 in 0 bytes
CastType; NegOp (ref); CastType: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"comparisons and choices", "%x:tensor<[3, 8], Float32, CPU>", "",
       R"(linalg.CPU.GreaterOp (%x, %z:tensor<[1], Float32, CPU>[constant:[0]]) -> (%a)
linalg.CPU.NotOp (%a) -> (%b)
linalg.CPU.WhereOp (%b, %x, %x) -> (%c)
)",
       "%c", R"(
Greater; Not; Where: 192 of 192 bytes, folded 0 in 0 bytes
Greater; Not; Where: 192 of 192 bytes, folded 0 in 0 bytes
Greater; Not; Where: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"rotations",
       "%x:tensor<[2, 5, 3, 8], Float32, CPU>, %t:tensor<[5, 4], Float32, CPU>, %u:tensor<[5, 4], "
       "Float32, CPU>",
       "", R"(linalg.CPU.VisionRoPEOp (%x, %t, %u) -> (%a)
linalg.CPU.MultimodalRoPEOp [input_type:BSHD] (%x, %t, %u) -> (%b)
)",
       "%a, %b", R"(
VisionRoPE; MultimodalRoPE: 1920 of 1920 bytes, folded 0 in 0 bytes
VisionRoPE; MultimodalRoPE: 1920 of 1920 bytes, folded 0 in 0 bytes
VisionRoPE; MultimodalRoPE: 1920 of 1920 bytes, folded 0 in 0 bytes
)"},
      {"picked elements", "%x:tensor<[3, 5, 4], Float32, CPU>", "",
       R"(linalg.CPU.GatherOp [dim:1] (%x, %i:tensor<[2, 3], Int64, CPU>[constant:[0, 2, -3, 1, 1, 4]]) -> (%a)
linalg.CPU.GatherOp [dim:0] (%x, %j:tensor<[2], Int32, CPU>[constant:[2, -3]]) -> (%b)
linalg.CPU.GatherOp [dim:-1] (%x, %k:tensor<[2], Int32, CPU>[constant:[3, -4]]) -> (%c)
)",
       "%a, %b, %c", R"(
Gather; Gather; Gather: 640 of 640 bytes, folded 0 in 0 bytes
Gather; Gather; Gather: 640 of 640 bytes, folded 0 in 0 bytes
Gather; Gather; Gather: 640 of 640 bytes, folded 0 in 0 bytes
)"},
      {"margins of each kind", "%x:tensor<[3, 5, 4], Float32, CPU>", "",
       R"(linalg.CPU.NegOp (%x) -> (%n)
linalg.CPU.PadOp [pad:[0, 0, 1, 2, 2, 0], value:0.75] (%n) -> (%a)
linalg.CPU.PadOp [pad:[7, 3, 4, 1], mode:reflect] (%n) -> (%b)
linalg.CPU.PadOp [pad:[2, 3, 3, 0], mode:replicate] (%n) -> (%c)
linalg.CPU.PadOp [pad:[3, 10, 0, 0, 0, 1], mode:circular] (%n) -> (%d)
)",
       "%a, %b, %c, %d", R"(
Neg; Pad; Pad; Pad; Pad: 4928 of 4928 bytes, folded 0 in 0 bytes
Neg; Pad; Pad; Pad; Pad: 4928 of 4928 bytes, folded 0 in 0 bytes
Neg; Pad; Pad; Pad; Pad: 4928 of 4928 bytes, folded 0 in 0 bytes
)"},
      {"a part of a value that is replaced",
       "%x:tensor<[3, 5, 4], Float32, CPU>, %y:tensor<[2, 4], Float32, CPU>", "",
       R"(linalg.CPU.NegOp (%x) -> (%n)
linalg.CPU.CopyOp [indices:[{"start":1,"end":3}, {"start":2,"end":3}, {}]] (%y, %n) -> (%e:tensor<[3, 5, 4], Float32, CPU>)
linalg.CPU.CopyOp [indices:[{"start":0,"end":1}, {"start":0,"end":2}, {}]] (%y, %e) -> (%g:tensor<[3, 5, 4], Float32, CPU>)
)",
       "%g, %n", R"(
Neg; Copy; Copy: 768 of 768 bytes, folded 0 in 0 bytes
Neg; Copy; Copy: 512 of 512 bytes, folded 0 in 0 bytes
Neg; Copy; Copy: 512 of 512 bytes, folded 0 in 0 bytes
)"},
      {"the largest elements", "%x:tensor<[3, 5, 4], Float32, CPU>", "",
       R"(linalg.CPU.TopKOp [k:2] (%x) -> (%f, %g)
linalg.CPU.TopKOp [k:3, dim:1, largest:false] (%x) -> (%h, %j)
)",
       "%f, %g, %h, %j", R"(
TopK; TopK: 640 of 640 bytes, folded 0 in 0 bytes
TopK; TopK: 640 of 640 bytes, folded 0 in 0 bytes
TopK; TopK: 640 of 640 bytes, folded 0 in 0 bytes
)"},
      {"repeated and stacked values", "%x:tensor<[2, 4], Float32, CPU>", "",
       R"(linalg.CPU.RepeatOp [dim:0, repeat_times:3] (%x) -> (%a)
linalg.CPU.StackOp [dim:1] (%x, %x) -> (%b)
)",
       "%a, %b", R"(
Repeat; Stack: 192 of 192 bytes, folded 0 in 0 bytes
Repeat; Stack: 192 of 192 bytes, folded 0 in 0 bytes
Repeat; Stack: 192 of 192 bytes, folded 0 in 0 bytes
)"},
      {"attention of permuted values",
       "%q:tensor<[1, 3, 2, 4], Float32, CPU>, %k:tensor<[1, 5, 2, 4], Float32, CPU>, "
       "%v:tensor<[1, 5, 2, 4], Float32, CPU>",
       "", R"(linalg.CPU.TransposeOp [dim0:1, dim1:2] (%q) -> (%Q)
linalg.CPU.TransposeOp [dim0:1, dim1:2] (%k) -> (%K)
linalg.CPU.TransposeOp [dim0:1, dim1:2] (%v) -> (%V)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%Q, %K) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.SoftmaxOp [axis:-1] (%m) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %V) -> (%y)
linalg.CPU.TransposeOp [dim0:1, dim1:2] (%y) -> (%z)
)",
       "%z", R"(
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
attention: 128 of 128 bytes, folded 0 in 0 bytes
)"},
      {"attention of operands in columns",
       "%q:tensor<[1, 2, 4, 3], Float32, CPU>, %k:tensor<[1, 2, 4, 5], Float32, CPU>, "
       "%v:tensor<[1, 2, 4, 5], Float32, CPU>",
       "", R"(linalg.CPU.TransposeOp [dim0:-1, dim1:-2] (%q) -> (%Q)
linalg.CPU.TransposeOp [dim0:-1, dim1:-2] (%k) -> (%K)
linalg.CPU.TransposeOp [dim0:-1, dim1:-2] (%v) -> (%V)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:true] (%Q, %K) -> (%s)
linalg.CPU.MulOp (%s, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m)
linalg.CPU.SoftmaxOp [axis:-1] (%m) -> (%p)
linalg.CPU.MatMulOp [transpose_a:false, transpose_b:false] (%p, %V) -> (%y)
)",
       "%y", R"(
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
MatMul; Mul; Softmax; MatMul: 256 of 256 bytes, folded 0 in 0 bytes
copy; copy; copy; attention: 640 of 640 bytes, folded 0 in 0 bytes
)"},
      {"values that die at different steps", "%x:tensor<[8, 8], Float32, CPU>", "",
       R"(linalg.CPU.NegOp (%x) -> (%a)
linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%a) -> (%r)
linalg.CPU.SoftmaxOp [axis:0] (%a) -> (%s)
linalg.CPU.ReduceSumOp [dim:1, keep_dim:true] (%s) -> (%t)
linalg.CPU.CumSumOp [dim:0] (%s) -> (%c)
linalg.CPU.AddOp (%r, %c) -> (%d)
linalg.CPU.CumSumOp [dim:1] (%d) -> (%e)
linalg.CPU.MulOp (%t, %e) -> (%g)
)",
       "%g", R"(
Neg; ReduceSum; Softmax; ReduceSum; CumSum; Add; CumSum; Mul: 640 of 640 bytes, folded 0 in 0 bytes
Neg; ReduceSum; Softmax; ReduceSum; CumSum; Add; CumSum; Mul: 576 of 576 bytes, folded 0 in 0 bytes
Neg; ReduceSum; Softmax; ReduceSum; CumSum; Add; CumSum; Mul: 576 of 576 bytes, folded 0 in 0 bytes
)"},
  };
  for (const Planned& each : cases) {
    CAPTURE(each.name);
    CHECK(plans_of(module_of(each)) == each.expected);
  }
}

}  // namespace mir::test
