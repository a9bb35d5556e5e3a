// Texts that grow by ops, their attributes and names, and by errors.
#include <fmt/format.h>

#include <iterator>

#include "growing_parts.hpp"

namespace mir::test {

namespace {

constexpr std::string_view kSpec =
    "QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, scale_type: "
    "Float32, zero_point_type: Int32), uuid={}, solved=0)";

// -- graphs of ops --------------------------------------------------------------------------------

std::string chain(std::size_t n) {
  return portable(last(n), each(n, "linalg.CPU.SiLUOp (%{i}) -> (%{j}:{T})\n"));
}
std::string dumped_chain(std::size_t n) {
  return dump(each(n, "linalg.CPU.SiLUOp(%{i}:{T}) -> (%{j}:{T})\n"));
}
std::string one_line(std::size_t n) {
  return portable(last(n), each(n, "linalg.CPU.SiLUOp (%{i}) -> (%{j}:{T}) ") + "\n");
}
std::string uses(std::size_t n) {
  return portable("1", each(n, "linalg.CPU.SiLUOp (%0) -> (%{j}:{T})\n"));
}
std::string dumped_uses(std::size_t n) {
  return dump(each(n, "linalg.CPU.SiLUOp(%0:{T}) -> (%{j}:{T})\n"));
}
std::string one_storage(std::size_t n) {
  return dump(each(n, "linalg.CPU.SiLUOp(%0:{T}) -> (%0:{T})\n"));
}
std::string operands(std::size_t n) {
  return portable("1", "linalg.CPU.ConcatOp [dim:0] (" + each(n, "%0", ", ") + ") -> (%1:tensor<[" +
                           std::to_string(2 * n) + "], Float32, CPU>)\n");
}
std::string dumped_operands(std::size_t n) {
  return dump("linalg.CPU.ConcatOp(" + each(n, "%{i}:{T}", ", ") + ") -> (%x:tensor<[" +
              std::to_string(2 * n) + "], Float32, CPU>)\n");
}
std::string results(std::size_t n) {
  return portable("1", "a.b (%0) -> (" + each(n, "%{j}:{T}", ", ") + ")\n");
}
std::string pieces(std::size_t n) {
  return dump("linalg.CPU.SplitOp(%0:tensor<[" + std::to_string(2 * n) + "], Float32, CPU>) -> (" +
              each(n, "%{j}:{T}", ", ") + ")\n" +
              each(n, "linalg.CPU.SiLUOp(%{j}:{T}) -> (%a{i}:{T})\n"));
}
std::string slices(std::size_t n) {
  return dump(each(
      n,
      "linalg.CPU.SliceOp(%0:tensor<[8, 4], Float32, CPU>) -> (%0:tensor<[8, 4], Float32, CPU>)\n"
      "linalg.CPU.SiLUOp(%0:tensor<[8, 4], Float32, CPU>) -> (%{j}:tensor<[1, 4], Float32, "
      "CPU>)\n"));
}
std::string slices_alone(std::size_t n) {
  return dump(each(n,
                   "linalg.CPU.SliceOp(%0:tensor<[8, 4], Float32, CPU>) -> (%0:tensor<[8, 4], "
                   "Float32, CPU>)\n"));
}
std::string views(std::size_t n) {
  return dump(each(
      n,
      "linalg.CPU.ViewOp(%0:tensor<[2], Float32, CPU>) -> (%0:tensor<[1, 2], Float32, CPU>)\n"
      "linalg.CPU.ViewOp(%0:tensor<[1, 2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>)\n"));
}
std::string returns(std::size_t n) {
  return dump(each(n, "cf.ReturnOp (%{i}:{T}) -> ()\n"));
}

// -- attributes -----------------------------------------------------------------------------------

std::string attributes(std::size_t n) {
  return portable("0", "a.b [" + each(n, "k{i}:{i}", ", ") + "] () -> ()\n");
}
std::string repeated_keys(std::size_t n) {
  return portable("0", "a.b [" + each(n, "k:{i}", ", ") + "] () -> ()\n");
}
std::string value_attributes(std::size_t n) {
  return dump("a.b () -> (%0:{T}[" + each(n, "k{i}:{i}", ", ") + "])\n");
}
std::string value_lists(std::size_t n) {
  return dump(fmt::format("a.b () -> (%0:{}{})\n", kType, each(n, "[k{i}:{i}]")));
}
std::string operand_lists(std::size_t n) {
  return dump(
      fmt::format("a.b () -> (%0:{0})\na.b (%0:{0}{1}) -> ()\n", kType, each(n, "[k{i}:{i}]")));
}
std::string dictionary(std::size_t n) {
  return dump("a.b [k:{" + each(n, "\"k{i}\":{i}", ", ") + "}] () -> ()\n");
}
std::string array(std::size_t n) {
  return dump("a.b [k:[" + each(n, "{i}", ", ") + "]] () -> ()\n");
}
std::string arrays(std::size_t n) {
  return dump(each(n, "a.b [k:[{i}, [{i}]]] () -> ()\n"));
}
std::string nested_arrays(std::size_t n) {
  return dump("a.b [k:" + nested(n, "[", "1", "]") + "] () -> ()\n");
}
std::string constant(std::size_t n) {
  return dump(
      fmt::format("linalg.CPU.SiLUOp(%0:tensor<[{0}], Float32, CPU>[constant:[{1}]]) -> "
                  "(%1:tensor<[{0}], Float32, CPU>)\n",
                  n, each(n, "0.5", ", ")));
}
std::string string(std::size_t n) {
  return dump("a.b [k:\"" + repeated(n, "long ") + "\"] () -> ()\n");
}
std::string specs(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(body),
                   "a.b () -> (%{}:tensor<[2], UInt16PerTensor, CPU>[quant_recipe:{}])\n", i,
                   fmt::format(fmt::runtime(kSpec), i));
  }
  return dump(body);
}
std::string one_spec(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i) {
    fmt::format_to(std::back_inserter(body),
                   "a.b () -> (%{}:tensor<[2], UInt16PerTensor, CPU>[quant_recipe:{}])\n", i,
                   fmt::format(fmt::runtime(kSpec), 7));
  }
  return dump(body);
}
/// Each states a range that its type cannot hold.
std::string wide_specs(std::size_t n) {
  std::string body;
  for (std::size_t i = 0; i < n; ++i) {
    std::string spec = fmt::format(fmt::runtime(kSpec), i);
    spec.replace(spec.find("quant_max: ") + 11, 0, "9");
    fmt::format_to(std::back_inserter(body),
                   "a.b () -> (%{}:tensor<[2], UInt16PerTensor, CPU>[quant_recipe:{}])\n", i, spec);
  }
  return dump(body);
}
std::string aliases(std::size_t n) {
  return each(n, "#a{i} = [{i}, 0.5]\n") + dump(each(n, "a.b [k:#a{i}] () -> ()\n"));
}
std::string alias_chain(std::size_t n) {
  return "#a0 = [1]\n" + each(n, "#a{j} = #a{i}\n") + dump("a.b [k:#a" + last(n) + "] () -> ()\n");
}

// -- names ----------------------------------------------------------------------------------------

std::string names(std::size_t n) {
  return portable(last(n),
                  each(n, "linalg.CPU.SiLUOp <name=\"model.act_{i}\"> (%{i}) -> (%{j}:{T})\n"));
}
std::string one_name(std::size_t n) {
  return portable(last(n),
                  each(n, "linalg.CPU.SiLUOp <name=\"model.act\"> (%{i}) -> (%{j}:{T})\n"));
}
std::string named_values(std::size_t n) {
  return portable("value_" + last(n),
                  "linalg.CPU.SiLUOp (%0) -> (%value_0:" + std::string(kType) + ")\n" +
                      each(n, "linalg.CPU.SiLUOp (%value_{i}) -> (%value_{j}:{T})\n"));
}
std::string long_name(std::size_t n) {
  return dump("a.b <name=\"" + repeated(n, "model.") + "x\"> () -> ()\n");
}
std::string symbols(std::size_t n) {
  return dump("graph.SubGraphOp @init <CPU> {\n() -> () {\n" +
              each(n, "tensor.CPU.register () -> (%{i}:{T}[@w{i}])[symbol:w{i}]\n") + "}\n}\n" +
              each(n, "linalg.CPU.AddOp(%{i}:{T}[@w{i}], %{i}:{T}[@w{i}]) -> (%a{i}:{T})\n"));
}
std::string one_symbol(std::size_t n) {
  return dump("graph.SubGraphOp @init <CPU> {\n() -> () {\n" +
              each(n, "tensor.CPU.register () -> (%{i}:{T}[@w])[symbol:w]\n") + "}\n}\n");
}
std::string weights(std::size_t n) {
  return dump("graph.SubGraphOp @init <CPU> {\n() -> () {\n" +
              each(n,
                   "tensor.CPU.register () -> (%w{i}:tensor<[2, 2], Float32, "
                   "CPU>[@model.q{i}.weight])[symbol:model.q{i}.weight]\n") +
              "}\n}\n" +
              each(n, "linalg.CPU.LinearOp <name=\"model.q{i}\">(%{i}:{T}) -> (%{j}:{T})\n"));
}
std::string missing_weights(std::size_t n) {
  return portable("0", "graph.SubGraphOp @init <CPU> {\n() -> () {\n" +
                           each(n,
                                "tensor.CPU.register () -> (%w{i}:tensor<[2, 2], Float32, "
                                "CPU>[@model.q{i}.weight])[symbol:model.q{i}.weight]\n") +
                           "}\n}\n" +
                           each(n,
                                "linalg.CPU.LinearOp <name=\"modle.q{i}\"> [in_channels:2, "
                                "out_channels:2, bias:false] (%0) -> (%{j}:{T})\n"));
}
std::string unnamed_ops(std::size_t n) {
  return dump(each(n, "linalg.CPU.LinearOp(%{i}:{T}) -> (%{j}:{T})\n"));
}
std::string unnamed_functions(std::size_t n) {
  return dump(each(n, "linalg.CPU.RMSNormOp(%{i}:{T}, %w:{T}) -> (%{j}:{T})\n"));
}
std::string types(std::size_t n) {
  return dump(each(n, "a.b () -> (%{i}:tensor<[{i}], Float32, CPU>)\n"));
}
std::string extents(std::size_t n) {
  return dump(each(n, "a.b () -> (%{i}:tensor<[$S{i}], Float32, CPU>)\n"));
}
std::string extent_terms(std::size_t n) {
  return dump("a.b () -> (%0:tensor<[" + each(n, "$S{i}", "+") + "], Float32, CPU>)\n");
}
std::string op_types(std::size_t n) {
  return dump(each(n, "linalg.CPU.Sort{i}Op () -> ()\n"));
}
std::string element_types(std::size_t n) {
  return dump(each(n, "a.b () -> (%{i}:tensor<[2], Float{j}00, CPU>)\n"));
}

// -- errors ---------------------------------------------------------------------------------------

std::string undefined(std::size_t n) {
  return portable("0", each(n, "linalg.CPU.SiLUOp (%value_{i}) -> (%vaule_{i}:{T})\n"));
}
std::string undefined_in_dump(std::size_t n) {
  return dump(each(n, "linalg.CPU.SiLUOp(%value_{i}:{T}) -> (%vaule_{i}:{T})\n"));
}
std::string undefined_on_one_line(std::size_t n) {
  return portable("0", "a.b (" + each(n, "%value_{i}", ", ") + ") -> ()\n");
}
std::string defined_twice(std::size_t n) {
  return portable("0", each(n, "linalg.CPU.SiLUOp (%0) -> (%1:{T})\n"));
}
std::string wrong_types(std::size_t n) {
  return portable("0", each(n, "linalg.CPU.SiLUOp (%0) -> (%{j}:tensor<[{i}], Float32, CPU>)\n"));
}
std::string wrong_on_one_line(std::size_t n) {
  return portable("0",
                  each(n, "linalg.CPU.SiLUOp (%0) -> (%{j}:tensor<[{i}], Float32, CPU>) ") + "\n");
}
std::string no_ops(std::size_t n) {
  return dump(each(n, "a.b ( -> (\n"));
}
std::string no_ops_on_one_line(std::size_t n) {
  return dump(each(n, "a.b [) ") + "\n");
}
std::string no_tokens(std::size_t n) {
  return dump(repeated(n, "? "));
}
std::string unknown_callees(std::size_t n) {
  return dump(
      each(n,
           "graph.CallGraphOp @grpah_{i} () -> ()\n"
           "graph.SubGraphOp @graph_{i} <CPU> {{\n() -> () {{\ncf.ReturnOp () -> ()\n}}\n}}\n"));
}

constexpr GrowingText kOpTexts[] = {
    {"ops", chain},
    {"ops of a dump", dumped_chain},
    {"ops on one line", one_line},
    {"uses of a value", uses},
    {"uses of a value in a dump", dumped_uses},
    {"values in one storage", one_storage},
    {"operands", operands},
    {"operands of a dump", dumped_operands},
    {"results", results},
    {"pieces of a value", pieces},
    {"slices that are read", slices},
    {"slices of one storage", slices_alone},
    {"views of one storage", views},
    {"returns", returns},
    {"attributes", attributes},
    {"attributes of one key", repeated_keys},
    {"attributes of a value", value_attributes},
    {"attribute lists of a value", value_lists},
    {"attribute lists of an operand", operand_lists},
    {"keys of a dictionary", dictionary},
    {"elements of an array", array},
    {"arrays", arrays},
    {"nesting of arrays", nested_arrays, 240},
    {"elements of a constant", constant},
    {"length of a string", string},
    {"specs", specs},
    {"uses of a spec", one_spec},
    {"specs with wrong ranges", wide_specs},
    {"aliases", aliases},
    {"aliases of aliases", alias_chain},
    {"names of ops", names},
    {"ops of one name", one_name},
    {"names of values", named_values},
    {"length of a name", long_name},
    {"symbols", symbols},
    {"values of one symbol", one_symbol},
    {"weights", weights},
    {"missing weights", missing_weights, 250},
    {"ops without names", unnamed_ops},
    {"functions without names", unnamed_functions},
    {"types", types},
    {"symbols of extents", extents},
    {"terms of an extent", extent_terms},
    {"unknown op types", op_types},
    {"unknown element types", element_types},
    {"undefined values", undefined, 400},
    {"undefined values of a dump", undefined_in_dump},
    {"undefined values on one line", undefined_on_one_line},
    {"values that are defined again", defined_twice},
    {"wrong types", wrong_types},
    {"wrong types on one line", wrong_on_one_line},
    {"syntax errors", no_ops},
    {"syntax errors on one line", no_ops_on_one_line},
    {"text that is no token", no_tokens},
    {"unknown callees", unknown_callees, 400},
};

}  // namespace

std::span<const GrowingText> growing_ops() {
  return kOpTexts;
}

}  // namespace mir::test
