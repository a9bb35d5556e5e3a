// Blocks and branches in runs of both kernel sets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <random>

#include "interp/summary.hpp"
#include "mir/codes/limits.hpp"
#include "planned.hpp"

namespace mir::test::blocks {

namespace {

constexpr std::string_view kInt = "tensor<[1], Int32, CPU>";

Tensor int32(std::int64_t number) {
  return tensor(DType::kInt32, {1}, {static_cast<double>(number)});
}

/// A random region of blocks, each with one argument, and what it computes. Values are integers
/// modulo 1009. Block 0 is the entry, whose argument is the input; the last block returns.
class RandomFlow {
 public:
  explicit RandomFlow(std::uint32_t seed) : random_(seed), blocks_(2 + below(6)) {
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.factor = 1 + below(9);
      block.term = below(100);
      block.reads_entry = i != 0 && below(3) == 0;
      // One successor is the next block: all are reached, and most runs come to an end.
      const std::size_t targets = std::size_t{1} + below(3);
      for (std::size_t t = 0; t < targets; ++t) {
        const auto others = static_cast<std::uint32_t>(blocks_.size() - 1);
        block.targets.push_back({t == 0 ? i + 1 : 1 + below(others), below(3) == 0});
      }
      block.divisor = 1 + below(5);
    }
  }

  std::string text() const {
    std::string text = fmt::format("@main [mir_version:2] (%a0:{0}) -> (%r:{0}) {{\n", kInt);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i != 0) text += fmt::format("^b{0}(%a{0}:{1}):\n", i, kInt);
      if (i + 1 == blocks_.size()) {
        text += fmt::format("cf.ReturnOp (%a{}) -> ()\n", i);
        break;
      }
      const Block& block = blocks_[i];
      const auto op = [&](std::string_view name, const std::string& left, const std::string& right,
                          std::string_view result) {
        text += fmt::format("linalg.CPU.{}Op({}, {}) -> (%{}{}:{})\n", name, left, right, result, i,
                            kInt);
      };
      op("Mul", fmt::format("%a{}", i), constant(block.factor), "m");
      op("Add", fmt::format("%m{}", i),
         block.reads_entry ? std::string("%v0") : constant(block.term), "s");
      op("Rem", fmt::format("%s{}", i), constant(kModulus), "v");
      text += end(i);
    }
    return text + "}\n";
  }

  /// No value if more branches go back than are allowed.
  std::optional<std::int64_t> run(std::int64_t input, int most_back) const {
    std::int64_t value = input, entry = 0;
    for (std::size_t at = 0; at + 1 < blocks_.size();) {
      const Block& block = blocks_[at];
      const std::int64_t made =
          (value * block.factor + (block.reads_entry ? entry : block.term)) % kModulus;
      if (at == 0) entry = made;
      const auto target = chosen(block, made);
      if (target.block <= at && at != 0 && most_back-- == 0) return std::nullopt;
      value = target.passes_argument ? value : made;
      at = target.block;
    }
    return value;
  }

 private:
  static constexpr std::uint32_t kModulus = 1009;
  struct Target {
    std::size_t block = 0;
    bool passes_argument = false;  // instead of what the block made
  };
  struct Block {
    std::uint32_t factor = 1, term = 0, divisor = 1;
    bool reads_entry = false;
    std::vector<Target> targets = {};
  };

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  static std::string constant(std::uint32_t number) {
    return fmt::format("%c{0}:{1}[constant:[{0}]]", number, kInt);
  }

  std::string target(std::size_t from, const Target& to) const {
    return fmt::format("^b{}(%{}{})", to.block, to.passes_argument ? 'a' : 'v', from);
  }

  /// By what the block made: one target, two by a comparison, three by the remainder.
  std::string end(std::size_t i) const {
    const Block& block = blocks_[i];
    if (block.targets.size() == 1) {
      return fmt::format("cf.BranchOp () -> () [{}]\n", target(i, block.targets[0]));
    }
    if (block.targets.size() == 2) {
      return fmt::format(
          "linalg.CPU.LessOp(%v{0}, {1}) -> (%t{0}:tensor<[1], Bool, CPU>)\n"
          "cf.CondBranchOp (%t{0}) -> () [{2}, {3}]\n",
          i, constant(kModulus / 2), target(i, block.targets[0]), target(i, block.targets[1]));
    }
    return fmt::format(
        "linalg.CPU.RemOp(%v{0}, {1}) -> (%t{0}:{2})\n"
        "cf.SwitchOp [cases:[0, 1]] (%t{0}) -> () [{3}, {4}, {5}]\n",
        i, constant(block.divisor), kInt, target(i, block.targets[0]), target(i, block.targets[1]),
        target(i, block.targets[2]));
  }

  static Target chosen(const Block& block, std::int64_t made) {
    if (block.targets.size() == 1) return block.targets[0];
    if (block.targets.size() == 2) return block.targets[made < kModulus / 2 ? 0 : 1];
    const std::int64_t rest = made % block.divisor;
    return block.targets[rest == 0 ? 1 : rest == 1 ? 2 : 0];
  }

  std::mt19937 random_;
  std::vector<Block> blocks_;
};

}  // namespace

TEST_CASE("random blocks compute what following them computes") {
  constexpr int kMostBack = 40;
  std::size_t ended = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const RandomFlow flow(seed);
    const std::string text = flow.text();
    CAPTURE(text);
    Runner ref(text), planned(text, fast());
    for (const std::int64_t input : {0, 1, 500}) {
      CAPTURE(input);
      const auto expected = flow.run(input, kMostBack);
      for (Runner* runner : {&ref, &planned}) {
        Diagnostics problems;
        const Tensor given = int32(input);
        RunOptions options;
        options.most_iterations = kMostBack;
        const auto found = runner->session().run({&given, 1}, problems, options);
        REQUIRE(found.has_value() == expected.has_value());
        if (found) CHECK(values_of(found->front()) == std::vector{static_cast<double>(*expected)});
        if (!found) CHECK(problems.sorted().front().code == diag::kLimitExceeded);
      }
      ended += expected ? 1 : 0;
    }
  }
  CHECK(ended > 300);
  CHECK(ended < 450);
}

TEST_CASE("structure that is found in random blocks, and taken apart again, computes the same") {
  // Flows without blocks, and the conditions, the loops and the blocks that they have.
  std::size_t whole = 0, conditions = 0, loops = 0, blocks = 0;
  const auto count = [](std::string_view text, std::string_view part) {
    std::size_t number = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++number;
    return number;
  };
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const RandomFlow flow(seed);
    CAPTURE(flow.text());
    const std::string structured = after_passes(flow.text(), "blocks-to-structure");
    CAPTURE(structured);
    const std::string again = after_passes(structured, "structure-to-blocks");
    CAPTURE(again);
    CHECK(again.find("cf.IfOp") == again.npos);
    CHECK(again.find("cf.WhileOp") == again.npos);
    whole += structured.find("^") == structured.npos ? 1 : 0;
    conditions += count(structured, "cf.IfOp");
    loops += count(structured, "cf.WhileOp");
    blocks += count(structured, "\n^");
    for (const std::string& text : {structured, again}) {
      Runner runner(text, fast());
      for (const std::int64_t input : {1, 500}) {
        const auto expected = flow.run(input, 40);
        if (!expected) continue;
        CHECK(values_of(runner.run({int32(input)}).front()) ==
              std::vector{static_cast<double>(*expected)});
      }
    }
  }
  // Many random flows have loops of several entries or exits, which stay blocks.
  CHECK(std::vector{whole, conditions, loops, blocks} ==
        std::vector<std::size_t>{61, 118, 70, 209});
}

TEST_CASE("loops become blocks and loops again, to the last index that the type can hold") {
  const auto sum = [](std::string_view type, std::string_view step) {
    return fmt::format(R"(
@main [mir_version:2] (%lo:{0}, %hi:{0}) -> (%n:{0}) {{
  cf.ForOp (%lo, %hi, %st:{0}[constant:[{1}]], %z:{0}[constant:[0]]) -> (%n:{0}) {{
    (%i:{0}, %a:{0}) -> (%b:{0}) {{
      linalg.CPU.AddOp (%a, %one:{0}[constant:[1]]) -> (%b:{0})
      cf.YieldOp (%b) -> ()
    }}
  }}
  cf.ReturnOp (%n) -> ()
}})",
                       type, step);
  };
  const std::int64_t most32 = std::numeric_limits<std::int32_t>::max();
  const auto both = [&](std::string_view step, std::int64_t low, std::int64_t high, double count) {
    const std::string text = sum(kInt, step);
    const std::string blocks = after_passes(text, "structure-to-blocks");
    CHECK(blocks.find("cf.ForOp") == blocks.npos);
    for (const std::string& each : {text, blocks, after_passes(blocks, "blocks-to-structure")}) {
      Runner runner(each, fast());
      CHECK(values_of(runner.run({int32(low), int32(high)}).front()) == std::vector{count});
    }
  };
  both("1", 3, 7, 4);
  both("1", 7, 7, 0);
  both("3", -4, 4, 3);
  both("5", most32 - 12, most32, 3);
  both("2000000000", -most32, most32, 3);
  // What no constant says is left.
  const std::string loose = R"(
@main [mir_version:2] (%st:tensor<[1], Int32, CPU>) -> () {
  cf.ForOp (%lo:tensor<[1], Int32, CPU>[constant:[0]], %hi:tensor<[1], Int32, CPU>[constant:[4]], %st) -> () {
    (%i:tensor<[1], Int32, CPU>) -> () { cf.YieldOp () -> () }
  }
  cf.ReturnOp () -> ()
})";
  CHECK(after_passes(loose, "structure-to-blocks").find("cf.ForOp") != std::string::npos);
}

TEST_CASE("blocks stand in graphs and regions, see values around them and rename symbols") {
  const std::string text = R"(
@main [mir_version:2] (%x:tensor<[$S, 2], Float32, CPU>, %c:tensor<[1], Bool, CPU>, %w:tensor<[1, 2], Float32, CPU>) -> (%y:tensor<[$S, 2], Float32, CPU>, %z:tensor<[1, 2], Float32, CPU>) {
  graph.SubGraphOp @pick <CPU> {
    (%a:tensor<[$T, 2], Float32, CPU>, %c:tensor<[1], Bool, CPU>) -> (%r:tensor<[$T, 2], Float32, CPU>) {
      linalg.CPU.NegOp (%a) -> (%n:tensor<[$T, 2], Float32, CPU>)
      cf.CondBranchOp (%c) -> () [^plus, ^if]
      ^if:
      cf.IfOp (%c) -> (%i:tensor<[$T, 2], Float32, CPU>) {
        () -> (%n:tensor<[$T, 2], Float32, CPU>) { cf.YieldOp (%n) -> () }
        () -> (%k:tensor<[$T, 2], Float32, CPU>) {
          cf.CondBranchOp (%c) -> () [^last(%a), ^last(%n)]
          ^last(%l:tensor<[$T, 2], Float32, CPU>):
          linalg.CPU.MulOp (%l, %a) -> (%k:tensor<[$T, 2], Float32, CPU>)
          cf.YieldOp (%k) -> ()
        }
      }
      cf.BranchOp () -> () [^end(%i)]
      ^plus:
      linalg.CPU.AddOp (%n, %n) -> (%p:tensor<[$T, 2], Float32, CPU>)
      cf.BranchOp () -> () [^end(%p)]
      ^end(%r:tensor<[$T, 2], Float32, CPU>):
      cf.ReturnOp (%r) -> ()
    }
  }
  graph.CallGraphOp @pick (%x, %c) -> (%y:tensor<[$S, 2], Float32, CPU>)
  graph.CallGraphOp @pick (%w, %c) -> (%z:tensor<[1, 2], Float32, CPU>)
  cf.ReturnOp (%y, %z) -> ()
})";
  const auto truth = [](bool value) { return tensor(DType::kBool, {1}, {value ? 1.0 : 0.0}); };
  for (const auto& options : {RunnerOptions(), fast()}) {
    Runner runner(text, options);
    for (const std::int64_t rows : {2, 3, 2}) {
      const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
      const auto count = static_cast<std::size_t>(2 * rows);
      const Tensor x =
          tensor(DType::kFloat32, {rows, 2}, {numbers.begin(), numbers.begin() + 2 * rows});
      const Tensor w = tensor(DType::kFloat32, {1, 2}, {3, -1});
      for (const bool condition : {true, false}) {
        const auto found = runner.run({x, truth(condition), w});
        const auto y = values_of(found[0]);
        REQUIRE(y.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(y[i] == (condition ? -2 * numbers[i] : -numbers[i] * numbers[i]));
        }
        CHECK(values_of(found[1]) ==
              (condition ? std::vector<double>{-6, 2} : std::vector<double>{-9, -1}));
      }
    }
  }
}

TEST_CASE("returns of several types have the one that the region states") {
  const std::string text = R"(
@main [mir_version:2] (%c:tensor<[1], Bool, CPU>, %x:tensor<[4], Float32, CPU>, %y:tensor<[?], Float32, CPU>) -> (%r:tensor<[?], Float32, CPU>) {
  cf.CondBranchOp (%c) -> () [^a, ^b]
^a:
  cf.ReturnOp (%x) -> ()
^b:
  cf.ReturnOp (%y) -> ()
})";
  const Tensor x = pattern({4}), y = pattern({8});
  for (const std::string& each : {text, after_passes(text, "blocks-to-structure")}) {
    for (const auto& options : {RunnerOptions(), fast()}) {
      Runner runner(each, options);
      for (const bool first : {true, false}) {
        const Tensor condition = tensor(DType::kBool, {1}, {first ? 1.0 : 0.0});
        CHECK(values_of(runner.run({condition, x, y}).front()) == values_of(first ? x : y));
      }
    }
  }
}

TEST_CASE(
    "structure is not looked for in blocks that nothing reaches, or by an index of any extent") {
  const std::string unreached = R"(
@main [mir_version:2] (%n:tensor<[1], Int32, CPU>) -> (%n:tensor<[1], Int32, CPU>) {
  cf.BranchOp () -> () [^e]
^e:
  cf.ReturnOp (%n) -> ()
^u(%x:tensor<[1], Int32, CPU>):
  cf.BranchOp () -> () [^v(%y)]
^v(%y:tensor<[1], Int32, CPU>):
  linalg.CPU.AddOp (%y, %x) -> (%z:tensor<[1], Int32, CPU>)
  cf.BranchOp () -> () [^u(%z)]
})";
  CHECK(after_passes(unreached, "blocks-to-structure").find("^v") != std::string::npos);
  const std::string open = R"(
@main [mir_version:2] (%n:tensor<[?], Int64, CPU>) -> (%n:tensor<[?], Int64, CPU>) {
  cf.SwitchOp [cases:[-1]] (%n) -> () [^a(%n), ^b]
^a(%x:tensor<[?], Int64, CPU>):
  linalg.CPU.NegOp (%x) -> (%m:tensor<[?], Int64, CPU>)
  cf.ReturnOp (%m) -> ()
^b:
  cf.ReturnOp (%n) -> ()
})";
  for (const std::string& each : {open, after_passes(open, "blocks-to-structure")}) {
    Runner runner(each, fast());
    CHECK(values_of(runner.run({tensor(DType::kInt64, {1}, {-1})}).front()) == std::vector{-1.0});
    CHECK(values_of(runner.run({tensor(DType::kInt64, {1}, {5})}).front()) == std::vector{-5.0});
  }
}

TEST_CASE("a block that runs again finds other extents out") {
  const std::string text = R"(
@main [mir_version:2] (%x:tensor<[$S], Float32, CPU>) -> (%n:tensor<[1], Int32, CPU>, %last:tensor<[$R], Float32, CPU>) {
  cf.BranchOp () -> () [^test(%zero:tensor<[1], Int32, CPU>[constant:[0]], %two:tensor<[1], Float32, CPU>[constant:[2.0]])]
^test(%n:tensor<[1], Int32, CPU>, %limit:tensor<[1], Float32, CPU>):
  linalg.CPU.LessOp (%limit, %x) -> (%above:tensor<[$S], Bool, CPU>)
  linalg.CPU.CompressOp [dim:0] (%x, %above) -> (%kept:tensor<[$K], Float32, CPU>)
  linalg.CPU.CastTypeOp [dtype:Int32] (%above) -> (%ones:tensor<[$S], Int32, CPU>)
  linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%ones) -> (%count:tensor<[1], Int32, CPU>)
  linalg.CPU.LessOp (%count, %few:tensor<[1], Int32, CPU>[constant:[2]]) -> (%done:tensor<[1], Bool, CPU>)
  cf.CondBranchOp (%done) -> () [^end, ^more]
^more:
  linalg.CPU.AddOp (%n, %one:tensor<[1], Int32, CPU>[constant:[1]]) -> (%m:tensor<[1], Int32, CPU>)
  linalg.CPU.ReduceMinOp [dim:0, keep_dim:true] (%kept) -> (%least:tensor<[1], Float32, CPU>)
  cf.BranchOp () -> () [^test(%m, %least)]
^end:
  linalg.CPU.NegOp (%kept) -> (%last:tensor<[$K], Float32, CPU>)
  linalg.CPU.CompressOp [dim:0] (%x, %above) -> (%again:tensor<[$R], Float32, CPU>)
  cf.ReturnOp (%n, %again) -> ()
})";
  for (const auto& options : {RunnerOptions(), fast()}) {
    Runner runner(text, options);
    const auto found = runner.run({tensor(DType::kFloat32, {6}, {5, 3, 9, 1, 7, 4})});
    CHECK(values_of(found[0]) == std::vector<double>{4});
    CHECK(values_of(found[1]) == std::vector<double>{9});
    const auto other = runner.run({tensor(DType::kFloat32, {4}, {8, 2.5, 0, 6})});
    CHECK(values_of(other[0]) == std::vector<double>{2});
    CHECK(values_of(other[1]) == std::vector<double>{8});
  }
}

}  // namespace mir::test::blocks
