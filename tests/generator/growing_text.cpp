#include "growing_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace mir::test {

namespace {

constexpr std::string_view kType = "tensor<[2], Float32, CPU>";
constexpr std::string_view kSpec =
    "QuantSpec(AsymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, scale_type: "
    "Float32, zero_point_type: Int32), uuid={}, solved=0)";

/// `format` for each number below n, `between` them.
std::string each(std::size_t n, std::string_view format, std::string_view between = "") {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) text += between;
    fmt::format_to(std::back_inserter(text), fmt::runtime(format), fmt::arg("i", i),
                   fmt::arg("j", i + 1), fmt::arg("T", kType));
  }
  return text;
}

std::string dump(std::string_view body) {
  return fmt::format("@main () -> () {{\n{}}}\n", body);
}

/// %0 is its input, its output the value named.
std::string portable(std::string_view output, std::string_view body) {
  return fmt::format(
      "@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n{2}cf.ReturnOp (%{1}) -> ()\n}}\n", kType,
      output, body);
}

std::string program(std::string_view code, std::string_view table) {
  return dump(
      fmt::format("prog.fragment @__MLLM_JIT_PACKAGE_CODE_SEGMENT <CPU> <code> {{\n{}}}\n"
                  "prog.fragment @__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT <CPU> <table> {{\n{}}}\n",
                  code, table));
}

std::string last(std::size_t n) {
  return std::to_string(n);
}

std::string repeated(std::size_t n, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

/// A list on one line that no memory of its numbers makes shorter.
std::string nested(std::size_t n, std::string_view open, std::string_view middle,
                   std::string_view close) {
  return repeated(n, open) + std::string(middle) + repeated(n, close);
}

// -- graphs of ops
// ------------------------------------------------------------------------------------

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

// -- attributes
// ---------------------------------------------------------------------------------------

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

// -- names
// --------------------------------------------------------------------------------------------

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

// -- errors
// -------------------------------------------------------------------------------------------

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

// -- modules, graphs, blocks
// ----------------------------------------------------------------------------

/// Each operand is read for the last time.
std::string ending_operands(std::size_t n) {
  return portable(
      "x", each(n, "linalg.CPU.SiLUOp (%0) -> (%{j}:{T})\n") + "linalg.CPU.ConcatOp [dim:0] (" +
               each(n, "%{j}", ", ") + ") -> (%c:tensor<[" + std::to_string(2 * n) +
               "], Float32, CPU>)\nlinalg.CPU.SiLUOp (%0) -> (%x:" + std::string(kType) + ")\n");
}
std::string modules(std::size_t n) {
  return each(n, "@m{i} () -> () {{\na.b () -> ()\n}}\n");
}
std::string empty_modules(std::size_t n) {
  return repeated(n, "@m () -> () {\n}\n");
}
std::string graphs(std::size_t n) {
  return dump(
      each(n, "graph.CallGraphOp @g{i} (%{i}:{T}) -> (%{j}:{T})\n") +
      each(n,
           "graph.SubGraphOp @g{i} <CPU> {{\n(%{i}:{T}) -> (%{j}:{T}) {{\n"
           "linalg.CPU.SiLUOp(%{i}:{T}) -> (%{j}:{T})\ncf.ReturnOp (%{j}:{T}) -> ()\n}}\n}}\n"));
}
std::string portable_graphs(std::size_t n) {
  return portable(last(n),
                  each(n, "graph.CallGraphOp @g{i} (%{i}) -> (%{j}:{T})\n") +
                      each(n,
                           "graph.SubGraphOp @g{i} <CPU> {{\n(%a:{T}) -> (%b:{T}) {{\n"
                           "linalg.CPU.SiLUOp (%a) -> (%b:{T})\ncf.ReturnOp (%b) -> ()\n}}\n}}\n"));
}
/// Graphs with a cache each, called one after the other.
std::string caches(std::size_t n) {
  constexpr std::string_view kHeads = "tensor<[1, 2, 1, 8], Float32, CPU>";
  return fmt::format(
      "@main [mir_version:2] (%0:{0}) -> (%{1}:{0}) {{\n{2}{3}cf.ReturnOp (%{1}) -> ()\n}}\n",
      kHeads, n, each(n, "graph.CallGraphOp @g{i} (%{i}) -> (%{j})\n"),
      each(n, fmt::format("graph.SubGraphOp @g{{i}} <CPU> {{{{\n(%a:{0}) -> (%a:{0}) {{{{\n"
                          "linalg.CPU.KVCacheOp [cache:@c.{{i}}, q_head:2, kv_head:2, head_dim:8, "
                          "past:$past] (%a, %a) -> (%k, %v)\ncf.ReturnOp (%a) -> ()\n}}}}\n}}}}\n",
                          kHeads)));
}
std::string one_graph_name(std::size_t n) {
  return dump(each(n, "graph.SubGraphOp @g <CPU> {{\n() -> () {{\ncf.ReturnOp () -> ()\n}}\n}}\n"));
}
/// Types of results are left out, and a graph below tells the first of them.
std::string waiting(std::string_view ops, std::size_t n) {
  return fmt::format(
      "@main [mir_version:2] (%x:{0}, %c:tensor<[1], Bool, CPU>, %n:tensor<[1], Int32, CPU>) -> "
      "() {{\ngraph.CallGraphOp @f (%x) -> (%0)\n{1}graph.SubGraphOp @f <CPU> {{\n(%a:{0}) -> "
      "(%a:{0}) {{\ncf.ReturnOp (%a) -> ()\n}}\n}}\ncf.ReturnOp () -> ()\n}}\n",
      kType, each(n, ops));
}
std::string waiting_ops(std::size_t n) {
  return waiting("linalg.CPU.AddOp (%{i}, %0) -> (%{j})\n", n);
}
std::string waiting_calls(std::size_t n) {
  return waiting("graph.CallGraphOp @f (%{i}) -> (%{j})\n", n);
}
std::string waiting_conditions(std::size_t n) {
  return waiting(
      "cf.IfOp (%c) -> (%{j}) {{\n() -> (%{i}) {{\ncf.YieldOp (%{i}) -> ()\n}}\n() -> (%0) "
      "{{\ncf.YieldOp (%0) -> ()\n}}\n}}\n",
      n);
}
std::string waiting_loops(std::size_t n) {
  return waiting(
      "cf.ForOp (%n, %n, %n, %{i}) -> (%{j}) {{\n(%k:tensor<[1], Int32, CPU>, %s:{T}) -> (%s) "
      "{{\ncf.YieldOp (%s) -> ()\n}}\n}}\n",
      n);
}
/// Each op waits for the one below it.
std::string waiting_blocks(std::size_t n) {
  std::string blocks;
  for (std::size_t i = n; i-- > 0;) {
    blocks += fmt::format(
        "^b{0}:\nlinalg.CPU.AddOp (%{0}, %0) -> (%{1})\ncf.BranchOp () -> () "
        "[^{2}]\n",
        i, i + 1, i + 1 == n ? std::string("end") : fmt::format("b{}", i + 1));
  }
  return fmt::format(
      "@main [mir_version:2] (%0:{0}) -> () {{\ncf.BranchOp () -> () [^b0]\n{1}^end:\ncf.ReturnOp "
      "() -> ()\n}}\n",
      kType, blocks);
}
std::string open_extents(std::size_t n) {
  return fmt::format(
      "@main [mir_version:2] (%0:{0}, %m:tensor<[?], Bool, CPU>) -> () {{\n{1}cf.ReturnOp () -> "
      "()\n}}\n",
      kType, each(n, "linalg.CPU.CompressOp [dim:0] (%{i}, %m) -> (%{j})\n"));
}
std::string calls_in_calls(std::size_t n) {
  return portable(
      "1", "graph.CallGraphOp @g0 (%0) -> (%1:" + std::string(kType) + ")\n" +
               each(n,
                    "graph.SubGraphOp @g{i} <CPU> {{\n(%a:{T}) -> (%b:{T}) {{\n"
                    "graph.CallGraphOp @g{j} (%a) -> (%b:{T})\ncf.ReturnOp (%b) -> ()\n}}\n}}\n") +
               fmt::format("graph.SubGraphOp @g{1} <CPU> {{\n(%a:{0}) -> (%b:{0}) {{\n"
                           "linalg.CPU.SiLUOp (%a) -> (%b:{0})\ncf.ReturnOp (%b) -> ()\n}}\n}}\n",
                           kType, n));
}
std::string calls_of_one(std::size_t n) {
  return dump(
      each(n, "graph.CallGraphOp @g (%{i}:{T}) -> (%{j}:{T})\n") +
      fmt::format("graph.SubGraphOp @g <CPU> {{\n(%a:{0}) -> (%b:{0}) {{\n"
                  "linalg.CPU.SiLUOp(%a:{0}) -> (%b:{0})\ncf.ReturnOp (%b:{0}) -> ()\n}}\n}}\n",
                  kType));
}
std::string regions(std::size_t n) {
  return dump("a.b {\n" + each(n, "() -> () {{\na.c () -> ()\n}}\n") + "}\n");
}
std::string nested_ops(std::size_t n) {
  return dump(nested(n, "a.b {\n", "a.c () -> ()\n", "}\n"));
}
/// A graph without inputs that is never called.
std::string graph_of_blocks(std::string_view blocks) {
  return fmt::format("graph.SubGraphOp @g <CPU> {{\n() -> () {{\n{}}}\n}}\n", blocks);
}
std::string blocks(std::size_t n) {
  return dump(graph_of_blocks(
      "cf.BranchOp () -> () [^b0]\n" +
      each(n,
           "^b{i}:\nlinalg.CPU.SiLUOp (%x{i}:{T}) -> (%y{i}:{T})\ncf.BranchOp () -> () [^b{j}]\n") +
      "^b" + last(n) + ":\ncf.ReturnOp () -> ()\n"));
}
/// Each block goes on to the next one and to the last one.
std::string joined_blocks(std::size_t n) {
  return dump(graph_of_blocks(
      "cf.BranchOp () -> () [^b0]\n" + each(n, "^b{i}:\ncf.BranchOp () -> () [^b{j}, ^join]\n") +
      "^b" + last(n) + ":\ncf.BranchOp () -> () [^join]\n" + "^join:\ncf.ReturnOp () -> ()\n"));
}
/// A chain of blocks whose last one, like the first one, goes on to each of as many others.
std::string joins(std::size_t n) {
  const std::string ends = each(n, "^c{i}", ", ");
  return dump(graph_of_blocks("cf.BranchOp () -> () [^b0, " + ends + "]\n" +
                              each(n, "^b{i}:\ncf.BranchOp () -> () [^b{j}]\n") + "^b" + last(n) +
                              ":\ncf.BranchOp () -> () [" + ends + "]\n" +
                              each(n, "^c{i}:\ncf.ReturnOp () -> ()\n")));
}
std::string portable_blocks(std::size_t n) {
  return portable(
      "0", graph_of_blocks("cf.ReturnOp () -> ()\n" +
                           each(n,
                                "^b{i}(%x{i}:{T}):\nlinalg.CPU.SiLUOp (%x{i}) -> (%y{i}:{T})\n"
                                "cf.ReturnOp () -> ()\n")));
}
std::string successors(std::size_t n) {
  return dump(graph_of_blocks("cf.SwitchOp () -> () [" + each(n, "^b{i}", ", ") + "]\n" +
                              each(n, "^b{i}:\ncf.ReturnOp () -> ()\n")));
}
std::string versioned(std::string_view inputs, std::string_view output, std::string_view body) {
  return fmt::format("@main [mir_version:2] (%0:{0}{1}) -> (%{2}:{0}) {{\n{3}}}\n", kType, inputs,
                     output, body);
}
constexpr std::string_view kNumber = ", %n:tensor<[1], Int32, CPU>",
                           kTruth = ", %c:tensor<[1], Bool, CPU>";
/// `end` is what ends each case, with the number of it.
std::string switch_to(std::size_t n, std::string_view end, std::string_view last_block) {
  return versioned(
      kNumber, "y",
      "cf.SwitchOp [cases:[" + each(n, "{i}", ", ") + "]] (%n) -> () [^any, " +
          each(n, "^b{i}", ", ") + "]\n^any:\ncf.ReturnOp (%0) -> ()\n" +
          each(n, "^b{i}:\nlinalg.CPU.SiLUOp (%0) -> (%y{i}:{T})\n" + std::string(end)) +
          std::string(last_block));
}
std::string cases(std::size_t n) {
  return switch_to(n, "cf.ReturnOp (%y{i}) -> ()\n", "");
}
std::string cases_that_meet(std::size_t n) {
  return switch_to(n, "cf.BranchOp () -> () [^end(%y{i})]\n",
                   fmt::format("^end(%y:{}):\ncf.ReturnOp (%y) -> ()\n", kType));
}
/// Each comparison leads to a block that returns, or to the next comparison.
std::string comparisons(std::size_t n) {
  return versioned(kTruth, "y",
                   "cf.BranchOp () -> () [^t0]\n" +
                       each(n,
                            "^t{i}:\ncf.CondBranchOp (%c) -> () [^b{i}, ^t{j}]\n^b{i}:\n"
                            "linalg.CPU.SiLUOp (%0) -> (%y{i}:{T})\ncf.ReturnOp (%y{i}) -> ()\n") +
                       "^t" + last(n) + ":\ncf.ReturnOp (%0) -> ()\n");
}
std::string conditions(std::size_t n) {
  return versioned(
      kTruth, last(n),
      each(n,
           "cf.IfOp (%c) -> (%{j}:{T}) {{\n() -> (%s{i}:{T}) {{\nlinalg.CPU.SiLUOp (%{i}) -> "
           "(%s{i}:{T})\ncf.YieldOp (%s{i}) -> ()\n}}\n() -> (%{i}) {{\ncf.YieldOp (%{i}) -> "
           "()\n}}\n}}\n") +
          "cf.ReturnOp (%" + last(n) + ") -> ()\n");
}
/// Conditions in a row that are one arm of another one.
std::string conditions_in_an_arm(std::size_t n) {
  return versioned(
      kTruth, "y",
      "cf.CondBranchOp (%c) -> () [^t0(%0), ^end(%0)]\n" +
          each(n,
               "^t{i}(%a{i}:{T}):\ncf.CondBranchOp (%c) -> () [^b{i}, ^t{j}(%a{i})]\n^b{i}:\n"
               "linalg.CPU.SiLUOp (%a{i}) -> (%y{i}:{T})\ncf.BranchOp () -> () [^t{j}(%y{i})]\n") +
          fmt::format("^t{1}(%l:{0}):\ncf.BranchOp () -> () [^end(%l)]\n^end(%y:{0}):\n"
                      "cf.ReturnOp (%y) -> ()\n",
                      kType, n));
}
std::string loops(std::size_t n) {
  return versioned(
      kNumber, last(n),
      each(n,
           "cf.ForOp (%n, %n, %n, %{i}) -> (%{j}:{T}) {{\n(%k:tensor<[1], Int32, CPU>, %s:{T}) -> "
           "(%r:{T}) {{\nlinalg.CPU.SiLUOp (%s) -> (%r:{T})\ncf.YieldOp (%r) -> ()\n}}\n}}\n") +
          "cf.ReturnOp (%" + last(n) + ") -> ()\n");
}

// -- declarations
// ---------------------------------------------------------------------------------------

std::string dialect(std::size_t n) {
  return "@d [mir_version:2] () -> () {\n" +
         each(n,
              "dialect.OpOp @A{i}Op [aliases:[B{i}]] {{\n(%x:tensor<[$n..], T, D>) -> "
              "(%y:tensor<[$n..], T, D>) {{\nlinalg.D.SiLUOp (%x) -> (%y)\ncf.ReturnOp (%y) -> "
              "()\n}}\n}}\n") +
         "}\n";
}
std::string dialect_types(std::size_t n) {
  return "@d [mir_version:2] () -> () {\n" + each(n, "dialect.TypeOp @t{i}\n") + "}\n";
}
std::string declared_ops(std::size_t n) {
  return dialect(n) + versioned("", last(n),
                                each(n, "d.A{i}Op (%{i}) -> (%{j}:{T})\n") + "cf.ReturnOp (%" +
                                    last(n) + ") -> ()\n");
}
std::string declared_symbols(std::size_t n) {
  return "@main [mir_version:2, symbols:{" + each(n, "S{i}:{{min:1, max:64}}", ", ") + "}] (" +
         each(n, "%{i}:tensor<[$S{i}], Float32, CPU>", ", ") + ") -> (" +
         each(n, "%r{i}:tensor<[$S{i}], Float32, CPU>", ", ") + ") {\n" +
         each(n, "linalg.CPU.SiLUOp (%{i}) -> (%r{i}:tensor<[$S{i}], Float32, CPU>)\n") +
         "cf.ReturnOp (" + each(n, "%r{i}", ", ") + ") -> ()\n}\n";
}
std::string unused_symbols(std::size_t n) {
  return "@main [mir_version:2, symbols:{" + each(n, "S{i}:{{min:1, max:64}}", ", ") +
         fmt::format("}}] (%0:{0}) -> (%0:{0}) {{\ncf.ReturnOp (%0) -> ()\n}}\n", kType);
}
std::string arguments(std::size_t n) {
  return "@main [mir_version:1] (" + each(n, "%{i}:{T}", ", ") + ") -> (" +
         each(n, "%{i}:{T}", ", ") + ") {\n" + "cf.ReturnOp (" + each(n, "%{i}", ", ") +
         ") -> ()\n}\n";
}

// -- programs
// -------------------------------------------------------------------------------------------

std::string launches(std::size_t n) {
  return program(
      "prog.label[symbol:m.__entry]\nprog.bind[type:0, program_uuid:0, input_pos:0]\n" +
          each(n, "prog.kernel_launch(%{i}:{T}) -> (%{j}:{T})[op_type:SiLU, op_options:null]\n") +
          "prog.bind[type:1, program_uuid:" + last(n) + ", input_pos:0]\nprog.exit() -> ()\n",
      "");
}
std::string binds(std::size_t n) {
  return program(
      each(n, "prog.bind[type:0, program_uuid:{i}, input_pos:{i}]\n") +
          each(n, "prog.kernel_launch(%{i}:{T}) -> (%a{i}:{T})[op_type:SiLU, op_options:null]\n") +
          "prog.exit() -> ()\n",
      "");
}
std::string addressed(const std::string& lines) {
  std::string text;
  std::size_t address = 0;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    fmt::format_to(std::back_inserter(text), "addr:0x{:014x} {}\n", address++,
                   std::string_view(lines).substr(at, end - at));
    at = end + 1;
  }
  return text;
}
std::string labels(std::size_t n) {
  std::string code = "prog.bind[type:0, program_uuid:0, input_pos:0]\n";
  for (std::size_t i = 0; i < n; ++i) {
    // From its own place over the other jumps, the bind and the exit to body i, which has three
    // instructions.
    fmt::format_to(std::back_inserter(code), "prog.jump f{}.__entry[offset:{}]\n", i,
                   n - i + 2 + 3 * i);
  }
  code +=
      "prog.bind[type:1, program_uuid:" + last(n) + ", input_pos:0]\nprog.exit() -> ()\n" +
      each(n,
           "prog.label[symbol:f{i}.__entry]\n"
           "prog.kernel_launch(%{i}:{T}) -> (%{j}:{T})[op_type:SiLU, op_options:null]\nprog.ret\n");
  return program(addressed(code), "");
}
std::string fragments(std::size_t n) {
  return dump(
      each(n, "prog.fragment @f{i} <CPU> <data> {{\nprog.label[symbol:f{i}.__entry]\n}}\n"));
}
std::string table(std::size_t n) {
  return program("prog.exit() -> ()\n",
                 each(n,
                      "prog.value_symbol() -> (%{i}:{T}[@w{i}])[symbol:w{i}]\n"
                      "prog.kernel_symbol[symbol:k{i}, op_type:SiLU, op_options:null]\n"));
}
std::string frees(std::size_t n) {
  return program(each(n, "prog.alloc() -> (%{i}:{T})\n") + each(n, "prog.free(%{i}:{T}) -> ()\n") +
                     "prog.exit() -> ()\n",
                 "");
}

// -- layout
// ---------------------------------------------------------------------------------------------

std::string comments(std::size_t n) {
  return dump(each(n, "// number {i}\n") + "a.b () -> ()\n");
}
std::string comments_after(std::size_t n) {
  return dump(each(n, "a.b () -> () // number {i}\n"));
}
std::string comments_inside(std::size_t n) {
  return dump("a.b (\n" + each(n, "// number {i}\n") + ") -> ()\n");
}
std::string long_comment(std::size_t n) {
  return dump("// " + repeated(n, "long ") + "\na.b () -> ()\n");
}
std::string blank_lines(std::size_t n) {
  return dump(repeated(n, "\n") + "a.b () -> ()" + repeated(n, " ") + "\n");
}
std::string locations(std::size_t n) {
  return dump(each(n, "a.b () -> () loc(\"f{i}.py\":{j}:1)\n"));
}
std::string fused_locations(std::size_t n) {
  return dump("a.b () -> () loc(fused[" + each(n, "\"f{i}.py\":{j}", ", ") + "])\n");
}

constexpr GrowingText kTexts[] = {
    {"ops", chain},
    {"ops of a dump", dumped_chain},
    {"ops on one line", one_line},
    {"uses of a value", uses},
    {"uses of a value in a dump", dumped_uses},
    {"values in one storage", one_storage},
    {"operands", operands},
    {"operands of a dump", dumped_operands},
    {"operands that are read for the last time", ending_operands},
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
    {"modules", modules},
    {"empty modules", empty_modules},
    {"graphs of a dump", graphs},
    {"graphs", portable_graphs},
    {"graphs of one name", one_graph_name},
    {"graphs with caches", caches},
    {"calls in calls", calls_in_calls, 900},
    {"ops that wait for types", waiting_ops},
    {"calls that wait for types", waiting_calls},
    {"conditions that wait for types", waiting_conditions},
    {"loops that wait for types", waiting_loops},
    {"blocks that wait for types", waiting_blocks},
    {"unknown extents", open_extents},
    {"calls of one graph", calls_of_one},
    {"regions of an op", regions},
    {"nesting of ops", nested_ops, 240},
    {"blocks", blocks},
    {"blocks with one successor in common", joined_blocks},
    {"blocks that two blocks go on to", joins},
    {"blocks of a portable graph", portable_blocks},
    {"successors", successors},
    {"arguments", arguments},
    {"cases", cases},
    {"cases that meet", cases_that_meet},
    {"comparisons in a row", comparisons},
    {"conditions in a row", conditions, 500},
    {"conditions in an arm", conditions_in_an_arm, 500},
    {"loops in a row", loops},
    {"ops of a dialect", dialect},
    {"types of a dialect", dialect_types},
    {"uses of ops of a dialect", declared_ops},
    {"declared symbols", declared_symbols},
    {"declared symbols without use", unused_symbols},
    {"launches", launches},
    {"binds", binds},
    {"labels", labels},
    {"fragments", fragments},
    {"rows of a symbol table", table},
    {"frees", frees},
    {"comments", comments},
    {"comments after ops", comments_after},
    {"comments inside an op", comments_inside},
    {"length of a comment", long_comment},
    {"blank lines", blank_lines},
    {"locations", locations},
    {"fused locations", fused_locations},
};

}  // namespace

std::span<const GrowingText> growing_texts() {
  return kTexts;
}

}  // namespace mir::test
