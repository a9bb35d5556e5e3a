#include "mir/rewriter.hpp"
#include "verified.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// What is reported of a region with these blocks, from line 2 on; unknown ops aside.
Lines flow(const Lines& lines) {
  std::string text = std::string(kHead) + ") { my.Region () -> () {\n";
  for (const std::string& line : lines) text += line + "\n";
  Lines found;
  for (const std::string& line : verified(text + "}\ncf.ReturnOp () -> ()\n}\n")) {
    if (line.find("MIR0400") == line.npos) found.push_back(line);
  }
  return found;
}

}  // namespace

TEST_SUITE("blocks") {
  TEST_CASE("block_c3: MIR0426 a block that ends without a terminator") {
    CHECK(flow({"my.Br () -> () [^a]", "^a:", "linalg.CPU.SiLUOp(%0) -> (%1)",
                "^b:", "cf.ReturnOp () -> ()"}) ==
          Lines{"4:1 MIR0426 block '^a' ends without a terminator",
                "6:1 MIR0425 warning no path from the entry reaches block '^b'"});
    CHECK(flow({"my.Br () -> () [^a]", "^a:", "cf.ReturnOp () -> ()"}) == Lines{});
  }

  TEST_CASE("block_c4: MIR0421 a successor that names no block of its region") {
    CHECK(flow({"my.Br () -> () [^a, ^b]", "^a:", "cf.ReturnOp () -> ()"}) ==
          Lines{"2:1 MIR0421 no block of this region is named '^b'"});
    CHECK(flow({"my.Br () -> () [^a, ^b]", "^a:", "cf.ReturnOp () -> ()",
                "^b:", "cf.ReturnOp () -> ()"}) == Lines{});
  }

  TEST_CASE("block_c5: MIR0422 a successor whose arguments do not fit its block") {
    CHECK(flow({"my.Br () -> () [^a]",
                "^a(%7:tensor<[2], Float32, CPU>):", "cf.ReturnOp () -> ()"}) ==
          Lines{"2:1 MIR0422 successor '^a' passes 0 values, the block takes 1"});
    CHECK(flow({"my.Br () -> () [^a(%0)]",
                "^a(%7:tensor<[2], Float32, CPU>):", "cf.ReturnOp () -> ()"}) ==
          Lines{"2:1 MIR0422 value 0 for successor '^a' is tensor<[2, 4], Float32, CPU>, the block "
                "takes tensor<[2], Float32, CPU>"});
    CHECK(flow({"my.Br () -> () [^a(%0)]",
                "^a(%7:tensor<[2, 4], Float32, CPU>):", "cf.ReturnOp () -> ()"}) == Lines{});
  }

  TEST_CASE("arguments of successors are not operands of the op that passes them") {
    CHECK(flow({"linalg.CPU.SiLUOp() -> (%1:tensor<[2, 4], Float32, CPU>) [^a(%0)]",
                "^a(%7:tensor<[2, 4], Float32, CPU>):", "cf.ReturnOp () -> ()"}) ==
          Lines{"2:1 MIR0401 'linalg.SiLUOp' has 0 operands, expected 1",
                "2:1 MIR0401 'linalg.SiLUOp' has 1 successor, expected 0"});
  }

  TEST_CASE("a terminator that goes on to blocks gives no results of its region") {
    Reading reading(
        "@main () -> () {\nmy.Region () -> () {\n() -> (%9:tensor<[2], F, D>) {\n"
        "my.Start () -> (%1:tensor<[2], F, D>)\n^last:\ncf.ReturnOp (%1) -> () [^last]\n}\n}\n}\n");
    const Region& region = *reading.module().body().entry()->front()->region();
    const Op& last = *region.last_block()->back();
    CHECK(region.returned(0) == nullptr);
    Rewriter(reading.module()).set_successors(*region.last_block()->back(), {});
    CHECK(region.returned(0) == last.operand(0));
  }

  TEST_CASE("block_c6: MIR0423 successors of an op that is not last") {
    CHECK(flow({"my.Br () -> () [^a]", "my.Br () -> () [^a]", "^a:", "cf.ReturnOp () -> ()"}) ==
          Lines{"2:1 MIR0423 'my.Br' has successors and is not the last operation of its block"});
  }

  TEST_CASE("block_c7: MIR0424 a block name that is used twice") {
    CHECK(flow({"my.Br () -> () [^a]", "^a:", "my.Br () -> () [^a]",
                "^a:", "cf.ReturnOp () -> ()"}) ==
          Lines{"6:1 MIR0424 two blocks of this region are named '^a'",
                "6:1 MIR0425 warning no path from the entry reaches block '^a'"});
  }

  TEST_CASE("block_c8: MIR0425 a block that no path reaches") {
    CHECK(flow({"cf.ReturnOp () -> ()", "^a:", "cf.ReturnOp () -> ()"}) ==
          Lines{"4:1 MIR0425 warning no path from the entry reaches block '^a'"});
  }

  TEST_CASE("ssa_c2: MIR0420 a value that some path does not define") {
    const Lines sides = {"my.If () -> () [^a, ^b]", "^a:", "linalg.CPU.SiLUOp(%0) -> (%1)",
                         "my.Br () -> () [^b]", "^b:"};
    const auto with = [&](const std::string& last) {
      Lines lines = sides;
      lines.push_back(last);
      lines.emplace_back("cf.ReturnOp () -> ()");
      return flow(lines);
    };
    CHECK(with("linalg.CPU.SiLUOp(%1) -> (%2)") ==
          Lines{"7:19 MIR0420 operand 0 of 'linalg.SiLUOp' is not defined on every path that leads "
                "here"});
    CHECK(with("linalg.CPU.SiLUOp(%0) -> (%2)") == Lines{});
  }

  TEST_CASE("block arguments are seen where their block dominates") {
    CHECK(flow({"my.Br () -> () [^a(%0)]",
                "^a(%7:tensor<[2, 4], Float32, CPU>):", "my.Br () -> () [^b]",
                "^b:", "linalg.CPU.SiLUOp(%7) -> (%1)", "cf.ReturnOp () -> ()"}) == Lines{});
    CHECK(flow({"my.If () -> () [^a(%0), ^b]",
                "^a(%7:tensor<[2, 4], Float32, CPU>):", "my.Br () -> () [^b]",
                "^b:", "linalg.CPU.SiLUOp(%7) -> (%1)", "cf.ReturnOp () -> ()"}) ==
          Lines{"6:19 MIR0420 operand 0 of 'linalg.SiLUOp' is not defined on every path that leads "
                "here"});
  }

  TEST_CASE("free_c1, free_c2: a value that is freed on some path") {
    const Lines head{"linalg.CPU.SiLUOp(%0) -> (%1)", "my.Br () -> () [^a, ^b]"};
    const auto with = [&](const Lines& blocks) {
      Lines all = head;
      all.insert(all.end(), blocks.begin(), blocks.end());
      return flow(all);
    };
    CHECK(with({"^a:", "tensor.CPU.free (%1) -> ()", "my.Br () -> () [^c]",
                "^b:", "my.Br () -> () [^c]", "^c:", "linalg.CPU.SiLUOp(%1) -> (%2)",
                "cf.ReturnOp () -> ()"}) ==
          Lines{"10:1 MIR0450 operand 0 of 'linalg.SiLUOp' is used after it was freed"});
    // Each path frees once.
    CHECK(with({"^a:", "tensor.CPU.free (%1) -> ()", "my.Br () -> () [^c]",
                "^b:", "tensor.CPU.free (%1) -> ()", "my.Br () -> () [^c]",
                "^c:", "cf.ReturnOp () -> ()"}) == Lines{});
    CHECK(with({"^a:", "tensor.CPU.free (%1) -> ()", "my.Br () -> () [^c]",
                "^b:", "my.Br () -> () [^c]", "^c:", "tensor.CPU.free (%1) -> ()",
                "cf.ReturnOp () -> ()"}) == Lines{"10:1 MIR0451 %1 is freed twice"});
    // The path back from the end of a block to its beginning.
    CHECK(with({"^a:", "linalg.CPU.SiLUOp(%1) -> (%2)", "tensor.CPU.free (%1) -> ()",
                "my.Br () -> () [^a, ^b]", "^b:", "cf.ReturnOp () -> ()"}) ==
          Lines{"5:1 MIR0450 operand 0 of 'linalg.SiLUOp' is used after it was freed",
                "6:1 MIR0451 %1 is freed twice"});
  }

  TEST_CASE("free_c1: many blocks with many frees are left when they take too long") {
    Lines lines;
    for (int i = 1; i <= 2000; ++i) {
      const std::string n = std::to_string(i);
      lines.push_back("linalg.CPU.SiLUOp(%0) -> (%" + n + ")");
    }
    lines.emplace_back("my.Br () -> () [^b0]");
    for (int i = 0; i < 2000; ++i) {
      const std::string n = std::to_string(i);
      lines.push_back("^b" + n + ":");
      lines.push_back("tensor.CPU.free (%" + std::to_string(i + 1) + ") -> ()");
      lines.push_back("my.Br () -> () [^b" + std::to_string((i + 1) % 2000) + ", ^b0]");
    }
    // Each of the 2000 is freed twice; the search for them ends before all are found.
    CHECK(flow(lines).size() < 2000);
  }
}
