// Signatures of graphs change together with all calls.
#include "reduce/signatures.hpp"

#include <algorithm>

#include "../ir/read.hpp"
#include "../short_types.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;

namespace signatures_test {

namespace {

/// A graph that is called in a graph, directly and in a region, which the module calls.
constexpr char kCalls[] =
    R"(@main [mir_version:2] (%c:tensor<[1], Bool, CPU>, %x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @inner <CPU> {
        (%p:tensor<[2], Float32, CPU>) -> (%r:tensor<[2], Float32, CPU>) {
            linalg.CPU.ExpOp(%p) -> (%q:tensor<[2], Float32, CPU>)
            linalg.CPU.NegOp(%q) -> (%r:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%r) -> ()
        }
    }
    graph.SubGraphOp @outer <CPU> {
        (%c:tensor<[1], Bool, CPU>, %x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
            graph.CallGraphOp @inner (%x) -> (%a:tensor<[2], Float32, CPU>)
            cf.IfOp (%c) -> (%y:tensor<[2], Float32, CPU>) {
                () -> (%b:tensor<[2], Float32, CPU>) {
                    graph.CallGraphOp @inner (%a) -> (%b:tensor<[2], Float32, CPU>)
                    cf.YieldOp (%b) -> ()
                }
                () -> (%a) {
                    cf.YieldOp (%a) -> ()
                }
            }
            cf.ReturnOp (%y) -> ()
        }
    }
    graph.CallGraphOp @outer (%c, %x) -> (%y:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%y) -> ()
}
)";

/// The heads of graphs, the calls and the returns, after a change that leaves a sound module.
template <class Change>
std::vector<std::string> after(const Change& change) {
  test::Reading reading(kCalls);
  Module& module = reading.module();
  reduce::Signatures signatures(module);
  const Op* const inner = module.lookup_op(reading.context.intern("inner"));
  REQUIRE(inner != nullptr);
  change(signatures, *inner->first_region());
  Diagnostics problems;
  CHECK(verify(module, problems));
  std::vector<std::string> lines;
  std::string text = test::with_short_types(print(module));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    line.erase(0, line.find_first_not_of(' '));
    const bool is_head = line.starts_with("(") || line.starts_with("@");
    if (is_head || line.starts_with("graph.Call") || line.starts_with("cf.Return")) {
      lines.push_back(line);
    }
    begin = end + 1;
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_SUITE("signatures") {
  TEST_CASE("a new input is passed on from the module, also into regions") {
    const Lines lines = after([](reduce::Signatures& signatures, Region& inner) {
      signatures.add_input(inner, inner.entry_arguments()[0].type());
    });
    CHECK(
        lines ==
        Lines{
            "@main [mir_version:2] (%c:t[1], Bool, CPU>, %x:t[2], %2:t[2], %4:t[2]) -> (%y:t[2]) {",
            "(%p:t[2], %0:t[2]) -> (%r:t[2]) {", "cf.ReturnOp (%r:t[2]) -> ()",
            "(%c:t[1], Bool, CPU>, %x:t[2], %1:t[2], %3:t[2]) -> (%y:t[2]) {",
            "graph.CallGraphOp @inner (%x:t[2], %1:t[2]) -> (%a:t[2])", "() -> (%b:t[2]) {",
            "graph.CallGraphOp @inner (%a:t[2], %3:t[2]) -> (%b:t[2])", "() -> (%a) {",
            "cf.ReturnOp (%y:t[2]) -> ()",
            "graph.CallGraphOp @outer (%c:t[1], Bool, CPU>, %x:t[2], %2:t[2], %4:t[2]) -> "
            "(%y:t[2])",
            "cf.ReturnOp (%y:t[2]) -> ()"});
  }

  TEST_CASE("a new output leaves through the calls that are directly in a graph") {
    const Lines lines = after([](reduce::Signatures& signatures, Region& inner) {
      CHECK(signatures.add_output(inner, *inner.entry()->front()->result()));
    });
    CHECK(lines ==
          Lines{"@main [mir_version:2] (%c:t[1], Bool, CPU>, %x:t[2]) -> (%y:t[2], %1:t[2]) {",
                "(%p:t[2]) -> (%r:t[2], %q:t[2]) {", "cf.ReturnOp (%r:t[2], %q:t[2]) -> ()",
                "(%c:t[1], Bool, CPU>, %x:t[2]) -> (%y:t[2], %0:t[2]) {",
                "graph.CallGraphOp @inner (%x:t[2]) -> (%a:t[2], %0:t[2])", "() -> (%b:t[2]) {",
                "graph.CallGraphOp @inner (%a:t[2]) -> (%b:t[2], %2:t[2])", "() -> (%a) {",
                "cf.ReturnOp (%y:t[2], %0:t[2]) -> ()",
                "graph.CallGraphOp @outer (%c:t[1], Bool, CPU>, %x:t[2]) -> (%y:t[2], %1:t[2])",
                "cf.ReturnOp (%y:t[2], %1:t[2]) -> ()"});
  }

  TEST_CASE("inputs and outputs go where nothing uses them") {
    const Lines kept = after([](reduce::Signatures&, Region&) {});
    CHECK(after([](reduce::Signatures& signatures, Region& inner) {
            signatures.drop_input(inner, 0);
            signatures.drop_output(inner, 0);
            signatures.drop_output(inner, 1);
          }) == kept);
    const Lines fewer = after([](reduce::Signatures& signatures, Region& inner) {
      signatures.add_input(inner, inner.entry_arguments()[0].type());
      signatures.drop_input(inner, 1);
    });
    CHECK(std::ranges::count(fewer, "(%p:t[2]) -> (%r:t[2]) {") == 1);
    CHECK(std::ranges::count(fewer, "graph.CallGraphOp @inner (%x:t[2]) -> (%a:t[2])") == 1);
    CHECK(std::ranges::count(fewer, "graph.CallGraphOp @inner (%a:t[2]) -> (%b:t[2])") == 1);
  }
}

}  // namespace signatures_test
