// Whatever resolves can be verified: never a crash, whatever is wrong with it.
#include <random>

#include "../ir/random_module.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "mir/verify.hpp"

using namespace mir;
using mir::test::RandomModule;
using mir::test::Reading;

namespace {

constexpr const char* kModule =
    "@main [mir_version:1] (%0:tensor<[1, $S], Int64, CPU>) -> (%9:tensor<[1, 2, $S, 4], Float32, "
    "CPU>) {\n"
    "graph.SubGraphOp @init <CPU> {\n"
    "() -> () {\n"
    "tensor.CPU.register () -> (%0:tensor<[10, 8], Float32, CPU>[@e.weight])[symbol:e.weight]\n"
    "tensor.CPU.register () -> (%1:tensor<[8, 8], Float32, CPU>[@q.weight])[symbol:q.weight]\n"
    "tensor.CPU.register () -> (%2:tensor<[8], Float32, CPU>[@n.weight])[symbol:n.weight]\n"
    "}\n"
    "}\n"
    "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:10, hidden_size:8] (%0:tensor<[1, $S], Int64, "
    "CPU>) -> (%1:tensor<[1, $S, 8], Float32, CPU>)\n"
    "linalg.CPU.RMSNormOp <name=\"n\"> [epsilon:1e-06] (%1:tensor<[1, $S, 8], Float32, CPU>) -> "
    "(%2:tensor<[1, $S, 8], Float32, CPU>)\n"
    "linalg.CPU.LinearOp <name=\"q\"> [bias:false] (%2:tensor<[1, $S, 8], Float32, CPU>) -> "
    "(%3:tensor<[1, $S, 8], Float32, CPU>)\n"
    "linalg.CPU.ViewOp [to_shape:[1, $S, 2, 4]] (%3:tensor<[1, $S, 8], Float32, CPU>) -> "
    "(%4:tensor<[1, $S, 2, 4], Float32, CPU>)\n"
    "linalg.CPU.TransposeOp [dim0:1, dim1:2] (%4:tensor<[1, $S, 2, 4], Float32, CPU>) -> "
    "(%5:tensor<[1, 2, $S, 4], Float32, CPU>)\n"
    "linalg.CPU.MatMulOp [transpose_b:true] (%5:tensor<[1, 2, $S, 4], Float32, CPU>, %5:tensor<[1, "
    "2, $S, 4], Float32, CPU>) -> (%6:tensor<[1, 2, $S, $S], Float32, CPU>)\n"
    "linalg.CPU.SoftmaxOp [axis:-1] (%6:tensor<[1, 2, $S, $S], Float32, CPU>) -> (%7:tensor<[1, 2, "
    "$S, $S], Float32, CPU>)\n"
    "linalg.CPU.MatMulOp [transpose_b:false] (%7:tensor<[1, 2, $S, $S], Float32, CPU>, "
    "%5:tensor<[1, 2, $S, 4], Float32, CPU>) -> (%8:tensor<[1, 2, $S, 4], Float32, CPU>)\n"
    "graph.CallGraphOp @f (%8:tensor<[1, 2, $S, 4], Float32, CPU>) -> (%9:tensor<[1, 2, $S, 4], "
    "Float32, CPU>)\n"
    "graph.SubGraphOp @f <CPU> {\n"
    "(%0:tensor<[1, 2, $S, 4], Float32, CPU>) -> (%1:tensor<[1, 2, $S, 4], Float32, CPU>) {\n"
    "linalg.CPU.MulOp(%0:tensor<[1, 2, $S, 4], Float32, CPU>, %5:tensor<[1], Float32, "
    "CPU>[constant:[0.5]]) -> (%1:tensor<[1, 2, $S, 4], Float32, CPU>)\n"
    "cf.ReturnOp (%1:tensor<[1, 2, $S, 4], Float32, CPU>) -> ()\n"
    "}\n"
    "}\n"
    "cf.ReturnOp (%9:tensor<[1, 2, $S, 4], Float32, CPU>) -> ()\n"
    "}\n";

/// Words of the module swapped with each other or with odd ones; the text mostly still parses.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : engine_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t n = 1 + below(4); n != 0; --n) {
      constexpr std::string_view kSets[][8] = {
          {"1, ", "2, ", "4611686018427387904, ", "0, ", "?, ", "-1, ", "$S, ", "$T*$S, "},
          {"Float32", "Int64", "Int4", "UInt16PerTensor", "GGUF_Q4_K", "NoSuchType", "Bool",
           "ComplexFP32"},
          {"SoftmaxOp", "TransposeOp", "ViewOp", "SliceOp", "ConcatOp", "LinearOp", "SplitOp",
           "Conv2DOp"},
          {"%0:", "%1:", "%2:", "%3:", "%5:", "%6:", "%8:", "%9:"},
          {"[axis:-1] ", "[dim0:1, dim1:2] ", "[bias:false] ", "[transpose_b:true] ",
           "[to_shape:[1, $S, 2, 4]] ", "[indices:[{\"start\":0,\"end\":$S}]] ", "[epsilon:1e-06] ",
           "[dim:-9223372036854775808] "},
          {"SiLUOp", "EmbeddingOp", "RMSNormOp", "MatMulOp", "MulOp", "KVCacheOp", "RoPEOp",
           "FlashAttention2Op"},
          {"@f", "@init", "@e.weight", "@main", "@n.weight", "@q.weight", "@g", "@\"\""},
          {"(%5:", "(%1:tensor<[2], Float32, CPU>, %5:", "(%8:", "() -> (%7:", "(%9:", "(%0:",
           "(%2:", "(%3:"},
      };
      const auto& set = kSets[below(std::size(kSets))];
      const std::string_view from = set[below(8)], to = set[below(8)];
      std::vector<std::size_t> places;
      for (auto at = text.find(from); at != text.npos; at = text.find(from, at + 1))
        places.push_back(at);
      if (!places.empty()) text.replace(places[below(places.size())], from.size(), to);
    }
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  std::mt19937_64 engine_;
};

}  // namespace

TEST_SUITE("verify anything") {
  TEST_CASE("the module that mutations start from is sound") {
    Reading reading(kModule);
    Diagnostics diagnostics;
    verify(reading.module(), diagnostics);
    CHECK(mir::test::lines_of(diagnostics, reading.context) == std::vector<std::string>{});
  }

  TEST_CASE("mutations of a module are verified without a crash") {
    const test::Seeds seeds = test::seeds_of(3000, test::About::kMemory);
    std::size_t resolved = 0, refused = 0;
    for (const std::uint64_t seed : seeds) {
      CAPTURE(seed);
      Reading reading(Mutator(seed).mutate(kModule));
      Diagnostics diagnostics;
      for (const Module* module : reading.modules) verify(*module, diagnostics);
      if (reading.diagnostics.has_errors()) continue;
      ++resolved;
      refused += diagnostics.has_errors();
    }
    // Otherwise the mutations would show nothing.
    CHECK(resolved > seeds.count() / 3);
    CHECK(refused > seeds.count() / 6);
    CHECK(refused < resolved);
  }

  TEST_CASE("modules of any shape are verified without a crash") {
    for (const bool portable : {false, true}) {
      for (const std::uint64_t seed : test::seeds_of(800, test::About::kMemory)) {
        CAPTURE(seed);
        IRContext context;
        register_builtin_dialects(context);
        Diagnostics diagnostics;
        verify(RandomModule(context, seed, portable).module(), diagnostics);
      }
    }
  }
}
