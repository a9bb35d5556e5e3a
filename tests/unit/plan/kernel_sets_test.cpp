// What plans of reference kernels and of fast kernels have in common.
#include "mir/codes/runs.hpp"
#include "planned.hpp"

namespace mir::test::kernel_sets {

namespace {

using Values = std::vector<double>;

constexpr KernelSet kSets[] = {KernelSet::kRef, KernelSet::kFast};

SessionOptions with_kernels(KernelSet kernels) {
  SessionOptions options;
  options.kernels = kernels;
  return options;
}

/// Argsort has no fast kernel; the extents of %n and %m are known once they are computed.
const char* const kMixed = R"(
@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%order:tensor<[2, 3], Int32, CPU>, %y:tensor<[2, 3], Float32, CPU>) {
  linalg.CPU.SiLUOp (%x) -> (%a:tensor<[2, 3], Float32, CPU>)
  linalg.CPU.ArgsortOp [dim:1] (%a) -> (%order:tensor<[2, 3], Int32, CPU>)
  tensor.CPU.alloc () -> (%n:tensor<[$N, 3], Float32, CPU>)
  linalg.CPU.AddOp (%n, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%m:tensor<[$N, 3], Float32, CPU>)
  linalg.CPU.SliceOp [indices:[{start:0, end:2}, all]] (%m) -> (%s:tensor<[2, 3], Float32, CPU>)
  linalg.CPU.MulOp (%a, %s) -> (%y:tensor<[2, 3], Float32, CPU>)
  cf.ReturnOp (%order, %y) -> ()
}
)";

RunOptions with_four_rows(Runner& runner) {
  RunOptions options;
  options.dims.bind(runner.context().intern("N"), 4);
  return options;
}

/// One line for each step that is shown: its number, its op, what it reads and makes.
std::vector<std::string> steps_seen(Runner& runner, const std::vector<Tensor>& inputs,
                                    RunOptions options = {}) {
  std::vector<std::string> seen;
  options.observe = [&](const StepResults& step) -> Result<void> {
    std::string line = std::to_string(step.step) + " " + std::string(step.op.info().mnemonic);
    const auto add = [&](std::span<const Tensor> tensors) {
      for (const Tensor& tensor : tensors) {
        line += " " + std::string(name_of(tensor.dtype()));
        for (const std::int64_t extent : tensor.shape()) line += " " + std::to_string(extent);
      }
    };
    add(step.operands);
    line += " ->";
    add(step.results);
    seen.push_back(line);
    return {};
  };
  runner.run(inputs, options);
  return seen;
}

}  // namespace

TEST_CASE("one plan has nodes of both kernel sets") {
  Runner ref(kMixed, with_kernels(KernelSet::kRef), Checked::kNo),
      mixed(kMixed, with_kernels(KernelSet::kFast), Checked::kNo);
  CHECK(ref.plan().node_names() ==
        std::vector<std::string>{"SiLUOp", "ArgsortOp", "alloc", "AddOp", "SliceOp", "MulOp"});
  CHECK(mixed.plan().node_names() ==
        std::vector<std::string>{"SiLU", "ArgsortOp (ref)", "alloc (ref)", "Add", "Slice", "Mul"});
  const std::vector<Tensor> inputs = {floats({2, 3}, {3, -1, 2, 0.5, 4, -2})};
  const auto expected = ref.run(inputs, with_four_rows(ref));
  CHECK(values_of(expected[0]) == Values{1, 2, 0, 2, 0, 1});
  for (int i = 0; i < 2; ++i) check_close(mixed.run(inputs, with_four_rows(mixed)), expected);
}

TEST_CASE("observers see the same steps with both kernel sets") {
  const auto seen_with = [](KernelSet kernels) {
    Runner mixed(kMixed, with_kernels(kernels), Checked::kNo),
        attention(kAttention, with_kernels(kernels));
    auto seen = steps_seen(mixed, {pattern({2, 3})}, with_four_rows(mixed));
    for (const std::int64_t tokens : {3, 1}) {
      const auto more = steps_seen(attention, {pattern({1, tokens, 4})});
      seen.insert(seen.end(), more.begin(), more.end());
    }
    return seen;
  };
  const auto seen = seen_with(KernelSet::kRef);
  REQUIRE(seen.size() == 6 + 2 * 13);
  CHECK(seen[3] == "3 AddOp Float32 4 3 Float32 1 -> Float32 4 3");
  CHECK(seen_with(KernelSet::kFast) == seen);
}

TEST_CASE("what an observer puts into a cache is what later runs read, with both kernel sets") {
  for (const KernelSet kernels : kSets) {
    CAPTURE(static_cast<int>(kernels));
    Runner runner(kAttention, with_kernels(kernels));
    std::vector<double> keys;
    RunOptions options;
    options.observe = [&](const StepResults& step) -> Result<void> {
      if (!step.op.is(OpId::kLinalgKVCache)) return {};
      if (keys.empty()) step.results[0] = floats({1, 1, 2, 2}, {7, 8, 9, 10});
      keys = values_of(step.results[0]);
      return {};
    };
    runner.run({pattern({1, 2, 4})}, options);
    runner.run({pattern({1, 1, 4})}, options);
    REQUIRE(keys.size() == 6);
    CHECK(Values(keys.begin(), keys.begin() + 4) == Values{7, 8, 9, 10});
  }
}

TEST_CASE("a run that fails leaves caches as they were, with both kernel sets") {
  for (const KernelSet kernels : kSets) {
    CAPTURE(static_cast<int>(kernels));
    Runner runner(kAttention, with_kernels(kernels)), other(kAttention, with_kernels(kernels));
    for (Runner* each : {&runner, &other}) each->run({pattern({1, 2, 4})});
    RunOptions fails;
    fails.observe = [](const StepResults& step) -> Result<void> {
      if (step.op.is(OpId::kLinalgSoftmax)) return Error{diag::kDiverges, "that is enough"};
      return {};
    };
    CHECK(runner.error({pattern({1, 1, 4})}, fails) == "826 that is enough");
    CHECK(runner.session().cache_length("kv") == 2);
    const auto found = runner.run({pattern({1, 3, 4})}), expected = other.run({pattern({1, 3, 4})});
    CHECK(values_of(found[0]) == values_of(expected[0]));
  }
}

TEST_CASE("an observer cannot put a tensor of another type in a result's place") {
  for (const KernelSet kernels : kSets) {
    Runner runner(kMixed, with_kernels(kernels), Checked::kNo);
    RunOptions options = with_four_rows(runner);
    options.observe = [](const StepResults& step) -> Result<void> {
      if (step.op.is(OpId::kLinalgSiLU)) step.results[0] = pattern({3, 2});
      return {};
    };
    CHECK(runner.error({pattern({2, 3})}, options) ==
          "812 the tensor does not fit the value it replaces");
  }
}

}  // namespace mir::test::kernel_sets
