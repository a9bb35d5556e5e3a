// Tables of embeddings that stay in the type of their file.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "interp/summary.hpp"
#include "planned.hpp"
#include "weights/write_tensors.hpp"

namespace mir::test::stored_table_of_embedding {

namespace {

constexpr std::int64_t kRows = 40, kWidth = 32;

/// A file with the table `e.weight` in a type.
class TableFile {
 public:
  explicit TableFile(DType type) {
    WeightSet random;
    REQUIRE(random.add("random:3"));
    const auto tensor = random.find({.name = "e.weight", .dtype = type, .shape = {kRows, kWidth}});
    REQUIRE(tensor);
    const NamedTensor tensors[] = {{"e.weight", **tensor}};
    REQUIRE(write_tensors(path, TensorFormat::kSafetensors, plans_of(tensors), {}));
  }
  ~TableFile() { std::filesystem::remove(path); }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("mir-table-{}", ::getpid())).string();
};

/// A lookup, and further ops that may read the table.
std::string module_with(std::string_view ops, std::string_view id_type = "Int64") {
  return fmt::format(R"(
@main [mir_version:1] (%ids:tensor<[1, 3], {0}, CPU>) -> (%y:tensor<[1, 3, 32], Float32, CPU>, %z:tensor<[1, 3, 40], Float32, CPU>) {{
  graph.SubGraphOp @init <CPU> {{
    () -> () {{
      tensor.CPU.register () -> (%w:tensor<[40, 32], Float32, CPU>[@e.weight])[symbol:e.weight]
    }}
  }}
  linalg.CPU.EmbeddingOp <name="e"> [vocab_size:40, hidden_size:32] (%ids:tensor<[1, 3], {0}, CPU>) -> (%y:tensor<[1, 3, 32], Float32, CPU>)
{1}  cf.ReturnOp (%y:tensor<[1, 3, 32], Float32, CPU>, %z:tensor<[1, 3, 40], Float32, CPU>) -> ()
}}
)",
                     id_type, ops);
}

/// The head of a model whose table is its embedding.
constexpr std::string_view kTiedHead =
    "  linalg.CPU.LinearOp <name=\"e\"> [in_channels:32, out_channels:40, bias:false] "
    "(%y:tensor<[1, 3, 32], Float32, CPU>) -> (%z:tensor<[1, 3, 40], Float32, CPU>)\n";
/// A product whose second factor is the table as a value.
constexpr std::string_view kOperand =
    "  linalg.CPU.MatMulOp [transpose_b:true] (%y:tensor<[1, 3, 32], Float32, CPU>, "
    "%w:tensor<[40, 32], Float32, CPU>[@e.weight]) -> (%z:tensor<[1, 3, 40], Float32, CPU>)\n";

struct Outcome {
  std::vector<std::uint64_t> bits;
  std::vector<std::string> errors;
  std::uint64_t made_bytes = 0;
};

Outcome run(const std::string& module, const std::string& file, KernelSet kernels,
            const Tensor& ids) {
  const Text text(module);
  WeightSet weights;
  REQUIRE(weights.add(file));
  RunnerOptions options;
  options.kernels = kernels;
  options.weights = &weights;
  Diagnostics problems;
  auto session = Session::create(*text.module, options, problems);
  Outcome outcome;
  if (session) {
    RunOptions how;
    how.is_last = false;  // what was made stays
    if (const auto outputs = session->run(std::vector{ids}, problems, how)) {
      for (const Tensor& each : *outputs) outcome.bits.push_back(hash_bytes(each));
    }
    outcome.made_bytes = session->made_weight_bytes();
  }
  outcome.errors = errors_of(problems);
  return outcome;
}

template <class Id>
Tensor ids_of(DType type, std::initializer_list<Id> values) {
  auto ids = *Tensor::allocate(type, {1, 3});
  std::ranges::copy(values, ids.as_mutable<Id>().data());
  return ids;
}

}  // namespace

TEST_CASE("a table in a narrower type is not made in Float32, and gives the same bits") {
  const auto ids = ids_of<std::int64_t>(DType::kInt64, {0, 39, 7});
  for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
    const TableFile file(type);
    const Outcome ref = run(module_with(kTiedHead), file.path, KernelSet::kRef, ids);
    const Outcome fast = run(module_with(kTiedHead), file.path, KernelSet::kFast, ids);
    CHECK(ref.errors == std::vector<std::string>{});
    CHECK(fast.errors == std::vector<std::string>{});
    REQUIRE(fast.bits.size() == 2);
    CHECK(fast.bits[0] == ref.bits[0]);
    CHECK(ref.made_bytes == kRows * kWidth * 4);
    CHECK(fast.made_bytes == 0);
  }
}

TEST_CASE("a table in Float32, or one that other ops read, is a tensor") {
  const auto ids = ids_of<std::int64_t>(DType::kInt64, {1, 2, 3});
  const TableFile same(DType::kFloat32);
  CHECK(run(module_with(kTiedHead), same.path, KernelSet::kFast, ids).errors.empty());
  const TableFile file(DType::kBFloat16);
  const Outcome read = run(module_with(kOperand), file.path, KernelSet::kFast, ids);
  CHECK(read.errors == std::vector<std::string>{});
  CHECK(read.bits[0] == run(module_with(kOperand), file.path, KernelSet::kRef, ids).bits[0]);
}

TEST_CASE("ids beyond a table in the type of its file are refused as elsewhere") {
  const TableFile file(DType::kBFloat16);
  const auto ids = ids_of<std::int32_t>(DType::kInt32, {0, 40, 7});
  const std::string module = module_with(kTiedHead, "Int32");
  const Outcome ref = run(module, file.path, KernelSet::kRef, ids);
  const Outcome fast = run(module, file.path, KernelSet::kFast, ids);
  REQUIRE(fast.errors.size() == 1);
  CHECK(fast.errors == ref.errors);
}

}  // namespace mir::test::stored_table_of_embedding
