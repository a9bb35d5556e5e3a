// What runs and the making of plans allocate. This program counts calls of operator new, malloc,
// calloc, aligned_alloc and mmap, so it is one of its own.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "module_text.hpp"

// The linker puts functions named __wrap_ in the place of those that the libraries call.
extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void __real_free(void* memory);
void* __real_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset);
}

namespace {

std::atomic<std::size_t> allocations{0};
/// Bytes of the heap that are in use, and the most since somebody set this; mapped memory apart.
std::atomic<std::ptrdiff_t> heap_bytes{0}, most_heap_bytes{0};

void* count(void* memory) {
  ++allocations;
  const std::ptrdiff_t now = heap_bytes += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  if (now > most_heap_bytes) most_heap_bytes = now;
  return memory;
}

void release(void* memory) {
  heap_bytes -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  __real_free(memory);
}

}  // namespace

extern "C" {
void* __wrap_malloc(std::size_t bytes) {
  return count(__real_malloc(bytes));
}
void* __wrap_calloc(std::size_t number, std::size_t bytes) {
  return count(__real_calloc(number, bytes));
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return count(__real_aligned_alloc(alignment, bytes));
}
void __wrap_free(void* memory) {
  release(memory);
}
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  ++allocations;
  return __real_mmap(at, bytes, protection, flags, file, offset);
}
}

void* operator new(std::size_t bytes) {
  void* const memory = __real_malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return count(memory);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return count(__real_malloc(bytes == 0 ? 1 : bytes));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

namespace mir::test::allocations {

namespace {

/// Two layers' worth of what a decoder does: look-ups, norm, products, rotation, cache, attention,
/// gate, the last token's row.
const char* const kDecoder = R"(
@main [mir_version:1] (%ids:tensor<[1, $S], Int64, CPU>, %pos:tensor<[1, $S], Int64, CPU>) -> (%y:tensor<[1, 1, 32], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%e:tensor<[50, 32], Float32, CPU>[@embed.weight])[symbol:embed.weight]
      tensor.CPU.register () -> (%s:tensor<[64, 16], Float32, CPU>[@sin.weight])[symbol:sin.weight]
      tensor.CPU.register () -> (%c:tensor<[64, 16], Float32, CPU>[@cos.weight])[symbol:cos.weight]
      tensor.CPU.register () -> (%n:tensor<[32], Float32, CPU>[@norm.weight])[symbol:norm.weight]
      tensor.CPU.register () -> (%q:tensor<[32, 32], Float32, CPU>[@q.weight])[symbol:q.weight]
      tensor.CPU.register () -> (%k:tensor<[16, 32], GGUF_Q8_0, CPU>[@k.weight])[symbol:k.weight]
      tensor.CPU.register () -> (%v:tensor<[16, 32], BFloat16, CPU>[@v.weight])[symbol:v.weight]
      tensor.CPU.register () -> (%o:tensor<[32, 32], Float16, CPU>[@o.weight])[symbol:o.weight]
      tensor.CPU.register () -> (%g:tensor<[64, 32], Float32, CPU>[@gate.weight])[symbol:gate.weight]
      tensor.CPU.register () -> (%u:tensor<[64, 32], Float32, CPU>[@up.weight])[symbol:up.weight]
      tensor.CPU.register () -> (%d:tensor<[32, 64], GGUF_Q4_0, CPU>[@down.weight])[symbol:down.weight]
    }
  }
  linalg.CPU.EmbeddingOp <name="embed"> [vocab_size:50, hidden_size:32] (%ids:tensor<[1, $S], Int64, CPU>) -> (%x:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.EmbeddingOp <name="sin"> [vocab_size:64, hidden_size:16] (%pos:tensor<[1, $S], Int64, CPU>) -> (%sin:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.EmbeddingOp <name="cos"> [vocab_size:64, hidden_size:16] (%pos:tensor<[1, $S], Int64, CPU>) -> (%cos:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-06] (%x) -> (%h:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.LinearOp <name="q"> [in_channels:32, out_channels:32, bias:false] (%h) -> (%1:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.LinearOp <name="k"> [in_channels:32, out_channels:16, bias:false] (%h) -> (%2:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.LinearOp <name="v"> [in_channels:32, out_channels:16, bias:false] (%h) -> (%3:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.ViewOp (%1) -> (%4:tensor<[1, $S, 2, 16], Float32, CPU>)
  linalg.CPU.ViewOp (%2) -> (%5:tensor<[1, $S, 1, 16], Float32, CPU>)
  linalg.CPU.ViewOp (%3) -> (%6:tensor<[1, $S, 1, 16], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%4) -> (%7:tensor<[1, 2, $S, 16], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%5) -> (%8:tensor<[1, 1, $S, 16], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%6) -> (%9:tensor<[1, 1, $S, 16], Float32, CPU>)
  linalg.CPU.RoPEOp [input_type:BHSD] (%7, %sin, %cos) -> (%10:tensor<[1, 2, $S, 16], Float32, CPU>)
  linalg.CPU.RoPEOp [input_type:BHSD] (%8, %sin, %cos) -> (%11:tensor<[1, 1, $S, 16], Float32, CPU>)
  linalg.CPU.KVCacheOp <name="kv"> [q_head:2, kv_head:1, head_dim:16, cache:@kv, past:$past] (%11, %9) -> (%12:tensor<[1, 1, $past+$S, 16], Float32, CPU>, %13:tensor<[1, 1, $past+$S, 16], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:true] (%10, %12) -> (%14:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
  linalg.CPU.MulOp (%14, %scale:tensor<[1], Float32, CPU>[constant:[0.25]]) -> (%15:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
  linalg.CPU.CausalMaskOp (%15) -> (%16:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-1] (%16) -> (%17:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%17, %13) -> (%18:tensor<[1, 2, $S, 16], Float32, CPU>)
  linalg.CPU.TransposeOp [dim0:1, dim1:2] (%18) -> (%19:tensor<[1, $S, 2, 16], Float32, CPU>)
  linalg.CPU.ViewOp (%19) -> (%20:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.LinearOp <name="o"> [in_channels:32, out_channels:32, bias:false] (%20) -> (%21:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.AddOp (%21, %x) -> (%22:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.LinearOp <name="gate"> [in_channels:32, out_channels:64, bias:false] (%22) -> (%23:tensor<[1, $S, 64], Float32, CPU>)
  linalg.CPU.SiLUOp (%23) -> (%24:tensor<[1, $S, 64], Float32, CPU>)
  linalg.CPU.LinearOp <name="up"> [in_channels:32, out_channels:64, bias:false] (%22) -> (%25:tensor<[1, $S, 64], Float32, CPU>)
  linalg.CPU.MulOp (%24, %25) -> (%26:tensor<[1, $S, 64], Float32, CPU>)
  linalg.CPU.LinearOp <name="down"> [in_channels:64, out_channels:32, bias:false] (%26) -> (%27:tensor<[1, $S, 32], Float32, CPU>)
  linalg.CPU.SliceOp [indices:[all, {start:$S-1, end:$S}, all]] (%27) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)";

Tensor integers(std::int64_t first, std::int64_t count) {
  Tensor tensor = *Tensor::allocate(DType::kInt64, {1, count});
  for (std::int64_t i = 0; i < count; ++i) {
    tensor.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = first + i;
  }
  return tensor;
}

}  // namespace

TEST_CASE("a step like one before allocates nothing but the list of results that it returns") {
  for (const bool fuses : {true, false}) {
    for (const unsigned threads : {1U, 2U}) {
      CAPTURE(fuses);
      CAPTURE(threads);
      SessionOptions settings;
      settings.kernels = KernelSet::kFast;
      settings.fuses = fuses;
      settings.threads = threads;
      Runner runner(kDecoder, settings);
      for (const std::string& name : runner.plan().node_names()) {
        CHECK(name != test::Part{"(ref)"});
      }
      RunOptions options;
      Diagnostics problems;
      std::vector<Tensor> inputs = {integers(0, 7), integers(0, 7)};
      REQUIRE(runner.session().run(inputs, problems, options).has_value());
      for (std::int64_t past = 7; past < 30; ++past) {
        inputs = {integers(past, 1), integers(past, 1)};
        const std::size_t before = ::allocations;
        auto outputs = runner.session().run(inputs, problems, options);
        const std::size_t during = ::allocations - before;
        REQUIRE(outputs.has_value());
        if (past == 7) continue;  // the first step of one token
        CHECK(during == 2);       // the list and the extents of its one tensor
      }
      // The next prompt finds everything as the first one left it.
      runner.session().reset();
      inputs = {integers(0, 7), integers(0, 7)};
      const std::size_t before = ::allocations;
      REQUIRE(runner.session().run(inputs, problems, options).has_value());
      CHECK(::allocations - before == 2);
    }
  }
}

TEST_CASE("a run whose data decides no more than before allocates its results alone") {
  SessionOptions settings;
  settings.kernels = KernelSet::kFast;
  Runner runner(R"(
@main [mir_version:2] (%x:tensor<[8, 64], Float32, CPU>, %m:tensor<[8], Bool, CPU>) -> (%y:tensor<[$T, 64], Float32, CPU>) {
  linalg.CPU.CompressOp (%x, %m) -> (%k:tensor<[$T, 64], Float32, CPU>)
  linalg.CPU.SiLUOp (%k) -> (%a:tensor<[$T, 64], Float32, CPU>)
  linalg.CPU.AddOp (%a, %k) -> (%b:tensor<[$T, 64], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-1] (%b) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)",
                settings);
  const auto inputs = [](std::size_t rows) {
    Tensor mask = *Tensor::allocate(DType::kBool, {8});
    for (std::size_t i = 0; i < rows; ++i) mask.as_mutable<std::uint8_t>()[i] = 1;
    return std::vector<Tensor>{*Tensor::allocate(DType::kFloat32, {8, 64}), mask};
  };
  Diagnostics problems;
  REQUIRE(runner.session().run(inputs(7), problems).has_value());
  for (const std::size_t rows : {7U, 3U, 3U, 7U, 0U, 7U}) {
    const auto given = inputs(rows);
    REQUIRE(runner.session().run(given, problems).has_value());
    const std::size_t before = ::allocations;
    REQUIRE(runner.session().run(given, problems).has_value());
    CHECK(::allocations - before == 2);  // the list and the extents of its one tensor
  }
}

TEST_CASE("weights that products read are in memory one after the other while they are packed") {
  constexpr std::size_t kLayers = 8;
  constexpr std::ptrdiff_t kWeight = 512 * 512 * 4;
  std::string head =
      "@main [mir_version:1] (%0:tensor<[1, 512], Float32, CPU>) -> (%8:tensor<[1, "
      "512], Float32, CPU>) {\n  graph.SubGraphOp @init <CPU> {\n    () -> () {\n";
  std::string steps;
  for (std::size_t i = 0; i < kLayers; ++i) {
    const std::string layer = std::to_string(i), next = std::to_string(i + 1);
    head += "      tensor.CPU.register () -> (%w" + layer +
            ":tensor<[512, 512], Float32, CPU>[@fc" + layer + ".weight])[symbol:fc" + layer +
            ".weight]\n";
    steps += "  linalg.CPU.LinearOp <name=\"fc" + layer +
             "\"> [in_channels:512, out_channels:512, bias:false] (%" + layer + ") -> (%" + next +
             ":tensor<[1, 512], Float32, CPU>)\n";
  }
  SessionOptions settings;
  settings.kernels = KernelSet::kFast;
  const std::ptrdiff_t before = ::heap_bytes;
  ::most_heap_bytes = before;
  Runner runner(head + "    }\n  }\n" + steps + "  cf.ReturnOp (%8) -> ()\n}\n", settings);
  CHECK(::most_heap_bytes - before >= kWeight);
  CHECK(::most_heap_bytes - before < 2 * kWeight);
  CHECK(::heap_bytes - before < kWeight);
  CHECK(runner.session().made_weight_bytes() == 0);
  // A run that is observed has a plan of its own, from the same packed weights.
  std::size_t seen = 0;
  RunOptions options;
  options.observe = [&](const StepResults&) -> Result<void> {
    ++seen;
    return {};
  };
  const Tensor x = *Tensor::allocate(DType::kFloat32, {1, 512});
  const std::ptrdiff_t packed = ::most_heap_bytes = ::heap_bytes.load();
  CHECK(runner.run({x}, options)[0].defined());
  CHECK(seen == kLayers);
  CHECK(::most_heap_bytes - packed < kWeight);
}

TEST_CASE("a run of reference kernels holds the values that are read next, and no others") {
  constexpr std::ptrdiff_t kValue = 256 * 1024 * 4;
  const std::string type = ":tensor<[256, 1024], Float32, CPU>)";
  std::string text = "@main [mir_version:1] (%0" + type + " -> (%8" + type + " {\n";
  for (int i = 0; i < 8; ++i) {
    text += "  linalg.CPU.NegOp (%" + std::to_string(i) + ") -> (%" + std::to_string(i + 1) + type +
            "\n";
  }
  Runner runner(text + "  cf.ReturnOp (%8) -> ()\n}\n");
  const std::vector<Tensor> inputs = {*Tensor::allocate(DType::kFloat32, {256, 1024})};
  const std::ptrdiff_t before = ::most_heap_bytes = ::heap_bytes.load();
  CHECK(runner.run(inputs)[0].defined());
  CHECK(::most_heap_bytes - before >= 2 * kValue);
  CHECK(::most_heap_bytes - before < 3 * kValue);
  CHECK(::heap_bytes - before < kValue);
}

TEST_CASE("results that are still held stay as they are") {
  SessionOptions settings;
  settings.kernels = KernelSet::kFast;
  Runner runner(kDecoder, settings);
  Diagnostics problems;
  std::vector<Tensor> inputs = {integers(3, 1), integers(0, 1)};
  const auto held = runner.session().run(inputs, problems);
  REQUIRE(held.has_value());
  const auto values = values_of(held->front());
  inputs = {integers(4, 1), integers(1, 1)};
  const auto next = runner.session().run(inputs, problems);
  REQUIRE(next.has_value());
  CHECK(values_of(held->front()) == values);
  CHECK(values_of(next->front()) != values);
}

}  // namespace mir::test::allocations
