// The pass 'batch-sequences': modules that it refuses, and values that it follows.
#include <fmt/format.h>

#include "known_passes.hpp"
#include "mir/print.hpp"

using mir::test::Lines;
using mir::test::Part;
using mir::test::Passes;
using mir::test::Reading;

namespace {

constexpr std::string_view kNumbers =
    R"(    linalg.CPU.IotaOp [shape:[$past+$S, 1], dtype:Float32, dim:0] () -> (%all:tensor<[$past+$S, 1], Float32, CPU>)
    linalg.CPU.SliceOp [indices:[{"start":$past,"end":$past+$S}, {}]] (%all) -> (%position:tensor<[$S, 1], Float32, CPU>)
)";

constexpr std::string_view kCache =
    R"(    linalg.CPU.KVCacheOp [cache:@cache.layers.0, q_head:4, kv_head:2, head_dim:8, past:$past] (%k, %k) -> (%K:tensor<[$B, 2, $past+$S, 8], Float32, CPU>, %V:tensor<[$B, 2, $past+$S, 8], Float32, CPU>)
)";

constexpr std::string_view kMask =
    R"(    linalg.CPU.CausalMaskOp(%scores) -> (%masked:tensor<[$B, 4, $S, $past+$S], Float32, CPU>)
)";

constexpr std::string_view kInputs =
    "%k:tensor<[$B, 2, $S, 8], Float32, CPU>, %scores:tensor<[$B, 4, $S, $past+$S], Float32, CPU>";

/// A module with these ops and inputs.
std::string module_of(std::string_view ops, std::string_view more_inputs = {}) {
  return fmt::format(
      "@main [mir_version:2] ({}{}) -> (%k:tensor<[$B, 2, $S, 8], Float32, CPU>) {{\n{}"
      "    cf.ReturnOp (%k) -> ()\n}}\n",
      kInputs, more_inputs, ops);
}

std::string usual(std::string_view ops, std::string_view more_inputs = {}) {
  return module_of(fmt::format("{}{}{}{}", kNumbers, kCache, kMask, ops), more_inputs);
}

/// The text after the pass, or its errors.
std::string after(const std::string& text) {
  Reading reading(text);
  Passes passes;
  const Lines problems = passes.run(reading.module(), "batch-sequences");
  std::string lines;
  for (const std::string& each : problems) lines += each + "\n";
  return problems.empty() ? print(reading.module()) : lines;
}

}  // namespace

TEST_CASE("a batch of sequences needs a cache that a causal mask follows") {
  CHECK(after(module_of(kMask)) == Part{"a batch of sequences needs a KVCacheOp"});
  CHECK(after(module_of(kCache)) == Part{"no causal mask follows the cache"});
}

TEST_CASE("attention that gets no positions is refused in a batch of sequences") {
  constexpr std::string_view kQueries =
      ", %q:tensor<[$B, $S, 4, 8], Float32, CPU>, %w:tensor<[$B, $T, 2, 8], Float32, CPU>, "
      "%sink:tensor<[4], Float32, CPU>";
  CHECK(after(usual("    linalg.CPU.FlashAttention2Op [causal_mask:false] (%q, %w, %w) -> "
                    "(%o:tensor<[$B, $S, 4, 8], Float32, CPU>)\n",
                    kQueries)) ==
        Part{"'linalg.FlashAttention2Op' does not mask keys that a shorter sequence"});
  CHECK(after(usual("    linalg.CPU.FlashAttention2SwaSinkOp [B:1, q_head:4, kv_head:2, D_QK:8, "
                    "D_V:8, cur_seq_len:4, sliding_window:4, s_aux_enable:true] (%q, %w, %w, "
                    "%sink) -> (%o:tensor<[$B, $S, 4, 8], Float32, CPU>)\n",
                    kQueries)) == Part{"has no operand for positions"});
}

TEST_CASE("caches in a graph are refused in a batch of sequences, with the passes to run first") {
  const std::string graph = fmt::format(
      "    graph.SubGraphOp @f <CPU> {{\n        (%k:tensor<[$B, 2, $S, 8], Float32, CPU>) -> () "
      "{{\n{}            cf.ReturnOp () -> ()\n"
      "        }}\n    }}\n    graph.CallGraphOp @f (%k) -> ()\n",
      kCache);
  CHECK(after(module_of(graph + std::string(kMask))) ==
        Part{"is in a graph or a region, expected it in the body of the module: run 'inline' and "
             "'eliminate-unused-graphs' first"});
}

TEST_CASE("caches with several extents of earlier tokens are refused in a batch of sequences") {
  const std::string second =
      "    linalg.CPU.KVCacheOp [cache:@cache.layers.1, q_head:4, kv_head:2, head_dim:8, past:$P] "
      "(%k, %k) -> (%K1:tensor<[$B, 2, $P+$S, 8], Float32, CPU>, %V1:tensor<[$B, 2, $P+$S, 8], "
      "Float32, CPU>)\n";
  CHECK(after(usual(second)) ==
        Part{"the caches of the module have several extents of earlier tokens"});
}

TEST_CASE("slices from the tokens of a cache on must be a column of positions") {
  CHECK(after(module_of(
            fmt::format(
                "{}{}    linalg.CPU.SliceOp [indices:[{{\"start\":$past,\"end\":$past+$S}}, {{}}]] "
                "(%table) -> (%rows:tensor<[$S, 8], Float32, CPU>)\n",
                kCache, kMask),
            ", %table:tensor<[$past+$S, 8], Float32, CPU>")) ==
        Part{"expected a column of the numbers from 'past' on"});
  CHECK(after(usual("    linalg.CPU.SliceOp [indices:[{}, {}, {\"start\":$past,\"end\":$past+$S}, "
                    "{}]] (%K) -> (%last:tensor<[$B, 2, $S, 8], Float32, CPU>)\n")) ==
        Part{"'linalg.SliceOp' begins or ends at the tokens of the longest sequence"});
}

TEST_CASE("an input 'positions' of another type is refused in a batch of sequences") {
  CHECK(after(usual("", ", %positions:tensor<[$B, $T], Int64, CPU>")) ==
        Part{"input '%positions' is not [$B, $S] of Int64 or Int32"});
  CHECK(after(usual("", ", %positions:tensor<[$B, $S], Int32, CPU>")) ==
        Part{"Float32, CPU>, %positions:tensor<[$B, $S], Int32, CPU>) -> (%masked"});
}

TEST_CASE("ops that would mix the positions of sequences are refused") {
  CHECK(after(usual("    linalg.CPU.SoftmaxOp [axis:0] (%position) -> "
                    "(%y:tensor<[$S, 1], Float32, CPU>)\n")) ==
        Part{"'linalg.SoftmaxOp' reads values that are different for each sequence"});
  CHECK(after(usual("    linalg.CPU.ConcatOp [dim:1] (%position, %position) -> "
                    "(%y:tensor<[$S, 2], Float32, CPU>)\n")) ==
        Part{"'linalg.ConcatOp' reads values that are different for each sequence"});
  CHECK(after(usual("    linalg.CPU.MulOp(%one, %position) -> (%y:tensor<[2, $S, 8], Float32, "
                    "CPU>)\n",
                    ", %one:tensor<[2, $S, 8], Float32, CPU>")) ==
        Part{"beside tensor<[2, $S, 8], Float32, CPU>, expected the sequences in its first"});
}

TEST_CASE("positions beside a value with heads keep the sequences in its first dimension") {
  const std::string found =
      after(usual("    linalg.CPU.SinOp(%position) -> (%sin:tensor<[$S, 1], Float32, CPU>)\n"
                  "    linalg.CPU.MulOp(%k, %sin) -> (%y:tensor<[$B, 2, $S, 8], Float32, CPU>)\n"));
  CHECK(found == Part{"-> (%sin:tensor<[$B, $S, 1], Float32, CPU>)"});
  CHECK(found == Part{"[to_shape:[$B, 1, $S, 1]]"});
  CHECK(found == Part{"-> (%y:tensor<[$B, 2, $S, 8], Float32, CPU>)"});
}

TEST_CASE("views of positions get a dimension for the sequences") {
  const std::string found = after(
      usual("    linalg.CPU.ViewOp [to_shape:[1, 1, $S, 1]] (%position) -> "
            "(%wide:tensor<[1, 1, $S, 1], Float32, CPU>)\n"
            "    linalg.CPU.MulOp(%k, %wide) -> (%y:tensor<[$B, 2, $S, 8], Float32, CPU>)\n"));
  CHECK(found == Part{"(%wide:tensor<[$B, 1, $S, 1], Float32, CPU>)"});
  CHECK(found == Part{"-> (%y:tensor<[$B, 2, $S, 8], Float32, CPU>)"});
}
