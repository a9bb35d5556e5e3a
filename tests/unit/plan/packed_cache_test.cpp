// Packed weights that lie in a file from one session to the next.
#include "plan/packed_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "interp/summary.hpp"
#include "planned.hpp"
#include "support/platform/mapped_file.hpp"
#include "weights/write_tensors.hpp"

namespace mir::test::packed_cache {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kOutputs = 37, kDepth = 64;

/// Files of one test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / fmt::format("mir-packed-{}-{}", ::getpid(), ++number_)) {
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  static inline int number_ = 0;
  fs::path path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replace(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Two products, up and down, of weights of this type.
std::string module_with(DType type) {
  constexpr const char* kText = R"(
@main [mir_version:1] (%x:tensor<[3, {1}], Float32, CPU>) -> (%y:tensor<[3, {1}], Float32, CPU>) {{
  graph.SubGraphOp @init <CPU> {{
    () -> () {{
      tensor.CPU.register () -> (%a:tensor<[{2}, {1}], {0}, CPU>[@up.weight])[symbol:up.weight]
      tensor.CPU.register () -> (%b:tensor<[{1}, {2}], Float32, CPU>[@down.weight])[symbol:down.weight]
    }}
  }}
  linalg.CPU.LinearOp <name="up"> [in_channels:{1}, out_channels:{2}, bias:false] (%x:tensor<[3, {1}], Float32, CPU>) -> (%h:tensor<[3, {2}], Float32, CPU>)
  linalg.CPU.LinearOp <name="down"> [in_channels:{2}, out_channels:{1}, bias:false] (%h:tensor<[3, {2}], Float32, CPU>) -> (%y:tensor<[3, {1}], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[3, {1}], Float32, CPU>) -> ()
}}
)";
  return fmt::format(fmt::runtime(kText), name_of(type), kDepth, kOutputs);
}

/// The weights of module_with(), stored in this type; other seeds are other weights.
void write_weights(const std::string& path, DType stored, int seed = 1) {
  const auto invented = [&](const char* name, DType type, Shape shape) {
    WeightSet random;
    REQUIRE(random.add(fmt::format("random:{}", seed)));
    const auto tensor = random.find({.name = name, .dtype = type, .shape = std::move(shape)});
    REQUIRE(tensor);
    return **tensor;
  };
  const NamedTensor tensors[] = {
      {"up.weight", invented("up.weight", stored, {kOutputs, kDepth})},
      {"down.weight", invented("down.weight", DType::kFloat32, {kDepth, kOutputs})}};
  const auto plans = plans_of(tensors);
  REQUIRE(write_tensors(path, TensorFormat::kGguf, plans, {}));
}

/// What became of one session and its run.
struct Outcome {
  std::uint64_t bits = 0;
  std::vector<std::string> errors, warnings;
};

struct Use {
  DType type = DType::kFloat32;
  Activations activations = Activations::kFloat32;
  std::optional<IsaLevel> isa = std::nullopt;
  unsigned threads = 2;
  bool checks = false;
};

Outcome run(const std::string& weights_file, const std::string& cache, const Use& use = {}) {
  const Text text(module_with(use.type));
  WeightSet weights;
  REQUIRE(weights.add(weights_file));
  RunnerOptions options = fast();
  options.weights = &weights;
  options.packed_cache = cache;
  options.activations = use.activations;
  options.isa = use.isa;
  options.threads = use.threads;
  options.checks_packed_cache = use.checks;
  Diagnostics problems;
  auto session = Session::create(*text.module, options, problems);
  Outcome outcome;
  if (session) {
    const auto outputs = session->run(std::vector{pattern({3, kDepth})}, problems, {});
    REQUIRE(outputs.has_value());
    outcome.bits = hash_bytes(outputs->front());
  }
  for (const Diagnostic& each : problems.sorted()) {
    auto& list = each.severity == Severity::kError ? outcome.errors : outcome.warnings;
    list.push_back(fmt::format("{} {}", static_cast<int>(each.code), each.message));
  }
  return outcome;
}

std::uint64_t inode(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

}  // namespace

TEST_CASE("packed cache: the second start packs nothing and gives the same bits") {
  const Folder folder;
  const std::pair<DType, DType> types[] = {
      {DType::kFloat32, DType::kFloat32},   {DType::kFloat16, DType::kFloat16},
      {DType::kBFloat16, DType::kBFloat16}, {DType::kFloat16, DType::kFloat32},
      {DType::kGgufQ8_0, DType::kGgufQ8_0}, {DType::kGgufQ4_0, DType::kGgufQ4_0}};
  for (const auto& each : types) {
    const DType stored = each.first, type = each.second;
    for (const auto activations : {Activations::kFloat32, Activations::kBFloat16}) {
      CAPTURE(name_of(stored));
      const std::string weights = folder.file("weights"), cache = folder.file("cache");
      fs::remove(cache);
      write_weights(weights, stored);
      const Use use{.type = type, .activations = activations};
      const Outcome without = run(weights, "", use);
      const Outcome first = run(weights, cache, use);
      REQUIRE(fs::exists(cache));
      const auto written = inode(cache);
      const Outcome second =
          run(weights, cache, {.type = type, .activations = activations, .threads = 3});
      CHECK(first.bits == without.bits);
      CHECK(second.bits == without.bits);
      CHECK(inode(cache) == written);
      CHECK(first.warnings.size() + second.warnings.size() == 0);
    }
  }
}

TEST_CASE("packed cache: matrices are used where they lie in the file") {
  const Folder folder;
  const std::string path = folder.file("cache");
  const Tensor weight = pattern({kOutputs, kDepth});
  const WeightOrigin origin{
      .stored = weight, .dtype = DType::kFloat32, .elements = weight.elements()};
  fast::Context context(2);
  StringInterner names;
  const Symbol symbol = names.intern("w");
  const auto take = [&](PackedWeights& packed) {
    return packed.take(symbol, "w", origin, kOutputs, kDepth, context, Activations::kFloat32);
  };
  PackedWeights first;
  REQUIRE(first.open_cache(path));
  CHECK(take(first) == nullptr);
  const auto made = first.pack(symbol, weight, kOutputs, kDepth, context);
  REQUIRE(made);
  REQUIRE(first.write_cache(context));
  PackedWeights second;
  REQUIRE(second.open_cache(path));
  const fast::PackedMatrix* const taken = take(second);
  REQUIRE(taken != nullptr);
  const auto mapping = second.cache_mapping();
  CHECK(taken->data > mapping.data());
  CHECK(taken->data < mapping.data() + mapping.size());
  CHECK(reinterpret_cast<std::uintptr_t>(taken->data) % 64 == 0);
  CHECK(std::equal(taken->data, taken->data + first.bytes(), (*made)->data));
  CHECK(second.bytes() == first.bytes());
}

TEST_CASE("packed cache: other weights, another type, mode or instruction set are packed again") {
  const Folder folder;
  const std::string weights = folder.file("weights"), cache = folder.file("cache");
  write_weights(weights, DType::kFloat32);
  const auto first = run(weights, cache);
  // As long as before, and as old as a file system can tell.
  const auto time = fs::last_write_time(weights);
  write_weights(weights, DType::kFloat32, 2);
  fs::last_write_time(weights, time);
  const auto fresh = run(weights, "");
  CHECK(fresh.bits != first.bits);
  const auto before = inode(cache);
  CHECK(run(weights, cache).bits == fresh.bits);
  CHECK(inode(cache) != before);
  const auto renewed = inode(cache);
  CHECK(run(weights, cache).bits == fresh.bits);
  CHECK(inode(cache) == renewed);
  for (const IsaLevel level : isa_levels()) {
    if (level > detected_isa_level()) break;
    for (const auto activations : {Activations::kFloat32, Activations::kBFloat16}) {
      const Use use{.activations = activations, .isa = level};
      CHECK(run(weights, cache, use).bits == run(weights, "", use).bits);
    }
  }
  for (const DType type : {DType::kFloat16, DType::kFloat32}) {
    const Use use{.type = type};
    write_weights(weights, DType::kFloat16);
    const auto found = run(weights, cache, use);
    CHECK(found.bits == run(weights, "", use).bits);
    CHECK(found.warnings.empty());
  }
}

TEST_CASE(
    "packed cache: packed bytes are hashed if the time of the file has changed, or if asked") {
  const Folder folder;
  const std::string weights = folder.file("weights"), cache = folder.file("cache");
  write_weights(weights, DType::kFloat32);
  const auto expected = run(weights, cache);
  const auto damage = [&] {
    std::string bytes = contents(cache);
    for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= 0x40;
    replace(cache, bytes);
  };
  damage();
  const auto found = run(weights, cache);
  CHECK(found.bits == expected.bits);
  CHECK(found.warnings.size() == 1);
  const auto time = fs::last_write_time(cache);  // of the new file
  damage();
  fs::last_write_time(cache, time);
  CHECK(run(weights, cache).bits != expected.bits);
  const auto checked = run(weights, cache, {.checks = true});
  CHECK(checked.bits == expected.bits);
  CHECK(checked.warnings.size() == 1);
}

TEST_CASE("packed cache: bytes of an old file have a stamp of their place, others have none") {
  const Folder folder;
  const std::string path = folder.file("new");
  replace(path, std::string(64, 'x'));
  const auto young = MappedFile::open(path);
  REQUIRE(young);
  CHECK(PackedCache::stamp_of((*young)->bytes()) == ContentHash());
  const auto memory = pattern({4, 4});
  CHECK(PackedCache::stamp_of(memory.bytes()) == ContentHash());
  const std::string stored = MIR_SOURCE_ROOT "/testdata/examples/qwen2_tiny/model.safetensors";
  const auto old = MappedFile::open(stored);
  const auto again = MappedFile::open(stored);
  REQUIRE(old);
  REQUIRE(again);
  const auto stamp = PackedCache::stamp_of((*old)->bytes().subspan(8, 16));
  CHECK(stamp != ContentHash());
  CHECK(stamp == PackedCache::stamp_of((*again)->bytes().subspan(8, 16)));
  CHECK(stamp != PackedCache::stamp_of((*old)->bytes().subspan(8, 17)));
  CHECK(stamp != PackedCache::stamp_of((*old)->bytes().subspan(9, 16)));
}

TEST_CASE("packed cache: a file with any byte changed or any end lost gives the same bits") {
  const Folder folder;
  const std::string weights = folder.file("weights"), cache = folder.file("cache");
  write_weights(weights, DType::kGgufQ8_0);
  const Use use{.type = DType::kGgufQ8_0, .threads = 1};
  const auto expected = run(weights, cache, use);
  const std::string whole = contents(cache);
  REQUIRE(whole.size() > 4096);
  std::size_t warned = 0, tried = 0;
  const auto check = [&](const std::string& damaged) {
    replace(cache, damaged);
    const auto found = run(weights, cache, use);
    CHECK(found.bits == expected.bits);
    CHECK(found.errors.empty());
    warned += found.warnings.size();
    ++tried;
    const std::string after = contents(cache);
    // A new file has stamps of the weights as soon as these are old enough.
    CHECK((found.warnings.empty() ? after == damaged : after.size() == whole.size()));
  };
  for (std::size_t at = 8; at < whole.size(); at += at < 40 ? 1 : 71) {
    CAPTURE(at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    check(damaged);
  }
  for (std::size_t size = 8; size < whole.size(); size += 997) check(whole.substr(0, size));
  // Nothing reads what fills up the space between matrices.
  CHECK(warned <= tried);
  CHECK(warned + 3 >= tried);
}

TEST_CASE("packed cache: a file that is something else is left alone") {
  const Folder folder;
  const std::string weights = folder.file("weights"), other = folder.file("other");
  write_weights(weights, DType::kFloat32);
  for (const std::string& text : {std::string(), std::string("MIRPKW"), std::string(5000, 'x')}) {
    replace(other, text);
    const auto found = run(weights, other);
    REQUIRE(found.errors.size() == 1);
    CHECK(found.errors[0] ==
          fmt::format("829 '{}' is no cache of packed weights and is left alone", other));
    CHECK(contents(other) == text);
  }
  const auto kept = contents(weights);
  CHECK(run(weights, weights).errors.size() == 1);
  CHECK(contents(weights) == kept);
  CHECK(run(weights, folder.file(".")).errors.size() == 1);
}

TEST_CASE("packed cache: what cannot be written is a warning") {
  const Folder folder;
  const std::string weights = folder.file("weights");
  write_weights(weights, DType::kFloat32);
  const auto found = run(weights, folder.file("none/cache"));
  CHECK(found.bits == run(weights, "").bits);
  REQUIRE(found.warnings.size() == 1);
  CHECK(found.warnings[0].starts_with("2 "));
}

TEST_CASE("packed cache: sessions that start at once each find or leave a whole file") {
  const Folder folder;
  const std::string weights = folder.file("weights"), cache = folder.file("cache");
  write_weights(weights, DType::kFloat16);
  const Use use{.type = DType::kFloat16};
  const auto expected = run(weights, "", use);
  for (int round = 0; round < 4; ++round) {
    fs::remove(cache);
    std::vector<Outcome> outcomes(4);
    std::vector<std::thread> starts;
    for (Outcome& outcome : outcomes) {
      starts.emplace_back([&] { outcome = run(weights, cache, use); });
    }
    for (std::thread& start : starts) start.join();
    for (const Outcome& outcome : outcomes) {
      CHECK(outcome.bits == expected.bits);
      CHECK(outcome.errors.size() + outcome.warnings.size() == 0);
    }
    const auto written = inode(cache);
    CHECK(run(weights, cache, use).bits == expected.bits);
    CHECK(inode(cache) == written);
  }
}

}  // namespace mir::test::packed_cache
