// Texts that grow by modules, graphs, regions and blocks.
#include <fmt/format.h>

#include <iterator>

#include "growing_parts.hpp"

namespace mir::test {

namespace {

// -- modules, graphs, blocks ----------------------------------------------------------------------

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

constexpr GrowingText kFlowTexts[] = {
    {"operands that are read for the last time", ending_operands},
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
    {"cases", cases},
    {"cases that meet", cases_that_meet},
    {"comparisons in a row", comparisons},
    {"conditions in a row", conditions, 400},
    {"conditions in an arm", conditions_in_an_arm, 500},
    {"loops in a row", loops},
};

}  // namespace

std::span<const GrowingText> growing_flow() {
  return kFlowTexts;
}

}  // namespace mir::test
