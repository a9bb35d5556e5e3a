// Parts of graphs as modules of their own.
#include "passes/extract/extract_part.hpp"

#include "known_passes.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Reading;

namespace extract_part_test {

namespace {

constexpr std::string_view kWhole =
    R"(@main [mir_version:1] (%0:tensor<[2, 3], Float32, CPU>) -> (%9:tensor<[2, 4], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[4, 3], Float32, CPU>[@m.up.weight])[symbol:m.up.weight]
            tensor.CPU.register () -> (%s:tensor<[4], Float32, CPU>[@scale])[symbol:scale]
            tensor.CPU.register () -> (%u:tensor<[4], Float32, CPU>[@unused])[symbol:unused]
        }
    }
    graph.SubGraphOp @act <CPU> {
        (%x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) {
            linalg.CPU.MulOp(%x, %s:tensor<[4], Float32, CPU>[@scale]) -> (%y:tensor<[2, 4], Float32, CPU>)
            cf.ReturnOp (%y) -> ()
        }
    }
    linalg.CPU.NegOp <name="neg"> (%0) -> (%1:tensor<[2, 3], Float32, CPU>)
    linalg.CPU.LinearOp <name="m.up"> [in_channels:3, out_channels:4, bias:false] (%1) -> (%2:tensor<[2, 4], Float32, CPU>)
    linalg.CPU.AddOp <name="add"> (%2, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%3:tensor<[2, 4], Float32, CPU>)
    graph.CallGraphOp @act (%3) -> (%4:tensor<[2, 4], Float32, CPU>)
    linalg.CPU.SubOp <name="sub"> (%4, %3) -> (%9:tensor<[2, 4], Float32, CPU>)
    cf.ReturnOp (%9) -> ()
}
)";

/// The ops of the body from one name to another, names being paths or symbols of calls.
std::vector<Op*> between(Module& module, std::string_view first, std::string_view last) {
  std::vector<Op*> ops;
  bool is_inside = false;
  for (Op* op : module.body().only_block().ops()) {
    if (isa<SubGraphOp>(op)) continue;
    const std::string_view name = op->has_path()     ? module.context().text(op->path())
                                  : op->has_symbol() ? module.context().text(op->symbol())
                                                     : std::string_view();
    is_inside = is_inside || name == first;
    if (is_inside) ops.push_back(op);
    if (name == last) break;
  }
  return ops;
}

struct Part {
  explicit Part(std::string_view first, std::string_view last)
      : whole(std::string(kWhole)), ops(between(whole.module(), first, last)) {}

  ExtractedPart extract(std::span<Value* const> inputs = {}) {
    Value* const results[] = {ops.back()->result()};
    ExtractedPart part = extract_part(ops, results, whole.module(), inputs);
    Diagnostics found;
    verify(*part.module, found);
    CHECK(test::lines_of(found, whole.context) == Lines{});
    return part;
  }

  Reading whole;
  std::vector<Op*> ops;
};

}  // namespace

TEST_SUITE("extracted parts") {
  TEST_CASE("what comes from outside becomes an input, registers and constants come along") {
    Part of("m.up", "add");
    const ExtractedPart part = of.extract();
    REQUIRE(part.inputs.size() == 1);
    CHECK(part.inputs.front() == of.ops.front()->operand(0));
    const std::string text = print(*part.module);
    CHECK(text.find("m.up.weight") != text.npos);
    CHECK(text.find("constant:[0.5]") != text.npos);
    CHECK(text.find("unused") == text.npos);
    CHECK(text.find("@act") == text.npos);
  }

  TEST_CASE("a call brings its graph, and that its parameters") {
    Part of("act", "sub");
    const std::string text = print(*of.extract().module);
    CHECK(text.find("graph.SubGraphOp @act") != text.npos);
    CHECK(text.find("[symbol:scale]") != text.npos);
    CHECK(text.find("m.up.weight") == text.npos);
  }

  TEST_CASE("inputs that are asked for come first, others in the order of their first use") {
    Part of("sub", "sub");
    Op& sub = *of.ops.front();
    CHECK(of.extract().inputs == std::vector<Value*>{sub.operand(0), sub.operand(1)});
    Value* const other[] = {of.whole.module().body().only_block().arguments().begin().operator->(),
                            sub.operand(1)};
    const ExtractedPart part = of.extract(other);
    CHECK(part.inputs == std::vector<Value*>{other[0], sub.operand(1), sub.operand(0)});
    CHECK(part.module->body().only_block().arguments().size() == 3);
  }

  TEST_CASE("a result may be an input or a constant") {
    Part of("add", "add");
    Op& add = *of.ops.front();
    Value* const results[] = {add.operand(0), add.operand(1)};
    const ExtractedPart part = extract_part({}, results, of.whole.module());
    CHECK(part.inputs == std::vector<Value*>{add.operand(0)});
    CHECK(print(*part.module).find("constant:[0.5]") != std::string::npos);
  }
}

}  // namespace extract_part_test
