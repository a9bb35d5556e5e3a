// Parameters that passes store in other types or make operands, and extents that they bind.
#include <fmt/format.h>

#include "expression.hpp"
#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::expression;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;
using mir::test::with_types;

namespace parameters_test {

namespace {

/// A module with inputs %x and %ids, these registered types and ops, and output %z.
std::string module_of(const std::vector<std::pair<std::string, std::string>>& parameters,
                      const std::string& ops) {
  std::string text =
      "@main [mir_version:1] (%x:f[2, 4], %ids:tensor<[2], Int64, CPU>) -> (%z) {\n"
      "graph.SubGraphOp @init <notype> {\n() -> () {\n";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += fmt::format("tensor.CPU.register () -> (%w{}:tensor<{}, CPU>[@{}])[symbol:{}]\n", i,
                        parameters[i].second, parameters[i].first, parameters[i].first);
  }
  return with_types(text + "}\n}\n" + ops + "cf.ReturnOp (%z) -> ()\n}\n");
}

/// "name type" of every parameter, in the order of the text.
Lines types_of(const Module& module) {
  Lines list;
  for_each_op(module, [&](const Op& op) {
    if (!isa<RegisterOp>(&op)) return;
    const Value& value = *op.result();
    list.push_back(fmt::format("{} {}", module.context().text(value.symbol()),
                               module.context().text(value.tensor_type()->dtype_name())));
  });
  return list;
}

/// The types of parameters after the pass, then what it reports without places.
Lines stored(const std::string& rules, const std::string& text) {
  Reading reading(text);
  Passes all;
  const Lines problems = all.run(reading.module(), "quantize-weights{" + rules + "}");
  Lines list = types_of(reading.module());
  for (const std::string& each : problems) list.push_back(each.substr(each.find(' ') + 1));
  return list;
}

/// What the output is computed by after `separate-weights`.
std::string separated(const std::vector<std::pair<std::string, std::string>>& parameters,
                      const std::string& ops) {
  Reading reading(module_of(parameters, ops));
  Passes all;
  CHECK(all.run(reading.module(), "separate-weights") == Lines{});
  Diagnostics found;
  verify(reading.module(), found);
  CHECK(test::lines_of(found, reading.context) == Lines{});
  return expression(*reading.module().body().only_block().back()->operand(0), reading.context);
}

std::string linear(const std::string& name, const std::string& from, const std::string& to,
                   bool has_bias = false) {
  return fmt::format(
      "linalg.CPU.LinearOp <name=\"{}\"> [in_channels:4, out_channels:4, bias:{}] (%{}) -> (%{})\n",
      name, has_bias, from, to);
}

}  // namespace

TEST_SUITE("types of parameters") {
  const std::string kMatrix = "[4, 4], Float32";

  TEST_CASE("the last rule whose pattern matches decides, and other parameters stay") {
    const std::string text = module_of({{"a.weight", kMatrix}, {"b.weight", kMatrix}},
                                       linear("a", "x", "y") + linear("b", "y", "z"));
    CHECK(stored("*=f16", text) == Lines{"a.weight Float16", "b.weight Float16"});
    CHECK(stored("*=f16,a.*=bf16", text) == Lines{"a.weight BFloat16", "b.weight Float16"});
    CHECK(stored("a.*=bf16,*=f16", text) == Lines{"a.weight Float16", "b.weight Float16"});
    CHECK(stored("b.weight=f16", text) == Lines{"a.weight Float32", "b.weight Float16"});
  }

  TEST_CASE("every pattern without a parameter is reported, and the first unknown type") {
    const std::string text = module_of({{"a.weight", kMatrix}}, linear("a", "x", "z"));
    CHECK(stored("b.weight=f16,c.*=f16", text) ==
          Lines{"a.weight Float32", "MIR0920 no parameter of the module has the name 'b.weight'",
                "MIR0920 no parameter of the module has the name 'c.*'"});
    CHECK(stored("a.*=f61,*=q", text) ==
          Lines{"a.weight Float32",
                "MIR0920 'f61' is not an element type that weights can be stored in"});
    CHECK(stored("*=f16", module_of({}, "linalg.CPU.NegOp (%x) -> (%z)\n")) == Lines{});
  }

  TEST_CASE("a parameter keeps its type if an op has it as an operand, or none owns it") {
    const std::string operand = "linalg.CPU.MulOp (%x, %w:f[1, 4][@a.weight]) -> (%z:f[2, 4])\n";
    CHECK(
        stored("*=f16", module_of({{"a.weight", "[1, 4], Float32"}}, operand)) ==
        Lines{"a.weight Float32",
              "MIR0604 parameter '@a.weight' that an operation has as an operand keeps its type"});
    CHECK(stored("*=f16", module_of({{"a.weight", kMatrix}, {"b.weight", kMatrix}},
                                    linear("a", "x", "z"))) ==
          Lines{"a.weight Float16", "b.weight Float32",
                "MIR0604 parameter '@b.weight' that no operation is known to own keeps its type"});
    // Vectors are kept without a remark.
    CHECK(stored("*=f16",
                 module_of({{"a.weight", "[4], Float32"}}, "linalg.CPU.NegOp (%x) -> (%z)\n")) ==
          Lines{"a.weight Float32"});
  }
}

TEST_SUITE("weights that become operands") {
  const std::string kMatrix = "[4, 4], Float32", kVector = "[4], Float32";

  TEST_CASE("a product, a sum and a look-up take the weights of a linear op and an embedding") {
    CHECK(separated({{"a.weight", kMatrix}}, linear("a", "x", "z")) ==
          "MatMul[true](x, @a.weight)");
    CHECK(separated({{"a.weight", kMatrix}, {"a.bias", kVector}}, linear("a", "x", "z", true)) ==
          "Add(MatMul[true](x, @a.weight), @a.bias)");
    CHECK(separated({{"e.weight", kMatrix}},
                    "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:4, hidden_size:4] (%ids) -> "
                    "(%z:f[2, 4])\n") == "Gather[0](@e.weight, ids)");
  }

  TEST_CASE("a norm without weights of its own is multiplied and added to") {
    CHECK(separated({{"n.weight", kVector}},
                    "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-6] (%x) -> (%z)\n") ==
          "Mul(RMSNorm[1e-6][false](x), @n.weight)");
    CHECK(separated({{"n.weight", kVector}, {"n.bias", kVector}},
                    "linalg.CPU.LayerNormOp <name=\"n\"> [normalized_shape:[4], "
                    "elementwise_affine:true, bias:true, eps:1e-5] (%x) -> (%z)\n") ==
          "Add(Mul(LayerNorm[[4]][1e-5][false][false](x), @n.weight), @n.bias)");
    CHECK(separated({{"n.weight", kVector}},
                    "linalg.CPU.LayerNormOp <name=\"n\"> [normalized_shape:[4], bias:false, "
                    "eps:1e-5] (%x) -> (%z)\n") ==
          "Mul(LayerNorm[[4]][1e-5][false][false](x), @n.weight)");
    CHECK(separated({},
                    "linalg.CPU.LayerNormOp [normalized_shape:[4], elementwise_affine:false, "
                    "bias:false, eps:1e-5] (%x) -> (%z)\n")
              .starts_with("LayerNorm["));
  }

  TEST_CASE("weights of other types, forms and offsets stay with their op") {
    CHECK(
        separated({{"a.weight", "[4, 4], Float16"}}, linear("a", "x", "z")).starts_with("Linear"));
    CHECK(separated({{"n.weight", kVector}},
                    "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-6, add_unit_offset:true] (%x) "
                    "-> (%z)\n")
              .starts_with("RMSNorm"));
    CHECK(separated({{"e.weight", "[4, 4], Float16"}},
                    "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:4, hidden_size:4] (%ids) -> "
                    "(%z:f[2, 4])\n")
              .starts_with("Embedding"));
    CHECK(separated({{"a.weight", kMatrix}},
                    "linalg.CPU.ReduceSumOp [dim:0, keep_dim:false] (%x) -> (%v)\n" +
                        linear("a", "v", "z"))
              .starts_with("Linear"));
    CHECK(separated({{"a.weight", kMatrix}},
                    "linalg.CPU.CastTypeOp [dtype:Float16] (%x) -> (%h)\n" + linear("a", "h", "z"))
              .starts_with("Linear"));
  }
}

TEST_SUITE("symbols that get numbers") {
  Lines problems(const std::string& pipeline) {
    Reading reading(
        with_types("@main [mir_version:1] (%x:f[$S, $T]) -> (%z:f[$S, $T]) {\n"
                   "linalg.CPU.NegOp (%x) -> (%z:f[$S, $T])\ncf.ReturnOp (%z) -> ()\n}\n"));
    Passes all;
    return all.run(reading.module(), pipeline);
  }

  TEST_CASE("a specialisation has one symbol, with or without its sign") {
    CHECK(problems("specialize{S=1,T=2}") ==
          Lines{"1:1 MIR0920 'specialize' takes one symbol, found 'S' and 'T': use it once for "
                "each"});
    CHECK(problems("bind-symbols{S=1,T=2}") == Lines{});
    CHECK(problems("bind-symbols{\"$S\"=1}") == Lines{});
    CHECK(problems("bind-symbols{U=1,V=2}") ==
          Lines{"1:1 MIR0920 no extent of the module has the symbol 'U'",
                "1:1 MIR0920 no extent of the module has the symbol 'V'"});
  }
}

}  // namespace parameters_test
