// What sessions with fast kernels keep in memory.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "planned.hpp"
#include "weights/formats/safetensors.hpp"

namespace mir::test::fast_memory {

namespace {

/// How much of the mappings of a file is in this process's memory.
std::size_t resident_bytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  std::size_t kibibytes = 0;
  bool is_mapping = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) is_mapping = line.ends_with(path);
    if (is_mapping && line.starts_with("Rss:")) kibibytes += std::stoul(line.substr(4));
  }
  return kibibytes * 1024;
}

const char* const kOneProduct = R"(
@main [mir_version:1] (%x:tensor<[1, $S, 4096], Float32, CPU>) -> (%y:tensor<[1, $S, 1024], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%w:tensor<[1024, 4096], Float32, CPU>[@fc.weight])[symbol:fc.weight]
    }
  }
  linalg.CPU.LinearOp <name="fc"> [in_channels:4096, out_channels:1024, bias:false] (%x:tensor<[1, $S, 4096], Float32, CPU>) -> (%y:tensor<[1, $S, 1024], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, $S, 1024], Float32, CPU>) -> ()
}
)";

/// Pages of the file that are in memory after a run with its weight.
std::size_t resident_after_run(DType stored, KernelSet kernels) {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("mir_memory_" + std::to_string(::getpid()) + ".safetensors"))
                        .string();
  const NamedTensor tensors[] = {{"fc.weight", *Tensor::allocate(stored, {1024, 4096})}};
  REQUIRE(write_safetensors(path, tensors));
  const Text text(kOneProduct);
  std::size_t resident = 0;
  {
    WeightSet weights;
    REQUIRE(weights.add(path));
    RunnerOptions options = fast();
    options.kernels = kernels;
    options.weights = &weights;
    Diagnostics problems;
    auto session = Session::create(*text.module, options, problems);
    REQUIRE(session.has_value());
    const Tensor x = *Tensor::allocate(DType::kFloat32, {1, 2, 4096});
    REQUIRE(session->run({&x, 1}, problems).has_value());
    resident = resident_bytes(path);
  }
  std::filesystem::remove(path);
  return resident;
}

}  // namespace

TEST_CASE("fast: pages of a file are given back once its weights are packed") {
  constexpr std::size_t kMebi = 1 << 20;
  // 16 MiB of weights: the reference kernel has read all of them where they are.
  CHECK(resident_after_run(DType::kFloat32, KernelSet::kRef) >= 16 * kMebi);
  CHECK(resident_after_run(DType::kFloat32, KernelSet::kFast) < kMebi);
}

TEST_CASE("pages of a file are given back once its weights are converted") {
  for (const auto kernels : {KernelSet::kRef, KernelSet::kFast}) {
    CHECK(resident_after_run(DType::kFloat16, kernels) < (1U << 20));
  }
}

TEST_CASE("fast: a session knows what it keeps") {
  Runner runner(kAttention, fast()), ref(kAttention);
  constexpr std::uint64_t kStated = 4 * (4 * 4 + 2 * 4 + 2);
  CHECK(ref.session().memory().parameters == kStated);
  CHECK(ref.session().memory().packed == 0);
  CHECK(runner.session().memory().parameters == kStated);
  CHECK(runner.session().memory().packed >= 4 * (4 * 4 + 2 * 4));
  CHECK(runner.session().memory().caches == 0);
  runner.run({pattern({1, 5, 4})});
  CHECK(runner.session().memory().caches == 5 * 2 * 2 * 4);
  runner.run({pattern({1, 1, 4})});
  CHECK(runner.session().memory().caches == 6 * 2 * 2 * 4);
}

TEST_CASE("fast: packed weights lie one after the other where their size is known beforehand") {
  // Three matrices of some 24 MiB: two fill a block that is taken without knowing more.
  const Tensor weight = *Tensor::allocate(DType::kFloat32, {6144, 1024});
  for (const bool is_known : {false, true}) {
    PackedWeights packed;
    if (is_known) packed.expect(3 * weight.bytes().size());
    fast::Context context(2);
    StringInterner names;
    std::vector<const std::byte*> starts;
    for (const char* name : {"a", "b", "c"}) {
      const auto matrix = packed.pack(names.intern(name), weight, 6144, 1024, context);
      REQUIRE(matrix);
      starts.push_back((*matrix)->data);
    }
    const auto bytes = static_cast<std::ptrdiff_t>(packed.bytes() / 3);
    CHECK(starts[1] - starts[0] == bytes);
    CHECK((starts[2] - starts[1] == bytes) == is_known);
  }
}

}  // namespace mir::test::fast_memory
