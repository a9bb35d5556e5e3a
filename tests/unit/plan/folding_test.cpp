// What fast kernels compute when plans are made.
#include "interp/summary.hpp"
#include "planned.hpp"

namespace mir::test::folding {

namespace {

/// Tables from a constant, a parameter transposed, numbers from numbers; then what an input needs.
const char* const kFoldable = R"(
@main [mir_version:1] (%x:tensor<[$S, 4], Float32, CPU>) -> (%y:tensor<[$S, 4], Float32, CPU>, %t:tensor<[4, 4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[4, 4], Float32, CPU>[@table])[symbol:table]
    }
  }
  linalg.CPU.MulOp (%a:tensor<[1], Float32, CPU>[constant:[0.75]], %b:tensor<[1], Float32, CPU>[constant:[3.0]]) -> (%c:tensor<[1], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:0, dim1:1] (%w:tensor<[4, 4], Float32, CPU>[@table]) -> (%t:tensor<[4, 4], Float32, CPU>)
  linalg.CPU.SiLUOp (%t) -> (%s:tensor<[4, 4], Float32, CPU>)
  linalg.CPU.MulOp (%s, %c) -> (%m:tensor<[4, 4], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%x, %m) -> (%p:tensor<[$S, 4], Float32, CPU>)
  linalg.CPU.MulOp (%p, %c) -> (%y)
  cf.ReturnOp (%y, %t) -> ()
}
)";

}  // namespace

TEST_CASE("fast: what constants and parameters alone decide is computed once") {
  Runner runner(kFoldable, fast()), off(kFoldable, fast(Fusion::kOff)), ref(kFoldable);
  const ExecutionPlan& plan = runner.plan();
  CHECK(plan.node_names() == std::vector<std::string>{"MatMul", "Mul"});
  CHECK(plan.folded().nodes == 4);  // the numbers' product, a copy, SiLU, its product
  CHECK(plan.folded().bytes == 16 * 4 + 4);
  CHECK(off.plan().folded().nodes == 0);
  for (const std::int64_t rows : {3, 1, 5}) {
    const Tensor x = pattern({rows, 4});
    const auto found = runner.run({x}), steps = off.run({x});
    for (std::size_t i = 0; i < 2; ++i) CHECK(hash_bytes(found[i]) == hash_bytes(steps[i]));
    check_close(found, ref.run({x}));
  }
  RunOptions options;
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t) { last = done; };
  runner.run({pattern({2, 4})}, options);
  CHECK(last == 6);
  // An observer sees every step.
  std::size_t seen = 0;
  options.observe = [&](const StepResults&) -> Result<void> {
    ++seen;
    return {};
  };
  runner.run({pattern({2, 4})}, options);
  CHECK(seen == 6);
}

TEST_CASE("fast: a step on constants that fails does so in runs, and large results are not kept") {
  const char* const text = R"(
@main [mir_version:1] (%x:tensor<[4], Float32, CPU>) -> (%y:tensor<[4], Float32, CPU>, %r:tensor<[6000000], Float32, CPU>) {
  linalg.CPU.AddOp (%x, %c:tensor<[4], Float32, CPU>[constant:[1.0, 2.0, 3.0, 4.0]]) -> (%y)
  linalg.CPU.RepeatOp [dim:0, repeat_times:6000000] (%a:tensor<[1], Float32, CPU>[constant:[0.75]]) -> (%r)
  cf.ReturnOp (%y, %r) -> ()
}
)";
  Runner runner(text, fast());
  CHECK(runner.plan().folded().nodes == 0);
  CHECK(runner.plan().node_names() == std::vector<std::string>{"Add", "Repeat"});
  Runner outside(R"(
@main [mir_version:1] (%x:tensor<[1, 2], Float32, CPU>) -> (%y:tensor<[1, 2], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[4, 2], Float32, CPU>[@e.weight])[symbol:e.weight]
    }
  }
  linalg.CPU.EmbeddingOp <name="e"> [vocab_size:4, hidden_size:2] (%i:tensor<[1], Int64, CPU>[constant:[7]]) -> (%r:tensor<[1, 2], Float32, CPU>)
  linalg.CPU.AddOp (%x, %r) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
                 fast());
  CHECK(outside.plan().folded().nodes == 0);
  CHECK(outside.error({pattern({1, 2})}) == test::Part{"index 7"});
}

}  // namespace mir::test::folding
